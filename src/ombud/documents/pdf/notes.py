"""Mark the notes at the foot of a PDF page, where their marks are seldom raised."""

from ombud.documents.pdf.lines import lines_of
from ombud.documents.pdf.page.words import PdfPage


def mark_notes(page: PdfPage, body: float) -> None:
    """Raise marks that open lines or sentences in small print and are raised in the text above.

    body: size of type of the text."""
    marks = {word.text for word in page.words if word.look.superscript}
    if not marks:
        return
    small = [word for word in page.words if word.size < body]
    for line in lines_of(small):
        opens = True
        for word in line.words:
            if opens and word.text in marks:
                word.look = word.look._replace(superscript=True)
            opens = word.text.endswith(".")
