"""For random documents, people and questions no way of asking shows a word of what its reader may
not see."""

import asyncio
import json
import tempfile
from contextlib import closing
from datetime import date
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from copies import lay_store
from ombud.app import Workspace, asking, configured_sources, library
from ombud.errors import NotFound
from ombud.ingest import sync_sources
from ombud.types import Document, Person, Question
from web.running import running

COUNTRIES, ROLES, GROUPS, GRADES = (
    ["GB", "FR", "US"],
    ["manager", "advisor"],
    ["works-council", "board"],
    ["G1", "G2"],
)
DAY = date(2026, 6, 1)
QUESTIONS = [
    "What is the secret of the rule?",
    "secret rule",
    "Which word is the secret of rule 3?",
    "rule",
    "and that?",
]


class Page(NamedTuple):
    countries: list[str]
    audience: dict[str, list[str]]
    first: date | None
    last: date | None
    status: str

    def front(self) -> str:
        fields: dict[str, Any] = {
            "country": self.countries or None,
            "audience": self.audience or None,
        }
        fields |= {"effective_from": self.first, "effective_to": self.last, "status": self.status}
        lines = [
            f"{name}: {json.dumps(value, default=str)}" for name, value in fields.items() if value
        ]
        return "---\n" + "\n".join(lines) + "\n---\n"

    def is_for(self, person: Person) -> bool:
        """The contract's words: inside a key any, between keys all, a missing attribute is no
        access."""
        has = {
            "roles": person.roles,
            "groups": person.groups,
            "grades": (person.grade,),
            "contracts": (),
        }
        allowed = all(
            any(value in has[key] for value in values) for key, values in self.audience.items()
        )
        return (
            allowed
            and (not self.countries or person.country in self.countries)
            and self.status == "published"
        )

    def holds_on(self, day: date) -> bool:
        return (self.first is None or self.first <= day) and (self.last is None or day <= self.last)


def some(values: list[str]) -> st.SearchStrategy[list[str]]:
    """None, the first or all of them."""
    return st.sampled_from([[], values[:1], values])


DAYS = st.none() | st.sampled_from([date(2025, 1, 1), DAY, date(2026, 12, 31)])
AUDIENCES = st.fixed_dictionaries(
    {},
    optional={
        "roles": st.just([ROLES[0]]) | st.just(ROLES),
        "groups": st.just([GROUPS[0]]) | st.just(GROUPS),
        "grades": st.just([GRADES[0]]) | st.just(GRADES),
        "contracts": st.just(["permanent"]),
    },
)
PAGES = st.builds(
    Page,
    some(COUNTRIES),
    AUDIENCES,
    DAYS,
    DAYS,
    st.sampled_from(["published"] * 4 + ["draft", "withdrawn"]),
).filter(lambda page: not (page.first and page.last) or page.first <= page.last)
PEOPLE = st.builds(
    Person,
    country=st.none() | st.sampled_from(COUNTRIES),
    roles=some(ROLES).map(tuple),
    groups=some(GROUPS).map(tuple),
    grade=st.none() | st.sampled_from(GRADES),
)


def word(number: int) -> str:
    return f"zebrafinch{number:02}"


def shelf(home: Path, pages: list[Page]) -> Workspace:
    (home / "docs").mkdir()
    for number, page in enumerate(pages):
        body = f"# Rule {number}\n\nThe secret of rule {number} is the word {word(number)}, and the rule says no more.\n"
        (home / "docs" / f"rule-{number}.md").write_text(page.front() + body, encoding="utf-8")
    toml = '[models]\nembedder = "none"\n[plan]\nabstain = 0\n[[source]]\nname = "docs"\npath = "docs"\n'
    (home / "ombud.toml").write_text(toml, encoding="utf-8")
    lay_store(home)
    # A page asks for all that there is, for every person.
    workspace = Workspace(home, {"server": {"requests_per_minute": 0}})
    (report,) = sync_sources(
        workspace.ingest, configured_sources(workspace.settings, home, workspace.store)
    )
    assert report.ok
    return workspace


@pytest.fixture(autouse=True)
def _no_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OMBUD_MODELS__EMBEDDER", raising=False)


@settings(
    max_examples=6, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.lists(PAGES, min_size=4, max_size=10), st.lists(PEOPLE, min_size=2, max_size=4))
def test_no_way_shows_what_its_reader_may_not_see(pages: list[Page], people: list[Person]) -> None:
    with tempfile.TemporaryDirectory() as folder, closing(shelf(Path(folder), pages)) as workspace:
        documents = {document.uri: document for document in library.documents(workspace, None)}
        for person in people:
            for question in QUESTIONS:
                check(workspace, documents, pages, person, question)
        with running(workspace) as address, httpx.Client(base_url=address, timeout=30) as client:
            for person in people:
                check_http(client, documents, pages, person)


def hidden(
    documents: dict[str, Document], pages: list[Page], person: Person, day: date | None
) -> list[str]:
    """Words and ids that must not be there."""
    return [
        sign
        for number, page in enumerate(pages)
        if not (page.is_for(person) and (day is None or page.holds_on(day)))
        for sign in (word(number), documents[f"docs/rule-{number}.md"].id)
    ]


def clean(said: str, signs: list[str]) -> None:
    assert [sign for sign in signs if sign in said] == []


def check(
    workspace: Workspace,
    documents: dict[str, Document],
    pages: list[Page],
    person: Person,
    question: str,
) -> None:
    signs = hidden(documents, pages, person, DAY)
    evidence, trace = asyncio.run(asking.search(workspace, question, person, as_of=DAY, k=50))
    clean(evidence.model_dump_json() + trace.model_dump_json(), signs)
    right = {n for n, page in enumerate(pages) if page.is_for(person) and page.holds_on(DAY)}
    if "rule" in question:  # what may be seen is found, or this test would prove nothing
        assert {hit.chunk.uri for hit in evidence.hits} == {f"docs/rule-{n}.md" for n in right}
    answer = asyncio.run(asking.ask(workspace, Question(text=question, asker=person, as_of=DAY)))
    clean(answer.model_dump_json(), signs)
    listed = library.documents(workspace, person, DAY)
    assert {document.uri for document in listed} == {f"docs/rule-{n}.md" for n in right}
    for number, page in enumerate(pages):
        if not page.is_for(person):
            with pytest.raises(NotFound):
                library.document(workspace, documents[f"docs/rule-{number}.md"].id, person)


def check_http(
    client: httpx.Client, documents: dict[str, Document], pages: list[Page], person: Person
) -> None:
    signs, today = hidden(documents, pages, person, DAY), DAY.isoformat()
    who = person.model_dump(mode="json", exclude={"id"}, exclude_none=True)
    for question in QUESTIONS:
        found = client.post(
            "/api/v1/search", json={"query": question, "person": who, "as_of": today, "k": 50}
        )
        clean(found.text, signs)
        asked = {"question": question, "person": who, "as_of": today}
        clean(client.post("/api/v1/ask", json=asked).text, signs)
        streamed = client.post("/api/v1/ask", json=asked, headers={"accept": "text/event-stream"})
        clean(streamed.text, signs)
    query: dict[str, Any] = {
        "country": person.country or "",
        "role": person.roles,
        "group": person.groups,
    }
    query |= {"grade": person.grade} if person.grade else {}
    clean(client.get("/api/v1/documents", params=query | {"as_of": today}).text, signs)
    for number, page in enumerate(pages):
        identity = documents[f"docs/rule-{number}.md"].id
        for route in (f"/api/v1/documents/{identity}", f"/documents/{identity}"):
            shown = client.get(route, params=query)
            assert (shown.status_code == httpx.codes.OK) is page.is_for(person), route
            assert (word(number) in shown.text) is page.is_for(person)
