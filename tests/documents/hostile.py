"""Files made to break parsers, built on the spot."""

import io
import random
import zipfile
import zlib

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
    return b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Resources%s/Contents %d 0 R>>" % (resources, content)


def good_pdf() -> bytes:
    return pdf(
        CATALOG, ONE_PAGE, FONT, page(5), stream(b"BT /F 12 Tf 50 700 Td (Leave is asked for in writing.) Tj ET")
    )


def truncated_pdf() -> bytes:
    return good_pdf()[:150]


def random_bytes() -> bytes:
    return b"%PDF-1.7\n" + random.Random(7).randbytes(50_000)


def recursive_page_tree() -> bytes:
    return pdf(CATALOG, b"<</Type/Pages/Count 1000000/Kids[2 0 R 2 0 R]>>")


def recursive_form() -> bytes:
    body = b"BT /F 12 Tf 50 700 Td (x) Tj ET /X Do /X Do"
    form = b"/Type/XObject/Subtype/Form/BBox[0 0 612 792]/Resources<</Font<</F 3 0 R>>/XObject<</X 6 0 R>>>>"
    return pdf(CATALOG, ONE_PAGE, FONT, page(5, b"/XObject<</X 6 0 R>>"), stream(b"/X Do"), stream(body, form))


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
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive, archive.open("word/document.xml", "w") as part:
        part.write(f"<w:document {W}><w:body>".encode())
        paragraph = b"<w:p><w:r><w:t>" + b"A" * 4000 + b"</w:t></w:r></w:p>"
        for _ in range(40):
            part.write(paragraph * 1000)
        part.write(b"</w:body></w:document>")
    return out.getvalue()


def nested_tables() -> bytes:
    return b"<table><tr><td>" * 3000 + b"deep" + b"</td></tr></table>" * 3000


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
}
"""Name -> what makes the file; each must cost one clear error."""
