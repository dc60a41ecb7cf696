"""Who has no country is asked for it where the rules are of countries, and told no other rule."""

import asyncio
from collections.abc import Iterator, Sequence
from datetime import date

import pytest

from answer.asking import GB, NOBODY, Script, ask, company, with_model
from ombud.answer import ResolveParts, resolve_question
from ombud.answer.languages.wording import which_country
from ombud.app import Workspace, asking
from ombud.messages import message
from ombud.text import Calendar
from ombud.types import Answer, Message, Person, Question, ResolvedQuestion

TODAY = date(2026, 6, 1)
SICK = "Who do I have to tell when I am ill in the morning?"
FILES = {
    "sick-gb.md": (
        "# Sickness (Great Britain)\n\n## When you are ill\n\nWho is ill tells the line manager by "
        "09:30 in the morning by phone.\n",
        {"country": "GB", "topic": "sickness"},
    ),
    "sick-de.md": (
        "# Sickness (Germany)\n\n## When you are ill\n\nWho is ill tells the shift office in Jena "
        "by 07:00 in the morning.\n",
        {"country": "DE", "topic": "sickness"},
    ),
    "sick-us.md": (
        "# Sickness (United States)\n\n## When you are ill\n\nWho is ill calls the absence line "
        "one hour before the shift in the morning.\n",
        {"country": "US", "topic": "sickness"},
    ),
    "sick-fr.md": (
        "# Sickness of managers (France)\n\n## When you are ill\n\nA manager who is ill tells the "
        "site head in the morning.\n",
        {"country": "FR", "topic": "sickness", "audience": "{roles: [manager]}"},
    ),
    "travel.md": (
        "# Travel\n\n## Hotels\n\nHotels are booked in the travel tool, up to 180 euros a night.\n",
        {"topic": "travel"},
    ),
}


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    shelf = company(tmp_path_factory.mktemp("countries"), files=FILES)
    yield shelf.workspace
    shelf.workspace.close()


def talk(workspace: Workspace, turns: Sequence[str], person: Person = NOBODY) -> list[Answer]:
    """The answers of a conversation."""
    history: list[Message] = []
    answers: list[Answer] = []
    for text in turns:
        answer = ask(workspace, text, person, history=tuple(history))
        history.append(Message(role="user", content=text))
        history.append(Message(role="assistant", content=answer.text))
        answers.append(answer)
    return answers


def after(first: str, answer: str, reply: str, countries: Sequence[str]) -> ResolvedQuestion:
    """A reply to an answer, of somebody whose country is not known."""
    history = (Message(role="user", content=first), Message(role="assistant", content=answer))
    question = Question(text=reply, asker=NOBODY, history=history)
    return resolve_question(question, ResolveParts(Calendar(TODAY), countries))


def quoted(answer: Answer) -> list[str]:
    return [citation.uri.removeprefix("docs/") for citation in answer.citations]


def test_who_has_no_country_is_asked_for_it(workspace: Workspace) -> None:
    (answer,) = talk(workspace, [SICK])
    assert (answer.outcome, answer.action) == ("denied", "clarify")
    assert not answer.citations
    # Those that speak of it first; what a reader of France would find is for managers.
    assert sorted(answer.suggestions[:3]) == ["Germany", "United Kingdom", "United States"]
    assert answer.suggestions[3:] == ("France",)
    assert message("answer.which_country") in answer.text
    for name in answer.suggestions:
        assert f"- {name}" in answer.text


@pytest.mark.parametrize(
    "said", ["Germany", "im in germany", "Germany please.", "I work in the German office", "de"]
)
def test_the_country_answers_what_was_asked_before(workspace: Workspace, said: str) -> None:
    answer = talk(workspace, [SICK, said])[-1]
    assert quoted(answer) == ["sick-de.md"]
    assert "07:00" in answer.text


@pytest.mark.parametrize("text", ["Can I work from Germany?", "no", "it"])
def test_what_says_more_than_a_country_is_no_reply(workspace: Workspace, text: str) -> None:
    (answer,) = talk(workspace, [SICK])
    resolved = after(SICK, answer.text, text, ["DE", "GB", "IT", "NO", "US"])
    assert (resolved.text, resolved.asker.country) == (text, None)


@pytest.mark.parametrize(
    ("language", "asked", "holds_beside", "reply", "country"),
    [
        ("de", "Welches ist es?", "eigene Regeln", "Ich arbeite in Deutschland", "DE"),
        ("de", "Welches ist es?", "eigene Regeln", "in den USA", "US"),
        ("fr", "Lequel est-ce ?", "ses propres règles", "En France", "FR"),
        ("fr", "Lequel est-ce ?", "ses propres règles", "je travaille aux États-Unis", "US"),
        ("es", "¿Cuál es?", "reglas propias", "Trabajo en Alemania", "DE"),
        ("en", "Which one is it?", "its own rules", "de", "DE"),
        ("pl", "Which one is it?", "its own rules", "Poland", "PL"),
    ],
)
def test_the_country_is_asked_for_and_understood_in_four_languages(
    language: str, asked: str, holds_beside: str, reply: str, country: str
) -> None:
    question = which_country(["Germany", "France"], language)
    assert asked in question
    assert "- Germany" in question
    assert holds_beside in message("answer.own_rules", language)
    for said in (question, f"26 days.\n\n{message('answer.own_rules', language)}"):
        resolved = after(SICK, said, reply, ["DE", "ES", "FR", "PL", "US"])
        assert (resolved.standalone, resolved.asker.country) == (SICK, country)


def test_a_country_behind_a_greeting_answers_no_question() -> None:
    assert after("Hello", "Hello.", "Germany", ["DE"]).standalone == "Germany"


def test_another_country_asks_the_question_before_for_that_country() -> None:
    leave = "How much leave is there in France?"
    resolved = after(leave, "31 days.", "Germany?", ["DE", "FR"])
    assert resolved.countries == ("DE",)
    assert "leave" in resolved.standalone


def test_us_is_a_country_behind_that_question_alone(workspace: Workspace) -> None:
    assert quoted(talk(workspace, [SICK, "us"])[-1]) == ["sick-us.md"]
    assert quoted(talk(workspace, ["tell us who to call when ill in the morning"])[-1]) == []


def test_the_country_holds_for_the_turns_after_it(workspace: Workspace) -> None:
    answers = talk(workspace, [SICK, "Germany", "what may a hotel cost a night?", SICK])
    assert quoted(answers[2]) == ["travel.md"]
    assert quoted(answers[3]) == ["sick-de.md"]


def test_another_country_may_be_said_later(workspace: Workspace) -> None:
    answers = talk(workspace, [SICK, "Germany", "Great Britain"])
    assert quoted(answers[-1]) == ["sick-gb.md"]


def test_what_holds_everywhere_is_answered_at_once(workspace: Workspace) -> None:
    (answer,) = talk(workspace, ["What may a hotel cost a night?"])
    assert quoted(answer) == ["travel.md"]
    assert not answer.suggestions


def test_who_has_a_country_or_names_one_is_not_asked(workspace: Workspace) -> None:
    assert quoted(talk(workspace, [SICK], GB)[0]) == ["sick-gb.md"]
    named = talk(workspace, [f"{SICK} I am in Germany.", "and by when?"])
    assert [quoted(answer) for answer in named] == [["sick-de.md"], ["sick-de.md"]]


def test_a_country_is_none_of_the_asker_where_nobody_asked_for_one(workspace: Workspace) -> None:
    (answer,) = talk(workspace, ["Germany"])
    assert answer.action == "clarify" or not answer.citations


def test_a_chat_model_is_not_left_to_guess_the_country(workspace: Workspace) -> None:
    script = Script({"outcome": "full", "claims": [{"text": "By 09:30.", "citations": [1]}]})
    answer = ask(with_model(workspace, script.chat), SICK, NOBODY)
    assert answer.action == "clarify"
    assert not script.prompts


def test_a_conversation_keeps_what_was_typed(workspace: Workspace) -> None:
    conversation = asking.new_conversation(workspace, NOBODY)
    for text in (SICK, "Germany"):
        answer = asyncio.run(
            asking.ask(
                workspace,
                Question(text=text, asker=NOBODY),
                conversation_id=conversation,
            )
        )
    kept = asking.messages(workspace, conversation)
    assert [message.content for message in kept if message.role == "user"] == [SICK, "Germany"]
    assert quoted(answer) == ["sick-de.md"]
