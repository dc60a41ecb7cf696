"""Tables of PDFs: heads over page breaks, and cells over rows."""

import io
from collections.abc import Sequence
from typing import Any

import pytest
from reportlab.lib import colors
from reportlab.lib.pagesizes import A4
from reportlab.lib.styles import getSampleStyleSheet
from reportlab.platypus import (
    Flowable,
    PageBreak,
    Paragraph,
    SimpleDocTemplate,
    Table,
    TableStyle,
)

from ombud.documents import parse
from ombud.types import Document

Rows = Sequence[Sequence[str]]
STYLES = getSampleStyleSheet()
GRID = ("GRID", (0, 0), (-1, -1), 0.5, colors.black)
BOLD = ("FONT", (0, 0), (-1, 0), "Helvetica-Bold")
BONUSES = [["Site", "Bonus"], ["Kiel", "11"], ["Lyon", "13"]]


def tables(*story: Flowable) -> list[str]:
    out = io.BytesIO()
    SimpleDocTemplate(out, pagesize=A4).build(list(story))
    facts = Document(id="x" * 16, source="s", uri="a.pdf", title="", language="en")
    return [block.text for block in parse(out.getvalue(), facts).blocks if block.kind == "table"]


def ruled(rows: Rows, *styles: Any) -> Table:
    return Table([list(row) for row in rows], style=TableStyle([GRID, *styles]))


def said(words: str) -> Paragraph:
    return Paragraph(words, STYLES["BodyText"])


def rows_of(text: str) -> list[list[str]]:
    lines = [line for line in text.split("\n") if not line.startswith("| -")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


@pytest.mark.parametrize(
    "between",
    [[], [said("Bonuses (continued)")], [said("Bonuses, Fortsetzung")]],
    ids=["nothing", "English", "German"],
)
def test_rows_on_the_next_page_have_the_head_of_their_table(between: list[Paragraph]) -> None:
    rest = [["Oslo", "17"], ["Porto", "12"]]
    found = tables(said("Bonuses"), ruled(BONUSES), PageBreak(), *between, ruled(rest))
    assert list(map(rows_of, found)) == [BONUSES, [BONUSES[0], *rest]]


def test_a_row_that_says_continued_is_no_head() -> None:
    rest = [["Bonuses (continued)", ""], ["Oslo", "17"]]
    head_again = [["Bonuses (continued)", ""], BONUSES[0], ["Porto", "12"]]
    found = tables(
        ruled(BONUSES), PageBreak(), ruled([*rest, *BONUSES[1:]]), PageBreak(), ruled(head_again)
    )
    assert rows_of(found[1])[:3] == [BONUSES[0], *rest]
    assert rows_of(found[2]) == [BONUSES[0], head_again[0], ["Porto", "12"]]


def test_another_table_of_words_is_known_by_its_bold_head() -> None:
    doctors = [["Site", "Doctor"], ["Kiel", "Ms Holm"], ["Lyon", "Mr Petit"]]
    rooms = [["Room", "Floor"], ["Elm", "upper"], ["Oak", "lower"]]
    more = [["Oslo", "Ms Lie"], ["Porto", "Mr Reis"]]
    other = tables(ruled(doctors, BOLD), PageBreak(), ruled(rooms, BOLD))
    assert list(map(rows_of, other)) == [doctors, rooms]
    same = tables(ruled(doctors, BOLD), PageBreak(), ruled(more))
    assert list(map(rows_of, same)) == [doctors, [doctors[0], *more]]


def test_a_word_among_figures_opens_no_table() -> None:
    rest = [["Oslo", "none"], ["Porto", "12"]]
    some = [*BONUSES, ["Graz", "none"]]
    found = tables(ruled(some), PageBreak(), ruled(rest))
    assert rows_of(found[1]) == [BONUSES[0], *rest]


def test_what_is_merged_over_rows_counts_for_each() -> None:
    rows = [
        ["Grade", "Notice", "Hotel"],
        ["A", "4 weeks", "90"],
        ["B", "", "110"],
        ["C", "", "130"],
        ["D", "3 months", "150"],
    ]
    (found,) = tables(ruled(rows, ("SPAN", (1, 1), (1, 3)), ("VALIGN", (1, 1), (1, 3), "MIDDLE")))
    assert [row[:2] for row in rows_of(found)[1:]] == [
        ["A", "4 weeks"],
        ["B", "4 weeks"],
        ["C", "4 weeks"],
        ["D", "3 months"],
    ]
