"""Find the headings of a PDF by size and weight of the type, and by the words that open a
clause."""

import re
from collections import Counter
from collections.abc import Iterator

from ombud.documents.pdf.lines import PdfLine
from ombud.documents.pdf.page.words import PdfPage
from ombud.documents.pdf.tables import Table

Item = PdfLine | Table
LONGEST_HEADING = 160
"""Characters of a line that is a heading by its size."""
LONGEST_SET_APART = 100
"""Characters below which a line may be a heading by its words or weight."""
BULLET = re.compile(r"^[•●○◦▪■□–—➢➤✓*\uf0b7\uf0a7\uf0d8\uf076-](?=\s)")
_CLAUSE = re.compile(
    r"§+ ?\d[\w.-]*[.:]? [^\W\d]"
    r"|(?:sub)?chapter [\dA-Z]|article [\dIVX]|section \d+[.:]? [A-Z][^.]*$"
    r"|(?:annex|appendix|schedule|teil|anlage) [A-Z\d]+\b",
    re.IGNORECASE,
)
"""The beginning of a part of a law or contract, in any type."""
_NAME = re.compile(
    r"[A-Z][\w'’/-]*"
    r"(?: (?:[A-Z\d][\w'’/-]*|&|and|or|of|for|the|to|in|on|with|by|at|a|an|from)){1,8}"
)
"""Title case, which italic lines need to be headings, as they may be captions, names or
quotations."""
_ENDS = (".", ";", ",")


class HeadingLevels:
    """The heading levels of a document: sizes above the body's, largest first, then bold lines of
    body size."""

    def __init__(self, pages: list[PdfPage]) -> None:
        sizes: Counter[float] = Counter()
        bold = 0
        for page in pages:
            for word in page.words:
                characters = len(word.text)
                sizes[word.size] += characters
                if word.bold:
                    bold += characters
        self.body = sizes.most_common(1)[0][0] if sizes else 10.0
        """Size of type of the body."""
        least = self.body * 1.08
        larger = sorted((size for size in sizes if size > least), reverse=True)
        self.levels = {size: level for level, size in enumerate(larger[:5], 1)}
        self.lowest = len(self.levels) + 2
        # If half of the text is bold, bold means nothing.
        self.bold_counts = bold < 0.4 * max(1, sizes.total())

    def of(self, line: PdfLine) -> int:
        """Return the level of a heading, 1 to 6; 0 for other lines."""
        text = line.text
        if len(text) > LONGEST_HEADING or not any(map(str.isalpha, text)):
            return 0
        if line.size in self.levels:
            return self.levels[line.size]
        if len(text) >= LONGEST_SET_APART:
            return 0
        # A section's name stands alone; with text after it on the line, it is a clause.
        if _CLAUSE.match(text) and ". " not in text[8:]:
            return self.lowest if text.startswith("§") else self.lowest - 1
        is_bold = self.bold_counts and line.bold
        if is_bold and not text.endswith(_ENDS) and not BULLET.match(text):
            return self.lowest - 1
        return 0


def italic_headings(items: list[Item], body: float) -> Iterator[int]:
    """Yield the identities of italic lines that stand alone right above a paragraph, which are
    headings and not quotations."""
    for above, line, below in zip([None, *items], items, items[1:], strict=False):
        if not isinstance(line, PdfLine) or not isinstance(below, PdfLine):
            continue
        if not line.italic or below.italic or not _NAME.fullmatch(line.text):
            continue
        if is_alone(above, line, below) and opens_paragraph(line, below, body):
            yield id(line)


def is_alone(above: Item | None, line: PdfLine, below: PdfLine) -> bool:
    """Tell whether a line is nearer to the line below than to the item above."""
    over = line.height
    if isinstance(above, PdfLine) and above.top < line.top:
        over = line.top - above.bottom
    under = below.top - line.bottom
    return over > max(0.5 * line.height, under)


def opens_paragraph(line: PdfLine, below: PdfLine, body: float) -> bool:
    """Tell whether the line below is close, begins as far left, reaches further right and has the
    body's size."""
    gap = below.top - line.bottom
    is_close = -0.5 * line.height < gap < line.height
    is_aligned = abs(below.x0 - line.x0) < 3
    if not is_close or not is_aligned:
        return False
    return below.size == body and below.x1 > line.x1
