"""The gap report: what a policy owner must see, and what nobody may see."""

import asyncio
import json
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from html import unescape
from pathlib import Path

import pytest
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart
from pydantic_ai.models.function import AgentInfo, FunctionModel
from sqlalchemy import text as sql

from answer.asking import company
from ingest.shelf import Shelf
from ombud.app import Gaps, Workspace, asking, find_gaps, gaps_json, render_gaps
from ombud.app.gaps.counted import person_behind
from ombud.models import Chat
from ombud.store import StoredAnswer, erase_rows, select_of_person
from ombud.types import Person, Question

DOGS = (
    "May I bring my dog to the office?",
    "Can I bring my dog into the office",
    "Is it allowed to bring a dog to the office?",
    "bring dog to office allowed?",
    "Am I allowed to bring my dog Bodo to the office?",
)
PARKING = (
    "How much does parking in the garage cost?",
    "What does parking cost in the garage",
    "parking garage cost per day",
    "cost of parking in the garage a day?",
    "Is parking in the garage free or what does it cost?",
)
FILES = {
    "parking.md": (
        "# Parking\n\nParking in the garage costs 3 pounds a day.\n",
        {"effective_to": "2020-12-31"},
    ),
    "leave-gb.md": (
        "# Annual leave in Great Britain\n\n## Entitlement\n\nEmployees have 18 days of annual leave a year.\n",
        {"country": "GB", "topic": "leave"},
    ),
    "leave-floor.md": (
        "# Annual leave, the global floor\n\n## Entitlement\n\n"
        "Employees have at least 20 days of annual leave a year.\n",
        {"topic": "leave", "mandatory": "true"},
    ),
    "dignity.md": (
        "# Dignity at work\n\nAnyone whose boss touches them against their will can speak to a dignity adviser.\n",
        {"topic": "harassment"},
    ),
    "office.md": (
        "# The office\n\nThe office opens at seven and the last one out sets the alarm.\n",
        {},
    ),
    "plants.md": ("# Plants\n\nPlants are watered on Mondays by the facility team.\n", {}),
}
LEAVE = "How many days of annual leave do employees have in a year?"
TOUCHED = "My boss Harold touches me against my will, what can I do?"


def small(home: Path, **settings: object) -> Shelf:
    return company(home, files=FILES, audit={"group_size": 5} | settings)


def tell(
    workspace: Workspace, texts: Sequence[str], who: str = "person", country: str | None = "GB"
) -> None:
    for number, text in enumerate(texts):
        asyncio.run(
            asking.ask(
                workspace, Question(text=text, asker=Person(id=f"{who}-{number}", country=country))
            )
        )


def everything(found: Gaps) -> str:
    """All that the report says, in every form."""
    return json.dumps(gaps_json(found), ensure_ascii=False) + unescape(render_gaps(found, "Acme"))


def test_what_enough_people_ask_in_vain_is_a_topic(tmp_path: Path) -> None:
    workspace = small(tmp_path).workspace
    tell(workspace, DOGS)
    found = find_gaps(workspace)
    assert found.questions == 5
    (topic,) = found.unanswered
    assert (topic.questions, topic.people, found.unanswered_others) == (5, 5, 0)
    assert sum(topic.outcomes.values()) == 5
    assert "full" not in topic.outcomes


def test_one_person_who_asks_often_is_one_person(tmp_path: Path) -> None:
    workspace = small(tmp_path).workspace
    for text in DOGS:
        asyncio.run(
            asking.ask(workspace, Question(text=text, asker=Person(id="the-same", country="GB")))
        )
    found = find_gaps(workspace)
    assert (found.unanswered, found.unanswered_others) == ((), 5)
    assert found.asked == ()


def test_nothing_that_too_few_asked_is_shown(tmp_path: Path) -> None:
    workspace = small(tmp_path, show_words="questions").workspace
    tell(workspace, DOGS[:4])
    tell(workspace, PARKING[:4], "other")
    found = find_gaps(workspace)
    assert (found.unanswered, found.out_of_force) == ((), ())
    assert (found.unanswered_others, found.out_of_force_others) == (8, 1)
    assert not any(word in everything(found) for word in ("dog", "Parking", "garage"))


@pytest.mark.parametrize(("show", "seen", "unseen"), [
    ("none", (), ("dog", "Bodo", "bring")),
    ("shared", ("dog", "bring"), ("Bodo", "bodo")),
    ("questions", ("May I bring my dog to the office?",), ()),
])  # fmt: skip
def test_words_of_questions_are_shown_as_far_as_allowed(
    tmp_path: Path, show: str, seen: Sequence[str], unseen: Sequence[str]
) -> None:
    workspace = small(tmp_path, show_words=show).workspace
    tell(workspace, DOGS)
    said = everything(find_gaps(workspace))
    assert all(word in said for word in seen)
    assert not any(word in said for word in unseen)


@pytest.mark.parametrize("show", ["none", "shared", "questions"])
def test_sensitive_questions_are_only_counted(tmp_path: Path, show: str) -> None:
    workspace = small(tmp_path, show_words=show).workspace
    tell(workspace, [TOUCHED] * 4)
    assert find_gaps(workspace).sensitive is None
    # What else was said in such a conversation counts with it.
    asker = Person(id="person-9", country="GB")
    talk = asking.new_conversation(workspace, asker)
    for text in (TOUCHED, "May I bring my dog to the office?"):
        asyncio.run(asking.ask(workspace, Question(text=text, asker=asker), conversation_id=talk))
    found = find_gaps(workspace)
    assert (found.sensitive, found.questions, found.outcomes) == (6, 0, {})
    assert (found.unanswered, found.asked, found.contradictions) == ((), (), ())
    assert not any(
        word in everything(found) for word in ("Harold", "touches", "Dignity", "dog", "harass")
    )


def test_nobody_who_asked_is_in_it(tmp_path: Path) -> None:
    workspace = small(tmp_path, show_words="questions").workspace
    tell(workspace, [*DOGS, *PARKING, LEAVE, LEAVE], "mary-4711")
    found = find_gaps(workspace)
    assert found.unanswered
    said = everything(found)
    assert "mary" not in said
    with workspace.store.read() as db:
        ids = db.execute(sql("SELECT id FROM answer")).scalars().all()
    assert not any(identity in said for identity in ids)


LOCAL_LEAVE = "Employees have 18 days of annual leave a year."
LEAVE_FLOOR = "Employees have at least 20 days of annual leave a year."


class Comparing:
    """A chat model that finds the same contradiction in every two passages."""

    def __init__(self, first: str, second: str) -> None:
        self._sentences = (first, second)
        self.prompts: list[str] = []

    def reply(self, messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        prompt = str(messages[-1].parts[-1].content)  # type: ignore[union-attr]
        self.prompts.append(prompt)
        first, second = self._sentences
        if prompt.find(first) > prompt.find(second) >= 0:
            first, second = second, first
        reply = {"contradict": True, "about": "annual leave", "first": first, "second": second}
        text = json.dumps(reply)
        return ModelResponse(parts=[TextPart(text)])


def with_model(
    monkeypatch: pytest.MonkeyPatch, workspace: Workspace, model: Comparing
) -> Workspace:
    chat = Chat("test:comparing", FunctionModel(model.reply))
    monkeypatch.setattr(workspace.models, "chat", lambda role, own="": chat)
    return workspace


def test_a_model_is_asked_whether_passages_of_one_answer_contradict_each_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace = small(tmp_path).workspace
    tell(workspace, [LEAVE])
    model = Comparing(LOCAL_LEAVE, LEAVE_FLOOR)
    found = find_gaps(with_model(monkeypatch, workspace, model), asks_model=True)
    (one,) = found.contradictions
    assert {one["first"]["says"], one["second"]["says"]} == {LOCAL_LEAVE, LEAVE_FLOOR}
    assert {one["first"]["uri"], one["second"]["uri"]} == {
        "docs/leave-gb.md",
        "docs/leave-floor.md",
    }
    assert one["people"] is None
    page = unescape(render_gaps(found, "Acme"))
    assert "met by fewer than 5" in page
    assert LOCAL_LEAVE in page


def test_a_sentence_that_the_model_made_up_is_not_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace = small(tmp_path).workspace
    tell(workspace, [LEAVE])
    model = Comparing(LOCAL_LEAVE, "Employees have 30 days of annual leave a year.")
    found = find_gaps(with_model(monkeypatch, workspace, model), asks_model=True)
    assert model.prompts
    assert found.contradictions == ()


def test_without_a_model_the_report_says_that_it_needs_one(tmp_path: Path) -> None:
    workspace = small(tmp_path).workspace
    tell(workspace, [LEAVE])
    found = find_gaps(workspace, asks_model=True)
    assert found.contradictions == ()
    assert "models.chat" in found.contradictions_note
    assert found.contradictions_note in unescape(render_gaps(found, "Acme"))
    assert "contradict" not in unescape(render_gaps(find_gaps(workspace), "Acme"))


def test_what_is_out_of_force_and_still_asked_for_is_named(tmp_path: Path) -> None:
    workspace = small(tmp_path).workspace
    tell(workspace, PARKING)
    (row,) = find_gaps(workspace).out_of_force
    assert (row["title"], row["uri"], row["to"], row["people"]) == (
        "Parking",
        "docs/parking.md",
        "2020-12-31",
        5,
    )
    assert "ended on 2020-12-31" in render_gaps(find_gaps(workspace), "Acme")


def test_what_is_asked_most_is_counted_by_document(tmp_path: Path) -> None:
    workspace = small(tmp_path).workspace
    tell(workspace, [LEAVE] * 5 + ["When does the office open?"] * 2)
    (topic,) = find_gaps(workspace).asked
    assert (topic.label, topic.people, topic.outcomes.get("denied")) == (
        "Annual leave in Great Britain",
        5,
        None,
    )
    assert find_gaps(workspace).asked_others == 2


def test_since_and_erased(tmp_path: Path) -> None:
    workspace = small(tmp_path).workspace
    tell(workspace, DOGS)
    tomorrow = (datetime.now(UTC) + timedelta(days=1)).date()
    assert find_gaps(workspace, tomorrow).questions == 0
    assert "Nothing was asked" in render_gaps(find_gaps(workspace, tomorrow), "Acme")
    erase_rows(workspace.store, select_of_person(workspace.store, "person-0"), "person")
    found = find_gaps(workspace)
    assert (found.questions, found.erased) == (4, 1)


def test_the_page_needs_nothing_else_and_runs_nothing(tmp_path: Path) -> None:
    workspace = small(tmp_path, show_words="questions").workspace
    hurt = "<script>alert(1)</script><img src=x onerror=alert(2)>"
    tell(workspace, [f"May I bring my dog to the office? {hurt}"] * 5)
    page = render_gaps(find_gaps(workspace), hurt)
    assert "dog" in page
    assert "<script" not in page
    assert "<img" not in page
    assert "default-src 'none'" in page
    assert not any(mark in page for mark in ("http://", "https://", "url(", "@import"))


def test_one_person_without_a_name_is_no_group() -> None:
    """Whoever asks without a conversation may be one and the same; browsers are told apart."""
    row = StoredAnswer("1", None, "", False, None, None, Question(text="x"), None)
    same = [row, row._replace(id="2"), row._replace(id="3", conversation_id="talk")]
    assert len({person_behind(one) for one in same}) == 1
    browsers = [row._replace(owner=name) for name in ("ann", "bob")]
    assert len({person_behind(one) for one in [*same, *browsers]}) == 3
