"""The cited passage is marked exactly, whatever block it stands in."""

import pytest

from ombud.types import Block, Document
from ombud.web.documents.passage import TextRun, View, outline, view

BLOCKS = (
    Block(kind="heading", text="Travel 🏡", level=1, page=1),
    Block(kind="text", text="Hotels are paid. Receipts 🧾 within 30 days.", page=1),
    Block(kind="list", text="- a laptop\n  - with a bag\n- a screen\n1. first", page=2),
    Block(
        kind="table",
        text="| City | Cap |\n| --- | --- |\n| Paris \\| Lyon | 220 |\n| Nice | 180 |",
        page=2,
    ),
    Block(kind="text", text="Hotels are paid.", page=2),
)
TEXT = "\n\n".join(block.text for block in BLOCKS)
DOCUMENT = Document(id="d", source="s", uri="s/d", title="Travel", blocks=BLOCKS, text=TEXT)


def marked(views: list[View]) -> list[str]:
    cells = [
        cell
        for v in views
        for cell in (
            v.runs,
            *(c for line in ((v.head,) if v.head else ()) + v.lines for c in line.cells),
        )
    ]
    return [run.text for cell in cells for run in cell if run.marked]


@pytest.mark.parametrize(
    "quote",
    [
        "Receipts 🧾 within 30 days.",
        "Hotels are paid. Receipts",
        "a screen",
        "with a bag",
        "Nice",
        "Travel 🏡",
    ],
)
def test_the_quote_is_marked_and_nothing_else(quote: str) -> None:
    start = TEXT.index(quote)
    assert marked(view(DOCUMENT, start, start + len(quote))) == [quote]


def test_a_quote_over_two_blocks_is_marked_in_both() -> None:
    start = TEXT.index("within 30")
    assert marked(view(DOCUMENT, start, TEXT.index("- a laptop") + 10)) == [
        "within 30 days.",
        "a laptop",
    ]


def test_the_second_of_two_equal_blocks_can_be_marked() -> None:
    start = TEXT.rindex("Hotels")
    views = view(DOCUMENT, start, len(TEXT))
    assert views[-1].runs == (TextRun("Hotels are paid.", True),)
    assert not any(run.marked for run in views[1].runs)


def test_a_row_is_marked_cell_by_cell_and_bars_in_cells_are_shown_plain() -> None:
    row = "| Paris \\| Lyon | 220 |"
    start = TEXT.index(row)
    assert marked(view(DOCUMENT, start, start + len(row))) == ["Paris | Lyon", "220"]


def test_lists_know_their_depth_and_their_numbers() -> None:
    lines = view(DOCUMENT)[2].lines
    assert [(line.depth, line.marker) for line in lines] == [(0, ""), (1, ""), (0, ""), (0, "1.")]


def test_pages_are_named_where_they_begin() -> None:
    assert [v.page for v in view(DOCUMENT)] == [1, None, 2, None, None]


def test_a_document_without_blocks_shows_its_text() -> None:
    bare = Document(id="d", source="s", uri="u", title="t", text="One.\n\nTwo.")
    assert marked(view(bare, 6, 10)) == ["Two."]
    assert outline(view(bare)) == []


def test_the_outline_has_the_sections_and_not_the_title() -> None:
    blocks = tuple(
        Block(kind="heading", text=t, level=n)
        for t, n in (("T", 1), ("A", 2), ("B", 2), ("b", 3), ("C", 2))
    )
    text = "\n\n".join(block.text for block in blocks)
    sections = outline(
        view(Document(id="d", source="s", uri="u", title="T", blocks=blocks, text=text))
    )
    assert [section.words for section in sections] == ["A", "B", "C"]
