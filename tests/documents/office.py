"""The least that is an office file, made in tests."""

import io
import zipfile
from collections.abc import Mapping, Sequence
from xml.sax.saxutils import escape, quoteattr

RELATIONS = "http://schemas.openxmlformats.org/package/2006/relationships"
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
SHEET = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
SLIDE = (
    'xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main" '
    f'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" xmlns:r="{OFFICE}"'
)
ODF = " ".join(
    f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"'
    for name in ("office", "text", "table", "style")
) + (
    ' xmlns:draw="urn:oasis:names:tc:opendocument:xmlns:drawing:1.0"'
    ' xmlns:svg="urn:oasis:names:tc:opendocument:xmlns:svg-compatible:1.0"'
)


def archive(parts: Mapping[str, str | bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as made:
        for name, content in parts.items():
            made.writestr(name, content)
    return out.getvalue()


def relations(*targets: tuple[str, str, str]) -> str:
    """targets: (id, kind, target)"""
    inner = "".join(
        f'<Relationship Id="{i}" Type="{OFFICE}/{kind}" Target="{to}"/>' for i, kind, to in targets
    )
    return f'<Relationships xmlns="{RELATIONS}">{inner}</Relationships>'


def workbook(
    sheets: Mapping[str, str],
    formats: Sequence[str] = (),
    strings: Sequence[str] = (),
    hidden: Sequence[str] = (),
    settings: str = "",
) -> bytes:
    """sheets: name -> XML inside <worksheet>; cell style N has the Nth of `formats`, from 1."""
    listed = ""
    for number, name in enumerate(sheets, 1):
        state = "hidden" if name in hidden else "visible"
        listed += (
            f'<sheet name={quoteattr(name)} sheetId="{number}" state="{state}" r:id="r{number}"/>'
        )
    codes = "".join(
        f'<numFmt numFmtId="{200 + n}" formatCode={quoteattr(code)}/>'
        for n, code in enumerate(formats)
    )
    styles = "".join(f'<xf numFmtId="{200 + n}"/>' for n in range(len(formats)))
    shared = "".join(f"<si><t>{escape(text)}</t></si>" for text in strings)
    known = [(f"r{n}", "worksheet", f"worksheets/sheet{n}.xml") for n in range(1, len(sheets) + 1)]
    others = ("s", "styles", "styles.xml"), ("t", "sharedStrings", "/xl/strings.xml")
    names = f'xmlns="{SHEET}" xmlns:r="{OFFICE}"'
    parts = {
        "_rels/.rels": relations(("r1", "officeDocument", "xl/workbook.xml")),
        "xl/workbook.xml": f"<workbook {names}>{settings}<sheets>{listed}</sheets></workbook>",
        "xl/_rels/workbook.xml.rels": relations(*known, *others),
        "xl/styles.xml": f"<styleSheet {names}><numFmts>{codes}</numFmts>"
        f'<cellXfs><xf numFmtId="0"/>{styles}</cellXfs></styleSheet>',
        "xl/strings.xml": f"<sst {names}>{shared}</sst>",
    }
    bodies = enumerate(sheets.values(), 1)
    return archive(
        parts
        | {
            f"xl/worksheets/sheet{n}.xml": f'<worksheet xmlns="{SHEET}">{body}</worksheet>'
            for n, body in bodies
        }
    )


def rows(*lines: Sequence[str | float | None], first: int = 1, left: int = 0) -> str:
    """Rows of a sheet, None for an empty cell."""
    said = []
    for number, line in enumerate(lines, first):
        cells = "".join(
            cell(f"{letter(left + at)}{number}", value)
            for at, value in enumerate(line)
            if value is not None
        )
        said.append(f'<row r="{number}">{cells}</row>')
    return "".join(said)


def cell(place: str, value: str | float, style: int = 0) -> str:
    if isinstance(value, str):
        return f'<c r="{place}" s="{style}" t="inlineStr"><is><t>{escape(value)}</t></is></c>'
    return f'<c r="{place}" s="{style}"><v>{value!r}</v></c>'


def letter(column: int) -> str:
    return chr(ord("A") + column)


def sheet(*lines: Sequence[str | float | None]) -> str:
    return f"<sheetData>{rows(*lines)}</sheetData>"


def deck(
    slides: Sequence[str],
    extra: Mapping[str, str] | None = None,
    about: Mapping[int, str] | None = None,
) -> bytes:
    """slides: XML inside <p:spTree>; about: slide number -> its relations."""
    known = [(f"r{n}", "slide", f"slides/slide{n}.xml") for n in range(1, len(slides) + 1)]
    order = "".join(f'<p:sldId id="{255 + n}" r:id="r{n}"/>' for n in range(1, len(slides) + 1))
    parts = {
        "_rels/.rels": relations(("r1", "officeDocument", "ppt/presentation.xml")),
        "ppt/presentation.xml": f"<p:presentation {SLIDE}><p:sldIdLst>{order}</p:sldIdLst>"
        "</p:presentation>",
        "ppt/_rels/presentation.xml.rels": relations(*known),
    }
    for number, inner in enumerate(slides, 1):
        parts[f"ppt/slides/slide{number}.xml"] = drawing("sld", inner)
    parts |= {f"ppt/slides/_rels/slide{n}.xml.rels": text for n, text in (about or {}).items()}
    return archive(parts | dict(extra or {}))


def drawing(root: str, inner: str, after: str = "") -> str:
    return f"<p:{root} {SLIDE}><p:cSld><p:spTree>{inner}</p:spTree></p:cSld>{after}</p:{root}>"


def shape(*paragraphs: str, kind: str = "", index: int = 0, style: str = "") -> str:
    """paragraphs: texts, or XML of <a:p>; kind: of the placeholder."""
    role = f'<p:ph type="{kind}" idx="{index}"/>' if kind else ""
    inner = "".join(
        p if p.startswith("<a:p>") else f"<a:p><a:r><a:t>{escape(p)}</a:t></a:r></a:p>"
        for p in paragraphs
    )
    return (
        f'<p:sp><p:nvSpPr><p:cNvPr id="1" name="x"/><p:nvPr>{role}</p:nvPr></p:nvSpPr>'
        f"<p:txBody><a:bodyPr/><a:lstStyle>{style}</a:lstStyle>{inner}</p:txBody></p:sp>"
    )


def text_file(body: str, automatic: str = "", styles: str = "") -> bytes:
    """An OpenDocument text; automatic: styles of its content, styles: those of the document."""
    content = f"<office:automatic-styles>{automatic}</office:automatic-styles>"
    content += f"<office:body><office:text>{body}</office:text></office:body>"
    common = f"<office:styles>{styles}</office:styles>"
    return archive(
        {
            "mimetype": "application/vnd.oasis.opendocument.text",
            "content.xml": f"<office:document-content {ODF}>{content}</office:document-content>",
            "styles.xml": f"<office:document-styles {ODF}>{common}</office:document-styles>",
        }
    )
