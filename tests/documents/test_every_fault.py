"""Every fault of readers of documents, in every format that can hold it.

The documents are written by libraries that are not ours. What must and must not be in their text
follows from what a reader of the original sees."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from ombud.documents import parse
from ombud.documents.parsing import PARSERS
from ombud.types import Document
from sources.sharepoint.site import made_pem

from .writing.elements import (
    FORM,
    Cell,
    Edges,
    Elements,
    Folded,
    Hidden,
    ImpossibleFault,
    Picture,
    Table,
    note,
    paragraph,
    pieces,
    row,
)
from .writing.light_markup import ascii_doc, mdx, plain_text, restructured
from .writing.markup import book, csv_file, html, mail, markdown, xhtml
from .writing.open_sheet import open_sheet
from .writing.open_text import open_text
from .writing.pages import pdf
from .writing.rich_text import rich_text
from .writing.sheets import excel
from .writing.sites import SITES, Place
from .writing.slides import powerpoint
from .writing.word import word

FILES: dict[str, tuple[str, Callable[[Elements], bytes]]] = {
    "pdf": ("rules.pdf", pdf),
    "docx": ("rules.docx", word),
    "pptx": ("rules.pptx", powerpoint),
    "xlsx": ("rules.xlsx", excel),
    "odt": ("rules.odt", open_text),
    "ods": ("rules.ods", open_sheet),
    "rtf": ("rules.rtf", rich_text),
    "epub": ("rules.epub", book),
    "html": ("rules.html", html),
    "xhtml": ("rules.xhtml", xhtml),
    "markdown": ("rules.md", markdown),
    "mdx": ("rules.mdx", mdx),
    "rst": ("rules.rst", restructured),
    "adoc": ("rules.adoc", ascii_doc),
    "txt": ("rules.txt", plain_text),
    "csv": ("rules.csv", csv_file),
    "mail": ("rules.eml", mail),
}
FORMATS = (*FILES, *SITES)
PAGES_OF_SITES = "html xhtml mail epub confluence sharepoint wiki web"


class Fault(NamedTuple):
    elements: Elements
    must: tuple[str, ...]
    """Patterns of what stands in the text."""
    must_not: tuple[str, ...] = ()
    secret: str = ""
    """Words that may be nowhere in the document, annotations included."""
    annotation: tuple[str, str, str] | None = None
    """Kind, text that it covers, text or address that it carries."""
    counted: str = ""
    """The figure of the loss report that says so."""


GRADES = tuple(row(f"Grade {grade}", f"{4000 + grade}") for grade in range(60, 100))
COUNTRIES = Table((row("Country", "Days"), row("Ireland", "23"), row("Latvia", "31")))
HIDDEN_CELLS = (row("Kind", "Cents", "Budget"), row("Car", "30", "Small"), row("Van", "40", "Big"))
LAST = paragraph("Hand it in by the end of the month in which the costs arose.")
FAULTS: dict[str, Fault] = {
    "mark on a number": Fault(
        [
            paragraph("Staff get 25", ("1", "raised"), " days of leave."),
            note("1", "23 in Ireland."),
        ],
        (r"get 25 \[1\] days", "23 in Ireland"),
        ("251",),
        annotation=("footnote", "[1]", "23 in Ireland."),
    ),
    "mark in a cell": Fault(
        [
            Table(
                (
                    row("Country", "Days"),
                    row("Ireland", Cell(pieces("24", ("1", "raised")))),
                    row("Latvia", "31"),
                )
            ),
            note("1", "From May."),
        ],
        (r"\| 24 \[1\] \|", r"\| 31 \|"),
        ("241",),
    ),
    "note of the format": Fault(
        [paragraph("Staff get 25", ("23 in Ireland.", "note"), " days of leave.")],
        (r"get 25 \[1\] days", "23 in Ireland"),
        ("251",),
        annotation=("footnote", "[1]", "23 in Ireland."),
    ),
    "unit": Fault(
        [paragraph("A desk has 8 m", ("2", "raised"), " of room.")],
        ("8 m² of room",),
    ),
    "power": Fault(
        [paragraph("A budget of 10", ("6", "raised"), " euros.")],
        ("10⁶ euros",),
    ),
    "ordinal": Fault(
        [paragraph("Pay comes on the 1", ("st", "raised"), " of May.")],
        ("the 1st of May",),
    ),
    "struck words": Fault(
        [paragraph("Staff get ", ("25", "struck"), " 28 days of leave.")],
        ("get 28 days",),
        ("25",),
        annotation=("struck", "", "25"),
        counted="struck",
    ),
    "struck row": Fault(
        [
            Table(
                (
                    row("Course", "Fee"),
                    (
                        Cell(pieces(("Fire safety", "struck"))),
                        Cell(pieces(("80", "struck"))),
                    ),
                    row("First aid", "95"),
                )
            )
        ],
        (r"\| Fee \|\n\| --- \| --- \|\n\| First aid \| 95 \|",),
        ("Fire", "80"),
        counted="struck",
    ),
    "hidden words": Fault(
        [paragraph("One month of pay", (" or two if they insist", "hidden"), " is paid."), LAST],
        ("One month of pay is paid",),
        secret="insist",
        counted="hidden",
    ),
    "hidden row": Fault(
        [Table(HIDDEN_CELLS, hidden_row=1)],
        (r"\| Kind \| Cents \| Budget \|\n[|: -]+\n\| Van \| 40 \| Big \|",),
        secret="Car",
        counted="hidden",
    ),
    "hidden column": Fault(
        [Table(HIDDEN_CELLS, hidden_column=1)],
        (r"\| Kind \| Budget \|\n[|: -]+\n\| Car \| Small \|\n\| Van \| Big \|",),
        secret="Cents",
        counted="hidden",
    ),
    "hidden part": Fault(
        [paragraph("One month of pay is paid."), Hidden("Two if they insist")],
        ("One month of pay is paid",),
        secret="insist",
        counted="hidden",
    ),
    "white words": Fault(
        [paragraph("One month of pay", (" or two if they insist", "white"), " is paid."), LAST],
        ("One month of pay",),
        secret="insist",
        counted="hidden",
    ),
    "words under a bar": Fault(
        [paragraph("The report came from ", ("Karin Olsen", "covered"), " in May."), LAST],
        ("The report came from",),
        secret="Olsen",
        counted="hidden",
    ),
    "link": Fault(
        [
            paragraph(("Fill in the form", "link")),
            LAST,
        ],
        ("Fill in the form",),
        annotation=("link", "Fill in the form", FORM),
    ),
    "header with content": Fault(
        [paragraph("Eight euros a day."), Edges("Applies to Belgium only")],
        (),
        (r"(?s)Belgium.*Belgium", r"(?m)^Page \d+$"),
        counted="repeated",
    ),
    "continued table": Fault(
        [
            Table(
                (
                    row("Months", "Premium"),
                    row("0-12", "200"),
                    row("13-24", "500"),
                    row("25-48", "800"),
                    row("49-60", "900"),
                ),
                broken_before=3,
            )
        ],
        (r"(?s)Months \| Premium \|(?:(?!continued).)*25-48 \| 800 \|\n\| 49-60 \| 900",),
    ),
    "merged cells": Fault(
        [
            Table(
                (
                    row("Site", "Shift", "Bonus"),
                    row(Cell(pieces("Kiel"), rows=2), "day", "11"),
                    row("night", "19"),
                    row("Lyon", "day", "13"),
                )
            )
        ],
        (r"Kiel \| day \| 11", r"Kiel \| night \| 19", r"Lyon \| day \| 13"),
    ),
    "row of a key": Fault(
        [Table((row("Grade", "Pay"), *GRADES))],
        (r"\| Grade 79 \| 4079 \|", r"\| Grade 99 \| 4099 \|"),
    ),
    "alternative text": Fault(
        [paragraph("Where to park:"), Picture("Car park behind hall B")],
        ("Car park behind hall B",),
    ),
    "comment": Fault(
        [paragraph("Eight euros a day.", ("Ask Olsen to pay more", "comment"))],
        ("Eight euros a day",),
        secret="Olsen",
    ),
    "tracked changes": Fault(
        [paragraph("Each gets ", ("three", "deleted"), ("four", "inserted"), " shirts.")],
        ("gets four shirts",),
        ("three",),
    ),
    "table in a cell": Fault(
        [
            Table(
                (
                    row("City", "Places"),
                    row("Berlin", Cell(pieces("Per floor"), inner=(("desk", "12"), ("room", "3")))),
                    row("Lyon", "Four"),
                )
            )
        ],
        (r"Berlin \|? ?Per floor.{0,9}desk.{0,9}12.{0,9}room.{0,9}3", r"Lyon \| Four"),
    ),
    "caption": Fault(
        [COUNTRIES._replace(caption="Days of leave in 2026")],
        (r"(?s)Days of leave in 2026.{0,9}\| Country \|", r"Latvia \| 31"),
    ),
    "folded part": Fault(
        [Folded("Who may drive?", "Only staff with a licence.")],
        ("Who may drive", "Only staff with a licence"),
    ),
}
NO_PAGES = "its pages have neither top nor bottom: only what is printed has"
NO_LOOK = "it has no looks, only letters"
NO_TABLE = "it has no tables, only lines"
ONLY_LETTERS = dict.fromkeys(("csv", "txt"), NO_LOOK)
ROWS_OF_BARS = ("markdown", "mdx")
IMPOSSIBLE: dict[str, dict[str, str]] = {
    "mark in a cell": {"txt": NO_TABLE},
    "note of the format": {
        "ods": "a sheet has no notes below a text",
        "pptx": "a deck has no notes below a text",
        "xlsx": "a sheet has no notes below a text",
        **ONLY_LETTERS,
    },
    "ordinal": dict.fromkeys(ONLY_LETTERS, "raised letters have no code of their own"),
    "struck words": ONLY_LETTERS,
    "struck row": ONLY_LETTERS,
    "hidden words": {
        "ods": "a sheet hides rows, columns and sheets, not words",
        "pptx": "a deck hides shapes and slides, not words",
        "xlsx": "a workbook hides rows, columns and sheets, not words",
        "rst": "comments apart, it hides nothing",
        "adoc": "comments apart, it hides blocks",
        **ONLY_LETTERS,
    },
    "hidden row": {
        "pdf": "a PDF has no rows, only words and lines",
        "pptx": "a deck hides shapes and slides",
        **dict.fromkeys(ROWS_OF_BARS, "Markdown has no looks of rows"),
        "rst": "it has no looks of rows",
        "adoc": "it has no looks of rows",
        **ONLY_LETTERS,
    },
    "hidden column": {
        "rtf": "Word hides rows and words",
        "pdf": "a PDF has no columns, only words and lines",
        "docx": "Word hides rows and words",
        "pptx": "a deck hides shapes and slides",
        **dict.fromkeys(PAGES_OF_SITES.split(), "browsers hide cells, one by one"),
        **dict.fromkeys(ROWS_OF_BARS, "Markdown has no looks of columns"),
        "rst": "it has no looks of columns",
        "adoc": "it has no looks of columns",
        **ONLY_LETTERS,
    },
    "hidden part": {
        "pdf": "layers apart, a PDF hides words",
        "docx": "Word hides words",
        "rst": "comments apart, it hides nothing",
        **ONLY_LETTERS,
    },
    "white words": {
        name: "what is behind the words is not in the file, so white may be seen"
        for name in FORMATS
        if name != "pdf"
    },
    "words under a bar": {
        name: "shapes are not placed by the page" for name in FORMATS if name != "pdf"
    },
    "link": ONLY_LETTERS,
    "header with content": dict.fromkeys(
        [*PAGES_OF_SITES.split(), *ROWS_OF_BARS, "rst", "adoc", "csv", "txt"], NO_PAGES
    ),
    "continued table": {
        name: "a table is one piece, wherever pages end" for name in FORMATS if name != "pdf"
    },
    "merged cells": {
        **dict.fromkeys(ROWS_OF_BARS, "a row of bars has no cells over rows"),
        **ONLY_LETTERS,
    },
    "row of a key": {"txt": NO_TABLE},
    "alternative text": {
        "pdf": "in tagged files alone, which no free library writes",
        **dict.fromkeys(ONLY_LETTERS, "it holds no pictures"),
    },
    "comment": ONLY_LETTERS,
    "tracked changes": {
        "ods": "Calc keeps the old values elsewhere",
        "pdf": "it is printed with or without them",
        "pptx": "PowerPoint tracks none",
        "xlsx": "Excel keeps the old values elsewhere",
        **ONLY_LETTERS,
    },
    "table in a cell": {
        "ods": "a cell holds text",
        "pdf": "it is lines inside of lines",
        "pptx": "a cell holds text",
        "xlsx": "a cell holds text",
        **dict.fromkeys(ROWS_OF_BARS, "a row of bars holds text"),
        **ONLY_LETTERS,
    },
    "caption": dict.fromkeys(
        ("ods", "pptx", "xlsx", *ROWS_OF_BARS, *ONLY_LETTERS), "a table has none"
    ),
    "folded part": {
        **dict.fromkeys(
            ("pdf", "docx", "pptx", "xlsx", "odt", "ods", "rtf"), "nothing of it folds"
        ),
        **ONLY_LETTERS,
    },
}
"""Fault -> format -> why it cannot hold that."""
NOT_WRITTEN = {
    "xls": "xlrd only reads; its one writer, xlwt, is no longer kept up",
    "msg": "olefile only reads; texts are handed to the reader of mail, which is tested here",
}
"""Ending -> why no document of that kind is written here."""
TO_DO: dict[str, str] = {}
"""Fault -> the formats in which it is not right yet."""


@pytest.fixture(scope="session")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made_pem(tmp_path_factory.mktemp("tls") / "both.pem")


@pytest.fixture
def place(tmp_path: Path, certificate: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    return Place(tmp_path, certificate, monkeypatch)


def pairs() -> list[Any]:
    made = []
    for fault in FAULTS:
        for name in FORMATS:
            if name in IMPOSSIBLE.get(fault, {}):
                continue
            is_wrong = name in TO_DO.get(fault, "").split()
            marks = [pytest.mark.xfail(strict=True)] if is_wrong else []
            made.append(pytest.param(fault, name, marks=marks, id=f"{name}-{fault}"))
    return made


def written(elements: Elements, name: str, place: Place) -> Document:
    """The document that is read from a file or a site of that kind."""
    if name in FILES:
        uri, write = FILES[name]
        return read(write(elements), uri)
    with SITES[name](elements, place) as source:
        (ref,) = [ref for ref in source.list() if ref.uri.endswith(".html")]
        return read(source.read(ref), ref.uri)


def read(data: bytes, uri: str) -> Document:
    return parse(data, Document(id="x" * 16, source="s", uri=uri, title="", language="en"))


@pytest.mark.parametrize(("fault", "name"), pairs())
def test_a_fault_in_a_format(fault: str, name: str, place: Place) -> None:
    wanted = FAULTS[fault]
    document = written(wanted.elements, name, place)
    text = document.text
    assert [pattern for pattern in wanted.must if not re.search(pattern, text)] == []
    assert [pattern for pattern in wanted.must_not if re.search(pattern, text)] == []
    if wanted.secret:
        assert wanted.secret not in document.model_dump_json()
    if wanted.annotation:
        kind, covered, carried = wanted.annotation
        assert (kind, covered, carried) in {
            (found.kind, text[found.start : found.end], found.url or found.text)
            for found in document.annotations
        }
    if wanted.counted:
        assert getattr(document.loss, wanted.counted) >= 1


def test_every_reader_is_tested_or_named() -> None:
    """Endings that one reader reads, such as .docx and .docm, need one writer."""
    written_by = {PARSERS[uri.rpartition(".")[2]] for uri, _ in FILES.values()}
    not_written = {ending for ending, reader in PARSERS.items() if reader not in written_by}
    assert not_written == set(NOT_WRITTEN)


@pytest.mark.parametrize("name", FORMATS)
def test_impossible_pairs_cannot_be_written(name: str, place: Place) -> None:
    """Whoever teaches a writer one of them takes it from the table."""
    for fault in FAULTS:
        if name not in IMPOSSIBLE.get(fault, {}):
            continue
        with pytest.raises(ImpossibleFault):
            written(FAULTS[fault].elements, name, place)
