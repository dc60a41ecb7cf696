"""For random documents and people the graph shows a reader what it would show if nothing else were
there."""

import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from graph.recorded import recorded_chat
from ombud.app import Workspace, configured_sources
from ombud.index import Filter
from ombud.ingest import sync_sources
from ombud.retrieve import neighbourhood
from ombud.retrieve.graph_search import GraphSearch, find_paths
from ombud.store import Graph
from ombud.types import Person, Plan
from properties.test_permissions import DAY, PAGES, PEOPLE, Page, word

QUESTIONS = [
    "Who must approve leave of the rule?",
    "What is the secret word?",
    "rule",
    "zebrafinch00 and the committee",
]
TERMS = ["leave", "committee", "secret word", "zebrafinch00"]
TOML = '[models]\nembedder = "none"\n[index]\ngraph = "model"\n[[source]]\nname = "docs"\npath = "docs"\n'


def rules(number: int) -> tuple[str, ...]:
    """What the page of this number states."""
    return (
        f"The secret word means {word(number)}.",
        f"The committee must approve leave under {word(number)}.",
        f"The committee must meet {word(number)}.",
    )


@contextmanager
def shelf(pages: list[tuple[int, Page]]) -> Iterator[Workspace]:
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        (home / "docs").mkdir()
        for number, page in pages:
            body = "\n\n".join((f"# Rule {number}", *rules(number)))
            (home / "docs" / f"rule-{number}.md").write_text(page.front() + body, encoding="utf-8")
        (home / "ombud.toml").write_text(TOML, encoding="utf-8")
        with closing(Workspace(home)) as workspace:
            sentences = [rule for number, _ in pages for rule in rules(number)]
            reader = recorded_chat(*sentences)
            parts = workspace.ingest._replace(chat=lambda: reader)
            sync_sources(parts, configured_sources(workspace.settings, home, workspace.store))
            yield workspace


def shown(workspace: Workspace, person: Person) -> list[str]:
    """Everything that the graph says to a person, in words that mean the same in every
    workspace."""
    countries = (person.country,) if person.country else ()
    where = Filter(countries=countries, reader=person, as_of=DAY)
    search = GraphSearch(Graph(workspace.store), workspace.engine, where)
    lines: list[str] = []
    for question in QUESTIONS:
        found = find_paths(question, Plan(graph_keywords=4, graph_depth=3), search)
        assert found.degraded == ()
        lines += [f"{one.subject} {one.predicate} {one.object}" for one in found.triplets]
        lines += [
            f"{hit.chunk.uri} {hit.score:.6f} {hit.found_by} {hit.chunk.text}" for hit in found.hits
        ]
    for term in TERMS:
        around = neighbourhood(term, 2, search, most=100)
        lines += [repr((around.keys, around.left_out)) if around.edges else ""]
        lines += [
            f"{e.triplet.subject} {e.triplet.predicate} {e.triplet.object}" for e in around.edges
        ]
        lines += sorted(chunk.text for chunk in around.chunks.values())
    return lines


@pytest.fixture(autouse=True)
def _no_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OMBUD_MODELS__EMBEDDER", raising=False)


@settings(
    max_examples=5, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.lists(PAGES, min_size=3, max_size=8), st.lists(PEOPLE, min_size=1, max_size=3))
def test_the_graph_shows_what_it_would_show_without_what_is_hidden(
    pages: list[Page], people: list[Person]
) -> None:
    with shelf(list(enumerate(pages))) as whole:
        for person in people:
            right = [
                (n, page)
                for n, page in enumerate(pages)
                if page.is_for(person) and page.holds_on(DAY)
            ]
            said = shown(whole, person)
            wrong = {word(n) for n in range(len(pages))} - {word(n) for n, _ in right}
            assert [line for line in said if any(name in line for name in wrong)] == []
            assert all(any(word(n) in line for line in said) for n, _ in right)
            with shelf(right) as own:
                assert said == shown(own, person)
