"""OpenDocument texts made element by element, whose contents are known."""

import pytest

from ombud.documents import parse
from ombud.errors import SourceError
from ombud.types import Document

from .office import archive, text_file

TITLES = '<style:style style:name="P1" style:family="paragraph" style:parent-style-name="Title"/>'
LISTS = """<text:list-style style:name="L1">
<text:list-level-style-number text:level="1" style:num-format="1" style:num-suffix="."/>
<text:list-level-style-number text:level="2" style:num-format="1" text:display-levels="2"/>
<text:list-level-style-number text:level="3" style:num-format="a"
    style:num-prefix="(" style:num-suffix=")"/>
</text:list-style>
<text:list-style style:name="L2"><text:list-level-style-bullet text:level="1"/>
</text:list-style>"""
OUTLINE = """<text:outline-style style:name="Outline">
<text:outline-level-style text:level="1" style:num-format="1"/>
<text:outline-level-style text:level="2" style:num-format="1" text:display-levels="2"/>
</text:outline-style>"""


def parsed(body: str, automatic: str = "", styles: str = "") -> Document:
    return read(text_file(body, automatic, styles))


def read(data: bytes) -> Document:
    return parse(data, Document(id="x", source="s", uri="gb/leave.odt", title=""))


def seen(document: Document) -> list[tuple[str, str]]:
    return [(block.kind, block.text) for block in document.blocks]


def item(*inner: str) -> str:
    return f"<text:list-item>{''.join(inner)}</text:list-item>"


def listed(style: str, *items: str, more: str = "") -> str:
    return f'<text:list text:style-name="{style}" {more}>{"".join(items)}</text:list>'


def p(text: str) -> str:
    return f"<text:p>{text}</text:p>"


def test_headings_below_a_title() -> None:
    document = parsed(
        '<text:p text:style-name="P1">Leave</text:p>'
        '<text:h text:outline-level="1">Carry over</text:h>'
        '<text:h text:outline-level="2">How</text:h>'
        + p("Ask<text:s text:c='3'/>your <text:span>manager</text:span>."),
        TITLES,
    )
    assert [(b.kind, b.level, b.text) for b in document.blocks] == [
        ("heading", 1, "Leave"),
        ("heading", 2, "Carry over"),
        ("heading", 3, "How"),
        ("text", 0, "Ask your manager."),
    ]
    assert document.title == "Leave"
    assert {block.page for block in document.blocks} == {None}


def test_numbers_of_headings() -> None:
    headings = ((1, "Scope"), (2, "Staff"), (2, "Interns"), (1, "Duties"), (2, "Early"))
    body = "".join(
        f'<text:h text:outline-level="{level}">{name}</text:h>' for level, name in headings
    )
    texts = [block.text for block in parsed(body + p("x"), styles=OUTLINE).blocks]
    assert texts[:5] == ["1 Scope", "1.1 Staff", "1.2 Interns", "2 Duties", "2.1 Early"]


def test_lists_and_their_numbers() -> None:
    inner = listed(
        "L1", item(p("one")), item(p("two"), "<text:list>" + item(p("deep")) + "</text:list>")
    )
    nested = inner.replace(' text:style-name="L1"', "")
    body = (
        listed("L1", item(p("Scope"), nested), item(p("Duties"), p("and more")))
        + p("between")
        + listed("L1", item(p("goes on")), more='text:continue-numbering="true"')
        + listed("L1", item(p("anew")))
        + listed("L2", item(p("bullet")))
    )
    assert seen(parsed(body, LISTS)) == [
        ("list", "1. Scope\n  1.1 one\n  1.2 two\n    (a) deep\n2. Duties and more"),
        ("text", "between"),
        ("list", "3. goes on"),
        ("list", "1. anew"),
        ("list", "- bullet"),
    ]


def test_headings_in_lists_have_their_number() -> None:
    body = listed("L1", item('<text:h text:outline-level="1">Scope</text:h>')) + p("x")
    assert seen(parsed(body, LISTS))[0] == ("heading", "1. Scope")


def test_tables_with_merged_and_repeated_cells() -> None:
    table = (
        "<table:table><table:table-header-rows><table:table-row>"
        '<table:table-cell table:number-rows-spanned="2"><text:p>Grade</text:p></table:table-cell>'
        '<table:table-cell table:number-columns-spanned="2"><text:p>Days</text:p>'
        "</table:table-cell>"
        "<table:covered-table-cell/></table:table-row></table:table-header-rows>"
        "<table:table-row><table:covered-table-cell/>"
        "<table:table-cell><text:p>full</text:p></table:table-cell>"
        "<table:table-cell><text:p>part</text:p>"
        "</table:table-cell></table:table-row>"
        "<table:table-row><table:table-cell><text:p>A</text:p></table:table-cell>"
        '<table:table-cell table:number-columns-repeated="2"><text:p>25</text:p>'
        "</table:table-cell></table:table-row>"
        "</table:table>"
    )
    assert parsed(table).text == (
        "| Grade | Days | Days |\n| --- | --- | --- |\n| Grade | full | part |\n| A | 25 | 25 |"
    )


def test_a_cell_repeated_without_end_is_cut() -> None:
    cell = (
        '<table:table-cell table:number-columns-repeated="100000000"><text:p>x</text:p>'
        "</table:table-cell>"
    )
    row = f'<table:table-row table:number-rows-repeated="100000000">{cell}</table:table-row>'
    assert len(parsed(f"<table:table>{row}</table:table>").text) < 500_000
    with pytest.raises(SourceError, match="more than a million cells"):
        parsed(f"<table:table>{row * 60}</table:table>")


def test_footnotes_boxes_and_pictures() -> None:
    body = p(
        "Pay goes on.<text:note><text:note-citation>1</text:note-citation><text:note-body>"
        "<text:p>For six weeks.</text:p></text:note-body></text:note>"
        "<draw:frame><draw:text-box><text:p>Ask early!</text:p></draw:text-box></draw:frame>"
        "<draw:frame><svg:desc>A calendar</svg:desc></draw:frame>"
        "<office:annotation><text:p>draft</text:p></office:annotation>"
    )
    assert seen(parsed(body)) == [
        ("text", "Pay goes on. [1]"),
        ("text", "[1] For six weeks."),
        ("text", "Ask early!"),
        ("text", "A calendar"),
    ]


def test_deleted_text_and_the_table_of_contents_are_left_out() -> None:
    body = (
        "<text:tracked-changes><text:changed-region><text:p>gone</text:p></text:changed-region>"
        "</text:tracked-changes>"
        "<text:table-of-content><text:index-body><text:p>Leave 3</text:p></text:index-body>"
        "</text:table-of-content>"
        "<text:section><text:p>kept</text:p></text:section>"
    )
    assert parsed(body).text == "kept"


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"PK\x03\x04 and then nothing", "no OpenDocument text"),
        (text_file(p("x"))[:-100], "no OpenDocument text"),
        (archive({"content.xml": "<a/>"}), "no OpenDocument text"),
        (text_file("<text:section>" * 400 + "</text:section>" * 400), "nests more than 300"),
        (text_file(""), "no text"),
        (
            archive(
                {"META-INF/manifest.xml": "<m><encryption-data/></m>", "content.xml": "\x01\x02"}
            ),
            "encrypted",
        ),
    ],
)
def test_what_cannot_be_read(data: bytes, says: str) -> None:
    with pytest.raises(SourceError, match=says):
        read(data)
