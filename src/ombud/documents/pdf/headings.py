"""Which lines of a PDF are headings: sizes and weights of the type, and what opens a clause, say
so."""

import re
from collections import Counter
from collections.abc import Iterator

from ombud.documents.pdf.lines import PdfLine
from ombud.documents.pdf.page.words import PdfPage
from ombud.documents.pdf.tables import Table

Item = PdfLine | Table
LONGEST_HEADING = 160
"""Characters of a line that is a heading for its size."""
LONGEST_SET_APART = 100
"""Characters below which a line may be a heading for its words or weight."""
BULLET = re.compile(r"^[•●○◦▪■□–—➢➤✓*\uf0b7\uf0a7\uf0d8\uf076-](?=\s)")
_CLAUSE = re.compile(
    r"§+ ?\d[\w.-]*[.:]? [^\W\d]"
    r"|(?:sub)?chapter [\dA-Z]|article [\dIVX]|section \d+[.:]? [A-Z][^.]*$"
    r"|(?:annex|appendix|schedule|teil|anlage) [A-Z\d]+\b",
    re.IGNORECASE,
)
"""What opens a part of a law or a contract, whatever type it is set in."""
_NAME = re.compile(
    r"[A-Z][\w'’/-]*"
    r"(?: (?:[A-Z\d][\w'’/-]*|&|and|or|of|for|the|to|in|on|with|by|at|a|an|from)){1,8}"
)
"""Title case, which italic lines need to be headings: they are captions, names and quotations
too."""
_ENDS = (".", ";", ",")


class HeadingLevels:
    """Heading levels of a document: sizes larger than the body's, largest first, then bold lines of
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
        self.body = usual_size(sizes)
        least = self.body * 1.08
        larger = sorted((size for size in sizes if size > least), reverse=True)
        self.levels = {size: level for level, size in enumerate(larger[:5], 1)}
        self.lowest = len(self.levels) + 2
        # Where half of the text is bold, bold says nothing.
        self.bold_counts = bold < 0.4 * max(1, sizes.total())

    def of(self, line: PdfLine) -> int:
        """1 to 6, or 0 for a line that is no heading."""
        text = line.text
        if len(text) > LONGEST_HEADING or not any(map(str.isalpha, text)):
            return 0
        if line.size in self.levels:
            return self.levels[line.size]
        if len(text) >= LONGEST_SET_APART:
            return 0
        # A section's name stands alone; where its text follows on the line, it is a clause.
        if _CLAUSE.match(text) and ". " not in text[8:]:
            return self.lowest if text.startswith("§") else self.lowest - 1
        if self._is_set_apart(line):
            return self.lowest - 1
        return 0

    def _is_set_apart(self, line: PdfLine) -> bool:
        if not self.bold_counts or not line.bold:
            return False
        return not line.text.endswith(_ENDS) and not BULLET.match(line.text)


def usual_size(sizes: Counter[float]) -> float:
    """The size of type that the body is set in."""
    return sizes.most_common(1)[0][0] if sizes else 10.0


def leaning_lines(items: list[Item], body: float) -> Iterator[int]:
    """Identities of lines in italics that stand alone right above a paragraph: headings, as
    quotations are not."""
    for above, line, below in zip([None, *items], items, items[1:], strict=False):
        if not isinstance(line, PdfLine) or not isinstance(below, PdfLine):
            continue
        if not line.italic or below.italic or not _NAME.fullmatch(line.text):
            continue
        if _is_alone(above, line, below) and _opens_paragraph(line, below, body):
            yield id(line)


def _is_alone(above: Item | None, line: PdfLine, below: PdfLine) -> bool:
    """Whether a line is nearer to the line below than to what is above."""
    over = line.height
    if isinstance(above, PdfLine) and above.top < line.top:
        over = line.top - above.bottom
    under = below.top - line.bottom
    return over > max(0.5 * line.height, under)


def _opens_paragraph(line: PdfLine, below: PdfLine, body: float) -> bool:
    """Whether the line below stands close, as far left, goes further right and is of the body's
    size."""
    gap = below.top - line.bottom
    is_close = -0.5 * line.height < gap < line.height
    is_aligned = abs(below.x0 - line.x0) < 3
    if not is_close or not is_aligned:
        return False
    return below.size == body and below.x1 > line.x1
