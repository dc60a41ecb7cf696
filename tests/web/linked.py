"""A Word file with links, struck and hidden text, as the fixtures of several tests."""

from documents.office import archive, relations

FORM = "https://forms.example.org/parental-leave(2026)"
MAIL = "mailto:leave@example.org"
EVIL = "javascript:alert(1)"
SENTENCE = "Parents apply for parental leave 🍼 with the parental leave form eight weeks ahead."
STRUCK = "Parents apply for parental leave by letter to the director."
SECRET = "The director's private number is 555 0100."
_WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_REFERENCE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"


def linked_document(heading: str = "Parental leave") -> bytes:
    """Paragraphs with a link in a sentence, in a list and in a table; one struck, one hidden."""
    before, after = SENTENCE.split("parental leave form")
    paragraphs = [
        f'<w:p><w:pPr><w:pStyle w:val="Heading1"/></w:pPr>{_run(heading)}</w:p>',
        _paragraph(_run(before), _link("form", "parental leave form"), _run(after)),
        _paragraph(_run(STRUCK, "<w:strike/>")),
        _paragraph(_run(SECRET, "<w:vanish/>")),
        _paragraph(_run("Questions go to "), _link("mail", "leave@example.org"), _run(".")),
        _paragraph(_run("Never follow "), _link("evil", "this address"), _run(".")),
        _table(
            [_run("Kind of leave"), _run("Where to apply")],
            [_run("Adoption"), _run("the ") + _link("form", "adoption form")],
            [_run("Birth"), _run("in person")],
        ),
    ]
    body = "".join(paragraphs)
    targets = (
        ("form", "hyperlink", FORM),
        ("mail", "hyperlink", MAIL),
        ("evil", "hyperlink", EVIL),
    )
    outside = relations(*targets).replace("/>", ' TargetMode="External"/>')
    return archive(
        {
            "word/document.xml": f'<w:document xmlns:w="{_WORD}" xmlns:r="{_REFERENCE}">'
            f"<w:body>{body}</w:body></w:document>",
            "word/_rels/document.xml.rels": outside,
        }
    )


def _run(words: str, marks: str = "") -> str:
    return f'<w:r><w:rPr>{marks}</w:rPr><w:t xml:space="preserve">{words}</w:t></w:r>'


def _link(target: str, words: str) -> str:
    return f'<w:hyperlink r:id="{target}">{_run(words)}</w:hyperlink>'


def _paragraph(*runs: str) -> str:
    return f"<w:p>{''.join(runs)}</w:p>"


def _table(*rows: list[str]) -> str:
    written = ""
    for row in rows:
        cells = "".join(f"<w:tc>{_paragraph(cell)}</w:tc>" for cell in row)
        written += f"<w:tr>{cells}</w:tr>"
    return f"<w:tbl>{written}</w:tbl>"
