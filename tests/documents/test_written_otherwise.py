"""Faults of `test_every_fault`, in files as other programs write them."""

import re
from collections.abc import Mapping

import docx
import pytest
from docx.oxml import parse_xml

from ombud.documents import parse
from ombud.types import Document

from .office import OFFICE, archive, cell, deck, relations, shape, text_file, workbook
from .test_docx import saved

WORD = (
    'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main" '
    'xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"'
)
FORM = "https://example.org/form?a=1"


def read(data: bytes, ending: str) -> Document:
    facts = Document(id="x" * 16, source="s", uri=f"rules.{ending}", title="", language="en")
    return parse(data, facts)


def links(document: Document) -> Mapping[str, str]:
    found = (one for one in document.annotations if one.kind == "link")
    return {document.text[one.start : one.end]: one.url for one in found}


def word(body: str) -> docx.document.Document:
    made = docx.Document()
    for node in reversed(list(parse_xml(f"<w:body {WORD}>{body}</w:body>"))):
        made.element.body.insert(0, node)
    return made


def line(*runs: str) -> str:
    made = [one if one.startswith("<") else f"<w:r><w:t>{one}</w:t></w:r>" for one in runs]
    return f"<w:p>{''.join(made)}</w:p>"


def field(code: str, shown: str) -> str:
    def edge(kind: str) -> str:
        return f'<w:r><w:fldChar w:fldCharType="{kind}"/></w:r>'

    told = f"<w:r><w:instrText>{code.replace('&', '&amp;')}</w:instrText></w:r>"
    return f"{edge('begin')}{told}{edge('separate')}<w:r><w:t>{shown}</w:t></w:r>{edge('end')}"


def test_fields_of_word_are_links() -> None:
    body = line("Use ", field(f' HYPERLINK "{FORM}" \\o "tip" ', "the form"), " or ")
    body += line(field(' HYPERLINK "javascript:x()" ', "this"), field(" DATE ", "today"))
    body += line(
        f"<w:fldSimple w:instr=' HYPERLINK \"{FORM}\"'>{line('again')[5:-6]}</w:fldSimple>"
    )
    document = read(saved(word(body)), "docx")
    assert document.text == "Use the form or\n\nthistoday\n\nagain"
    assert links(document) == {"the form": FORM, "again": FORM}


def test_a_text_box_is_said_once_though_word_keeps_it_twice() -> None:
    box = f"<w:txbxContent>{line('Boxed rule')}</w:txbxContent>"
    body = (
        f"<w:r><mc:AlternateContent><mc:Choice>{box}</mc:Choice>"
        f"<mc:Fallback>{box}</mc:Fallback></mc:AlternateContent></w:r>"
    )
    assert read(saved(word(line("Before", body))), "docx").text == "Before\n\nBoxed rule"


def test_rows_in_content_controls_and_deleted_cells() -> None:
    def cells(*texts: str, about: str = "") -> str:
        made = [f"<w:tc><w:tcPr>{about}</w:tcPr>{line(text)}</w:tc>" for text in texts]
        return "".join(made)

    controlled = f"<w:sdt><w:sdtContent><w:tr>{cells('Car', '30')}</w:tr></w:sdtContent></w:sdt>"
    deleted = cells("77", about='<w:cellDel w:id="1" w:author="x"/>')
    table = (
        f"<w:tbl><w:tr>{cells('Kind', 'Cents')}</w:tr>{controlled}"
        f"<w:tr>{cells('Van')}{deleted}</w:tr></w:tbl>"
    )
    text = read(saved(word(table)), "docx").text
    assert text == "| Kind | Cents |\n| --- | --- |\n| Car | 30 |\n| Van |  |"


def test_raised_by_position() -> None:
    raised = '<w:r><w:rPr><w:position w:val="8"/></w:rPr><w:t>1</w:t></w:r>'
    lowered = raised.replace("8", "-8")
    body = line("Get 25", raised, " days") + line("H", lowered, "O")
    assert read(saved(word(body)), "docx").text == "Get 25 [1] days\n\nH1O"


@pytest.mark.parametrize("is_on", [False, True])
def test_headers_that_are_switched_off(is_on: bool) -> None:
    made = word(line("A rule."))
    section = made.sections[0]
    section.header.paragraphs[0].text = "Applies to Malta"
    section.first_page_header.paragraphs[0].text = "Old first page"
    section.even_page_header.paragraphs[0].text = "Old even page"
    section.different_first_page_header_footer = is_on
    made.settings.odd_and_even_pages_header_footer = is_on
    text = read(saved(made), "docx").text
    assert "Applies to Malta" in text
    assert ("Old first page" in text, "Old even page" in text) == (is_on, is_on)


def test_rows_and_columns_without_size_and_values_that_are_not_shown() -> None:
    line_of_cells = cell("A1", "Kind") + cell("B1", "Cost") + cell("C1", "Cents")
    body = (
        '<cols><col min="2" max="2" width="0" customWidth="1"/></cols><sheetData>'
        f'<row r="1">{line_of_cells}</row>'
        f'<row r="2">{cell("A2", "Car")}{cell("B2", 11)}{cell("C2", 30)}</row>'
        f'<row r="3" ht="0" customHeight="1">{cell("A3", "Van")}{cell("C3", 40)}</row>'
        f'<row r="4">{cell("A4", "Bus")}{cell("C4", 50, 1)}</row></sheetData>'
    )
    document = read(workbook({"Rules": body}, formats=(";;;",)), "xlsx")
    rows = re.findall(r"\w+", document.text)
    assert rows == ["Rules", "Kind", "Cents", "Car", "30", "Bus"]
    assert document.loss.hidden == 3


def test_links_made_by_a_formula() -> None:
    formula = f'<f>HYPERLINK("{FORM}","Form")</f><v>Form</v>'
    body = f'<sheetData><row r="1"><c r="A1" t="str">{formula}</c></row></sheetData>'
    assert links(read(workbook({"Rules": body}), "xlsx")) == {"Form": FORM}


def test_a_shape_that_is_a_link() -> None:
    made = shape("The form").replace(
        'name="x"/>', 'name="x"><a:hlinkClick r:id="r9"/></p:cNvPr>', 1
    )
    target = ("r9", "hyperlink", FORM)
    about = relations(target).replace(f'Target="{FORM}"', f'Target="{FORM}" TargetMode="External"')
    document = read(deck([shape("Costs", kind="title") + made], about={1: about}), "pptx")
    assert links(document) == {"The form": FORM}
    assert OFFICE in about


def test_hidden_passages_of_open_text() -> None:
    body = (
        '<text:p>Open <text:hidden-text text:is-hidden="true" text:string-value="SECRET"/>'
        "<text:hidden-text>kept</text:hidden-text></text:p>"
        '<text:p><text:hidden-paragraph text:is-hidden="true"/>SECRET</text:p>'
        "<text:p><text:hidden-paragraph/>Shown</text:p>"
        '<text:section text:display="condition" text:is-hidden="true"><text:p>SECRET</text:p>'
        '</text:section><text:section text:display="condition"><text:p>Seen</text:p>'
        "</text:section><table:table><table:table-row><table:table-cell "
        'table:number-columns-spanned="2"><text:p>Both</text:p></table:table-cell>'
        "<table:covered-table-cell><text:p>SECRET</text:p></table:covered-table-cell>"
        "</table:table-row></table:table>"
    )
    document = read(text_file(body), "odt")
    assert document.text.split("\n\n")[:3] == ["Open kept", "Shown", "Seen"]
    assert "Both" in document.text
    assert "SECRET" not in document.model_dump_json()
    assert document.loss.hidden == 3


def test_style_sheets_of_books() -> None:
    page = (
        '<html xmlns="http://www.w3.org/1999/xhtml"><head><title>x</title></head><body><p>Get 25'
        '<span class="up">1</span> days <span class="old">20</span> '
        '<span class="off">SECRET</span>a year</p></body></html>'
    )
    book = (
        '<package xmlns="http://www.idpf.org/2007/opf"><manifest>'
        '<item id="c" href="c.xhtml" media-type="application/xhtml+xml"/>'
        '<item id="s" href="s%20t.css" media-type="text/css"/></manifest>'
        '<spine><itemref idref="c"/></spine></package>'
    )
    container = (
        '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
        '<rootfile full-path="O/a.opf"/></rootfiles></container>'
    )
    sheet = ".up{vertical-align:super}.old{text-decoration:line-through}.off{display:none}"
    parts = {"META-INF/container.xml": container, "O/a.opf": book, "O/c.xhtml": page}
    document = read(archive(parts | {"O/s t.css": sheet}), "epub")
    assert document.text == "Get 25 [1] days a year"
    assert (document.loss.struck, document.loss.hidden) == (1, 1)


QUOTED = {
    "de": "Von: Ann\nGesendet: Montag, 2. März 2026\nAn: Bob\nBetreff: Urlaub",
    "es": "De: Ann\nEnviado: lunes, 2 de marzo de 2026\nPara: Bob\nAsunto: Vacaciones",
}


@pytest.mark.parametrize("language", QUOTED)
def test_a_reply_in_another_language_than_its_program(language: str) -> None:
    body = f"The new rule is 28 days.\n\n{QUOTED[language]}\n\nThe old rule was 25 days.\n"
    head = (
        "From: a@example.org\nIn-Reply-To: <1@example.org>\nContent-Type: text/plain; charset=utf-8"
    )
    document = read(f"{head}\n\n{body}".encode(), "eml")
    assert "28 days" in document.text
    assert "25 days" not in document.text
    assert document.loss.quoted == 1


def test_headers_of_restructured_text_are_content() -> None:
    source = ".. header:: Applies to Belgium only\n\nEight euros a day.\n"
    assert read(source.encode(), "rst").text == "Applies to Belgium only\n\nEight euros a day."


def test_conditions_and_comments_of_asciidoc() -> None:
    source = (
        ":here: yes\n\nifdef::away[]\nSECRET\nifdef::here[]\nSECRET\nendif::[]\nSECRET\nendif::[]\n"
        "ifdef::here[Seen]\n\nifdef::away[SECRET]\n////\nSECRET\n////\nifndef::away[]\nToo\nendif::[]\n"
        "\n* One\nifdef::away[]\n* SECRET\nendif::[]\n* Two\n"
    )
    document = read(source.encode(), "adoc")
    assert document.text == "Seen\n\nToo\n\n- One\n- Two"
    assert document.loss.hidden == 3


@pytest.mark.parametrize(
    "table",
    [
        "[cols=2*]\n|===\n|Kind\n|Cents\n\n|Car\n|30\n|===",
        '[%header,cols="1,2"]\n|===\n|Kind |Cents |Car\n|30\n|===',
        "|===\n|Kind |Cents\n\n|Car |30\n|===",
        ",===\nKind,Cents\nCar,30\n,===",
        ":===\nKind:Cents\n\nCar:30\n:===",
    ],
)
def test_tables_of_asciidoc(table: str) -> None:
    text = read(f"A rule.\n\n{table}\n".encode(), "adoc").text
    assert text == "A rule.\n\n| Kind | Cents |\n| --- | --- |\n| Car | 30 |"


def test_styles_of_components() -> None:
    source = (
        "Get <span style={{color: 'red', textDecoration: 'line-through'}}>25</span> 28 days"
        "<b hidden={true}>SECRET</b>.\n"
    )
    document = read(source.encode(), "mdx")
    assert document.text == "Get 28 days."
    assert (document.loss.struck, document.loss.hidden) == (1, 1)
