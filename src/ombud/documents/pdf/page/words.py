"""Words and ruling lines of PDF pages, by PDFium: ten times as fast as pdfminer, and used to
hostile files.

All coordinates are points from the page's upper left corner as a reader holds it, rotation
included."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple
from unicodedata import bidirectional

import pypdfium2 as pdfium  # type: ignore[import-untyped]
from pypdfium2 import raw

from ombud.documents.pdf.page.annotations import PageLink, annotations_of
from ombud.documents.pdf.page.letters import Letter, Typeface, letters_of
from ombud.documents.pdf.page.placing import Edge, PagePlacing
from ombud.documents.pdf.page.shapes import edges_of, painted_on
from ombud.documents.pdf.page.sight import unseen
from ombud.documents.pdf.page.strikes import marked_as_struck, struck_by
from ombud.errors import SourceError

_ENCRYPTED = raw.FPDF_ERR_PASSWORD
_RAISED_SIZE = 0.85
"""Size of a raised mark against that of the word beside it, at most."""
_RAISED_BY = 0.15
"""How far above the other's baseline it stands, at least, in sizes of the other's type."""


class Look(NamedTuple):
    """What sets words apart from others in their line."""

    superscript: bool = False
    struck: bool = False
    link: str = ""


PLAIN = Look()


@dataclass(slots=True)
class PdfWord:
    text: str
    x0: float
    top: float
    x1: float
    bottom: float
    size: float
    """Of the font, in points."""
    bold: bool
    italic: bool = False
    baseline: float = 0.0
    look: Look = PLAIN
    is_glued: bool = False
    """Whether no space stands before it."""

    @property
    def middle(self) -> float:
        return (self.top + self.bottom) / 2

    @property
    def across(self) -> float:
        """Half-way from left to right."""
        return (self.x0 + self.x1) / 2

    @property
    def height(self) -> float:
        return self.bottom - self.top

    def is_in_any(self, boxes: list[Edge]) -> bool:
        """Tell whether its middle is in one of the boxes, or at most a point outside."""
        return any(map(self._is_in, boxes))

    def _is_in(self, box: Edge) -> bool:
        x0, top, x1, bottom = box
        if not top - 1 <= self.middle <= bottom + 1:
            return False
        return x0 - 1 <= self.across <= x1 + 1

    def raise_beside(self, other: "PdfWord") -> None:
        """Mark it as raised, and give it the height of the word that it stands beside."""
        self.look = self.look._replace(superscript=True)
        self.top = other.top
        self.bottom = other.bottom
        self.size = other.size
        self.baseline = other.baseline

    def add(self, letter: str, box: Edge, face: Typeface, at: int) -> None:
        """Put a letter into the text at that position, and make room for its box."""
        x0, top, x1, bottom = box
        before = self.text[:at]
        after = self.text[at:]
        self.text = before + letter + after
        if x0 < self.x0:
            self.x0 = x0
        if x1 > self.x1:
            self.x1 = x1
        if top < self.top:
            self.top = top
        if bottom > self.bottom:
            self.bottom = bottom
        self.bold = self.bold and face.bold
        self.italic = self.italic and face.italic


@dataclass
class PdfPage:
    number: int
    """From 1."""
    width: float
    height: float
    words: list[PdfWord] = field(default_factory=list)
    edges: list[Edge] = field(default_factory=list)
    hidden: int = 0
    """Passages that it does not show."""

    @property
    def characters(self) -> int:
        """Count the letters and digits on it."""
        return sum(character.isalnum() for word in self.words for character in word.text)


def read_pages(data: bytes, most: int) -> list[PdfPage]:
    """Every page; raises SourceError for a file that is broken, encrypted or has more than `most`
    pages."""
    if b"%PDF-" not in data[:4096]:
        raise SourceError("The file is no PDF.", hint="Give it the ending of its real format.")
    document = _opened(data)
    try:
        _check_length(len(document), most)
        pages = []
        for number in range(1, len(document) + 1):
            page = _page(document, number)
            if page:
                pages.append(page)
        return pages
    finally:
        document.close()


def _opened(data: bytes) -> Any:
    try:
        return pdfium.PdfDocument(data)
    except pdfium.PdfiumError as error:
        if getattr(error, "err_code", None) == _ENCRYPTED:
            raise SourceError(
                "The PDF is encrypted.", hint="Save a copy without a password."
            ) from error
        raise SourceError(
            "The PDF is broken.", hint="Open it in its program and save it again."
        ) from error


def _check_length(pages: int, most: int) -> None:
    if pages > most:
        raise SourceError(
            f"The PDF has {pages:,} pages; the limit is {most:,}.",
            hint="Split it, or raise [documents] pages.",
        )
    if pages == 0:
        raise SourceError("The PDF has no pages.", hint="Open it in its program and save it again.")


def _page(document: Any, number: int) -> PdfPage | None:
    try:
        page = document[number - 1]
    except pdfium.PdfiumError:
        # One page that cannot be opened is as good as blank; if all are, the document is reported.
        return None
    try:
        text = page.get_textpage()
        try:
            return _read(document, page, text, number)
        finally:
            text.close()
    except pdfium.PdfiumError:
        return None
    finally:
        page.close()


def _read(document: Any, page: Any, text: Any, number: int) -> PdfPage:
    place = PagePlacing(page)
    letters = list(letters_of(text.raw, place))
    painted = painted_on(page, place)
    edges = list(edges_of(painted.shapes, place))
    annotations = annotations_of(document, page, place)
    hidden = unseen(page, place, letters, painted, annotations.covers)
    struck, strikes = struck_by(letters, edges)
    if annotations.struck:
        struck |= marked_as_struck(letters, annotations.struck)
    shown = []
    for at, letter in enumerate(letters):
        if at not in hidden and not letter.face.turn:
            shown.append((letter, at in struck))
    words = _words(shown)
    _link(words, annotations.links)
    return PdfPage(
        number=number,
        width=place.width,
        height=place.height,
        words=words,
        edges=[edge for edge in edges if edge not in strikes] if strikes else edges,
        hidden=_passages(letters, hidden),
    )


def _passages(letters: Sequence[Letter], numbers: set[int]) -> int:
    """Count the runs of letters that those are, spaces left out of account."""
    passages = 0
    is_inside = False
    for number, letter in enumerate(letters) if numbers else ():
        if number in numbers:
            passages += not is_inside
            is_inside = True
        elif not letter.text.isspace():
            is_inside = False
    return passages


def _words(letters: Iterable[tuple[Letter, bool]]) -> list[PdfWord]:
    """Join letters to words: a space, a jump, another line or another look ends one.

    letters: each with whether it is struck out."""
    words: list[PdfWord] = []
    word: PdfWord | None = None
    glyph: Edge | None = None
    face_before: Typeface | None = None
    was_struck = False
    letters_of_glyph = 0
    for (letter, box, face), is_struck in letters:
        if letter.isspace():
            word = None
            continue
        runs_left = not letter.isascii() and is_rtl(letter)
        # The letters of one glyph share its box, and those of a script that runs to the left come
        # in reverse.
        if not runs_left or box != glyph:
            letters_of_glyph = 0
        adjoins = word is not None and _adjoins(word, box, face.size, leftwards=runs_left)
        is_same = face is face_before and is_struck == was_struck
        if word and adjoins and (is_same or _looks_alike(word, face, is_struck=is_struck)):
            word.add(letter, box, face, at=len(word.text) - letters_of_glyph)
        else:
            word = _first_letter(letter, box, face)
            word.is_glued = adjoins
            word.look = Look(struck=is_struck)
            words.append(word)
            letters_of_glyph = 0
        glyph = box
        face_before = face
        was_struck = is_struck
        letters_of_glyph += 1
    _raise(words)
    return _without_shadows(words)


def _looks_alike(word: PdfWord, face: Typeface, *, is_struck: bool) -> bool:
    if word.look.struck != is_struck:
        return False
    is_same = (word.size, word.baseline) == (face.size, face.baseline)
    return is_same or not (_is_above(face, word) or _is_above(word, face))


def _is_above(mark: PdfWord | Typeface, other: PdfWord | Typeface) -> bool:
    """Tell whether one of two is set smaller and higher, as footnote marks and powers are."""
    if mark.size > _RAISED_SIZE * other.size:
        return False
    return other.baseline - mark.baseline >= _RAISED_BY * other.size


def _raise(words: Sequence[PdfWord]) -> None:
    """Mark the words that are raised beside others, and let them stand in the line of these."""
    goes_on = False
    for before, word, following in zip(words, words[1:], [*words[2:], None], strict=False):
        is_beside = word.is_glued or _is_beside(before, word)
        if is_beside and _is_above(word, before):
            word.raise_beside(before)
            if following and following.text.startswith(("/", "⁄")):
                # A fraction: 2 1/4 is neither 21/4 nor a note.
                word.look = before.look
                word.is_glued = False
        elif is_beside and not goes_on and _is_above(before, word):
            # The mark of a note opens its line.
            before.raise_beside(word)
        goes_on = is_beside


def _is_beside(before: PdfWord, word: PdfWord) -> bool:
    """Tell whether a word follows another closely, at least in part at the same height."""
    overlap = min(before.bottom, word.bottom) - max(before.top, word.top)
    return overlap > 0 and 0 <= word.x0 - before.x1 < max(before.size, word.size)


def _first_letter(letter: str, box: Edge, face: Typeface) -> PdfWord:
    x0, top, x1, bottom = box
    return PdfWord(
        text=letter,
        x0=x0,
        top=top,
        x1=x1,
        bottom=bottom,
        size=face.size,
        bold=face.bold,
        italic=face.italic,
        baseline=face.baseline,
    )


def _link(words: Sequence[PdfWord], links: Sequence[PageLink]) -> None:
    for link in links:
        for word in words:
            if word.is_in_any([link.box]):
                word.look = word.look._replace(link=link.url)


def is_rtl(text: str) -> bool:
    """Whether any letter is of a script that runs from right to left: Arabic, Hebrew and others."""
    if text.isascii():
        return False
    return any(bidirectional(letter) in {"R", "AL"} for letter in text)


def _adjoins(word: PdfWord, box: Edge, size: float, *, leftwards: bool) -> bool:
    """PDFium gives letters in the order of reading: in a script that runs to the left the next one
    stands before."""
    x0, top, x1, bottom = box
    smaller_height = max(min(bottom - top, word.height), 1)
    overlap = min(word.bottom, bottom) - max(word.top, top)
    if overlap <= smaller_height * 0.4:
        return False
    gap = word.x0 - x1 if leftwards else x0 - word.x1
    return -size < gap < 0.25 * max(size, 4)


def _without_shadows(words: list[PdfWord]) -> list[PdfWord]:
    """Bold that is made by printing twice, a hair apart, is read once."""
    seen: dict[tuple[str, int, int], PdfWord] = {}
    kept = []
    for word in words:
        key = (word.text, round(word.x0 / 2), round(word.top / 2))
        if key in seen:
            seen[key].bold = True
        else:
            seen[key] = word
            kept.append(word)
    return kept
