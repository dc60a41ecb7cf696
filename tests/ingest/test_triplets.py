"""The graph beside the index: only where it is asked for, in step with every change, and never in
the way of a sync."""

import json
import re
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from pydantic_ai.models.function import FunctionModel

from answer.asking import Script
from graph.recorded import recorded_chat, said
from ingest.shelf import Shelf, counts
from ombud.app import library
from ombud.app.syncing import begin_generation
from ombud.errors import BadSetting
from ombud.index import blocking
from ombud.ingest import SyncReport, rebuild_index, sync_sources
from ombud.models import Chat
from ombud.sources import FolderSource
from ombud.store import Graph, graph_digests, graph_rows_of, graph_stats, read_extracted

LEAVE = (
    "# Leave\n\nEmployees may carry over up to 5 days.\n\nManagers must approve leave within "
    "2 working days.\n"
)
TRAVEL = "# Travel\n\nThe Travel Desk (TD) must approve all flights.\n\nThe TD may book hotels.\n"
SENTENCES = (
    "Employees may carry over up to 5 days.",
    "Employees may carry over up to 8 days.",
    "Managers must approve leave within 2 working days.",
    "The Travel Desk (TD) must approve all flights. = TD is short for Travel Desk.",
    "The Travel Desk (TD) must approve all flights. = The Travel Desk must approve all flights.",
    "The TD may book hotels.",
)
Made = Callable[..., Shelf]


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Made]:
    monkeypatch.delenv("OMBUD_HOME", raising=False)
    opened: list[Shelf] = []

    def open_it(graph: str = "model", **index: Any) -> Shelf:
        shelf = Shelf(tmp_path, index={"graph": graph} | index)
        opened.append(shelf)
        return shelf

    yield open_it
    for shelf in opened:
        shelf.workspace.close()


def triplets(shelf: Shelf, *names: str) -> set[tuple[str, str, str]]:
    """What the graph says, of all documents or of these; each triplet's passage is there."""
    store, found = shelf.workspace.store, set()
    for document in library.documents(shelf.workspace, None):
        if not names or document.uri.removeprefix("docs/") in names:
            kept = read_extracted(store, document.id)
            there = blocking(
                shelf.workspace.engine.get([edge.triplet.chunk_id for edge in kept.edges])
            )
            assert {edge.triplet.chunk_id for edge in kept.edges} == set(there)
            found |= {
                (e.triplet.subject, e.triplet.predicate, e.triplet.object) for e in kept.edges
            }
    return found


def run(shelf: Shelf, chat: Chat | None = None) -> SyncReport:
    """A sync in which this model reads, else one that knows the sentences of LEAVE and TRAVEL."""
    parts = shelf.workspace.ingest._replace(chat=lambda: chat or recorded_chat(*SENTENCES))
    (report,) = sync_sources(parts, [FolderSource("docs", shelf.folder)], allow_deletes=True)
    return report


def test_no_graph_is_made_unless_it_is_asked_for(shelf: Shelf) -> None:
    shelf.write("leave.md", LEAVE)
    assert counts(shelf.sync()) == {"added": 1}
    assert graph_stats(shelf.workspace.store)["documents"] == 0


def test_a_sync_keeps_what_a_model_reads(made: Made) -> None:
    shelf = made()
    shelf.write("leave.md", LEAVE)
    assert counts(run(shelf)) == {"added": 1}
    assert triplets(shelf) == {
        ("Employees", "may carry over", "up to 5 days"),
        ("Managers", "must approve", "leave within 2 working days"),
    }


def test_what_changes_what_goes_and_what_stays(made: Made) -> None:
    shelf = made()
    shelf.write("leave.md", LEAVE)
    shelf.write("travel.md", TRAVEL)
    run(shelf)
    store, before = shelf.workspace.store, graph_digests(shelf.workspace.store)
    shelf.write("leave.md", LEAVE.replace("5 days", "8 days"))
    assert counts(run(shelf)) == {"updated": 1, "unchanged": 1}
    assert ("Employees", "may carry over", "up to 8 days") in triplets(shelf)
    assert ("Employees", "may carry over", "up to 5 days") not in triplets(shelf)
    same = {key for key, digest in graph_digests(store).items() if before[key] == digest}
    assert same == {shelf.document("travel.md").id}
    gone = shelf.document("travel.md").id
    shelf.remove("travel.md")
    assert counts(run(shelf)) == {"deleted": 1, "unchanged": 1}
    assert graph_rows_of(store, gone) == 0
    assert Graph(store).around(["travel desk"]) == []
    left = shelf.document("leave.md").id
    library.delete_document(shelf.workspace, left)
    assert graph_rows_of(store, left) == 0


def test_the_setting_works_on_what_is_indexed_already(made: Made) -> None:
    shelf = made("none")
    shelf.write("leave.md", LEAVE)
    run(shelf)
    before = shelf.snapshot()
    again = made("model")
    assert counts(run(again)) == {"unchanged": 1}
    assert len(triplets(again)) == 2
    assert again.snapshot() == before  # nothing was cut or embedded again
    none = made("none")
    assert counts(run(none)) == {"unchanged": 1}
    assert graph_stats(none.workspace.store) | {"merged": 0} == dict.fromkeys(
        ("documents", "incomplete", "triplets", "entities", "merged"), 0
    )


def test_a_graph_that_lost_its_way_is_mended(made: Made) -> None:
    shelf = made()
    shelf.write("leave.md", LEAVE)
    run(shelf)
    chunk = shelf.chunks()[0]
    document = shelf.document("leave.md")
    # As after a kill between the index's commit and the graph's: the chunks are others than those
    # that were read.
    renamed = chunk.model_copy(update={"id": f"{document.id}-0123456789ab"})
    rows = [
        row._replace(chunk=renamed) for row in blocking(shelf.workspace.engine.rows([document.id]))
    ]
    blocking(shelf.workspace.engine.upsert([document.id], rows))
    assert counts(run(shelf)) == {"unchanged": 1}
    assert len(triplets(shelf)) == 2


def test_a_rebuild_takes_the_graph_along(made: Made) -> None:
    shelf = made()
    shelf.write("leave.md", LEAVE)
    run(shelf)
    before = triplets(shelf)
    other = made("model", chunker="sentence")
    reader = recorded_chat(*SENTENCES)
    parts = other.workspace.ingest_into(None)._replace(chat=lambda: reader)
    rebuild_index(parts, partial(begin_generation, other.workspace), lambda *_: None)
    assert triplets(other) == before


def test_an_abbreviation_is_what_it_stands_for(made: Made) -> None:
    shelf = made()
    shelf.write("travel.md", TRAVEL)
    run(shelf)
    edges = Graph(shelf.workspace.store).around(["travel desk"])
    assert [edge.triplet.predicate for edge in edges] == [
        "is short for",
        "must approve",
        "may book",
    ]
    assert {(n.key, n.weight) for n in Graph(shelf.workspace.store).named(["td"])} == {
        ("td", 1.0),
        ("travel desk", 0.95),
    }


def by_passage(prompt: str) -> dict[str, Any]:
    if "Leave" in prompt.splitlines()[1]:
        return said(
            [("employees", "may carry over", "up to 5 days"), ("the moon", "is", "a cheese")]
        )
    return (
        said([("the Travel Desk", "must approve", "all flights")])
        if "Travel" in prompt
        else {"groups": []}
    )


def test_a_model_reads_passages_and_what_is_not_in_them_is_dropped(made: Made) -> None:
    shelf, script = made("model"), Script(by_passage)
    shelf.write("leave.md", LEAVE)
    shelf.write("travel.md", TRAVEL)
    assert counts(run(shelf, script.chat)) == {"added": 2}
    assert triplets(shelf) == {
        ("employees", "may carry over", "up to 5 days"),
        ("Travel Desk", "must approve", "flights"),
    }
    assert len(script.prompts) == 2
    assert any(TRAVEL.splitlines()[2] in prompt for prompt in script.prompts)
    assert "the organisation" in script.instructions[0]


def test_passages_of_a_document_are_read_together_and_what_is_left_out_alone(made: Made) -> None:
    """Of eight passages six are asked for at once and two; of the six the model leaves one out."""

    def reading(prompt: str) -> dict[str, Any]:
        told: list[dict[str, Any]] = []
        for number, rule in re.findall(r'number="(\d+)">\nRules > Rule (\d)', prompt):
            if rule == "3" and prompt.count("<passage") > 1:
                continue
            told += said([(f"rule {rule}", "is", f"clause {rule}")], int(number))["passages"]
        return {"passages": told}

    shelf, script = made("model", chunker="structure"), Script(reading)
    rules = "".join(
        f"## Rule {n}\n\nRule {n} is clause {n}. {'It holds for everyone at work. ' * 30}\n\n"
        for n in range(1, 9)
    )
    shelf.write("rules.md", f"# Rules\n\n{rules}")
    assert counts(run(shelf, script.chat)) == {"added": 1}
    sizes = sorted(prompt.count("<passage number") for prompt in script.prompts)
    assert sizes[-1] == 6
    assert sizes[0] == 1
    assert len(triplets(shelf)) == 8


def test_only_what_is_new_is_asked_for(made: Made) -> None:
    shelf, script = made("model"), Script(by_passage)
    shelf.write("leave.md", LEAVE)
    shelf.write("travel.md", TRAVEL)
    run(shelf, script.chat)
    run(shelf, script.chat)
    assert len(script.prompts) == 2
    part = "\n## More\n\nA word that was not there.\n"
    shelf.write("travel.md", TRAVEL + part)
    assert counts(run(shelf, script.chat)) == {"updated": 1, "unchanged": 1}
    assert len(script.prompts) == 3  # the passage that stayed has another id and the same words
    assert "A word that was not there." in script.prompts[-1]
    assert ("Travel Desk", "must approve", "flights") in triplets(shelf, "travel.md")


def test_a_passage_that_fails_is_said_and_tried_again(made: Made) -> None:
    failing = True

    def sometimes(prompt: str) -> dict[str, Any] | str:
        return "no triplets at all" if failing and "Travel" in prompt else by_passage(prompt)

    shelf, script = made("model"), Script(sometimes)
    shelf.write("leave.md", LEAVE)
    shelf.write("travel.md", TRAVEL)
    report = run(shelf, script.chat)
    assert counts(report) == {"added": 2, "failed": 1}
    assert report.failed[0].uri == "docs/travel.md"
    assert "1 of 1 passages are not in the graph" in report.failed[0].reason
    assert "travel.md" in shelf.indexed()
    assert graph_stats(shelf.workspace.store)["incomplete"] == 1
    failing, asked = False, len(script.prompts)
    assert counts(run(shelf, script.chat)) == {"unchanged": 2}
    assert len(script.prompts) == asked + 1
    assert graph_stats(shelf.workspace.store)["incomplete"] == 0
    assert ("Travel Desk", "must approve", "flights") in triplets(shelf)


def test_a_model_that_is_gone_ends_the_reading_and_not_the_sync(made: Made) -> None:
    calls = 0

    def gone(*_: Any) -> Any:
        nonlocal calls
        calls += 1
        raise OSError("connection refused")

    shelf = made("model")
    for number in range(40):
        shelf.write(f"rule-{number}.md", f"# Rule {number}\n\nEmployees must keep rule {number}.\n")
    report = run(shelf, Chat("test:gone", FunctionModel(gone)))
    assert report.added == 40
    assert "The graph lacks 40 documents" in report.note
    assert "The next sync goes on." in report.note
    assert calls < 40
    assert len(shelf.indexed()) == 40


def test_near_equal_entities_are_merged_by_one_call(made: Made) -> None:
    def merging(prompt: str) -> dict[str, Any]:
        if "line manager" in prompt and "#" not in prompt and "must" not in prompt:
            names = prompt.splitlines()
            return {
                "groups": [
                    [name for name in names if "manager" in name],
                    ["something that was not offered"],
                ]
            }
        subject = "the direct line manager" if "direct" in prompt else "the line manager"
        return said([(subject, "must approve", "leave")])

    shelf, script = made("model"), Script(merging)
    shelf.write("a.md", "# A\n\nThe line manager must approve leave.\n")
    shelf.write("b.md", "# B\n\nThe direct line manager must approve leave.\n")
    run(shelf, script.chat)
    assert len(script.prompts) == 3
    graph = Graph(shelf.workspace.store)
    assert graph.same(["line manager"])["line manager"] == {"line manager", "direct line manager"}
    shelf.remove("b.md")
    run(shelf, script.chat)
    assert graph.same(["line manager"])["line manager"] == {"line manager"}


def test_figures_keep_names_apart_before_any_model_is_asked(made: Made) -> None:
    def speaking(prompt: str) -> dict[str, Any]:
        assert "#" not in prompt
        number = "4" if "4 weeks" in prompt else "6"
        return said([("notice period", "is", f"{number} weeks")])

    shelf, script = made("model"), Script(speaking)
    shelf.write("a.md", "# A\n\nThe notice period is 4 weeks.\n")
    shelf.write("b.md", "# B\n\nThe notice period is 6 weeks.\n")
    run(shelf, script.chat)
    assert len(script.prompts) == 2


def test_a_model_that_is_not_configured_is_a_setting_to_mend(made: Made) -> None:
    shelf = Shelf(made("none").home, index={"graph": "model"})
    shelf.write("leave.md", LEAVE)
    with pytest.raises(BadSetting, match="needs a chat model") as wrong:
        shelf.sync()
    assert "models.chat" in wrong.value.hint
    assert shelf.documents() == set()


def test_json_of_a_reply_may_be_anything(made: Made) -> None:
    shelf = made("model")
    shelf.write("leave.md", LEAVE)
    huge = said([("x" * 5000, "is", "y")])
    report = run(shelf, Script(huge, json.dumps({"passages": "none"})).chat)
    assert [failure.uri for failure in report.failed] == ["docs/leave.md"]
    report = run(shelf, Script(said([("", "is", ""), ("leave", "", "5 days")])).chat)
    assert report.failed == ()
    assert triplets(shelf) == set()
