"""Workbooks made cell by cell, whose contents are known."""

import pytest

from ombud.documents import parse
from ombud.documents.office.xlsx_formats import format_number
from ombud.errors import SourceError
from ombud.types import Document

from .office import archive, cell, rows, sheet, workbook


def parsed(data: bytes, pages: int = 2000) -> Document:
    return parse(data, Document(id="x", source="s", uri="gb/pay-scales.xlsx", title=""), pages)


def seen(document: Document) -> list[tuple[str, str]]:
    return [(block.kind, block.text) for block in document.blocks]


def test_each_sheet_is_a_heading_and_its_tables() -> None:
    data = workbook(
        {"Pay": sheet(["Grade", "Days"], ["A", 25]), "Notice": sheet(["Years", "Weeks"], [1, 4])}
    )
    document = parsed(data)
    assert seen(document) == [
        ("heading", "Pay"),
        ("table", "| Grade | Days |\n| --- | --- |\n| A | 25 |"),
        ("heading", "Notice"),
        ("table", "| Years | Weeks |\n| --- | --- |\n| 1 | 4 |"),
    ]
    assert [block.level for block in document.blocks if block.kind == "heading"] == [2, 2]
    assert document.title == "Pay scales"


def test_the_only_sheet_needs_a_name_to_be_a_heading() -> None:
    assert seen(parsed(workbook({"Sheet1": sheet(["a", "b"], ["c", "d"])})))[0][0] == "table"
    assert (
        parsed(workbook({"Pay scales 2026": sheet(["a", "b"], ["c", "d"])})).title
        == "Pay scales 2026"
    )


def test_hidden_sheets_are_left_out() -> None:
    data = workbook(
        {"Pay": sheet(["a", "b"], ["c", "d"]), "Lists": sheet(["secret", "x"])}, hidden=["Lists"]
    )
    assert "secret" not in parsed(data).text


def test_blank_rows_and_columns_part_tables() -> None:
    lines = (
        rows(["Annual report"])
        + rows(["Grade", "Days", None, "City", "Code"], first=3)
        + rows(["A", 25, None, "Bonn", "BN"], first=4)
    )
    body = f"<sheetData>{lines}</sheetData>"
    assert seen(parsed(workbook({"Sheet1": body}))) == [
        ("text", "Annual report"),
        ("table", "| Grade | Days |\n| --- | --- |\n| A | 25 |"),
        ("table", "| City | Code |\n| --- | --- |\n| Bonn | BN |"),
    ]


def test_groups_of_one_table_all_say_its_header() -> None:
    body = f"<sheetData>{rows(['Grade', 'Days'], ['A', 25])}{rows(['B', 27], first=4)}</sheetData>"
    assert [text for _, text in seen(parsed(workbook({"Sheet1": body})))] == [
        "| Grade | Days |\n| --- | --- |\n| A | 25 |",
        "| Grade | Days |\n| --- | --- |\n| B | 27 |",
    ]


def test_tables_that_touch_by_a_corner_are_two() -> None:
    corners = rows(["a", "b"], ["c", "d"]) + rows(["e", "f"], ["g", "h"], first=3, left=2)
    body = f"<sheetData>{corners}</sheetData>"
    assert len(parsed(workbook({"Sheet1": body})).blocks) == 2


def test_a_title_over_a_table_is_a_line_of_text() -> None:
    body = sheet(["Holidays in 2026"], ["Country", "Days"], ["GB", 8])
    merged = body + '<mergeCells><mergeCell ref="A1:B1"/></mergeCells>'
    for made in (body, merged):
        assert [kind for kind, _ in seen(parsed(workbook({"Sheet1": made})))] == ["text", "table"]


def test_a_table_without_a_header_gets_a_blank_one() -> None:
    assert parsed(workbook({"Sheet1": sheet(["Leave", 25], ["Notice", 30])})).text == (
        "|  |  |\n| --- | --- |\n| Leave | 25 |\n| Notice | 30 |"
    )


def test_merged_cells_are_said_in_each_row() -> None:
    body = sheet(["Region", "City"], ["North", "York"], [None, "Leeds"])
    merged = (
        body + '<mergeCells><mergeCell ref="A2:A3"/><mergeCell ref="A9:XFD1048576"/></mergeCells>'
    )
    assert "| North | Leeds |" in parsed(workbook({"Sheet1": merged})).text


def test_cells_of_every_type() -> None:
    cells = (
        '<c r="A1" t="s"><v>1</v></c>'
        '<c r="B1" t="str"><f>A1</f><v>worked out</v></c>'
        '<c r="C1" t="b"><v>1</v></c>'
        '<c r="D1" t="e"><v>#N/A</v></c>'
        '<c r="E1" t="d"><v>2026-03-31T00:00:00</v></c>'
        '<c r="F1"><f>1+1</f><v>2</v></c>'
        '<c r="G1"><f>no result</f></c><c r="H1" t="s"><v>99</v></c>'
        '<c t="inlineStr"><is><r><t>in </t></r><r><t>runs</t></r>'
        '<rPh sb="0" eb="1"><t>spoken</t></rPh></is></c>'
    )
    data = workbook(
        {"Sheet1": f"<sheetData><row>{cells}</row></sheetData>"}, strings=["zero", "one"]
    )
    text = parsed(data).text
    for value in ("one", "worked out", "TRUE", "#N/A", "2026-03-31", "2", "in runs"):
        assert value in text
    assert "spoken" not in text


def test_numbers_by_the_style_of_their_cell() -> None:
    cells = cell("A1", 46112.0, 1) + cell("B1", 0.425, 2) + cell("C1", 1234.5, 3)
    data = workbook(
        {"Sheet1": f'<sheetData><row r="1">{cells}</row></sheetData>'},
        ["dd/mm/yyyy", "0.0%", "[$€-2] #,##0.00"],
    )
    assert parsed(data).text.split("\n")[0] == "| 31/03/2026 | 42.5% | € 1,234.50 |"


def test_days_counted_from_1904() -> None:
    cells = f'<sheetData><row r="1">{cell("A1", 44650.0, 1)}{cell("B1", "x")}</row></sheetData>'
    assert (
        "2026-03-31"
        in parsed(
            workbook({"S": cells}, ["yyyy-mm-dd"], settings='<workbookPr date1904="1"/>')
        ).text
    )


@pytest.mark.parametrize(
    ("value", "code", "text"),
    [
        (0.1 + 0.2, "General", "0.3"),
        (1234567.891, "#,##0.00", "1,234,567.89"),
        (-1234.5, "#,##0;(#,##0)", "(1,235)"),
        (-5, "0.00", "-5.00"),
        (-0.001, "0.00", "0.00"),
        (0.5, "0%", "50%"),
        (2.675, "0.00", "2.68"),
        (12, "000", "012"),
        (1500000, '0.0,,"M"', "1.5M"),
        (1.5, "# ?/?", "1 1/2"),
        (12345, "0.00E+00", "1.23E+04"),
        (5551234567, "(###) ###-####", "(555) 123-4567"),
        (0, '_(* #,##0.00_);_(* \\(#,##0.00\\);_(* "-"??_);_(@_)', "-"),
        (3, '0" days"', "3 days"),
        (250, "[$£-809]#,##0", "£250"),
        (250, '"$"#,##0.##', "$250"),
        (0.5, "#,##0.00 [$kr-41D]", "0.50 kr"),
        (150, "[>=100]0;[<100]0.0", "150"),
        (15, "[>=100]0;[<100]0.0", "15.0"),
        (46112, "d mmmm yyyy", "31 March 2026"),
        (46112, "[$-407]ddd, d. mmm yy", "Tue, 31. Mar 26"),
        (46112.75, "yyyy-mm-dd h:mm AM/PM", "2026-03-31 6:00 PM"),
        (0.5, "hh:mm", "12:00"),
        (46112, "mmm* yyyy", "Mar2026"),
        (1.25, "[h]:mm", "30:00"),
        (61, "yyyy-mm-dd", "1900-03-01"),
        (1, "yyyy-mm-dd", "1900-01-01"),
        (-1, "yyyy-mm-dd", "-1"),
        (7, "@", "7"),
        (7, '"x', "x"),
    ],
)
def test_what_excel_shows(value: float, code: str, text: str) -> None:
    assert format_number(value, code) == text


def test_rows_are_counted_as_pages() -> None:
    lines = "".join(f"<row><c><v>{n}</v></c><c><v>{n}</v></c></row>" for n in range(100_000))
    data = workbook({"Sheet1": f"<sheetData>{lines}</sheetData>"})
    with pytest.raises(SourceError, match="more than 50,000 rows") as wrong:
        parsed(data, pages=100)
    assert "500 rows count as a page" in wrong.value.hint


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"PK\x03\x04 and then nothing", "no Excel workbook"),
        (b"\xd0\xcf\x11\xe0" + bytes(600), "encrypted"),
        (workbook({"S": sheet(["a", "b"])})[:-200], "no Excel workbook"),
        (archive({"a.txt": "hello"}), "no Excel workbook"),
        (workbook({"S": "<sheetData><row>"}), "no Excel workbook"),
        (workbook({"S": "<g>" * 400 + "</g>" * 400}), "nests more than 300"),
        (workbook({"S": ""}), "no text"),
    ],
)
def test_what_cannot_be_read(data: bytes, says: str) -> None:
    with pytest.raises(SourceError, match=says) as wrong:
        parsed(data)
    assert wrong.value.hint


def test_an_archive_in_place_of_a_sheet_is_refused() -> None:
    data = archive({"xl/workbook.xml": archive({"a": "b"})})
    with pytest.raises(SourceError, match="holds an archive"):
        parsed(data)
