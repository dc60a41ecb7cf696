from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab.makers import hit
from ombud.lab import normalise
from ombud.lab.cases.quotes import first_words, holds, pieces, shared, union

TEXT = "Annual leave\n\nYou have 25 days of leave a year.\n\nUnused days expire on 31 March."


def cut(*borders: tuple[int, int]) -> dict[str, tuple[str, ...]]:
    return union(pieces([hit(TEXT[a:b], start=a) for a, b in borders]))


@pytest.mark.parametrize(
    ("page", "quote"),
    [
        ("You have **25 days**\nof  leave", "You have 25 days of leave"),
        ("the “notice period” – 3 months", 'the "notice period" - 3 months'),
        ("| Grade | Days |\n|:---|---:|\n| A | 25 |", "Grade Days A 25"),
        ("see the [leave portal](https://x.example/l_1) first", "see the leave portal first"),
        ("# Leave\n> It's _paid_ at `100 %`", "Leave It’s paid at 100 %"),
        ("a well‑known co\u00adworker", "a well-known coworker"),
        ("ﬁle the ½ form", "file the 1⁄2 form"),
        ("- one\n- two", "• one • two"),
        ("l´heure", "l'heure"),
    ],
)
def test_what_does_not_count(page: str, quote: str) -> None:
    assert normalise(page) == normalise(quote)


@pytest.mark.parametrize(
    ("page", "quote"), [("Leave", "leave"), ("25 days", "26 days"), ("5 %", "5"), ("a, b", "a b")]
)
def test_what_counts(page: str, quote: str) -> None:
    assert normalise(page) != normalise(quote)


@given(st.text(max_size=60))
def test_nothing_invisible_is_left(text: str) -> None:
    assert not any(char.isspace() or char in "|*\"'-" for char in normalise(text))


def test_overlapping_touching_and_blank_line_gaps_join() -> None:
    assert cut((0, 20), (10, 50)) == {"hr/leave.md": (TEXT[:50],)}
    assert cut((20, 50), (0, 20)) == {"hr/leave.md": (TEXT[:50],)}
    # "Annual leave" ends at 12, the paragraph begins at 14 after the blank line.
    assert cut((0, 12), (14, 50)) == {"hr/leave.md": (TEXT[:50],)}
    assert cut((0, 80), (14, 20)) == {"hr/leave.md": (TEXT,)}


def test_a_wider_gap_does_not_join() -> None:
    assert cut((0, 12), (18, 50)) == {"hr/leave.md": (TEXT[:12], TEXT[18:50])}


def test_contradicting_overlap_does_not_join() -> None:
    found = union(pieces([hit("abcdef", start=0), hit("dXfghi", start=3)]))
    assert found == {"hr/leave.md": ("abcdef", "dXfghi")}


def test_other_documents_and_versions_do_not_join() -> None:
    hits = [
        hit("one ", start=0),
        hit("two", "hr/other.md", start=4),
        hit("two", start=4, digest="d2"),
    ]
    assert union(pieces(hits)) == {"hr/leave.md": ("one ", "two"), "hr/other.md": ("two",)}


def test_offsets_that_do_not_fit_stand_alone() -> None:
    hits = [hit("one ", start=0), hit("two", start=4, end=99)]
    assert sorted(union(pieces(hits))["hr/leave.md"]) == ["one ", "two"]


def test_a_quote_across_two_chunks_is_found_when_both_are_there() -> None:
    quote = "25 days of leave a year. Unused days expire"
    assert holds(cut((0, 30), (30, 80))["hr/leave.md"], quote)
    assert not holds(cut((0, 30))["hr/leave.md"], quote)
    assert not holds(cut((0, 25), (30, 80))["hr/leave.md"], quote)


def test_a_repeated_table_header_is_no_text() -> None:
    row = "| A | 25 |"
    (texts,) = union(pieces([hit(row, start=100, header="| Grade | Days |\n|---|---|\n")])).values()
    assert holds(texts, "A 25")
    assert not holds(texts, "Grade Days A 25")


def test_a_quote_without_letters_is_nowhere() -> None:
    assert not holds(["anything"], " - ")


def test_first_words_cuts_the_piece_that_crosses() -> None:
    found = list(first_words(pieces([hit("one two three "), hit(" four five six", start=14)]), 4))
    assert [piece.text for piece in found] == ["one two three ", " four"]
    assert [piece.start for piece in found] == [0, 14]
    assert not list(first_words(pieces([hit("one")]), 0))
    assert [p.text for p in first_words(pieces([hit("one two"), hit("x", start=9)]), 2)] == [
        "one two"
    ]


@pytest.mark.parametrize(
    ("first", "second", "size"),
    [
        ("abcdef", "cd", 2),
        ("cd", "abcdef", 2),
        ("abcd", "cdef", 2),
        ("cdef", "abcd", 2),
        ("abc", "xyz", 0),
        ("", "x", 0),
    ],
)
def test_shared(first: str, second: str, size: int) -> None:
    assert shared(first, second) == size


@given(st.integers(0, 79), st.integers(1, 80), st.lists(st.integers(1, 79), max_size=6))
def test_any_cut_of_the_whole_text_holds_any_quote(
    start: int, size: int, borders: list[int]
) -> None:
    marks = [0, *sorted(set(borders)), len(TEXT)]
    texts = cut(*pairwise(marks))["hr/leave.md"]
    quote = TEXT[start : start + size]
    assert texts == (TEXT,)
    assert holds(texts, quote) or not normalise(quote)
