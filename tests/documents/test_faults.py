"""Faults that readers of documents make, each in every format that can hold it.

A new format gets all of them with one line in `WRITERS`: how it writes runs with marks."""

import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple
from xml.sax.saxutils import escape, quoteattr

import pytest

from ombud.documents import parse
from ombud.errors import SourceError
from ombud.types import Document, Loss

from .office import OFFICE, archive, deck, relations, shape, text_file, workbook

CASES = Path(__file__).parents[3] / "shared" / "data" / "faults"
READ = (".docx", ".docm", ".odt", ".pptx", ".xlsx")
"""Endings of the faults that the readers of today must pass."""
FORM = "https://hr.example/form"
W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"


class Piece(NamedTuple):
    words: str
    mark: str = ""


Pieces = Sequence[Piece]


def external(name: str) -> str:
    return relations((name, "hyperlink", FORM)).replace("/></", ' TargetMode="External"/></')


def word(pieces: Pieces) -> bytes:
    looks = {
        "struck": "<w:strike/>",
        "hidden": "<w:vanish/>",
        "raised": '<w:vertAlign w:val="superscript"/>',
    }
    made = []
    for words, mark in pieces:
        look = f"<w:rPr>{looks.get(mark, '')}</w:rPr>"
        text = f'<w:r>{look}<w:t xml:space="preserve">{escape(words)}</w:t></w:r>'
        is_link = mark == "link"
        made.append(f'<w:hyperlink r:id="l">{text}</w:hyperlink>' if is_link else text)
    body = f"<w:body><w:p>{''.join(made)}</w:p></w:body>"
    return archive(
        {
            "word/document.xml": f'<w:document xmlns:w="{W}" xmlns:r="{OFFICE}">{body}</w:document>',
            "word/_rels/document.xml.rels": external("l"),
        }
    )


def powerpoint(pieces: Pieces) -> bytes:
    looks = {
        "struck": '<a:rPr strike="sngStrike"/>',
        "raised": '<a:rPr baseline="30000"/>',
        "link": '<a:rPr><a:hlinkClick r:id="l"/></a:rPr>',
    }
    runs = [f"<a:r>{looks.get(m, '')}<a:t>{escape(words)}</a:t></a:r>" for words, m in pieces]
    return deck([shape(f"<a:p>{''.join(runs)}</a:p>")], about={1: external("l")})


def excel(pieces: Pieces) -> bytes:
    looks = {"struck": "<strike/>", "raised": '<vertAlign val="superscript"/>'}
    runs = []
    for words, mark in pieces:
        look = f"<rPr>{looks.get(mark, '')}</rPr>"
        runs.append(f'<r>{look}<t xml:space="preserve">{escape(words)}</t></r>')
    cell = f'<c r="A1" t="inlineStr"><is>{"".join(runs)}</is></c>'
    return workbook({"Rules": f'<sheetData><row r="1">{cell}</row></sheetData>'})


def open_document(pieces: Pieces) -> bytes:
    looks = {
        "struck": 'style:text-line-through-style="solid"',
        "hidden": 'text:display="none"',
        "raised": 'style:text-position="super 58%"',
    }
    styles = ""
    for mark, look in looks.items():
        style = f"<style:text-properties {look}/>"
        styles += f'<style:style style:name="{mark}" style:family="text">{style}</style:style>'
    made = []
    for words, mark in pieces:
        inner = escape(words).replace(" ", "<text:s/>")
        if mark == "link":
            made.append(f"<text:a href={quoteattr(FORM)}>{inner}</text:a>")
        else:
            made.append(f'<text:span text:style-name="{mark}">{inner}</text:span>')
    return text_file(f"<text:p>{''.join(made)}</text:p>", styles)


WRITERS: dict[str, Callable[[Pieces], bytes]] = {
    "docx": word,
    "pptx": powerpoint,
    "xlsx": excel,
    "odt": open_document,
}
"""Ending -> what writes one paragraph or cell of these pieces."""
IMPOSSIBLE = {
    ("pptx", "hidden"): "a slide hides shapes, not words",
    ("xlsx", "hidden"): "a sheet hides rows, columns and itself, not words",
    ("xlsx", "link"): "a sheet links whole cells",
}
FAULTS: dict[str, tuple[Pieces, str, Loss]] = {
    "note": ([Piece("25"), Piece("1", "raised"), Piece(" days")], "25 [1] days", Loss()),
    "unit": ([Piece("8 m"), Piece("2", "raised"), Piece(" each")], "8 m² each", Loss()),
    "power": ([Piece("10"), Piece("6", "raised"), Piece(" euros")], "10⁶ euros", Loss()),
    "ordinal": ([Piece("the 1"), Piece("st", "raised"), Piece(" day")], "the 1st day", Loss()),
    "struck": (
        [Piece("get "), Piece("25", "struck"), Piece(" 28 days")],
        "get 28 days",
        Loss(struck=1),
    ),
    "hidden": (
        [Piece("one month"), Piece(" or two", "hidden"), Piece(" of pay")],
        "one month of pay",
        Loss(hidden=1),
    ),
    "link": ([Piece("See "), Piece("the form", "link"), Piece(".")], "See the form.", Loss()),
}


def read(data: bytes, uri: str) -> Document:
    return parse(data, Document(id="x" * 16, source="s", uri=uri, title="", language="en"))


@pytest.mark.parametrize("ending", WRITERS)
@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_in_a_format(ending: str, fault: str) -> None:
    if (ending, fault) in IMPOSSIBLE:
        pytest.skip(IMPOSSIBLE[ending, fault])
    pieces, text, loss = FAULTS[fault]
    document = read(WRITERS[ending](pieces), f"rules.{ending}")
    assert text in document.text
    assert document.loss == loss
    for hidden in (words for words, mark in pieces if mark == "hidden"):
        assert hidden.strip() not in document.model_dump_json()
    kinds = {"note": "footnote", "struck": "struck", "link": "link"}
    assert [found.kind for found in document.annotations] == [
        kind for name, kind in kinds.items() if name == fault
    ]
    for found in document.annotations:
        shown = {"footnote": "[1]", "struck": "", "link": "the form"}[found.kind]
        assert document.text[found.start : found.end] == shown
        assert found.url == (FORM if found.kind == "link" else "")


def test_hidden_rows_and_columns_part_no_table() -> None:
    def line(number: int, *values: str, more: str = "") -> str:
        cells = ""
        for letter, value in zip("ABC", values, strict=True):
            cells += f'<c r="{letter}{number}" t="inlineStr"><is><t>{value}</t></is></c>'
        return f'<row r="{number}" {more}>{cells}</row>'

    rows = (
        line(1, "Car", "Budget", "Cents")
        + line(2, "Van", "7700", "40", more='hidden="1"')
        + line(3, "Bicycle", "7701", "12")
    )
    columns = '<cols><col min="2" max="2" hidden="1"/></cols>'
    document = read(workbook({"Rates": f"{columns}<sheetData>{rows}</sheetData>"}), "rates.xlsx")
    assert "| Car | Cents |\n| --- | --- |\n| Bicycle | 12 |" in document.text
    assert document.loss == Loss(hidden=2)


def cases() -> list[dict[str, object]]:
    if not CASES.is_dir():
        return []
    lines = (CASES / "cases.jsonl").read_text(encoding="utf-8").splitlines()
    found = map(json.loads, lines)
    # A sync ignores lock files before they are read.
    return [one for one in found if one["file"].endswith(READ) and "~$" not in one["file"]]


@pytest.mark.skipif(not CASES.is_dir(), reason="../shared/data/faults is not there")
@pytest.mark.parametrize("case", cases(), ids=lambda case: str(case["file"]))
def test_a_file_that_is_known_to_be_read_wrongly(case: dict[str, list[str]]) -> None:
    file = str(case["file"])
    text, refusal = understood(file)
    assert [pattern for pattern in case["must"] if not re.search(pattern, text)] == []
    assert [pattern for pattern in case["must_not"] if re.search(pattern, text)] == []
    wanted = case.get("report_must", [])
    assert [pattern for pattern in wanted if not re.search(pattern, refusal)] == []


def understood(file: str) -> tuple[str, str]:
    """Title and text of a file, and why there is none."""
    try:
        document = read((CASES / file).read_bytes(), file)
    except SourceError as refused:
        return "", f"{refused} {refused.hint}"
    return re.sub(r"[^\S\n]+", " ", f"{document.title}\n\n{document.text}"), ""
