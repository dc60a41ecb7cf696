"""One frozen question of what is typed and what was asked before: subject, country, day."""

from collections.abc import Iterator, Sequence
from datetime import date

import pytest

from answer.asking import FR, GB, NOBODY, ask, company
from ombud.app import Workspace, asking
from ombud.types import Message, Person, Question, ResolvedQuestion

LEAVE = "How many days of annual leave do I get?"
FILES = {
    "leave-gb.md": (
        "# Leave (Great Britain)\n\n## Annual leave\n\nEmployees have 26 days of annual leave a "
        "year.\n",
        {"country": "GB"},
    ),
    "leave-fr.md": (
        "# Leave (France)\n\n## Annual leave\n\nEmployees have 31 days of annual leave a year.\n",
        {"country": "FR"},
    ),
    "mileage-2025.md": (
        "# Mileage\n\n## Rate\n\nThe mileage rate for your own car is 40 pence for each mile.\n",
        {"effective_from": "2024-01-01"},
    ),
    "mileage-2026.md": (
        "# Mileage\n\n## Rate\n\nThe mileage rate for your own car is 45 pence for each mile.\n",
        {"effective_from": "2026-01-01", "supersedes": "docs/mileage-2025.md"},
    ),
    "mileage-2027.md": (
        "# Mileage\n\n## Rate\n\nThe mileage rate for your own car is 50 pence for each mile.\n",
        {"effective_from": "2090-01-01"},
    ),
    "sheds.md": (
        "# Sheds\n\n## Bicycle shed\n\nThe bicycle shed behind the canteen opens at six.\n",
        {},
    ),
    "phones.md": (
        "# Phones\n\n## Company phone\n\nA broken phone is exchanged at the service desk.\n",
        {},
    ),
    "secret.md": (
        "# Project\n\n## Zanzibarium\n\nThe zanzibarium project ends in May.\n",
        {"audience": "{roles: [director]}"},
    ),
}


@pytest.fixture(scope="module", params=["none", "minilm"])
def workspace(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Workspace]:
    shelf = company(tmp_path_factory.mktemp("resolve"), request.param, files=FILES)
    yield shelf.workspace
    shelf.workspace.close()


def resolve(workspace: Workspace, *turns: str, person: Person = GB) -> ResolvedQuestion:
    """The last turn, after the others were asked and answered."""
    *earlier, last = turns
    history: list[Message] = []
    for text in earlier:
        history.append(Message(role="user", content=text))
        history.append(Message(role="assistant", content="**Badgers** live in setts. [1]"))
    question = Question(text=last, asker=person, history=tuple(history))
    return asking.resolve(workspace, question)


@pytest.mark.parametrize(
    ("turns", "country"),
    [
        ((LEAVE, "and in France?"), "FR"),
        ((LEAVE, "what about France?"), "FR"),
        ((LEAVE, "France?"), "FR"),
        ((LEAVE, "im in the UK"), "GB"),
        ((LEAVE, "and in France?", "and for part-timers?"), "FR"),
        ((LEAVE, "and in France?", "Where is the bicycle shed?"), "FR"),
    ],
)
def test_a_country_changes_and_holds(
    workspace: Workspace, turns: Sequence[str], country: str
) -> None:
    resolved = resolve(workspace, *turns)
    assert resolved.asker.country == country
    assert resolved.countries == (country,)


@pytest.mark.parametrize(
    "turn",
    [
        "and in France?",
        "France?",
        "and for part-timers?",
        "what about contractors",
        "and if I'm on probation?",
        "is it paid?",
    ],
)
def test_a_follow_up_stays_on_its_subject(workspace: Workspace, turn: str) -> None:
    resolved = resolve(workspace, LEAVE, turn)
    assert resolved.follows == LEAVE
    assert "annual leave" in resolved.standalone


@pytest.mark.parametrize(
    "turn", ["Where is the bicycle shed?", "also, how do I replace a broken phone?"]
)
def test_a_new_subject_starts_fresh(workspace: Workspace, turn: str) -> None:
    resolved = resolve(workspace, LEAVE, turn)
    assert resolved.follows == ""
    assert resolved.standalone == turn


def test_words_of_our_answers_are_never_searched_for(workspace: Workspace) -> None:
    resolved = resolve(workspace, LEAVE, "and is it paid?")
    assert "badger" not in resolved.standalone.lower()
    assert all("badger" not in text.lower() for text in resolved.earlier)


def test_a_greeting_between_two_turns_changes_nothing(workspace: Workspace) -> None:
    resolved = resolve(workspace, LEAVE, "thanks!", "and in France?")
    assert resolved.follows == LEAVE


def test_the_country_that_was_asked_for_answers_the_question_before(workspace: Workspace) -> None:
    resolved = resolve(workspace, LEAVE, "France", person=NOBODY)
    assert resolved.asker.country == "FR"
    assert resolved.standalone == LEAVE


def test_the_rule_of_the_day_that_is_asked_about_answers(workspace: Workspace) -> None:
    then = ask(workspace, "What was the mileage rate for my car in 2025?")
    assert {citation.uri for citation in then.citations} == {"docs/mileage-2025.md"}
    assert "2025" in then.text.partition("\n")[0]
    now = ask(workspace, "What is the mileage rate for my car?")
    assert {citation.uri for citation in now.citations} == {"docs/mileage-2026.md"}


def test_a_day_that_the_request_sets_counts_before_words(workspace: Workspace) -> None:
    question = Question(text="mileage in 2025", asker=GB, as_of=date(2026, 6, 1))
    assert asking.resolve(workspace, question).as_of == date(2026, 6, 1)


def test_a_typo_is_read_as_a_word_of_the_documents_and_said(workspace: Workspace) -> None:
    answer = ask(workspace, "my compny phone is broken, who exchanges it?")
    assert "“compny” as “company”" in answer.text
    assert resolve(workspace, "when is payday").corrections == ()
    assert resolve(workspace, "how does toil work").corrections == ()


def test_no_word_of_a_document_that_may_not_be_read_is_proposed(workspace: Workspace) -> None:
    asked = "what is the zanzibarum project"
    assert resolve(workspace, asked).corrections == ()
    director = GB.model_copy(update={"roles": ("director",)})
    assert resolve(workspace, asked, person=director).corrections[0].meant == "zanzibarium"


@pytest.mark.parametrize(
    "text",
    [
        "\u202ehow many days of leave\u202c",
        "leave\x00days",
        "Urlaub leave congés vacaciones ferie?",
        "a" * 20_000,
        "?",
        "   ",
    ],
)
def test_odd_messages_are_resolved_and_handed_to_nobody(workspace: Workspace, text: str) -> None:
    assert resolve(workspace, text).typed == text
    assert ask(workspace, text, FR).action != "handoff"
