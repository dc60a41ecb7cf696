"""Words that a line's end breaks, and words whose letters are set apart."""

import io
from collections.abc import Callable, Sequence

import pytest
from reportlab.pdfgen.canvas import Canvas

from ombud.documents import parse
from ombud.types import Document


def drawn(draw: Callable[[Canvas], None]) -> str:
    out = io.BytesIO()
    canvas = Canvas(out, pagesize=(595, 842))
    draw(canvas)
    canvas.drawString(72, 400, "Six weeks are paid in full.")
    canvas.save()
    return parse(out.getvalue(), Document(id="x", source="s", uri="a.pdf", title="")).text


def lines(*texts: str) -> Callable[[Canvas], None]:
    def draw(canvas: Canvas) -> None:
        for number, text in enumerate(texts):
            canvas.drawString(72, 700 - 14 * number, text)

    return draw


@pytest.mark.parametrize(
    ("broken", "whole"),
    [
        (("Staff ask for other arrange-", "ments in good time."), "other arrangements in"),
        (("Those who work part-", "time get the same pay."), "work part-time get"),
        (("It holds for part-", "and full-time staff alike."), "for part- and full-time"),
        (("An up-to-", "date list is kept by the office."), "An up-to-date list"),
        (("It holds for all pre-", "approved trips."), "all pre-approved trips"),
        (("Die Arbeits-", "zeit beträgt 38 Stunden in der Woche."), "Die Arbeitszeit beträgt"),
        (("Der Land-", "tag regelt die Feiertage in jedem Jahr."), "Der Landtag regelt"),
        (("An Sonn-", "und Feiertagen wird nicht gearbeitet."), "An Sonn- und Feiertagen"),
    ],
)
def test_a_word_that_is_broken_is_whole(broken: Sequence[str], whole: str) -> None:
    assert whole in drawn(lines(*broken))


@pytest.mark.parametrize("written", ["micro-site", "microsite"])
def test_the_document_itself_says_how_a_word_is_written(written: str) -> None:
    known = f"Look at the {written} first."
    assert f"The {written} is" in drawn(lines("The micro-", "site is open to all.", known))


def test_a_word_is_whole_in_the_cell_of_a_table_too() -> None:
    def table(canvas: Canvas) -> None:
        for row, cells in enumerate((("Kind", "Days"), ("Arrange-|ments", "25"), ("Sick", "9"))):
            for column, cell in enumerate(cells):
                x, y = 72 + 90 * column, 700 - 40 * row
                canvas.rect(x, y, 90, 40)
                for number, line in enumerate(cell.split("|")):
                    canvas.drawString(x + 4, y + 26 - 13 * number, line)

    assert "| Arrangements | 25 |" in drawn(table)


def letters_in_one_string(canvas: Canvas) -> None:
    text = canvas.beginText(72, 760)
    text.setCharSpace(5)
    text.textOut("SICK LEAVE RULES")
    canvas.drawText(text)


def letters_one_by_one(canvas: Canvas) -> None:
    x = 72.0
    for letter in "SICK LEAVE RULES":
        if letter != " ":
            canvas.drawString(x, 760, letter)
        x += canvas.stringWidth(letter, "Helvetica", 12) + 5


def letters_with_spaces(canvas: Canvas) -> None:
    canvas.drawString(72, 760, "S I C K   L E A V E   R U L E S")


@pytest.mark.parametrize("draw", [letters_in_one_string, letters_one_by_one, letters_with_spaces])
def test_letters_that_are_set_apart_are_words(draw: Callable[[Canvas], None]) -> None:
    assert "SICK LEAVE RULES" in drawn(draw)


def test_single_letters_among_words_are_no_word() -> None:
    said = "Grades A B C D and E are paid alike."
    assert said in drawn(lines(said))
