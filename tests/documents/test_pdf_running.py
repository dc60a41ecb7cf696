"""Lines at the edges of pages that repeat are said once; those that only look alike stay."""

import io
from collections.abc import Callable, Sequence

import pytest
from reportlab.pdfgen.canvas import Canvas

from ombud.documents import parse
from ombud.types import Document

RULES = (
    "Desks are shared by teams.",
    "Plants are watered twice.",
    "Doors are locked at night.",
    "Lights are off at eight.",
)
TOP = 800
BOTTOM = 40


def paged(furniture: Callable[[Canvas, int], None], pages: Sequence[str] = RULES) -> Document:
    """The document of pages with one rule each, and what is drawn beside it on the page with that
    number."""
    out = io.BytesIO()
    canvas = Canvas(out, pagesize=(595, 842))
    for number, rule in enumerate(pages, 1):
        canvas.setFont("Helvetica", 10)
        canvas.drawString(72, 500, rule)
        furniture(canvas, number)
        canvas.showPage()
    canvas.save()
    facts = Document(id="x" * 16, source="s", uri="a.pdf", title="", language="en")
    return parse(out.getvalue(), facts)


def texts(document: Document) -> list[str]:
    return [block.text for block in document.blocks]


def roman(number: int) -> str:
    return ("", "i", "ii", "iii", "iv")[number]


@pytest.mark.parametrize(
    "write",
    [
        lambda number: f"{number + 11}",
        lambda number: f"- {number} -",
        lambda number: f"Page {number} of 4",
        lambda number: f"Seite {number} von 4",
        lambda number: f"{number}/4",
        roman,
    ],
)
def test_the_number_of_a_page_is_no_text(write: Callable[[int], str]) -> None:
    document = paged(lambda canvas, number: canvas.drawString(290, BOTTOM, write(number)))
    assert texts(document) == list(RULES)
    assert document.loss.repeated == 1


def test_what_stands_beside_the_number_of_the_page_is_said_once() -> None:
    def footer(canvas: Canvas, number: int) -> None:
        canvas.drawString(72, BOTTOM, f"Applies to Ireland only | Page {number} of 4")

    assert texts(paged(footer)) == [*RULES, "Applies to Ireland only"]


def test_the_number_of_a_page_stands_outside_on_both_sides() -> None:
    def header(canvas: Canvas, number: int) -> None:
        number_at, words_at = (72, 300) if number % 2 else (500, 200)
        canvas.drawString(number_at, TOP, str(number + 40))
        canvas.drawString(words_at, TOP, "Rules of the house")

    assert texts(paged(header)) == [*RULES, "Rules of the house"]


def test_a_footer_is_known_on_pages_of_another_size() -> None:
    def footer(canvas: Canvas, number: int) -> None:
        if number == 2:
            canvas.setPageSize((842, 595))
        canvas.drawString(72, BOTTOM, "For staff in Latvia")

    assert texts(paged(footer)) == [*RULES, "For staff in Latvia"]


@pytest.mark.parametrize(
    "write",
    [
        lambda number: f"Article {number}",
        lambda number: f"Rates for grade {number + 3}",
        lambda number: f"Grade {number + 3}: hotel up to {number * 17 + 90}",
        lambda number: f"Bonus in year {number}: {number} percent",
        lambda number: f"Due on {2 * number} May",
    ],
)
@pytest.mark.parametrize("height", [TOP, BOTTOM])
def test_lines_that_count_something_else_stay(write: Callable[[int], str], height: int) -> None:
    document = paged(lambda canvas, number: canvas.drawString(72, height, write(number)))
    for number in range(1, 5):
        assert write(number) in texts(document)
    assert document.loss.repeated == 0


def test_a_table_without_lines_keeps_its_head_at_the_top_of_every_page() -> None:
    def table(canvas: Canvas, page: int) -> None:
        rows = [
            ("Route", "Refund"),
            *((f"Route {page}-{row}", f"{page}{row}0") for row in (1, 2, 3)),
        ]
        for row, cells in enumerate(rows):
            for column, cell in enumerate(cells):
                canvas.drawString(72 + 150 * column, TOP - 20 * row, cell)

    tables = [block.text for block in paged(table).blocks if block.kind == "table"]
    assert [text.split("\n")[0] for text in tables] == ["| Route | Refund |"] * 4
    assert "| Route 4-3 | 430 |" in tables[3]


def test_a_header_that_the_first_page_says_as_its_title_is_not_repeated() -> None:
    def header(canvas: Canvas, number: int) -> None:
        canvas.drawString(72, TOP, "Rules of the house")
        if number == 1:
            canvas.setFont("Helvetica", 18)
            canvas.drawString(72, 600, "Rules of the house")

    assert texts(paged(header)) == ["Rules of the house", *RULES]
