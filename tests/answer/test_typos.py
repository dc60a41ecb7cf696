"""Mistyped questions, over the small company."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from answer.asking import ask, company
from ingest.shelf import Shelf
from ombud.answer import wording
from ombud.app import Workspace
from ombud.index import Filter
from ombud.retrieve import KnownWords
from ombud.types import Message, Person

PAGE = (
    "# {title}\n\nThe {word} allowance is 40 pounds. Ask your manager for the {word} allowance.\n"
)


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    shelf = company(tmp_path_factory.mktemp("typos"))
    assert known_words(shelf.workspace).vocabulary(30.0)
    yield shelf.workspace
    shelf.workspace.close()


def known_words(workspace: Workspace) -> KnownWords:
    known = workspace.index.known_words
    assert known is not None
    return known


@pytest.mark.parametrize(
    ("typed", "meant", "said"),
    [
        (
            "how many days of anual leave do i have?",
            "How many days of annual leave do I have?",
            "I read “anual” as “annual”.",
        ),
        (
            "how many days of anual leeave do i have?",
            "How many days of annual leave do I have?",
            "I read “anual” as “annual”, “leeave” as “leave”.",
        ),
    ],
)
def test_a_mistyped_question_is_answered_as_it_was_meant(
    workspace: Workspace, typed: str, meant: str, said: str
) -> None:
    answer, right = ask(workspace, typed), ask(workspace, meant)
    assert {c.uri for c in answer.citations} == {c.uri for c in right.citations}
    assert answer.outcome == right.outcome
    assert answer.text.endswith(said)
    assert wording.READ_AS not in right.text


@pytest.mark.parametrize("said", ["when is my payrise due", "i took a lyft to the airport"])
def test_what_people_say_and_policies_call_otherwise_is_no_slip(
    workspace: Workspace, said: str
) -> None:
    everyone = Filter(countries=None, reader=Person())
    assert known_words(workspace).read(said, everyone).text == said


def test_how_it_was_read_is_no_word_of_the_documents() -> None:
    text = f"Claim within 30 days. [1]\n\n{wording.read_as([('expences', 'expenses')])}"
    assert wording.without_own(text) == "Claim within 30 days. [1]"


def test_a_turn_before_is_read_as_meant_too(workspace: Workspace) -> None:
    history = (Message(role="user", content="how many days of anual leave do i have?"),)
    answer = ask(workspace, "and can i carry it over?", history=history)
    assert "docs/leave-gb.md" in {citation.uri for citation in answer.citations}


def test_no_word_of_a_document_for_few_is_proposed(tmp_path: Path) -> None:
    shelf = Shelf(tmp_path)
    shelf.write("all.md", PAGE.format(title="Travel", word="taxi"))
    shelf.write(
        "few.md", PAGE.format(title="Zephyrine", word="zephyrine"), audience="{roles: [board]}"
    )
    shelf.sync()
    known = known_words(shelf.workspace)
    for reader in (Person(), Person(roles=("board",))):
        where = Filter(reader=reader)
        assert known.read("what is the zephirine allowance", where).changes == ()
    answer = ask(shelf.workspace, "what is the zephirine allowance")
    assert "zephyrine" not in answer.text.lower()
    shelf.workspace.close()


def test_a_deleted_document_leaves_no_word_behind(tmp_path: Path) -> None:
    shelf = Shelf(tmp_path)
    shelf.write("all.md", PAGE.format(title="Travel", word="taxi"))
    shelf.write("gone.md", PAGE.format(title="Zephyrine", word="zephyrine"))
    shelf.sync()
    known = known_words(shelf.workspace)
    text = "what is the zephirine allowance"
    assert known.vocabulary(30.0)
    assert known.read(text, Filter()).text == "what is the zephyrine allowance"
    shelf.remove("gone.md")
    shelf.sync(allow_deletes=True)
    assert known.vocabulary(30.0)
    assert known.read(text, Filter()).changes == ()
    shelf.workspace.close()
