"""Read words and ruling lines of PDF pages by PDFium, which is ten times as fast as pdfminer and
hardened against hostile files.

All coordinates are points from the page's upper left corner as a reader holds it, with
rotation."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from statistics import median_low
from typing import Any, NamedTuple
from unicodedata import bidirectional

import pypdfium2 as pdfium  # type: ignore[import-untyped]
from pypdfium2 import raw

from ombud.documents.pdf.page.annotations import Annotations, PageLink, annotations_of
from ombud.documents.pdf.page.entries import PageEntry
from ombud.documents.pdf.page.letters import Letter, Typeface, letters_of
from ombud.documents.pdf.page.placing import Edge, PagePlacing
from ombud.documents.pdf.page.shapes import PageShape, Painted, edges_of, painted_on
from ombud.documents.pdf.page.sight import unseen
from ombud.documents.pdf.page.strikes import marked_on, struck_by
from ombud.errors import SourceError

_ENCRYPTED = raw.FPDF_ERR_PASSWORD
_RAISED_SIZE = 0.85
"""Greatest size of a raised mark, as a share of the word beside it."""
_RAISED_BY = 0.15
"""Least height of a raised mark above the other word's baseline, in sizes of its type."""


class Look(NamedTuple):
    """The marks of words."""

    superscript: bool = False
    struck: bool = False
    link: str = ""


PLAIN = Look()
_LOOKS = {False: PLAIN, True: Look(struck=True)}
"""Look of words by whether they are struck out."""


@dataclass(slots=True)
class PdfWord:
    text: str
    x0: float
    top: float
    x1: float
    bottom: float
    size: float
    """Size of type, in points."""
    bold: bool
    italic: bool = False
    baseline: float = 0.0
    look: Look = PLAIN
    is_glued: bool = False
    """True if no space precedes it."""

    @property
    def middle(self) -> float:
        return (self.top + self.bottom) / 2

    @property
    def across(self) -> float:
        """Horizontal centre."""
        return (self.x0 + self.x1) / 2

    @property
    def height(self) -> float:
        return self.bottom - self.top

    def is_in_any(self, boxes: list[Edge]) -> bool:
        """Tell whether its centre is in one of the boxes, or at most a point outside."""
        return any(
            x0 - 1 <= self.across <= x1 + 1 and top - 1 <= self.middle <= bottom + 1
            for x0, top, x1, bottom in boxes
        )

    def raise_beside(self, other: "PdfWord") -> None:
        """Mark it as raised, and give it the height of the word beside it."""
        self.look = self.look._replace(superscript=True)
        self.top = other.top
        self.bottom = other.bottom
        self.size = other.size
        self.baseline = other.baseline

    def add(self, letter: str, box: Edge, face: Typeface, at: int) -> None:
        """Insert a letter into the text at that position, and extend the word's box."""
        x0, top, x1, bottom = box
        self.text = self.text[:at] + letter + self.text[at:]
        # Called for each letter, where `min` and `max` would be slower.
        if x0 < self.x0:
            self.x0 = x0
        if top < self.top:
            self.top = top
        if x1 > self.x1:
            self.x1 = x1
        if bottom > self.bottom:
            self.bottom = bottom
        self.bold = self.bold and face.bold
        self.italic = self.italic and face.italic


@dataclass
class PdfPage:
    number: int
    """Page number from 1."""
    width: float
    height: float
    words: list[PdfWord] = field(default_factory=list)
    edges: list[Edge] = field(default_factory=list)
    hidden: int = 0
    """Number of hidden passages."""
    pictures: list[PageShape] = field(default_factory=list)
    is_drawn: bool = False
    """True if it has more than letters."""
    is_recognised: bool = False
    """True for a scan with the words that a scanner recognised."""
    sideways: list["PdfPage"] = field(default_factory=list)
    """Its sideways text, as pages of their own."""

    @property
    def box(self) -> Edge:
        return 0.0, 0.0, self.width, self.height

    @property
    def parts(self) -> list["PdfPage"]:
        return [self, *self.sideways]

    @property
    def has_words(self) -> bool:
        return any(part.words for part in self.parts)


def read_pages(data: bytes, most: int) -> list[PdfPage]:
    """Read every page; raises SourceError for a file that is broken, encrypted or has more than
    `most` pages."""
    if b"%PDF-" not in data[:4096]:
        raise SourceError("The file is no PDF.", hint="Give it the ending of its real format.")
    document = open_pdf(data)
    try:
        check_length(len(document), most)
        pages = []
        for number in range(1, len(document) + 1):
            page = open_page(document, number)
            if page:
                pages.append(page)
        return pages
    finally:
        document.close()


def open_pdf(data: bytes) -> Any:
    try:
        document = pdfium.PdfDocument(data)
        document.init_forms()
        return document
    except pdfium.PdfiumError as error:
        if getattr(error, "err_code", None) == _ENCRYPTED:
            raise SourceError(
                "The PDF is encrypted.", hint="Save a copy without a password."
            ) from error
        raise SourceError(
            "The PDF is broken.", hint="Open it in its program and save it again."
        ) from error


def check_length(pages: int, most: int) -> None:
    if pages > most:
        raise SourceError(
            f"The PDF has {pages:,} pages; the limit is {most:,}.",
            hint="Split it, or raise [documents] pages.",
        )
    if pages == 0:
        raise SourceError("The PDF has no pages.", hint="Open it in its program and save it again.")


def open_page(document: Any, number: int) -> PdfPage | None:
    try:
        page = document[number - 1]
    except pdfium.PdfiumError:
        # A page that cannot be opened counts as blank; if all do, the document is reported.
        return None
    try:
        text = page.get_textpage()
        try:
            return read_page(document, page, text, number)
        finally:
            text.close()
    except pdfium.PdfiumError:
        return None
    finally:
        page.close()


class _PageView(NamedTuple):
    """The content of a page as a reader sees it who turned it."""

    place: PagePlacing
    letters: list[Letter]
    painted: Painted
    annotations: Annotations

    def part(self, number: int, hidden: set[int]) -> PdfPage:
        """Read the upright words and the lines. hidden: numbers of hidden letters."""
        letters = self.letters
        edges = list(edges_of(self.painted.shapes, self.place))
        struck, strikes = struck_by(letters, edges)
        struck |= marked_on(letters, self.annotations.struck)
        upright = []
        for at, letter in enumerate(letters):
            if at not in hidden and (letter.text.isspace() or not letter.face.turn):
                upright.append((letter, at in struck))
        words = join_letters(upright)
        link_words(words, self.annotations.links)
        edges = [edge for edge in edges if edge not in strikes] if strikes else edges
        return PdfPage(number, self.place.width, self.place.height, words, edges)


def read_page(document: Any, page: Any, text: Any, number: int) -> PdfPage:
    def view(turn: int) -> _PageView:
        place = PagePlacing(page, turn)
        letters = list(letters_of(text.raw, place))
        annotations = annotations_of(document, page, place)
        return _PageView(place, letters, painted_on(page, place), annotations)

    upright = view(0)
    hidden, is_recognised = unseen(page, *upright[:3], upright.annotations.covers)
    hidden |= marked_on(upright.letters, upright.annotations.redacted)
    read = upright.part(number, hidden)
    read.is_drawn, read.is_recognised = bool(upright.painted.shapes), is_recognised
    read.pictures = [shape for shape in upright.painted.shapes if shape.picture]
    for entry in upright.annotations.entries:
        read.words += entry_words(entry, read.words)
    read.hidden = count_passages(upright.letters, hidden) + len(upright.annotations.hidden)
    visible = (letter for at, letter in enumerate(upright.letters) if at not in hidden)
    turns = {letter.face.turn for letter in visible if not letter.text.isspace()}
    for turned in map(view, sorted(turns - {0})):
        # Numbers of letters are valid only if both views have the same ones on the page.
        if len(turned.letters) == len(upright.letters):
            read.sideways.append(turned.part(number, hidden))
    return read


def count_passages(letters: Sequence[Letter], numbers: set[int]) -> int:
    """Count the runs of those letters, ignoring spaces."""
    passages = 0
    is_inside = False
    for number, letter in enumerate(letters) if numbers else ():
        if number in numbers:
            passages += not is_inside
            is_inside = True
        elif not letter.text.isspace():
            is_inside = False
    return passages


def join_letters(letters: Iterable[tuple[Letter, bool]]) -> list[PdfWord]:
    """Join letters into words: a space, a jump, another line or another look ends one.

    letters: each with True if it is struck out."""
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
        widest = widest_gap(face, face_before)
        adjoins = word is not None and adjoins_word(word, box, widest, leftwards=runs_left)
        is_same = face is face_before and is_struck == was_struck
        if word and adjoins and (is_same or looks_alike(word, face, is_struck=is_struck)):
            word.add(letter, box, face, at=len(word.text) - letters_of_glyph)
        else:
            word = new_word(letter, box, face)
            word.is_glued = adjoins
            word.look = _LOOKS[is_struck]
            words.append(word)
            letters_of_glyph = 0
        glyph = box
        face_before = face
        was_struck = is_struck
        letters_of_glyph += 1
    raise_marks(words)
    return without_shadows(words)


def widest_gap(face: Typeface, before: Typeface | None) -> float:
    """Return the widest gap within a word, in points. In a text object PDFium adds the spaces, so
    letters that are far apart there are still a word."""
    return face.size if face is before else 0.25 * max(face.size, 4)


def looks_alike(word: PdfWord, face: Typeface, *, is_struck: bool) -> bool:
    if word.look.struck != is_struck:
        return False
    is_same = (word.size, word.baseline) == (face.size, face.baseline)
    return is_same or not (is_above(face, word) or is_above(word, face))


def is_above(mark: PdfWord | Typeface, other: PdfWord | Typeface) -> bool:
    """Tell whether a mark is smaller and higher than another, as footnote marks and powers are."""
    if mark.size > _RAISED_SIZE * other.size:
        return False
    return other.baseline - mark.baseline >= _RAISED_BY * other.size


def raise_marks(words: Sequence[PdfWord]) -> None:
    """Mark words that are raised beside others, and put them into the line of these."""
    goes_on = False
    for before, word, following in zip(words, words[1:], [*words[2:], None], strict=False):
        overlap = min(before.bottom, word.bottom) - max(before.top, word.top)
        is_near = 0 <= word.x0 - before.x1 < max(before.size, word.size)
        is_beside = word.is_glued or (overlap > 0 and is_near)
        if is_beside and is_above(word, before):
            word.raise_beside(before)
            if following and following.text.startswith(("/", "⁄")):
                # A fraction: 2 1/4 is neither 21/4 nor a note.
                word.look = before.look
                word.is_glued = False
        elif is_beside and not goes_on and is_above(before, word):
            # The mark of a note opens its line.
            before.raise_beside(word)
        goes_on = is_beside


def new_word(text: str, box: Edge, face: Typeface) -> PdfWord:
    return PdfWord(text, *box, *face[:3], baseline=face.baseline)


def link_words(words: Sequence[PdfWord], links: Sequence[PageLink]) -> None:
    for link in links:
        for word in words:
            if word.is_in_any([link.box]):
                word.look = word.look._replace(link=link.url)


def entry_words(entry: PageEntry, words: Sequence[PdfWord]) -> list[PdfWord]:
    """Make the words of an entry; those of a single line get the height of the word beside it."""
    x0, top, _, bottom = entry.box
    size = median_low(word.size for word in words) if words else 10.0
    face = Typeface(size)
    entered = [new_word(text, box, face) for text, box in entry.words()]
    beside = [word for word in words if top <= word.middle <= bottom]
    if beside and len(entry.lines) == 1:
        nearest = min(beside, key=lambda word: abs(word.across - x0))
        for word in entered:
            word.top, word.bottom, word.size = nearest.top, nearest.bottom, nearest.size
    return entered


def is_rtl(text: str) -> bool:
    """Tell whether any letter is of a script that runs from right to left, such as Arabic."""
    if text.isascii():
        return False
    return any(bidirectional(letter) in {"R", "AL"} for letter in text)


def adjoins_word(word: PdfWord, box: Edge, widest: float, *, leftwards: bool) -> bool:
    """Tell whether a letter continues a word. PDFium returns letters in reading order: in a script
    that runs to the left, the next one is further left."""
    x0, top, x1, bottom = box
    gap = word.x0 - x1 if leftwards else x0 - word.x1
    if not -word.size < gap < widest:
        return False
    smaller_height = max(min(bottom - top, word.bottom - word.top), 1)
    overlap = min(word.bottom, bottom) - max(word.top, top)
    return overlap > smaller_height * 0.4


def without_shadows(words: list[PdfWord]) -> list[PdfWord]:
    """Drop the second copy of words that are printed twice, slightly shifted, to look bold."""
    seen: dict[tuple[str, int, int], PdfWord] = {}
    unique = []
    for word in words:
        key = (word.text, round(word.x0 / 2), round(word.top / 2))
        if key in seen:
            seen[key].bold = True
        else:
            seen[key] = word
            unique.append(word)
    return unique
