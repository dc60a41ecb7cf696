"""Abbreviations and the words policies use, as they are added to a search."""

from pathlib import Path

import pytest

from ombud.errors import BadSetting
from ombud.retrieve import read_glossary, standard_query
from ombud.retrieve.strategies.glossary import Glossary
from ombud.retrieve.strategies.thesaurus import policy_words
from ombud.types import Question

ROWS = """abbreviation,expansion,country
PTO,paid time off,
BEM,return-to-work management,DE
BEM,business equipment management,
401(k),retirement savings plan,US
R&D,research and development,
W-2,wage and tax statement,US
L.O.A.,leave of absence,
"""


@pytest.fixture
def glossary(tmp_path: Path) -> Glossary:
    path = tmp_path / "glossary.csv"
    path.write_text(ROWS, encoding="utf-8")
    return read_glossary(path)


@pytest.mark.parametrize(
    ("text", "country", "expansions"),
    [
        ("How much PTO do I get?", None, ["paid time off"]),
        ("how much pto do i get", "GB", ["paid time off"]),
        ("paid leave (PTO) and sickness", None, ["paid time off"]),
        ("PTO, R&D and PTO again", None, ["paid time off", "research and development"]),
        ("my 401(k)?", "US", ["retirement savings plan"]),
        ("my 401(k)?", "GB", []),
        ("my 401(k)?", None, []),
        ("When do I get my W-2?", "US", ["wage and tax statement"]),
        ("Can I take an L.O.A. in May?", None, ["leave of absence"]),
        ("Who does BEM?", "DE", ["return-to-work management"]),
        ("Who does BEM?", "FR", ["business equipment management"]),
        ("Is PTO paid time off?", None, []),
        ("My laptop, my stoop and the ptolemaic model", None, []),
        ("", None, []),
    ],
)
def test_abbreviations_are_spelt_out(
    glossary: Glossary, text: str, country: str | None, expansions: list[str]
) -> None:
    assert glossary.expansions(text, country) == expansions


def test_an_empty_glossary_adds_nothing(tmp_path: Path) -> None:
    assert Glossary().expansions("PTO", "GB") == []
    assert read_glossary(tmp_path / "missing.csv").expansions("PTO", None) == []


def test_the_country_column_may_be_left_out_and_a_spreadsheet_mark_stand_first(
    tmp_path: Path,
) -> None:
    path = tmp_path / "g.csv"
    path.write_bytes("\ufeffabbreviation,expansion\nPTO,paid time off\n,\nXX\n".encode())
    glossary = read_glossary(path)
    assert glossary.expansions("PTO or XX", "GB") == ["paid time off"]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"short,long\nPTO,paid time off\n", "no column `abbreviation`"),
        (b"abbreviation;expansion\nPTO;paid time off\n", "no column `abbreviation`"),
        (b"abbreviation,expansion\nCaf\xe9,coffee\n", "cannot be read"),
    ],
)
def test_a_file_that_is_no_glossary_is_named(tmp_path: Path, content: bytes, said: str) -> None:
    path = tmp_path / "g.csv"
    path.write_bytes(content)
    with pytest.raises(BadSetting, match=said) as wrong:
        read_glossary(path)
    assert str(path) in str(wrong.value)
    assert wrong.value.hint


@pytest.mark.parametrize(
    ("said", "written"),
    [
        ("How many days off do I have?", "annual leave"),
        ("I have the flu", "sickness absence"),
        ("can i wfh on fridays", "remote work"),
        ("My doctor’s note", "fit note"),
        ("i was SACKED", "dismissal"),
        ("is there a bike scheme", "bicycle"),
        ("do you pay for my subway pass", "public transport"),
        ("when do i get my last paycheck", "final pay"),
        ("jury duty", "jury service"),
        ("a small weekend business selling candles", "outside work"),
        ("early off on fridays for sabbath", "religious"),
        ("can i donate some leave, is there a charity day", "charitable"),
    ],
)
def test_what_people_say_finds_what_policies_write(said: str, written: str) -> None:
    assert any(written in words for words in policy_words(said))


@pytest.mark.parametrize("text", ["", "The illness of flute players", "Die Urlaubstage"])
def test_other_words_add_nothing(text: str) -> None:
    assert not any("sickness" in words or "annual leave" in words for words in policy_words(text))


def test_the_longer_of_two_phrases_counts() -> None:
    (words,) = policy_words("my laptop died")
    assert "repair" in words
    assert policy_words("my uncle died") == ["bereavement leave death close family compassionate"]


def test_a_language_without_a_list_adds_nothing() -> None:
    assert policy_words("days off", "ja") == []


def test_a_meaning_that_is_asked_for_is_spelt_out_for_the_vectors(glossary: Glossary) -> None:
    query = standard_query(Question(text="What is PTO?"), glossary)
    assert query.passage == "What is PTO? paid time off"
    other = standard_query(Question(text="How much PTO do I get?"), glossary)
    assert other.passage == "How much PTO do I get?"
    assert "paid time off" in other.text
