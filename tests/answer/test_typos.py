"""Mistyped questions, over real indexes: corrected with words that their reader may read."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from answer.asking import ask, company
from ingest.shelf import Shelf
from ombud.app import Workspace
from ombud.index import Filter
from ombud.messages import message
from ombud.retrieve import Vocabularies
from ombud.text import Corrected
from ombud.types import Correction, Message, Person

PAGE = (
    "# {title}\n\nThe {word} allowance is 40 pounds. Ask your manager for the {word} allowance.\n"
)
HANDBOOK = """# Working here

Maternity pay lasts 39 weeks. Claim expenses by the deadline, also of business class. A career break
and a holiday need notice. The bonus is paid after probation. Elternzeit is unpaid. Internships are
paid. Employees may swap a bank holiday. A company phone from Quillfeather stays fine in a drawer.
Comp time is time off for overtime; comp time counts double at weekends. No comp time in the first
month, and comp time ends after a year. Comp time is not paid.
"""
KURZARBEIT = (
    "# Krankmeldung\n\nDie Krankmeldung geht am ersten Tag an die Personalabteilung. Ohne "
    "Krankmeldung wird kein Entgelt für die Fehlzeit gezahlt.\n"
)
BOARD = Person(roles=("board",))


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    shelf = company(tmp_path_factory.mktemp("typos"))
    yield counted(shelf.workspace)
    shelf.workspace.close()


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shelf]:
    shelf = Shelf(tmp_path_factory.mktemp("handbook"))
    shelf.write("working.md", HANDBOOK)
    shelf.write("krank.md", KURZARBEIT, country="DE", language="de")
    shelf.write(
        "few.md", PAGE.format(title="Zephyrine", word="zephyrine"), audience="{roles: [board]}"
    )
    shelf.write("draft.md", PAGE.format(title="Xanthippe", word="xanthippe"), status="draft")
    shelf.sync()
    counted(shelf.workspace)
    yield shelf
    shelf.workspace.close()


def counted(workspace: Workspace) -> Workspace:
    assert vocabularies(workspace).ready(30.0)
    return workspace


def vocabularies(workspace: Workspace) -> Vocabularies:
    known = workspace.index.vocabularies
    assert known is not None
    return known


def correct(shelf: Shelf, text: str, reader: Person | None = None) -> Corrected:
    return vocabularies(shelf.workspace).correct(text, Filter(reader=reader or Person()))


@pytest.mark.parametrize(
    ("typed", "meant", "reading"),
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
    workspace: Workspace, typed: str, meant: str, reading: str
) -> None:
    answer, right = ask(workspace, typed), ask(workspace, meant)
    assert {c.uri for c in answer.citations} == {c.uri for c in right.citations}
    assert answer.outcome == right.outcome
    assert answer.text.endswith(reading)
    assert message("answer.read_as").partition("{")[0] not in right.text


def test_a_correction_is_shown_where_nothing_is_cited(workspace: Workspace) -> None:
    answer = ask(workspace, "how do i aply for a parking space on the moon")
    assert "“aply” as “apply”" in answer.text


def test_an_earlier_turn_is_corrected_too(workspace: Workspace) -> None:
    history = (Message(role="user", content="how many days of anual leave do i have?"),)
    answer = ask(workspace, "and can i carry it over?", history=history)
    assert "docs/leave-gb.md" in {citation.uri for citation in answer.citations}


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("matternity pay", "maternity pay"),
        ("expences claim dedline", "expenses claim deadline"),
        ("buisness class", "business class"),
        ("when is the bouns paid", "when is the bonus paid"),
        ("my fone is broken", "my phone is broken"),
        ("elternziet how do i tell the company", "elternzeit how do i tell the company"),
        ("how many hollidays do i get", "how many holidays do i get"),
        ("Expences, who signs?", "Expenses, who signs?"),
        ("am i alowed a side job", "am i allowed a side job"),
        ("can i swpa a bank holliday", "can i swap a bank holiday"),
        ("do i earn comptime for working late", "do i earn comp time for working late"),
    ],
)
def test_slips_are_corrected(shelf: Shelf, typed: str, meant: str) -> None:
    assert correct(shelf, typed).text == meant


def test_each_correction_is_returned(shelf: Shelf) -> None:
    corrections = correct(shelf, "Bouns and expences and bouns").corrections
    assert Correction(typed="Bouns", meant="Bonus") in corrections
    assert Correction(typed="expences", meant="expenses") in corrections


@pytest.mark.parametrize(
    "text",
    [
        "when is payday, and can i take toil or hols",
        "when is my payrise due, i took a lyft",
        "does my fine phone from quillfeather count",
        "whats the wifi password, dont have it",
        "can i bring my hamster to the office",
        "please ask Janne Bonnus about it",
        "send it to expences@example.org or https://example.org/dedline",
        "is form EXPNSE or B0NUS2 right",
        "przepis na pierogi",
        "combien de jours de congé pour un marriage",
        "where can i park my bke",
        "",
    ],
)
def test_words_names_and_doubtful_slips_stay(shelf: Shelf, text: str) -> None:
    assert correct(shelf, text) == Corrected(text)


def test_german_is_corrected_with_german_documents_alone(shelf: Shelf, tmp_path: Path) -> None:
    typed = "Wann muss ich die Krankmeldnug abgeben und bekomme ich einen Bouns?"
    meant = "Wann muss ich die Krankmeldung abgeben und bekomme ich einen Bouns?"
    assert correct(shelf, typed).text == meant
    english = Shelf(tmp_path)
    english.write("working.md", HANDBOOK)
    english.sync()
    counted(english.workspace)
    assert correct(english, typed).corrections == ()
    english.workspace.close()


def test_a_word_is_proposed_to_those_alone_who_may_read_it(shelf: Shelf) -> None:
    typed = "what is the zephirine allowance"
    assert correct(shelf, typed).corrections == ()
    assert correct(shelf, typed, BOARD).text == "what is the zephyrine allowance"
    assert correct(shelf, typed).corrections == ()
    assert "zephyrine" not in ask(shelf.workspace, typed).text.lower()


def test_a_word_of_a_draft_is_proposed_to_nobody(shelf: Shelf) -> None:
    assert correct(shelf, "what is the xanthipe allowance", BOARD).corrections == ()


def test_a_deleted_document_leaves_no_word_behind(tmp_path: Path) -> None:
    shelf = Shelf(tmp_path)
    shelf.write("all.md", PAGE.format(title="Travel", word="taxi"))
    shelf.write("gone.md", PAGE.format(title="Zephyrine", word="zephyrine"))
    shelf.sync()
    counted(shelf.workspace)
    text = "what is the zephirine allowance"
    assert correct(shelf, text).text == "what is the zephyrine allowance"
    shelf.remove("gone.md")
    shelf.sync(allow_deletes=True)
    counted(shelf.workspace)
    assert correct(shelf, text).corrections == ()
    shelf.workspace.close()


@pytest.mark.parametrize(
    "text",
    [
        "a" * 20_000,
        "expences\0bouns\0" * 1000,
        "еxpеncеs ｂｏｕｎｓ paylоad",
        "\ud800 zzzq \u202e snuob",
        "(((((" * 4000,
        " ".join(f"{letter}qzx{letter}" for letter in "abcdefghijklmnopqrstuvwxyz" * 50),
        "a." * 10_000,
        "İıẞß ﬁﬂ ŉ",
    ],
)
def test_hostile_text_comes_back_as_it_was(shelf: Shelf, text: str) -> None:
    corrected = correct(shelf, text)
    for correction in corrected.corrections:
        assert (correction.typed, correction.meant) in {
            ("expences", "expenses"),
            ("bouns", "bonus"),
        }
    if not corrected.corrections:
        assert corrected.text == text
