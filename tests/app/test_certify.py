"""A certified deletion: no word of the document is left anywhere, and the certificate would tell if
one were."""

import asyncio
from pathlib import Path

import pytest

from app.conftest import Open
from graph.recorded import recorded_chat
from index.places import place_for
from ombud.app import (
    LocalTarget,
    Workspace,
    asking,
    certify_deletion,
    configured_sources,
    conversing,
    library,
)
from ombud.app.audit.certify import forget_in_memory, in_files
from ombud.errors import NotFound
from ombud.index import GenerationPointer, HotEngine
from ombud.ingest import sync_sources
from ombud.lab import RunOptions, parse_metrics, read_cases, read_run, run_cases
from ombud.store import Graph, abbreviations_of, graph_rows_of, list_abbreviations
from ombud.types import Person, Question
from store.places import database

SECRET = "Whoever finds the golden spanner returns it to the porter of the north gate"
PAGES = {
    "spanner.md": f"# The golden spanner\n\n{SECRET} before sunset.\n\nThe porter writes its number into the book.\n",
    "leave.md": "# Leave\n\nEverybody has 26 days of annual leave, and asks for them in writing.\n",
}
CASE = (
    '{"id": "s-1", "question": "Who gets the golden spanner when I find it?", "evidence":'
    f' [{{"document": "docs/spanner.md", "quote": "{SECRET}"}}]}}\n'
)


def opened(open_home: Open, home: Path, count: int = 2) -> Workspace:
    for name, text in PAGES.items():
        (home / "docs").mkdir(exist_ok=True)
        (home / "docs" / name).write_text(text, encoding="utf-8")
    (home / "cases.jsonl").write_text(CASE, encoding="utf-8")
    workspace = open_home('[plan]\nabstain = 0\n[[source]]\nname = "docs"\npath = "docs"\n')
    (report,) = sync_sources(
        workspace.ingest, configured_sources(workspace.settings, home, workspace.store)
    )
    assert report.added == count
    return workspace


def holding(home: Path) -> set[str]:
    """Files under .ombud that hold the sentence."""
    return {
        file.relative_to(home).as_posix()
        for file in (home / ".ombud").rglob("*")
        if file.is_file() and SECRET.encode() in file.read_bytes()
    }


def test_nothing_of_it_is_left_in_any_file(open_home: Open, tmp_path: Path) -> None:
    workspace = opened(open_home, tmp_path)
    question = Question(text="Who gets the golden spanner when I find it?", asker=Person())
    conversation = asking.new_conversation(workspace, Person())
    loose = asyncio.run(asking.ask(workspace, question))
    answer = asyncio.run(asking.ask(workspace, question, conversation_id=conversation))
    assert SECRET in answer.text
    conversing.rate(workspace, loose.id, -1, f"It only says: {SECRET}", "")
    target = LocalTarget(workspace)
    target.variant({"index.chunk_tokens": 64})
    options = RunOptions(parse_metrics("mrr,citation_recall"), "run", str(tmp_path / "cases.jsonl"))
    run = asyncio.run(
        run_cases(read_cases(tmp_path / "cases.jsonl"), target, workspace.store, options)
    )
    workspace.store.settle()
    assert holding(tmp_path)

    made = certify_deletion(workspace, "docs/spanner.md")
    assert made.gone
    assert holding(tmp_path) == set()
    assert {place.name: place.said for place in made.places}[
        "store: answers and conversations"
    ] == "2 answers were blanked"
    assert made.retire == ("cases.jsonl: s-1",)
    assert "next sync brings it back" in made.source

    kept = asking.stored_answer(workspace, answer.id)
    assert (kept.text, kept.citations[0].quote) == ("[evidence erased]", "")
    assert kept.outcome == answer.outcome
    assert asking.messages(workspace, conversation)[0].content == question.text
    assert "spanner" not in asking.messages(workspace, conversation)[1].content
    (seen,) = read_run(workspace.store, run.id).observations
    assert seen.hits is not None
    assert {hit.chunk.uri for hit in seen.hits} <= {"docs/leave.md"}
    assert seen.case.evidence[0].quote == "[evidence erased]"


def test_its_triplets_are_gone(open_home: Open, tmp_path: Path) -> None:
    rule = "Employees must bring the golden spanner to the porter of the north gate."
    rest = "The porter may rest all day."
    for name, text in (
        ("spanner.md", f"# Spanner\n\n{rule}\n"),
        ("gate.md", f"# Gate\n\n{rest}\n"),
    ):
        (tmp_path / "docs").mkdir(exist_ok=True)
        (tmp_path / "docs" / name).write_text(text, encoding="utf-8")
    workspace = open_home('[index]\ngraph = "model"\n[[source]]\nname = "docs"\npath = "docs"\n')
    reader = recorded_chat(rule, rest)
    sync_sources(
        workspace.ingest._replace(chat=lambda: reader),
        configured_sources(workspace.settings, tmp_path, workspace.store),
    )
    graph, identity = (
        Graph(workspace.store),
        library.document(workspace, "docs/spanner.md", None).id,
    )
    assert [
        edge.document_id for edge in graph.around(["golden spanner to porter of north gate"])
    ] == [identity]
    assert graph_rows_of(workspace.store, identity) > 0

    made = certify_deletion(workspace, "docs/spanner.md")
    assert made.gone
    assert {place.name: place.found for place in made.places}["store: graph of triplets"] == 0
    assert graph_rows_of(workspace.store, identity) == 0
    assert graph.around(["golden spanner to porter of north gate", "employee"]) == []
    assert len(graph.around(["porter"])) == 1
    said = (
        b"golden spanner to",
        b"north gate",
    )  # a triplet holds a part of its sentence, lower case and stemmed
    files = [file for file in (tmp_path / ".ombud").rglob("*") if file.is_file()]
    assert [file for file in files if any(part in file.read_bytes().lower() for part in said)] == []


def test_a_triplet_that_is_left_is_said(
    open_home: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace = opened(open_home, tmp_path)
    monkeypatch.setattr("ombud.app.audit.certify.graph_rows_of", lambda *_: 3)
    made = certify_deletion(workspace, "docs/spanner.md")
    assert [place.name for place in made.places if place.found] == ["store: graph of triplets"]


def test_the_others_still_answer_and_are_not_read_again(open_home: Open, tmp_path: Path) -> None:
    workspace = opened(open_home, tmp_path)
    certify_deletion(workspace, "docs/spanner.md")
    (tmp_path / "docs" / "spanner.md").unlink()
    answer = asyncio.run(
        asking.ask(workspace, Question(text="How many days of annual leave do I have?"))
    )
    assert "26 days" in answer.text
    (report,) = sync_sources(
        workspace.ingest, configured_sources(workspace.settings, tmp_path, workspace.store)
    )
    assert (report.unchanged, report.updated, report.added) == (1, 0, 0)


def test_what_is_left_somewhere_is_said(open_home: Open, tmp_path: Path) -> None:
    workspace = opened(open_home, tmp_path)
    (tmp_path / ".ombud" / "notes.txt").write_text(
        f"Copied: {SECRET} before sunset.", encoding="utf-8"
    )
    made = certify_deletion(workspace, "docs/spanner.md")
    assert not made.gone
    assert [place.name for place in made.places if place.found] == ["other files of the workspace"]


def test_an_unknown_document_changes_nothing(open_home: Open, tmp_path: Path) -> None:
    workspace = opened(open_home, tmp_path)
    with pytest.raises(NotFound):
        certify_deletion(workspace, "docs/nothing.md")
    assert {document.uri for document in library.documents(workspace, None)} == {
        "docs/spanner.md",
        "docs/leave.md",
    }


def test_its_abbreviations_go_too(open_home: Open, tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "bonus.md").write_text(
        "# Pay\n\nThe Annual Cash Bonus (ACB) is paid in June.\n", "utf-8"
    )
    workspace = opened(open_home, tmp_path, count=3)
    document = library.document(workspace, "docs/bonus.md", None)
    assert abbreviations_of(workspace.store, document.id) == [("ACB", "Annual Cash Bonus")]
    made = certify_deletion(workspace, "docs/bonus.md")
    assert {place.name: place.found for place in made.places}["store: abbreviations"] == 0
    assert made.gone
    assert list_abbreviations(workspace.store) == []


def test_what_an_older_version_of_the_index_holds_is_found(
    open_home: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The check reads the engine's versions: it fails where the copy was not made."""
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "spanner.md").write_text(f"# Spanner\n\n{SECRET}\n", encoding="utf-8")
    (tmp_path / "docs" / "gate.md").write_text("# Gate\n\nIt is shut at night.\n")
    workspace = open_home('[[source]]\nname = "docs"\npath = "docs"\n')
    sync_sources(
        workspace.ingest, configured_sources(workspace.settings, tmp_path, workspace.store)
    )
    monkeypatch.setattr("ombud.app.audit.certify.copy_index", lambda *_: None)
    made = certify_deletion(workspace, "docs/spanner.md")
    assert not made.gone
    assert {place.name: place.found for place in made.places}["index: versions"] == 1
    (place,) = made.not_covered
    assert place.startswith("Memory of servers that are running")


def test_a_server_that_holds_the_index_in_memory_lets_go_of_it(
    open_home: Open, tmp_path: Path
) -> None:
    """One process serves, another certifies; nobody asks meanwhile."""
    for name, text in PAGES.items():
        (tmp_path / "docs").mkdir(exist_ok=True)
        (tmp_path / "docs" / name).write_text(text, encoding="utf-8")
    lines = '[index]\nhot_passages = 1000\n[[source]]\nname = "docs"\npath = "docs"\n'
    server = open_home(lines)
    sync_sources(server.ingest, configured_sources(server.settings, tmp_path, server.store))
    document = library.document(server, "docs/spanner.md", None)
    assert server.warm(60)
    hot = server.engine
    assert isinstance(hot, HotEngine)
    assert hot.in_memory([SECRET]) == 1
    kept = server.answering.stored(document.id, document.digest)
    assert kept
    assert SECRET in kept.text

    made = certify_deletion(open_home(lines), "docs/spanner.md")
    assert made.gone
    assert "index: in the memory of this process" in {place.name for place in made.places}
    forget_in_memory(server)  # what a server does every ten seconds
    assert hot.in_memory([SECRET]) == 0
    assert server.answering.stored(document.id, document.digest) is None


def test_a_generation_that_was_not_removed_is_said(
    open_home: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace = opened(open_home, tmp_path)
    monkeypatch.setattr(GenerationPointer, "keep_only_current", lambda _: None)
    made = certify_deletion(workspace, "docs/spanner.md")
    assert not made.gone
    assert {place.name: place.found for place in made.places}["index: older generations"] == 1


def test_in_object_storage_it_is_gone_from_the_bucket_and_from_the_cache(
    open_home: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine_name, _, url = place_for("s3", tmp_path).partition(":")
    (tmp_path / "docs").mkdir()
    for name, text in PAGES.items():
        (tmp_path / "docs" / name).write_text(text, encoding="utf-8")
    workspace = open_home(
        f'[index]\nengine = "{engine_name}"\nurl = "{url}"\ncache = "kept"\nfresh_seconds = 0\n'
        '[[source]]\nname = "docs"\npath = "docs"\n'
    )
    sync_sources(
        workspace.ingest, configured_sources(workspace.settings, tmp_path, workspace.store)
    )
    question = Question(text="Who gets the golden spanner when I find it?")
    assert SECRET in asyncio.run(asking.ask(workspace, question)).text
    assert in_files(tmp_path / "kept", [SECRET]) == 1
    with monkeypatch.context() as skipping:
        skipping.setattr("ombud.app.audit.certify.forget_in_memory", lambda _: None)
        skipping.setattr(GenerationPointer, "keep_only_current", lambda _: None)
        made = certify_deletion(workspace, "docs/spanner.md")
    assert {place.name for place in made.places if place.found} == {
        "index: older generations",
        "index: passages in index.cache",
    }
    forget_in_memory(workspace)
    assert in_files(tmp_path / "kept", [SECRET]) == 0
    assert any("bucket versioning" in place for place in made.not_covered)


def test_on_a_server_the_certificate_names_what_it_cannot_cover(
    open_home: Open, tmp_path: Path
) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "spanner.md").write_text(f"# Spanner\n\n{SECRET}\n", encoding="utf-8")
    with database("postgresql") as url:
        workspace = open_home(f'[store]\nurl = "{url}"\n[[source]]\nname = "docs"\npath = "docs"\n')
        sync_sources(
            workspace.ingest, configured_sources(workspace.settings, tmp_path, workspace.store)
        )
        made = certify_deletion(workspace, "docs/spanner.md")
        assert made.gone
        assert any("write-ahead log" in place for place in made.not_covered)
        with workspace.store.write() as db:
            not_vacuumed = db.exec_driver_sql(
                "SELECT relname FROM pg_stat_user_tables WHERE schemaname = current_schema() AND"
                " last_vacuum IS NULL"
            ).all()
        assert not_vacuumed == []
        workspace.close()
