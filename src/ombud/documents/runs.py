"""Runs of text with marks, and the one place that decides which of them are text.

A parser wraps the words of a run in `run(words, struck=True)` and uses the result as any string: it
can be joined, tidied and put into lists and tables. The marks are noncharacters, which Unicode
reserves for internal use and no document may contain. `settle` removes them from the finished
blocks, in the same way for every format:

- struck words leave the text and become annotations;
- hidden words are dropped and counted;
- links to http, https or mailto become annotations;
- raised figures that lead to a note are separated ("25 [1] days") and carry the note's text; m²,
  10⁶ and 1st stay.

To check words with marks, for example their length, use `plain(words)`."""

import re
from bisect import bisect_left
from collections import defaultdict, deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Literal, NamedTuple
from urllib.parse import quote, urlsplit

from ombud.types import Annotation, Block, Loss

_RAISED = "\ufdd0"
_STRUCK = "\ufdd1"
_LINK = "\ufdd2"
_NOTE = "\ufdd3"
_HIDDEN = "\ufdd4"
_URL_ENDS = "\ufdd5"
_END = "\ufdd6"
_MARK = re.compile("[\ufdd0-\ufdd6]")
_PIECES = re.compile("([\ufdd0-\ufdd6]|[⁰¹²³⁴-⁹]+)")
_SCHEMES = ("http", "https", "mailto")
_SAFE_IN_URL = "%/:;=&?~#+!$,'@()*"
_LONGEST_URL = 2000
_FIELD_LINK = re.compile(r"HYPERLINK[\s(]+\"([^\"]+)\"")

_TO_RAISED = str.maketrans("0123456789+-−()", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁽⁾")
_FIGURES = "⁰¹²³⁴⁵⁶⁷⁸⁹"
_FROM_RAISED = str.maketrans(_FIGURES, "0123456789")
_SYMBOLS = "*†‡§¶#"
_IN_FIGURES = "0123456789()[],; "
_EACH = re.compile(r"\d+|[*†‡§¶#]+|[a-z]")
_UNIT = re.compile(r"(?:(?<![^\W\d_])(?:[kcdmµ]?m|ft|in|yd|mi|CO)|/s)$")
_POWER = re.compile(r"(?<![\d.,])10$|(?<!\w)[a-zA-Z]$")
_NOTE_STARTS = re.compile(
    rf"(?m)^\W*?[{_RAISED}{_NOTE}]\s*[(\[]?(\w{{1,3}}|[*†‡§¶#]{{1,3}})|^\s*([⁰¹²³⁴-⁹]+)"
)
_NUMBERS = re.compile(f"[{_RAISED}{_NOTE}⁰¹²³⁴-⁹]")
"""Characters of which every mark of a note has one."""
_OPENING = "([{„“‘«"
_BULLETS = "-•* "
_TAIL = 40
"""Characters before a mark that decide about it."""


def run(
    words: str,
    *,
    superscript: bool = False,
    struck: bool = False,
    hidden: bool = False,
    link: str = "",
    footnote_ref: bool = False,
) -> str:
    """Mark words. A `footnote_ref` surely leads to a note, such as "1"; for a `superscript` that is
    decided when the whole document is parsed."""
    marked = unmarked(words)
    if not marked.strip():
        return marked
    if hidden:
        return _HIDDEN
    url = allowed_url(link) if link else ""
    if footnote_ref:
        marked = f"{_NOTE}{marked}{_END}"
    elif superscript:
        marked = f"{_RAISED}{marked}{_END}"
    if url:
        marked = f"{_LINK}{url}{_URL_ENDS}{marked}{_END}"
    return f"{_STRUCK}{marked}{_END}" if struck else marked


def strike(marked: str) -> str:
    """Strike out words that may have marks already."""
    return f"{_STRUCK}{marked}{_END}" if plain(marked).strip() else marked


def link(marked: str, url: str) -> str:
    """Link words that may have marks already; unchanged if the address is not allowed."""
    allowed = allowed_url(url)
    if not allowed or not plain(marked).strip():
        return marked
    return f"{_LINK}{allowed}{_URL_ENDS}{marked}{_END}"


def field_link(instruction: str) -> str:
    """Return the address in a HYPERLINK field or formula; empty for others."""
    match = _FIELD_LINK.search(instruction)
    return match[1] if match else ""


@lru_cache
def allowed_url(url: str) -> str:
    """Quote an address so that it cannot break a table; empty unless it is http, https or
    mailto."""
    url = unmarked(url).strip()
    if not url[:6].lower().startswith(("http", "mailto")):  # most links of a page are relative
        return ""
    try:
        parts = urlsplit(url)
    except ValueError:
        return ""
    scheme = parts.scheme.lower()
    has_place = bool(parts.path if scheme == "mailto" else parts.netloc)
    if scheme not in _SCHEMES or not has_place or len(url) > _LONGEST_URL:
        return ""
    return quote(url, safe=_SAFE_IN_URL)


def unmarked(words: str) -> str:
    """Remove characters from foreign text that would be taken for marks."""
    return words if words.isascii() else _MARK.sub("", words)


def plain(marked: str) -> str:
    """Return what remains of marked words, except for the form of raised figures."""
    if marked.isascii() or not _MARK.search(marked):
        return marked
    remaining: list[str] = []
    is_struck: list[bool] = []
    pieces = iter(_PIECES.split(marked))
    for piece in pieces:
        if piece == _LINK:
            next(pieces, "")
        if piece and piece in (_RAISED, _STRUCK, _LINK, _NOTE):
            is_struck.append(piece == _STRUCK)
        elif piece == _END:
            del is_struck[-1:]
        elif not any(is_struck):
            remaining.append(unmarked(piece))
    return "".join(remaining)


class Settled(NamedTuple):
    """Blocks without marks, with annotations and losses."""

    blocks: tuple[Block, ...]
    text: str
    """The texts of the blocks, joined by blank lines."""
    annotations: tuple[Annotation, ...]
    loss: Loss


def settle(blocks: Sequence[Block]) -> Settled:
    """Remove the marks from blocks, and decide what is text."""
    announced = announced_notes(blocks)
    settled: list[Block] = []
    marked: list[_Marked] = []
    notes: dict[str, list[_Note]] = defaultdict(list)
    struck = hidden = start = 0
    for block in blocks:
        text = block.text
        if not text.isascii() and _PIECES.search(text):
            read = _BlockText(block.kind, announced)
            read.add(text)
            text = read.text()
            struck += read.struck
            hidden += read.hidden
            marked += [one.moved(start, len(text)) for one in read.marked]
            for note in read.notes:
                notes[note.mark].append(note.moved(start))
        if text.strip():
            settled.append(block.model_copy(update={"text": text}) if text != block.text else block)
            start += len(text) + len("\n\n")
    text = "\n\n".join(block.text for block in settled)
    annotations = tuple(make_annotation(one.moved(0, len(text)), text, notes) for one in marked)
    return Settled(tuple(settled), text, annotations, Loss(struck=struck, hidden=hidden))


class _Marked(NamedTuple):
    """A future annotation of the text."""

    start: int
    end: int
    kind: Literal["link", "struck", "footnote"]
    url: str = ""
    text: str = ""

    def moved(self, by: int, most: int) -> "_Marked":
        """Move it by the start of its text, which has `most` characters, in another text. Words
        struck after the last character are at the end."""
        start, end, kind, url, text = self
        return _Marked(min(start, most) + by, min(end, most) + by, kind, url, text)


class _Note(NamedTuple):
    """A note: its mark, and the start and end of its words."""

    mark: str
    start: int
    end: int

    def moved(self, by: int) -> "_Note":
        return _Note(self.mark, self.start + by, self.end + by)


def announced_notes(blocks: Sequence[Block]) -> frozenset[str]:
    """Collect the marks with which lines begin, which are those of the document's notes."""
    marks: set[str] = set()
    for block in blocks:
        if block.kind == "table" or block.text.isascii() or not _NUMBERS.search(block.text):
            continue
        for marked, raised in _NOTE_STARTS.findall(block.text):
            marks.add(marked or raised.translate(_FROM_RAISED))
    return frozenset(marks)


def make_annotation(one: _Marked, text: str, notes: Mapping[str, Sequence[_Note]]) -> Annotation:
    """Make an annotation with its words; a footnote mark gets those of the next note with that
    mark, else of the last."""
    words = one.text
    if one.kind == "footnote":
        alike = notes.get(words, ())
        words = ""
        if alike:
            following = bisect_left(alike, one.end, key=lambda note: note.start)
            note = alike[min(following, len(alike) - 1)]
            words = text[note.start : note.end]
    return Annotation(start=one.start, end=one.end, kind=one.kind, url=one.url, text=words.strip())


@dataclass
class _OpenMark:
    """A mark whose words are being read."""

    kind: str
    start: int
    url: str = ""
    words: list[str] = field(default_factory=list)
    """Raised or struck words, which do not go into the text directly."""


class _BlockText:
    """Builds the text of a block from words with marks."""

    def __init__(self, kind: str, announced: frozenset[str]) -> None:
        self.marked: list[_Marked] = []
        self.struck = 0
        self.hidden = 0
        self._kind = kind
        self._announced = announced
        self._lines: list[str] = []
        self._line: list[str] = []
        self._length = 0
        self._line_start = 0
        self._tail = ""
        """End of the current line."""
        self._open: list[_OpenMark] = []
        self._marks: list[tuple[str, int]] = []
        """The mark of each note, and the start of its words."""
        self._has_lost = False
        """True if words of this line were left out."""
        self._is_joint = False
        """True if a mark precedes the next words, where two blanks may meet."""
        self._is_apart = False
        """True if a footnote mark precedes them, which needs a blank before words."""
        self._was_hidden = False

    def text(self) -> str:
        return "\n".join(self._lines)

    @property
    def notes(self) -> list[_Note]:
        """The notes of the block; each ends where the next begins, or at the end of its line."""
        if not self._marks:
            return []
        text = self.text()
        begins = [start - len(f"[{mark}]") for mark, start in self._marks]
        notes = []
        for (mark, start), following in zip(self._marks, [*begins[1:], len(text)], strict=False):
            line_end = text.find("\n", start)
            end = following if line_end < 0 else min(following, line_end)
            notes.append(_Note(mark, start, end))
        return notes

    def add(self, marked: str) -> None:
        """Add marked words to the block."""
        pieces = deque(filter(None, _PIECES.split(marked)))
        while pieces:
            piece = pieces.popleft()
            if piece == _LINK:
                self._open.append(
                    _OpenMark(_LINK, self._length, pieces.popleft() if pieces else "")
                )
            elif piece in (_RAISED, _STRUCK, _NOTE):
                self._open.append(_OpenMark(piece, self._length))
            elif piece == _END and self._goes_on(pieces):
                # Adjacent raised runs are one: "1", "," and "2" are two marks.
                pieces.popleft()
            elif piece == _END:
                self._close()
            elif piece == _HIDDEN:
                # Programs cut runs arbitrarily: adjacent hidden ones are one passage.
                self.hidden += not self._was_hidden
                self._was_hidden = self._has_lost = self._is_joint = True
            elif piece != _URL_ENDS:
                self._take(piece)
        while self._open:
            self._close()
        self._end_line()

    def _goes_on(self, pieces: Sequence[str]) -> bool:
        """Tell whether a raised run follows the one that ends."""
        is_raised = bool(self._open) and self._open[-1].kind == _RAISED
        return is_raised and bool(pieces) and pieces[0] == _RAISED

    def _take(self, words: str) -> None:
        """Add the words between two marks."""
        if words.strip():
            self._was_hidden = False
        holder = self._holder()
        if holder is not None:
            holder.words.append(words)
        elif words[0] in _FIGURES:
            self._raise(words.translate(_FROM_RAISED))
        else:
            first, *others = words.split("\n")
            self._push(first)
            for line in others:
                self._end_line()
                self._push(line)

    def _holder(self) -> _OpenMark | None:
        """Return the open mark that takes words instead of the text."""
        raised = None
        for mark in self._open:
            if mark.kind == _STRUCK:
                return mark
            raised = raised if mark.kind == _LINK else mark
        return raised

    def _push(self, words: str) -> None:
        if not words:
            return
        if self._is_apart and words[0].isalnum():
            words = f" {words}"
        if self._is_joint and words[0] == " " and self._tail[-1:] in ("", " "):
            words = words[1:]
        if words:
            self._is_apart = self._is_joint = False
            self._write(words)

    def _write(self, words: str) -> None:
        self._line.append(words)
        self._length += len(words)
        self._tail = (self._tail + words[-_TAIL:])[-_TAIL:]

    def _end_line(self) -> None:
        """End a line, and drop it if only its number or its bars remain."""
        line = "".join(self._line)
        if self._has_lost:
            line = line.rstrip(" ")
        if self._has_lost and self._is_rest(line):
            self._gather_at(self._line_start)
        else:
            self._lines.append(line)
            self._line_start += len(line) + len("\n")
        self._length = self._line_start
        self._line = []
        self._tail = ""
        self._has_lost = self._is_apart = self._is_joint = False

    def _gather_at(self, start: int) -> None:
        """Move struck words of a dropped line to the place of the line."""
        for number in range(len(self.marked) - 1, -1, -1):
            one = self.marked[number]
            if one.start <= start:
                break
            self.marked[number] = one._replace(start=start, end=start)

    def _is_rest(self, line: str) -> bool:
        if self._kind == "table":
            return not line.strip("| ")
        return len(line.split()) <= 1 if self._kind == "list" else not line.strip()

    def _close(self) -> None:
        if not self._open:
            return
        mark = self._open.pop()
        words = "".join(mark.words)
        holder = self._holder()
        if mark.kind == _LINK:
            self._link(mark)
        elif holder is not None:
            holder.words.append(words)
        elif mark.kind == _STRUCK:
            self._strike(words)
        elif mark.kind == _NOTE:
            self._refer([words.strip()])
        else:
            self._raise(words)

    def _link(self, mark: _OpenMark) -> None:
        if mark.start == self._length:
            return
        last = self.marked[-1] if self.marked else None
        if last and (last.kind, last.url, last.end) == ("link", mark.url, mark.start):
            self.marked[-1] = last._replace(end=self._length)
        else:
            self.marked.append(_Marked(mark.start, self._length, "link", url=mark.url))

    def _strike(self, words: str) -> None:
        if not words.strip():
            self._push(words)
            return
        self._has_lost = self._is_joint = True
        at = self._length
        last = self.marked[-1] if self.marked else None
        if last and (last.kind, last.start) == ("struck", at):
            words = f"{last.text}{words}"
            self.marked.pop()
        else:
            self.struck += 1
        self.marked.append(_Marked(at, at, "struck", text=words))

    def _raise(self, words: str) -> None:
        """Write raised words: a footnote mark, or part of the word or figure before them."""
        raised = words.strip()
        if self._leads_to_note(raised):
            self._push(words[: len(words) - len(words.lstrip())])
            self._refer(_EACH.findall(raised))
            return
        is_figure = raised.strip("+-−").isdigit()
        self._push(words.translate(_TO_RAISED) if is_figure else words)

    def _leads_to_note(self, raised: str) -> bool:
        if self._kind == "code":
            return False
        is_announced = raised.strip("()[]") in self._announced
        if len(raised) == 1 and raised.islower():
            return is_announced
        if not raised.strip(_SYMBOLS):
            return True
        if raised.strip(_IN_FIGURES) or max(map(len, _EACH.findall(raised)), default=9) > 3:
            return False
        if _UNIT.search(self._tail) and raised in {"2", "3"}:
            return False
        return is_announced or raised == "1" or not _POWER.search(self._tail)

    def _refer(self, marks: Sequence[str]) -> None:
        """Write footnote marks; one at the beginning of a line is that of the note itself."""
        for mark in marks:
            if self._opens_note():
                self._write(f"[{mark}]")
                self._marks.append((mark, self._length))
            else:
                last = self._tail[-1:]
                is_glued = last and not last.isspace() and last not in _OPENING
                if is_glued:
                    self._write(" ")
                start = self._length
                self._write(f"[{mark}]")
                # Its text is the mark until the notes are known.
                self.marked.append(_Marked(start, self._length, "footnote", text=mark))
            self._is_apart = True
            self._is_joint = False

    def _opens_note(self) -> bool:
        """Tell whether a mark opens a note here: the first of its line, or a later one."""
        if self._kind in {"table", "heading", "code"}:
            return False
        is_first = len(self._tail) < _TAIL and not self._tail.strip(_BULLETS)
        has_begun = bool(self._marks) and self._marks[-1][1] > self._line_start
        return is_first or (has_begun and self._tail.rstrip().endswith((".", ";", "]")))
