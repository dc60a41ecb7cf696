"""Text to terms: the same for documents and questions."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from index.makers import EVERYTHING, chunk, ids, row
from ombud.index import blocking, open_engine
from ombud.text.analysis import analyse


@pytest.mark.parametrize(
    ("text", "language", "terms"),
    [
        ("The employees are applying for holidays.", "en", ["employe", "appli", "holiday"]),
        (
            "Die Beschäftigten müssen Anträge stellen",
            "de",
            ["beschaftigt", "muss", "antrag", "stell"],
        ),
        ("Straße", "de", ["strass"]),
        ("les congés payés", "fr", ["cong", "pay"]),
        ("résumé RÉSUMÉ re\u0301sume\u0301", "xx", ["resume", "resume", "resume"]),
        ("ﬁle №", "xx", ["file", "no"]),
        ("年次有給休暇", "ja", ["年次", "次有", "有給", "給休", "休暇"]),
        ("休", "ja", ["休"]),
        ("연차휴가 days", "ko", ["연차", "차휴", "휴가", "days"]),
        ("13.5 days", "xx", ["13", "5", "13.5", "days"]),
        ("R&D", "xx", ["r", "d", "r&d"]),
        ("on-call", "xx", ["on", "call"]),
        ("401(k)", "xx", ["401", "k"]),
        ("snake_case", "xx", ["snake", "case"]),
        ("", "en", []),
        ("the of and", "en", []),
        ("!? … 🏖", "en", []),
    ],
)
def test_terms(text: str, language: str, terms: list[str]) -> None:
    assert analyse(text, language) == terms


def test_forms_of_a_word_meet_as_porter_published_them() -> None:
    # https://snowballstem.org/algorithms/english/stemmer.html, sample vocabulary
    published = {
        "consign": "consign",
        "consigned": "consign",
        "consistency": "consist",
        "knightly": "knight",
    }
    assert {word: analyse(word)[0] for word in published} == published


@pytest.mark.parametrize(
    "word", ["x" * 38, "x" * 39, "x" * 40, "x" * 100, "ж" * 19, "ж" * 20, "ж" * 60, "9" * 50]
)
def test_a_long_word_is_found_again(word: str, tmp_path: Path) -> None:
    engine = open_engine(f"lance://{tmp_path}", fingerprint="", dimension=0)
    blocking(
        engine.upsert(["a"], [row(chunk("a"), terms=" ".join(analyse(f"before {word} after")))])
    )
    legs = blocking(engine.search(" ".join(analyse(word)), None, EVERYTHING, 5, "sparse"))
    assert [ids(leg) for leg in legs] == [["a-0"]]


@given(st.text(max_size=60), st.sampled_from(["en", "de", "ja", "xx"]))
def test_any_text_becomes_words_without_white_space(text: str, language: str) -> None:
    for term in analyse(text, language):
        assert term.split() == [term]
        assert len(term.encode()) < 40


@given(st.lists(st.from_regex(r"[a-zäöü]{1,12}", fullmatch=True), max_size=6))
def test_capitals_do_not_count(words: list[str]) -> None:
    assert analyse(" ".join(words).upper()) == analyse(" ".join(words))
