"""Decks made shape by shape, whose contents are known."""

import pytest

from ombud.documents import parse
from ombud.errors import SourceError
from ombud.types import Document

from .office import SLIDE, archive, deck, drawing, relations, shape

FRAME = (
    "<p:graphicFrame><p:nvGraphicFramePr><p:nvPr/></p:nvGraphicFramePr>"
    "<a:graphic><a:graphicData>{}</a:graphicData></a:graphic></p:graphicFrame>"
)
DRAWN = "http://schemas.openxmlformats.org/drawingml/2006"
BULLETS = '<a:lvl1pPr><a:buChar char="•"/></a:lvl1pPr><a:lvl2pPr><a:buChar char="-"/></a:lvl2pPr>'


def parsed(data: bytes, pages: int = 2000) -> Document:
    return parse(data, Document(id="x", source="s", uri="gb/induction.pptx", title=""), pages)


def seen(document: Document) -> list[tuple[str, str]]:
    return [(block.kind, block.text) for block in document.blocks]


def paragraph(text: str, properties: str = "", level: int = 0) -> str:
    return f'<a:p><a:pPr lvl="{level}">{properties}</a:pPr><a:r><a:t>{text}</a:t></a:r></a:p>'


def table(*lines: tuple[str, ...]) -> str:
    cells = ("".join(f"<a:tc{text}</a:tc>" for text in line) for line in lines)
    return FRAME.format("<a:tbl>" + "".join(f"<a:tr>{line}</a:tr>" for line in cells) + "</a:tbl>")


def said(text: str, attributes: str = "") -> str:
    return f"{attributes}><a:txBody><a:p><a:r><a:t>{text}</a:t></a:r></a:p></a:txBody>"


def test_titles_are_headings_and_slides_are_pages() -> None:
    slides = [
        shape("Welcome", kind="ctrTitle") + shape("For new colleagues", kind="subTitle", index=1),
        shape("Slide 2", kind="sldNum", index=9)
        + shape("Leave is asked for early.")
        + shape("Leave", kind="title"),
    ]
    document = parsed(deck(slides))
    assert [(b.kind, b.level, b.page, b.text) for b in document.blocks] == [
        ("heading", 1, 1, "Welcome"),
        ("text", 0, 1, "For new colleagues"),
        ("heading", 2, 2, "Leave"),
        ("text", 0, 2, "Leave is asked for early."),
    ]
    assert document.title == "Welcome"


def test_the_order_is_that_of_the_show_and_hidden_slides_are_left_out() -> None:
    slides = [drawing("sld", shape(name, kind="title")) for name in ("One", "Two", "Three")]
    hidden = slides[1].replace("<p:sld ", '<p:sld show="0" ', 1)
    order = "".join(
        f'<p:sldId id="{256 + n}" r:id="{name}"/>' for n, name in enumerate(("c", "b", "a"))
    )
    known = [(name, "slide", f"slides/{name}.xml") for name in "abc"]
    data = archive(
        {
            "ppt/presentation.xml": f"<p:presentation {SLIDE}><p:sldIdLst>{order}</p:sldIdLst>"
            "</p:presentation>",
            "ppt/_rels/presentation.xml.rels": relations(*known),
            "ppt/slides/a.xml": slides[0],
            "ppt/slides/b.xml": hidden,
            "ppt/slides/c.xml": slides[2],
        }
    )
    assert [(b.text, b.page) for b in parsed(data).blocks] == [("Three", 1), ("One", 3)]


def test_bullets_are_lists_with_levels() -> None:
    body = shape(
        paragraph("Before you go", "<a:buNone/>"),
        paragraph("tell your manager"),
        paragraph("by noon", level=1),
        paragraph("hand over"),
        kind="body",
        index=1,
        style=BULLETS,
    )
    assert seen(parsed(deck([shape("Leave", kind="title") + body])))[1:] == [
        ("text", "Before you go"),
        ("list", "- tell your manager\n  - by noon\n- hand over"),
    ]


def test_numbers_are_counted() -> None:
    letters = '<a:buAutoNum type="alphaLcParenR"/>'
    items = [
        paragraph("first", '<a:buAutoNum type="arabicPeriod" startAt="3"/>'),
        paragraph("inner", letters, 1),
        paragraph("inner", letters, 1),
        paragraph("second", '<a:buAutoNum type="arabicPeriod"/>'),
    ]
    assert seen(parsed(deck([shape("T", kind="title") + shape(*items)])))[1:] == [
        ("list", "3. first\n  a) inner\n  b) inner\n4. second")
    ]


def test_bullets_come_from_the_layout_and_the_master() -> None:
    plain = shape("", kind="body", index=2, style="<a:lvl1pPr><a:buNone/></a:lvl1pPr>")
    parts = {
        "ppt/layouts/one.xml": drawing("sldLayout", shape("", kind="body", index=1) + plain),
        "ppt/layouts/_rels/one.xml.rels": relations(("r1", "slideMaster", "../masters/one.xml")),
        "ppt/masters/one.xml": drawing(
            "sldMaster", "", f"<p:txStyles><p:bodyStyle>{BULLETS}</p:bodyStyle></p:txStyles>"
        ),
    }
    slide = (
        shape("T", kind="title")
        + shape("item", kind="body", index=1)
        + shape("plain", kind="body", index=2)
    )
    data = deck(
        [slide + shape("box")], parts, {1: relations(("r1", "slideLayout", "../layouts/one.xml"))}
    )
    assert seen(parsed(data))[1:] == [("list", "- item"), ("text", "plain"), ("text", "box")]


def test_tables_with_merged_cells() -> None:
    made = table(
        (said("Grade", ' rowSpan="2"'), said("Days", ' gridSpan="2"'), said("", ' hMerge="1"')),
        (said("", ' vMerge="1"'), said("full"), said("part")),
        (said("A"), said("25"), said("13")),
    )
    assert seen(parsed(deck([shape("T", kind="title") + made])))[1:] == [
        (
            "table",
            "| Grade | Days | Days |\n| --- | --- | --- |\n"
            "| Grade | full | part |\n| A | 25 | 13 |",
        )
    ]


def test_notes_pictures_and_groups() -> None:
    picture = '<p:pic><p:nvPicPr><p:cNvPr id="1" name="p" descr="{}"/></p:nvPicPr></p:pic>'
    pictures = [picture.format("The way to the first-aid room"), picture.format("image1.png")]
    group = f"<p:grpSp>{''.join(pictures)}</p:grpSp>"
    notes = drawing(
        "notes", shape("Say it twice.", kind="body", index=1) + shape("1", kind="sldNum", index=2)
    )
    data = deck(
        [shape("T", kind="title") + group],
        {"ppt/notes/one.xml": notes},
        {1: relations(("r1", "notesSlide", "../notes/one.xml"))},
    )
    assert [b.text for b in parsed(data).blocks] == [
        "T",
        "The way to the first-aid room",
        "Say it twice.",
    ]


def test_charts_and_diagrams() -> None:
    points = '<c:pt idx="0"><c:v>{}</c:v></c:pt><c:pt idx="1"><c:v>{}</c:v></c:pt>'
    series = (
        "<c:tx><c:strRef><c:strCache>"
        "<c:pt idx='0'><c:v>Days</c:v></c:pt></c:strCache></c:strRef></c:tx>"
        f"<c:cat><c:strRef><c:strCache>{points.format('UK', 'US')}</c:strCache></c:strRef></c:cat>"
        f"<c:val><c:numRef><c:numCache>{points.format(25, 15)}</c:numCache></c:numRef></c:val>"
    )
    plot = (
        "<c:chart><c:plotArea>"
        f"<c:barChart><c:ser>{series}</c:ser></c:barChart></c:plotArea></c:chart>"
    )
    chart = f'<c:chartSpace xmlns:c="{DRAWN}/chart" xmlns:a="{DRAWN}/main">{plot}</c:chartSpace>'
    diagram = (
        f'<d:dataModel xmlns:d="{DRAWN}/diagram" xmlns:a="{DRAWN}/main"><d:ptLst>'
        + "".join(
            f"<d:pt><d:t><a:p><a:r><a:t>{t}</a:t></a:r></a:p></d:t></d:pt>" for t in ("Ask", "Wait")
        )
        + "</d:ptLst></d:dataModel>"
    )
    frames = FRAME.format('<c:chart xmlns:c="c" r:id="r1"/>') + FRAME.format(
        '<d:relIds xmlns:d="d" r:dm="r2"/>'
    )
    data = deck(
        [shape("T", kind="title") + frames],
        {"ppt/charts/one.xml": chart, "ppt/diagrams/one.xml": diagram},
        {
            1: relations(
                ("r1", "chart", "../charts/one.xml"), ("r2", "diagramData", "../diagrams/one.xml")
            )
        },
    )
    assert seen(parsed(data))[1:] == [
        ("table", "|  | Days |\n| --- | --- |\n| UK | 25 |\n| US | 15 |"),
        ("list", "- Ask\n- Wait"),
    ]


def test_a_slide_without_a_title_starts_a_section_of_its_own() -> None:
    slides = [
        shape("Leave", kind="title"),
        shape("Sick pay", "It goes on for six weeks."),
        shape("It is paid."),
    ]
    assert seen(parsed(deck(slides))) == [
        ("heading", "Leave"),
        ("heading", "Sick pay"),
        ("text", "It goes on for six weeks."),
        ("heading", "Slide 3"),
        ("text", "It is paid."),
    ]


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"PK\x03\x04 and then nothing", "no PowerPoint deck"),
        (b"\xd0\xcf\x11\xe0" + bytes(600), "encrypted"),
        (deck([shape("T", kind="title")])[:-100], "no PowerPoint deck"),
        (archive({"a.txt": "hello"}), "no PowerPoint deck"),
        (deck(["<p:grpSp>" * 400 + "</p:grpSp>" * 400]), "nests more than 300"),
        (deck([""]), "no text"),
    ],
)
def test_what_cannot_be_read(data: bytes, says: str) -> None:
    with pytest.raises(SourceError, match=says):
        parsed(data)


def test_too_many_slides() -> None:
    with pytest.raises(SourceError, match="3 slides; the limit is 2"):
        parsed(deck([shape("T", kind="title")] * 3), pages=2)
