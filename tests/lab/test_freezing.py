"""Answers from frozen passages: as from the search that found them, over HTTP too, and from nothing
else."""

import asyncio
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import httpx
import pytest

from lab.keeping import said, told
from lab.makers import hit
from ombud.app import LocalTarget, Workspace
from ombud.cli.lab.target import complete
from ombud.errors import LabError
from ombud.lab import (
    EvidenceTarget,
    FrozenTarget,
    RemoteTarget,
    cases_text,
    freeze_cases,
    frozen_text,
    read_frozen,
)
from ombud.lab.runs.freezing import FrozenCase
from ombud.store import list_answers
from ombud.types import Case, Person, Question
from web.running import LEAVE_GB, make_workspace, running

GB = Person(country="GB")
CASES = (
    Case(id="leave", question="How many days of annual leave do I have?", person=GB),
    Case(id="home", question="May I work from home?", person=GB),
    Case(id="moon", question="Who owns the craters of the moon?", person=GB, expect="deny"),
)
GRIEVANCE = Question(text="My manager touched me and I want to report it.", asker=GB)


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    with closing(make_workspace(tmp_path_factory.mktemp("frozen"))) as made:
        yield made


@pytest.fixture(scope="module")
def address(workspace: Workspace) -> Iterator[str]:
    with running(workspace) as url:
        yield url


@pytest.fixture(params=["local", "remote"])
def target(request: pytest.FixtureRequest, workspace: Workspace, address: str) -> EvidenceTarget:
    return LocalTarget(workspace) if request.param == "local" else RemoteTarget(address)


def frozen_of(target: EvidenceTarget, path: Path) -> tuple[FrozenCase, ...]:
    path.write_text(
        frozen_text(complete(freeze_cases(CASES, target, {}), target)), encoding="utf-8"
    )
    return read_frozen(path)


def test_frozen_evidence_gives_the_answers_of_the_search_that_found_it(
    target: EvidenceTarget, tmp_path: Path
) -> None:
    frozen = frozen_of(target, tmp_path / "frozen.jsonl")
    assert [one.case for one in frozen] == list(CASES)
    over = FrozenTarget(target, frozen)
    over.check(CASES)
    for one in frozen:
        question = Question(text=one.case.question, asker=GB)
        live = complete(target.ask(question, {}), target)
        again = complete(over.ask(question, {}), target)
        assert (again.text, again.outcome) == (live.text, live.outcome)
        assert again.trace.evidence == tuple(hit.chunk.id for hit in one.hits)
        assert "search: the passages were supplied" in again.trace.degraded
    assert over.describe()["evidence"] != ""


def test_only_what_was_supplied_is_answered_from(target: EvidenceTarget) -> None:
    question = Question(text=CASES[0].question, asker=GB)
    rule = "Full-time employees have 41 days of paid annual leave each calendar year."
    given = [hit(rule, "nowhere.md", title="Invented")]
    answer = complete(target.ask_from(question, {}, given, triage=True), target)
    assert rule in answer.text
    assert LEAVE_GB not in answer.text
    assert [citation.title for citation in answer.citations] == ["Invented"]
    distracting = [hit("Visitors of the laboratory wear a yellow badge.", "visitors.md")]
    refused = complete(
        target.ask_from(question, {"abstain": 0.5}, distracting, triage=True), target
    )
    assert "26 days" not in refused.text
    empty = complete(target.ask_from(question, {}, [], triage=True), target)
    assert empty.citations == ()
    assert empty.outcome == "denied"


def test_triage_may_be_left_out(target: EvidenceTarget) -> None:
    given = [
        hit("Whoever is touched against their will reports it to the speak-up office.", "s.md")
    ]
    with_triage = complete(target.ask_from(GRIEVANCE, {}, given, triage=True), target)
    without = complete(target.ask_from(GRIEVANCE, {"abstain": 0.0}, given, triage=False), target)
    assert with_triage.action == "handoff"
    assert without.action != "handoff"


def test_nothing_of_it_is_kept(workspace: Workspace) -> None:
    before = len(list(list_answers(workspace.store)))
    question = Question(text=CASES[0].question, asker=GB)
    asyncio.run(LocalTarget(workspace).ask_from(question, {}, [], triage=True))
    assert len(list(list_answers(workspace.store))) == before


def test_what_the_route_takes(address: str, workspace: Workspace) -> None:
    with httpx.Client(base_url=address, timeout=30) as client:
        ask = {"question": CASES[0].question, "person": {"country": "GB"}}
        search = client.post("/api/v1/search", json={"query": CASES[0].question}).json()["hits"]
        answered = client.post("/api/v1/ask", json=ask | {"evidence": search})
        assert answered.status_code == 200
        bare = client.post("/api/v1/ask", json=ask | {"evidence": [{"text": LEAVE_GB}]})
        assert LEAVE_GB in bare.json()["text"]
        talk = client.post("/api/v1/conversations").json()["id"]
        for wrong in (
            {"evidence": [], "conversation_id": talk},
            {"triage": False},
            {"evidence": [{"text": ""}]},
            {"evidence": [{"text": "x"}] * 101},
        ):
            assert client.post("/api/v1/ask", json=ask | wrong).status_code == 422


def test_a_case_that_was_not_frozen_stops_before_anything_is_asked(
    workspace: Workspace, tmp_path: Path
) -> None:
    target = LocalTarget(workspace)
    over = FrozenTarget(target, frozen_of(target, tmp_path / "frozen.jsonl"))
    changed = CASES[0].model_copy(update={"question": "And how much leave?"})
    with pytest.raises(LabError, match="1 cases have no frozen evidence, such as leave"):
        over.check([changed, CASES[1]])
    with pytest.raises(LabError, match="no frozen evidence"):
        asyncio.run(over.ask(Question(text="And how much leave?"), {}))
    with pytest.raises(LabError, match=r"does not change with index\.chunk_tokens"):
        over.variant({"index.chunk_tokens": 64})


@pytest.mark.parametrize("line", ["{", "[]", '{"case": {"id": "1"}, "hits": []}', '{"hits": []}'])
def test_what_is_no_frozen_evidence_names_the_line(tmp_path: Path, line: str) -> None:
    path = tmp_path / "frozen.jsonl"
    path.write_text(f"\n{line}\n", encoding="utf-8")
    with pytest.raises(LabError, match=r"frozen\.jsonl, line 2"):
        read_frozen(path)


def test_the_commands_freeze_and_run(workspace: Workspace) -> None:
    home = workspace.home
    dataset, frozen = home / "cases.jsonl", home / "frozen.jsonl"
    dataset.write_text(cases_text(CASES), encoding="utf-8")
    kept = told(home, "freeze", dataset, "--split", "open", "--out", frozen)
    assert kept["cases"] >= 1
    assert "Answered from the evidence in frozen.jsonl" in said(
        home, "run", dataset, "--evidence", frozen, "--metrics", "outcome_accuracy"
    )
    frozen.write_text("", encoding="utf-8")
    refused = said(home, "run", dataset, "--evidence", frozen, code=LabError.exit_code)
    assert "have no frozen evidence" in refused
