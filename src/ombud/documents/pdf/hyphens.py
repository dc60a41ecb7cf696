"""Join lines of a PDF, keeping only hyphens at their ends that belong to the words."""

from collections import Counter
from collections.abc import Iterable, Sequence

from ombud.documents.pdf.lines import PdfLine
from ombud.documents.pdf.page.words import PdfPage
from ombud.text import detect_language, english_counts

_AND_OR = ("and", "or", "und", "oder", "et", "ou")
"""After a hyphen, these show that it stands for the end of a later word: "part- and full-time"."""
_AROUND = ".,;:!?()[]\"'“”„’»«"


class BrokenWords:
    """The words of a document, by which words broken at the end of a line are joined."""

    def __init__(self, pages: Iterable[PdfPage]) -> None:
        self._seen = Counter(strip_punctuation(word.text) for page in pages for word in page.words)

    def flowing(self, lines: Sequence[PdfLine]) -> str:
        """Join lines into one paragraph."""
        text = above = ""
        for line in lines:
            is_broken = text.endswith("-") and text[-2:-1].isalpha() and line.text[:1].islower()
            if is_broken:
                text = f"{text[:-1]}{self._between(above, line.text)}{line.marked}"
            else:
                text = f"{text} {line.marked}" if text else line.marked
            above = line.text
        return text

    def _between(self, above: str, below: str) -> str:
        """Return what joins the parts of a word: nothing, or a hyphen if it has one elsewhere.

        above, below: the lines."""
        first = strip_punctuation(above.split()[-1]).removesuffix("-")
        second = strip_punctuation(below.split()[0])
        if second in _AND_OR:
            return "- "
        joined = self._seen[f"{first}{second}"]
        hyphened = self._seen[f"{first}-{second}"]
        if joined == hyphened and detect_language(f"{above} {below}") == "en":
            english = english_counts()
            start, end = first.split("-")[-1], second.split("-")[0]
            hyphened += end in english and f"{start}{end}" not in english
        return "-" if hyphened > joined else ""


def strip_punctuation(word: str) -> str:
    return word.strip(_AROUND).lower()
