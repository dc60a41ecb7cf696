"""Mistyped words are read as they were meant; right ones, names and other languages stay."""

import pytest

from ombud.text import Vocabulary, read_spelling, spell_out

WORDS = "maternity expenses expense claim deadline business class career leave holiday bonus probation elternzeit internships"
VOCABULARY = Vocabulary(dict.fromkeys(WORDS.split(), 20))


def meant(text: str) -> str:
    return read_spelling(text, VOCABULARY).text


@pytest.mark.parametrize(
    ("typed", "right"),
    [
        ("matternity pay", "maternity pay"),
        ("expences claim dedline", "expenses claim deadline"),
        ("buisness class", "business class"),
        ("when is the bouns paid", "when is the bonus paid"),
        ("how long is probashun", "how long is probation"),
        ("elternziet how do i tell the company", "elternzeit how do i tell the company"),
        ("how many hollidays do i get", "how many holidays do i get"),
        ("Expences, who signs?", "Expenses, who signs?"),
        ("am i alowed a side job", "am i allowed a side job"),
        ("where are expenses submited", "where are expenses submitted"),
    ],
)
def test_slips_are_read_as_meant(typed: str, right: str) -> None:
    assert meant(typed) == right


@pytest.mark.parametrize(
    ("typed", "right"),
    [
        ("is there cycle towork", "is there cycle to work"),
        ("can i work from spain for amonth", "can i work from spain for a month"),
        ("can i have a nother day", "can i have another day"),
        ("can i take a carreer brake", "can i take a career brake"),
        ("do intern ships get paid", "do internships get paid"),
        ("any intern ships?", "any internships?"),
    ],
)
def test_words_are_parted_and_joined(typed: str, right: str) -> None:
    assert meant(typed) == right


@pytest.mark.parametrize(
    "text",
    [
        "can i bring my hamster to the office",
        "whats the wifi password, dont have it",
        "is there a paternal grandmother rule",
        "please ask Janne Bonnus about it",
        "send it to expences@example.org or https://example.org/dedline",
        "is form EXPNSE or B0NUS2 right",
        "krankmeldung ab wann",
        "Wie viel Urlaub habe ich im ersten Jahr?",
        "is there over time on a home office day",
        "they okayed my leave, who deploys it",
        "combien de jours de congé pour un mariage",
        "przepis na pierogi",
        "",
    ],
)
def test_what_is_right_or_not_english_stays(text: str) -> None:
    assert meant(text) == text


def test_a_verb_is_not_joined_with_what_ends_it() -> None:
    vocabulary = Vocabulary({"handover": 20, "work": 20})
    assert read_spelling("do i hand over work when i leave", vocabulary).changes == ()
    assert read_spelling("is there a hand overs checklist", vocabulary).changes


def test_a_word_that_the_asker_may_read_elsewhere_is_kept() -> None:
    kept = read_spelling("what is bouns", VOCABULARY, frozenset({"bouns"}))
    assert kept.changes == ()


def test_long_messages_are_not_cut_within_a_word() -> None:
    text = "please tell me about leave " * 15 + "expenses"
    assert meant(text) == text


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("whats the mileage rate", "what's the mileage rate"),
        ("Im off sick, wheres the form pls", "I'm off sick, where's the form please"),
        ("i dont know, can u tell me", "i don't know, can you tell me"),
        ("what's IM for, and the PLZ field?", "what's IM for, and the PLZ field?"),
        ("see im.txt or @dont or wont-do", "see im.txt or @dont or wont-do"),
        ("can i spend 50k, or 7.5k", "can i spend 50,000, or 7.5k"),
        ("my 401k and form 10-k, in T5k", "my 401k and form 10-k, in T5k"),
        ("a 4k monitor for the 10k run", "a 4k monitor for the 10k run"),
        ("my manger is ill", "my manager is ill"),
        ("its fine, ill wait for my id", "its fine, ill wait for my id"),
    ],
)
def test_short_forms_are_spelled_out(typed: str, meant: str) -> None:
    assert spell_out(typed) == meant
