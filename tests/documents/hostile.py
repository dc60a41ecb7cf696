"""Files made to break parsers, built on the spot."""

import io
import random
import string
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from itertools import islice, product

from . import office

FONT = b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>"
CATALOG = b"<</Type/Catalog/Pages 2 0 R>>"
ONE_PAGE = b"<</Type/Pages/Count 1/Kids[4 0 R]>>"
W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'


def pdf(*objects: bytes) -> bytes:
    """A PDF of numbered objects, 1 first, with a correct table of offsets."""
    out, offsets = bytearray(b"%PDF-1.5\n"), []
    for number, body in enumerate(objects, 1):
        offsets.append(len(out))
        out += b"%d 0 obj\n" % number + body + b"\nendobj\n"
    table = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    out += b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    out += b"trailer<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF" % (len(objects) + 1, table)
    return bytes(out)


def stream(body: bytes, extra: bytes = b"") -> bytes:
    return b"<<%s/Length %d>>stream\n" % (extra, len(body)) + body + b"\nendstream"


def page(content: int, extra: bytes = b"") -> bytes:
    resources = b"<</Font<</F 3 0 R>>%s>>" % extra
    return b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Resources%s/Contents %d 0 R>>" % (
        resources,
        content,
    )


def good_pdf() -> bytes:
    return pdf(
        CATALOG,
        ONE_PAGE,
        FONT,
        page(5),
        stream(b"BT /F 12 Tf 50 700 Td (Leave is asked for in writing.) Tj ET"),
    )


def drawn_pdf() -> bytes:
    """A page with a black square and no words."""
    return pdf(CATALOG, ONE_PAGE, FONT, page(5), stream(b"100 100 300 300 re f"))


def truncated_pdf() -> bytes:
    return good_pdf()[:150]


def random_bytes() -> bytes:
    return b"%PDF-1.7\n" + random.Random(7).randbytes(50_000)


def recursive_page_tree() -> bytes:
    return pdf(CATALOG, b"<</Type/Pages/Count 1000000/Kids[2 0 R 2 0 R]>>")


def recursive_form() -> bytes:
    body = b"BT /F 12 Tf 50 700 Td (x) Tj ET /X Do /X Do"
    form = (
        b"/Type/XObject/Subtype/Form/BBox[0 0 612 792]/Resources<</Font<</F 3 0 R>>"
        b"/XObject<</X 6 0 R>>>>"
    )
    return pdf(
        CATALOG,
        ONE_PAGE,
        FONT,
        page(5, b"/XObject<</X 6 0 R>>"),
        stream(b"/X Do"),
        stream(body, form),
    )


def many_pages() -> bytes:
    kids = b" ".join(b"%d 0 R" % (5 + number) for number in range(3000))
    return pdf(
        CATALOG,
        b"<</Type/Pages/Count 3000/Kids[%s]>>" % kids,
        FONT,
        stream(b"BT /F 12 Tf (Hello) Tj ET"),
        *[page(4)] * 3000,
    )


def flate_bomb() -> bytes:
    """2 MB that unpack to half a GB of nothing."""
    packer = zlib.compressobj(9)
    packed = b"".join(packer.compress(b" " * 10_000_000) for _ in range(50)) + packer.flush()
    return pdf(CATALOG, ONE_PAGE, FONT, page(5), stream(packed, b"/Filter/FlateDecode"))


def zip_bomb() -> bytes:
    """A Word document of 200 kB that unpacks to 160 MB."""
    out = io.BytesIO()
    with (
        zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive,
        archive.open("word/document.xml", "w") as part,
    ):
        part.write(f"<w:document {W}><w:body>".encode())
        paragraph = b"<w:p><w:r><w:t>" + b"A" * 4000 + b"</w:t></w:r></w:p>"
        for _ in range(40):
            part.write(paragraph * 1000)
        part.write(b"</w:body></w:document>")
    return out.getvalue()


def nested_tables() -> bytes:
    return b"<table><tr><td>" * 3000 + b"deep" + b"</td></tr></table>" * 3000


def bomb(name: str, head: bytes, foot: bytes, others: dict[str, str]) -> bytes:
    """An office file one of whose parts unpacks to 160 MB."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for other, content in others.items():
            archive.writestr(other, content)
        with archive.open(name, "w") as part:
            part.write(head)
            for _ in range(40):
                part.write(b" " * 4_000_000)
            part.write(foot)
    return out.getvalue()


def sheet_bomb() -> bytes:
    book = {
        "xl/workbook.xml": WORKBOOK,
        "xl/_rels/workbook.xml.rels": office.relations(("a", "worksheet", "a.xml")),
    }
    return bomb("xl/a.xml", b"<worksheet><sheetData>", b"</sheetData></worksheet>", book)


def slide_bomb() -> bytes:
    show = {
        "ppt/presentation.xml": DECK,
        "ppt/_rels/presentation.xml.rels": office.relations(("a", "slide", "a.xml")),
    }
    return bomb("ppt/a.xml", b"<sld>", b"</sld>", show)


def entities(root: str) -> str:
    """Ten entities of ten others, eight times over."""
    said = "".join(f'<!ENTITY {chr(98 + n)} "{f"&{chr(97 + n)};" * 10}">' for n in range(8))
    return f'<!DOCTYPE x [<!ENTITY a "lol">{said}]>{root.replace(">", ">&i;", 1)}'


def hidden_entities() -> bytes:
    """The same where a search for its words in the bytes finds none."""
    return ('<?xml version="1.0" encoding="utf-16"?>' + entities("<worksheet></worksheet>")).encode(
        "utf-16"
    )


def book_of_entities() -> bytes:
    names = office.relations(("a", "worksheet", "a.xml"))
    return office.archive(
        {
            "xl/workbook.xml": WORKBOOK,
            "xl/_rels/workbook.xml.rels": names,
            "xl/a.xml": hidden_entities(),
        }
    )


def many_rows() -> bytes:
    return b"Name,Days\n" + b"Ann,25\n" * 1_000_000


def wide_and_tall() -> bytes:
    """Few cells, in a row and a column that span a plain of 200 million."""
    across = "".join(f'<c r="{c}1"><v>1</v></c>' for c in columns(2000))
    down = "".join(f'<row r="{n}"><c r="A{n}"><v>1</v></c></row>' for n in range(2, 100_000))
    return office.workbook({"S": f'<sheetData><row r="1">{across}</row>{down}</sheetData>'})


def columns(most: int) -> Iterator[str]:
    letters = string.ascii_uppercase
    names = (
        *letters,
        *map("".join, product(letters, repeat=2)),
        *map("".join, product(letters, repeat=3)),
    )
    return islice(iter(names), most)


def endless_message() -> bytes:
    return b"Subject: x\n" + b"Content-Type: message/rfc822\n\n" * 50_000


def parts_in_parts() -> bytes:
    return b"Subject: x\n" + b"".join(
        b"Content-Type: multipart/mixed; boundary=b%d\n\n--b%d\n" % (n, n) for n in range(20_000)
    )


def cut_short(data: bytes) -> bytes:
    return data[: len(data) // 2]


WORKBOOK = (
    f'<workbook xmlns:r="{office.OFFICE}"><sheets><sheet name="S" r:id="a"/></sheets></workbook>'
)
DECK = (
    f'<presentation xmlns:r="{office.OFFICE}"><sldIdLst><sldId id="1" r:id="a"/></sldIdLst>'
    "</presentation>"
)

FILES = {
    "empty.pdf": lambda: b"",
    "truncated.pdf": truncated_pdf,
    "random.pdf": random_bytes,
    "page-tree.pdf": recursive_page_tree,
    "form.pdf": recursive_form,
    "many-pages.pdf": many_pages,
    "flate.pdf": flate_bomb,
    "html.pdf": lambda: b"<html><body>Log in</body></html>",
    "bomb.docx": zip_bomb,
    "random.docx": random_bytes,
    "tables.html": nested_tables,
    "bomb.xlsx": sheet_bomb,
    "bomb.pptx": slide_bomb,
    "bomb.odt": lambda: bomb("content.xml", b"<document-content>", b"</document-content>", {}),
    "entities.xlsx": lambda: office.archive({"xl/workbook.xml": entities(WORKBOOK)}),
    "entities.pptx": lambda: office.archive({"ppt/presentation.xml": entities(DECK)}),
    "entities.odt": lambda: office.archive(
        {"content.xml": entities("<document-content></document-content>")}
    ),
    "hidden-entities.xlsx": book_of_entities,
    "wide.xlsx": wide_and_tall,
    "rows.csv": many_rows,
    "endless.eml": endless_message,
    "parts.eml": parts_in_parts,
    "truncated.xlsx": lambda: cut_short(office.workbook({"S": office.sheet(["a", "b"])})),
    "truncated.pptx": lambda: cut_short(office.deck([office.shape("Leave")])),
    "truncated.odt": lambda: cut_short(office.text_file("<text:p>Leave</text:p>")),
    "truncated.msg": lambda: b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600),
    "random.xlsx": random_bytes,
    "random.csv": random_bytes,
    "random.eml": random_bytes,
}
"""Name -> what makes the file; each must cost one clear error."""


def _explained_abbreviations() -> bytes:
    """Thousands of different abbreviations in one line."""
    pairs = []
    for letters in islice(product(string.ascii_uppercase, repeat=3), 8_000):
        first, second, third = letters
        pairs.append(f"{first}nnual {second}ash {third}onus ({first}{second}{third})")
    return " ".join(pairs).encode()


LONG_TEXTS: Mapping[str, Callable[[], bytes]] = {
    "abbreviations.txt": _explained_abbreviations,
    "brackets.txt": lambda: b"Annual Cash Bonus (ACB) " * 10_000,
    "no-spaces.txt": lambda: b"bonus(ACB)" * 25_000,
    "open-brackets.txt": lambda: b"a" + b"(" * 250_000,
    "stops.txt": lambda: b"a" + b"." * 250_000 + b"b",
    "stops-and-quotes.txt": lambda: b"a" + b'."' * 125_000 + b"b",
    "links.md": lambda: b"[a](b " * 40_000,
    "brackets.md": lambda: b"[" * 40_000 + b"a" + b"]" * 40_000,
    "pictures.md": lambda: b"![a " * 20_000,
    "escaped-brackets.md": lambda: b"[`]` [\\] a" * 10_000,
    "comments.md": lambda: b"a <!-- {% comment %} " * 20_000,
    "notes.md": lambda: b"".join(b"[^%d]: a `b` [^1]\n" % n for n in range(5_000)),
    "rules.html": lambda: b"<style>" + b".a{display:none}/* " * 20_000 + b"</style>Leave",
    "lists-in-lists.html": lambda: b"<ul>" * 490 + b"<li>a",
    "lists.html": lambda: b"<ul><li>a" * 490,
    "definitions.html": lambda: b"<dl><dt>a<dd>" * 330,
}
"""Name -> what makes a text on which a careless pass takes minutes; each must be read."""
