"""Paths through the graph: from what a question names to what hangs together with it, for this
reader only."""

import sqlite3
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from graph.recorded import recorded_chat
from ingest.shelf import Shelf
from ombud.graph import GraphWalk
from ombud.index import Filter
from ombud.ingest import sync_sources
from ombud.retrieve import neighbourhood
from ombud.retrieve.graph_search import GraphSearch, find_paths, with_paths
from ombud.sources import FolderSource
from ombud.store import Graph, save_same
from ombud.types import Evidence, Hit, Person, Plan

PLAN = Plan(graph=True, graph_keywords=4, graph_depth=2)
FILES: dict[str, tuple[str, dict[str, str]]] = {
    "aedt.md": (
        "# Tools\n\n“Automated employment decision tool” or “AEDT” means a process that issues "
        "a score.\n\n"
        "An employer must give notice ten business days before use of an AEDT.\n\n"
        "An employer may not use an AEDT without a bias audit.\n\n"
        "“Bias audit” means an impartial evaluation by an independent auditor.\n\n"
        "The independent auditor must be paid by the vendor.\n",
        {},
    ),
    "leave-gb.md": (
        "# Leave in Britain\n\nEmployees may carry over up to 5 days of annual leave.\n",
        {"country": "GB"},
    ),
    "leave-fr.md": (
        "# Leave in France\n\nEmployees may carry over up to 9 days of annual leave.\n",
        {"country": "FR"},
    ),
    "board.md": (
        "# Board\n\nThe board must approve annual leave of directors.\n",
        {"audience": "{roles: [director]}"},
    ),
    "old.md": ("# Old\n\nThe clerk must approve annual leave.\n", {"effective_to": "2020-12-31"}),
    "draft.md": ("# Draft\n\nThe robot must approve annual leave.\n", {"status": "draft"}),
}
SENTENCES = (
    "“Automated employment decision tool” or “AEDT” means a process that issues a score."
    " = AEDT is short for automated employment decision tool.",
    "An employer must give notice ten business days before use of an AEDT.",
    "An employer may not use an AEDT without a bias audit.",
    "“Bias audit” means an impartial evaluation by an independent auditor."
    " = Bias audit means an impartial evaluation by an independent auditor.",
    "The independent auditor must be paid by the vendor.",
    "Employees may carry over up to 5 days of annual leave.",
    "Employees may carry over up to 9 days of annual leave.",
    "The board must approve annual leave of directors.",
    "The clerk must approve annual leave.",
    "The robot must approve annual leave.",
)
GB = Filter(countries=("GB",), reader=Person(country="GB"), as_of=date(2026, 6, 1))


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shelf]:
    made = Shelf(tmp_path_factory.mktemp("home"), index={"graph": "model"})
    for name, (text, front) in FILES.items():
        made.write(name, text, **front)
    sync(made, *SENTENCES)
    yield made
    made.workspace.close()


def sync(shelf: Shelf, *sentences: str) -> None:
    parts = shelf.workspace.ingest._replace(chat=lambda: recorded_chat(*sentences))
    (report,) = sync_sources(parts, [FolderSource("docs", shelf.folder)])
    assert report.ok


def walk(shelf: Shelf, text: str, where: Filter = GB, plan: Plan = PLAN, **more: Any) -> GraphWalk:
    return find_paths(text, plan, graph_of(shelf, where), **more)


def graph_of(shelf: Shelf, where: Filter) -> GraphSearch:
    return GraphSearch(Graph(shelf.workspace.store), shelf.workspace.engine, where)


def said(walked: GraphWalk) -> list[str]:
    return [f"{one.subject} {one.predicate} {one.object}" for one in walked.triplets]


def test_a_question_finds_what_is_said_of_what_it_names(shelf: Shelf) -> None:
    found = walk(shelf, "How much notice must an employer give before using an AEDT?")
    assert said(found)[0] == "employer must give notice ten business days before use of an AEDT"
    assert found.degraded == ()
    assert {hit.chunk.id for hit in found.hits} >= {found.triplets[0].chunk_id}
    assert all(hit.found_by == ("global/graph/paths",) for hit in found.hits)


def test_short_and_long_names_are_one_thing(shelf: Shelf) -> None:
    short = said(walk(shelf, "May an employer use an AEDT?"))
    long = said(walk(shelf, "May an employer use an automated employment decision tool?"))
    rule = "employer may not use AEDT without a bias audit"
    assert rule in short
    assert rule in long


def test_other_forms_of_a_word_find_the_entity(shelf: Shelf) -> None:
    assert "Bias audit means impartial evaluation by an independent auditor" in said(
        walk(shelf, "What are bias audits?")
    )
    assert "Bias audit means impartial evaluation by an independent auditor" in said(
        walk(shelf, "What is bias auditing?")
    )


def test_the_depth_is_how_far_a_path_goes(shelf: Shelf) -> None:
    question = "Who pays the evaluation of a bias audit, the vendor?"
    near, far = (
        said(walk(shelf, question, plan=PLAN.model_copy(update={"graph_depth": depth})))
        for depth in (1, 2)
    )
    last = "independent auditor must be paid by vendor"
    assert last not in [line for line in near if "Bias audit" in line]
    assert "Bias audit means impartial evaluation by an independent auditor" in near
    assert set(near) <= set(far) | {last}
    for nothing in ({"graph_depth": 0}, {"graph_keywords": 0}):
        assert walk(shelf, question, plan=PLAN.model_copy(update=nothing)) == GraphWalk()


def test_one_keyword_is_the_one_that_says_most(shelf: Shelf) -> None:
    one = walk(
        shelf,
        "Does an employer need a bias audit?",
        plan=PLAN.model_copy(update={"graph_keywords": 1}),
    )
    assert all("bias audit" in line.lower() for line in said(one)[:1])


def test_words_of_a_model_are_looked_up_too(shelf: Shelf) -> None:
    assert said(walk(shelf, "Tell me more about it.")) == []
    found = walk(shelf, "Tell me more about it.", keywords=("impartial evaluation", "bias audit"))
    assert "Bias audit means impartial evaluation by an independent auditor" in said(found)


@pytest.mark.parametrize(
    ("where", "words"),
    [
        (GB, {"5 days"}),
        (Filter(countries=("FR",), reader=Person(), as_of=date(2026, 6, 1)), {"9 days"}),
        (Filter(reader=Person(roles=("director",)), as_of=date(2026, 6, 1)), {"board"}),
        (Filter(reader=Person(), as_of=date(2020, 6, 1)), {"clerk"}),
        (Filter(reader=Person(), as_of=date(2026, 6, 1), status=("draft",)), {"robot"}),
        (Filter(countries=None, reader=None, as_of=None), {"5 days", "9 days", "board", "clerk"}),
        (Filter(countries=None, reader=None, as_of=None, sources=("elsewhere",)), set()),
    ],
)
def test_only_what_the_reader_may_see(shelf: Shelf, where: Filter, words: set[str]) -> None:
    found = walk(shelf, "Who must approve annual leave, and how much may be carried over?", where)
    assert {
        word for word in ("5 days", "9 days", "board", "clerk", "robot") if word in repr(found)
    } == words


def test_a_country_is_named_where_its_rule_was_found(shelf: Shelf) -> None:
    found = walk(shelf, "May employees carry over annual leave?")
    assert [hit.found_by for hit in found.hits] == [("GB/graph/paths",)]


def test_entities_that_a_model_merged_are_one(tmp_path: Path) -> None:
    made = Shelf(tmp_path, index={"graph": "model"})
    rules = ("The line manager must approve leave.", "The direct superior may refuse overtime.")
    for number, rule in enumerate(rules):
        made.write(f"{number}.md", f"# Rule {number}\n\n{rule}\n")
    sync(made, *rules)
    assert "direct superior may refuse overtime" not in said(
        walk(made, "What may a line manager refuse?")
    )
    save_same(made.workspace.store, [("line manager", "direct superior")])
    assert "direct superior may refuse overtime" in said(
        walk(made, "What may a line manager refuse?")
    )
    made.workspace.close()


def test_a_database_that_fails_costs_the_paths_and_nothing_else(tmp_path: Path) -> None:
    made = Shelf(tmp_path, index={"graph": "model"})
    made.write("a.md", FILES["aedt.md"][0])
    sync(made, *SENTENCES)
    engine, graph = made.workspace.engine, Graph(made.workspace.store)
    with sqlite3.connect(tmp_path / ".ombud" / "store.sqlite") as db:
        db.execute("DROP TABLE graph_name")
    found = find_paths("What is a bias audit?", PLAN, GraphSearch(graph, engine, GB))
    assert (found.triplets, found.hits) == ((), ())
    assert len(found.degraded) == 1
    assert found.degraded[0].startswith("graph: The store failed")
    made.workspace.close()


# Into the evidence --------------------------------------------------------------------------------


def test_paths_come_behind_what_was_ranked(shelf: Shelf) -> None:
    walked = walk(shelf, "May employees carry over annual leave, and what is a bias audit?")
    assert len(walked.hits) == 2
    known = walked.hits[0]
    ranked = Evidence(
        shared=(Hit(chunk=walked.hits[1].chunk, score=0.25, found_by=("global/sparse/standard",)),)
    )
    whole = with_paths(ranked, walked)
    assert whole.hits[0] == ranked.shared[0]
    assert [hit.chunk.id for hit in whole.hits[1:]] == [known.chunk.id]
    assert whole.hits[1].score < 0.25
    assert whole.triplets == walked.triplets
    alone = with_paths(Evidence(), walked)
    assert {hit.chunk.id for hit in alone.hits} == {hit.chunk.id for hit in walked.hits}
    assert with_paths(ranked, GraphWalk()) == ranked


def test_passages_of_a_country_stay_local(shelf: Shelf) -> None:
    whole = with_paths(Evidence(), walk(shelf, "May employees carry over annual leave?"))
    assert [hit.chunk.uri for hit in whole.local] == ["docs/leave-gb.md"]
    assert whole.shared == ()


# Around a term ------------------------------------------------------------------------------------


def around(
    shelf: Shelf, term: str, depth: int = 1, where: Filter = GB, most: int = 40
) -> list[str]:
    found = neighbourhood(term, depth, graph_of(shelf, where), most)
    assert set(found.chunks) >= {edge.triplet.chunk_id for edge in found.edges}
    return [f"{e.triplet.subject} {e.triplet.predicate} {e.triplet.object}" for e in found.edges]


def test_what_stands_around_a_term(shelf: Shelf) -> None:
    near = around(shelf, "bias audits")
    assert near == ["Bias audit means impartial evaluation by an independent auditor"]
    assert around(shelf, "the board") == []
    director = GB.model_copy(update={"reader": Person(roles=("director",))})
    assert around(shelf, "the board", where=director) == [
        "board must approve annual leave of directors"
    ]
    assert around(shelf, "nothing of this kind") == []


def test_a_term_of_several_words_is_also_what_has_them_all(shelf: Shelf) -> None:
    assert around(shelf, "annual leave") == [
        "Employees may carry over up to 5 days of annual leave"
    ]


def test_the_nearest_come_first_and_the_rest_is_counted(shelf: Shelf) -> None:
    whole = around(shelf, "employer", depth=3)
    assert whole[:2] == around(shelf, "employer")[:2]
    found = neighbourhood("employer", 3, graph_of(shelf, GB), most=1)
    assert (len(found.edges), found.left_out > 0) == (1, True)
