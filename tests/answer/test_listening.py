"""Short turns, single words and abbreviations, over the small company."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from answer.asking import GB, ask, company
from ombud.answer.triage.phrases import wants_anonymity
from ombud.app import Workspace, asking
from ombud.messages import message
from ombud.types import Answer, Message, Question, ResolvedQuestion


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    shelf = company(tmp_path_factory.mktemp("listening"))
    yield shelf.workspace
    shelf.workspace.close()


def after(*turns: tuple[str, Answer]) -> tuple[Message, ...]:
    messages: list[Message] = []
    for text, answer in turns:
        messages.append(Message(role="user", content=text))
        messages.append(Message(role="assistant", content=answer.text))
    return tuple(messages)


def shown(answer: Answer) -> set[str]:
    return {citation.uri for citation in answer.citations}


def test_a_new_subject_is_not_answered_with_the_one_before(workspace: Workspace) -> None:
    first = "How many days of annual leave do I have?"
    leave = ask(workspace, first)
    assert "docs/leave-gb.md" in shown(leave)
    hotel = ask(workspace, "hotel cap in london?", history=after((first, leave)))
    assert shown(hotel) == {"docs/travel.md"}


def test_a_turn_that_points_back_goes_on(workspace: Workspace) -> None:
    first = "How many days of annual leave do I have?"
    leave = ask(workspace, first)
    more = ask(workspace, "can i carry it over?", history=after((first, leave)))
    assert "docs/leave-gb.md" in shown(more)


def test_a_single_word_is_asked_back_as_people_would_ask(workspace: Workspace) -> None:
    answer = ask(workspace, "holiday")
    assert answer.action == "clarify"
    assert "How much annual leave do I get?" in answer.suggestions
    assert all(suggestion.endswith("?") for suggestion in answer.suggestions)


def test_one_content_word_with_a_question_around_it_is_no_vague_one(workspace: Workspace) -> None:
    assert ask(workspace, "how much leave do I get?").action != "clarify"


def resolve(workspace: Workspace, *turns: str) -> ResolvedQuestion:
    """The last turn, after the others were asked."""
    *earlier, last = turns
    history = tuple(Message(role="user", content=text) for text in earlier)
    return asking.resolve(workspace, Question(text=last, asker=GB, history=history))


def test_a_turn_that_says_only_where_has_the_subject_before_it(workspace: Workspace) -> None:
    before = "what is the hotel cap in london?"
    resolved = resolve(workspace, before, "and in great britain?")
    assert "hotel cap" in resolved.standalone
    assert "great britain" in resolved.standalone
    assert resolve(workspace, "and in paris?").standalone == "and in paris?"
    chained = resolve(workspace, before, "and in paris?", "and in oslo?").standalone
    assert "hotel cap" in chained
    assert "oslo" in chained


@pytest.mark.parametrize(
    ("turn", "label"),
    [
        ("what is the weather tomorrow", "out_of_scope"),
        ("and in paris?", "ordinary"),
        ("is it the same there?", "ordinary"),
        ("pity", "ordinary"),
    ],
)
def test_only_what_stands_alone_can_be_outside(workspace: Workspace, turn: str, label: str) -> None:
    resolved = resolve(workspace, "what is the hotel cap in london?", turn)
    assert workspace.answering.triage.question(resolved).label == label


def test_the_row_of_a_glossary_is_the_whole_answer(tmp_path: Path) -> None:
    shelf = company(tmp_path)
    (tmp_path / "glossary.csv").write_text(
        "abbreviation,expansion\nTTP,Time to Travel Permit\n", encoding="utf-8"
    )
    row = "| TTP | Time to Travel Permit | Approval for a trip above 5,000 euros. |"
    shelf.write(
        "glossary.md",
        f"# Glossary\n\n| Short | Stands for | Meaning |\n| --- | --- | --- |\n{row}\n",
    )
    shelf.sync()
    answer = ask(shelf.workspace, "what is TTP?", GB)
    assert [citation.quote for citation in answer.citations] == [row]
    shelf.workspace.close()


def test_who_wants_to_stay_unknown_is_told_what_an_email_reveals(tmp_path: Path) -> None:
    shelf = company(tmp_path)
    with (tmp_path / "contacts.toml").open("a", encoding="utf-8") as file:
        file.write('[[contact]]\ntopic = "whistleblowing"\nname = "Open line"\nanonymous = true\n')
    told = "My boss touches me against my will. How can I report it anonymously?"
    answer = ask(shelf.workspace, told, GB)
    assert answer.action == "handoff"
    assert answer.contacts[0].name == "Open line"
    assert message("answer.email_reveals") in answer.text
    assert message("answer.takes_anonymous", name="Open line") in answer.text
    named = ask(shelf.workspace, "My boss touches me against my will.", GB)
    assert message("answer.email_reveals") not in named.text
    assert [contact.name for contact in named.contacts] == ["Dignity adviser UK"]
    shelf.workspace.close()


@pytest.mark.parametrize(
    "told",
    [
        "I don't want to give my name. My boss touches me against my will.",
        "Ich will nicht sagen wer ich bin. Mein Chef belästigt mich.",
        "No quiero dar mi nombre. Mi jefe me toca.",
    ],
)
def test_staying_unknown_is_heard_in_other_words(told: str) -> None:
    assert wants_anonymity(told)


def test_without_contacts_a_hand_over_still_names_someone(tmp_path: Path) -> None:
    shelf = company(tmp_path)
    (tmp_path / "contacts.toml").unlink()
    answer = ask(shelf.workspace, "My boss touches me against my will.", GB)
    assert answer.action == "handoff"
    assert "HR team" in answer.text
    shelf.workspace.close()


def test_a_hand_over_quotes_only_what_is_on_the_matter(workspace: Workspace) -> None:
    answer = ask(workspace, "My boss touches me against my will, and what is the hotel cap?")
    assert answer.action == "handoff"
    assert shown(answer) <= {"docs/dignity.md"}
