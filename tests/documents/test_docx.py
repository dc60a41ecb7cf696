"""Word documents made by python-docx, whose contents are known."""

import io
import zipfile

import docx
import pytest
from docx.oxml import OxmlElement
from docx.oxml.ns import qn

from ombud.documents import parse
from ombud.errors import SourceError
from ombud.types import Document

W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
NUMBERING = f"""<w:numbering {W}><w:abstractNum w:abstractNumId="7">
<w:lvl w:ilvl="0"><w:start w:val="1"/><w:numFmt w:val="decimal"/><w:lvlText w:val="%1."/></w:lvl>
<w:lvl w:ilvl="1"><w:start w:val="1"/><w:numFmt w:val="decimal"/><w:lvlText w:val="%1.%2"/></w:lvl>
<w:lvl w:ilvl="2"><w:start w:val="1"/><w:numFmt w:val="lowerLetter"/><w:lvlText w:val="(%3)"/>
</w:lvl>
</w:abstractNum><w:num w:numId="5"><w:abstractNumId w:val="7"/></w:num></w:numbering>"""


def saved(document: docx.document.Document) -> bytes:
    out = io.BytesIO()
    document.save(out)
    return out.getvalue()


def parsed(data: bytes) -> Document:
    return parse(data, Document(id="x", source="s", uri="gb/sick-leave.docx", title=""))


def package(body: str, numbering: str = "") -> bytes:
    """The least that is a Word document."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(
            "word/document.xml",
            f'<?xml version="1.0"?><w:document {W}><w:body>{body}</w:body></w:document>',
        )
        if numbering:
            archive.writestr("word/numbering.xml", numbering)
    return out.getvalue()


def paragraph(text: str, level: int | None = None, heading: int | None = None) -> str:
    number = (
        f'<w:numPr><w:ilvl w:val="{level}"/><w:numId w:val="5"/></w:numPr>'
        if level is not None
        else ""
    )
    outline = f'<w:outlineLvl w:val="{heading}"/>' if heading is not None else ""
    return f"<w:p><w:pPr>{number}{outline}</w:pPr><w:r><w:t>{text}</w:t></w:r></w:p>"


def test_headings_lists_and_tables() -> None:
    made = docx.Document()
    made.add_heading("Sick leave", 0)
    made.add_heading("Reporting", 1)
    made.add_paragraph("Tell your manager:")
    made.add_paragraph("by phone", style="List Bullet")
    made.add_paragraph("by noon", style="List Bullet")
    made.add_heading("Pay", 2)
    table = made.add_table(rows=2, cols=2)
    for cell, text in zip(
        (c for row in table.rows for c in row.cells), ("Weeks", "Pay", "1", "full"), strict=True
    ):
        cell.text = text
    made.sections[0].header.paragraphs[0].text = "Harbour Ltd."
    document = parsed(saved(made))
    assert [(b.kind, b.level, b.text) for b in document.blocks] == [
        ("heading", 1, "Sick leave"),
        ("heading", 2, "Reporting"),
        ("text", 0, "Tell your manager:"),
        ("list", 0, "- by phone\n- by noon"),
        ("heading", 3, "Pay"),
        ("table", 0, "| Weeks | Pay |\n| --- | --- |\n| 1 | full |"),
        ("text", 0, "Harbour Ltd."),
    ]
    assert document.title == "Sick leave"


def test_automatic_numbers_are_read_as_printed() -> None:
    body = (
        paragraph("Scope", 0, heading=0)
        + paragraph("Everyone is covered.", 1)
        + paragraph("interns too", 2)
        + paragraph("guests not", 2)
        + paragraph("Duties", 0, heading=0)
        + paragraph("Tell us early.", 1)
    )
    assert [b.text for b in parsed(package(body, NUMBERING)).blocks] == [
        "1. Scope",
        "  1.1 Everyone is covered.\n    (a) interns too\n    (b) guests not",
        "2. Duties",
        "  2.1 Tell us early.",
    ]


def test_bold_lines_are_headings_where_nobody_used_styles() -> None:
    made = docx.Document()
    for title in ("Reporting sickness", "Pay during sickness"):
        made.add_paragraph().add_run(title).bold = True
        made.add_paragraph("You are paid in full for the first six weeks of sickness in a year.")
    assert [b.kind for b in parsed(saved(made)).blocks] == ["heading", "text", "heading", "text"]


def test_deleted_text_and_the_table_of_contents_are_left_out() -> None:
    body = (
        "<w:p><w:r><w:t>Ten </w:t></w:r>"
        "<w:del><w:r><w:delText>old </w:delText><w:t>gone </w:t></w:r></w:del>"
        "<w:ins><w:r><w:t>new </w:t></w:r></w:ins>"
        "<w:r><w:t>days</w:t><w:tab/><w:t>off</w:t></w:r></w:p>"
    )
    assert parsed(package(body)).text == "Ten new days off"


def test_merged_cells() -> None:
    made = docx.Document()
    table = made.add_table(rows=3, cols=3)
    for number, cell in enumerate(c for row in table.rows for c in row.cells):
        cell.text = str(number)
    table.cell(0, 1).merge(table.cell(0, 2)).text = "both"
    table.cell(1, 0).merge(table.cell(2, 0)).text = "tall"
    assert (
        parsed(saved(made)).text
        == "| 0 | both | both |\n| --- | --- | --- |\n| tall | 4 | 5 |\n| tall | 7 | 8 |"
    )


def test_a_box_around_text_is_no_table() -> None:
    made = docx.Document()
    made.add_table(rows=1, cols=1).cell(0, 0).text = "Important: tell us."
    assert [(b.kind, b.text) for b in parsed(saved(made)).blocks] == [
        ("text", "Important: tell us.")
    ]


def test_content_controls_are_read() -> None:
    made = docx.Document()
    wrapped = made.add_paragraph("Inside a control.")._p
    control, content = OxmlElement("w:sdt"), OxmlElement("w:sdtContent")
    wrapped.addprevious(control)
    control.append(content)
    content.append(wrapped)
    assert content.tag == qn("w:sdtContent")
    assert parsed(saved(made)).text == "Inside a control."


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ("<w:tbl><w:tr><w:tc>" * 2000 + "</w:tc></w:tr></w:tbl>" * 2000, "nests more than 300"),
        ("<w:p>", "broken"),
        ("<w:p><w:r><w:t>&boom;</w:t></w:r></w:p>", "broken"),
        ("", "no text"),
    ],
)
def test_hostile_xml(body: str, says: str) -> None:
    with pytest.raises(SourceError, match=says):
        parsed(package(body))


def test_entities_are_refused() -> None:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr(
            "word/document.xml",
            f'<!DOCTYPE x [<!ENTITY q SYSTEM "file:///etc/hostname">]><w:document {W}/>',
        )
    with pytest.raises(SourceError, match="entities"):
        parsed(out.getvalue())


def test_another_zip_is_no_word_document() -> None:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("a.txt", "hello")
    with pytest.raises(SourceError, match="no Word document"):
        parsed(out.getvalue())
