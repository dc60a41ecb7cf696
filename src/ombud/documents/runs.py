"""Runs of text with marks, and the one place that decides what of them is text.

A reader wraps the words of a run in `run(words, struck=True)` and goes on with the result as with
any string: it can be joined, tidied and laid into lists and tables. The marks travel inside it as
noncharacters, which Unicode reserves for such use inside a process and no document may hold.
`settle` takes them out of the finished blocks, in the same way for every format:

- struck words leave the text and become annotations;
- of hidden words nothing is left but a count;
- links become annotations, where they lead to http, https or mailto;
- raised figures that lead to a note are written apart ("25 [1] days") and carry the note's text;
  m², 10⁶ and 1st stay.

A check of words while marks are in them, such as of their length, looks at `plain(words)`."""

import re
from bisect import bisect_left
from collections import defaultdict, deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple
from urllib.parse import quote, urlsplit

from ombud.types import Annotation, Block, Loss

_RAISED = "\ufdd0"
_STRUCK = "\ufdd1"
_LINK = "\ufdd2"
_NOTE = "\ufdd3"
_HIDDEN = "\ufdd4"
_URL_ENDS = "\ufdd5"
_END = "\ufdd6"
_MARKS = "\ufdd0\ufdd1\ufdd2\ufdd3\ufdd4\ufdd5\ufdd6"
_WITHOUT_MARKS = dict.fromkeys(map(ord, _MARKS))
_PIECES = re.compile(f"([{_MARKS}]|[⁰¹²³⁴-⁹]+)")
_SCHEMES = ("http", "https", "mailto")
_SAFE_IN_URL = "%/:;=&?~#+!$,'@()*"
_LONGEST_URL = 2000

_TO_RAISED = str.maketrans("0123456789+-−()", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁽⁾")
_FROM_RAISED = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")
_SYMBOLS = "*†‡§¶#"
_IN_FIGURES = "0123456789()[],; "
_EACH = re.compile(r"\d+|[*†‡§¶#]+|[a-z]")
_UNIT = re.compile(r"(?:(?<![^\W\d_])(?:[kcdmµ]?m|ft|in|yd|mi|CO)|/s)$")
_POWER = re.compile(r"(?<![\d.,])10$|(?<!\w)[a-zA-Z]$")
_NOTE_STARTS = re.compile(
    rf"(?m)^\W*?[{_RAISED}{_NOTE}]\s*[(\[]?(\w{{1,3}}|[*†‡§¶#]{{1,3}})|^\s*([⁰¹²³⁴-⁹]+)"
)
_OPENING = "([{„“‘«"
_BULLETS = "-•* "
_TAIL = 40
"""Characters before a mark that are looked at."""


def run(
    words: str,
    *,
    superscript: bool = False,
    struck: bool = False,
    hidden: bool = False,
    link: str = "",
    footnote_ref: bool = False,
) -> str:
    """The words with these marks. A `footnote_ref` is a mark that certainly leads to a note, such
    as "1"; of a `superscript` that is decided when the whole document is known."""
    marked = unmarked(words)
    if not marked.strip():
        return marked
    if hidden:
        return _HIDDEN
    url = allowed_url(link)
    if footnote_ref:
        marked = f"{_NOTE}{marked}{_END}"
    elif superscript:
        marked = f"{_RAISED}{marked}{_END}"
    if url:
        marked = f"{_LINK}{url}{_URL_ENDS}{marked}{_END}"
    return f"{_STRUCK}{marked}{_END}" if struck else marked


def strike(marked: str) -> str:
    """Words that may hold marks already, struck out."""
    return f"{_STRUCK}{marked}{_END}" if plain(marked).strip() else marked


def link(marked: str, url: str) -> str:
    """Words that may hold marks already, as a link; unchanged where the address is not allowed."""
    allowed = allowed_url(url)
    if not allowed or not plain(marked).strip():
        return marked
    return f"{_LINK}{allowed}{_URL_ENDS}{marked}{_END}"


def allowed_url(url: str) -> str:
    """The address, in which no character breaks a table; empty unless it is http, https or
    mailto."""
    url = unmarked(url).strip()
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
    """Text from outside, without characters that would pass for marks."""
    return words if words.isascii() else words.translate(_WITHOUT_MARKS)


def plain(marked: str) -> str:
    """What will be left of the words, but for the way that raised figures are written."""
    left: list[str] = []
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
            left.append(unmarked(piece))
    return "".join(left)


class Settled(NamedTuple):
    """Blocks without marks, and what became of these."""

    blocks: tuple[Block, ...]
    text: str
    """The texts of the blocks, a blank line between two."""
    annotations: tuple[Annotation, ...]
    loss: Loss


def settle(blocks: Sequence[Block]) -> Settled:
    """Decide what of the marked blocks is text."""
    announced = _announced_notes(blocks)
    settled: list[Block] = []
    found: list[Annotation] = []
    notes: dict[str, list[_Note]] = defaultdict(list)
    struck = hidden = start = 0
    for block in blocks:
        read = _BlockText(block.kind, announced)
        read.add(block.text)
        text = read.text()
        struck += read.struck
        hidden += read.hidden
        found += [_moved(annotation, start, len(text)) for annotation in read.annotations]
        for note in read.notes:
            notes[note.mark].append(note.moved(start))
        if text.strip():
            settled.append(block.model_copy(update={"text": text}) if text != block.text else block)
            start += len(text) + len("\n\n")
    text = "\n\n".join(block.text for block in settled)
    annotations = tuple(_completed(_moved(one, 0, len(text)), text, notes) for one in found)
    return Settled(tuple(settled), text, annotations, Loss(struck=struck, hidden=hidden))


class _Note(NamedTuple):
    """A note: its mark, and where its words begin and end."""

    mark: str
    start: int
    end: int

    def moved(self, by: int) -> "_Note":
        return _Note(self.mark, self.start + by, self.end + by)


def _announced_notes(blocks: Sequence[Block]) -> frozenset[str]:
    """The marks that lines begin with, which are those of the document's notes."""
    marks: set[str] = set()
    for block in blocks:
        if block.kind == "table":
            continue
        for marked, raised in _NOTE_STARTS.findall(block.text):
            marks.add(marked or raised.translate(_FROM_RAISED))
    return frozenset(marks)


def _moved(found: Annotation, by: int, most: int) -> Annotation:
    """An annotation of a text of `most` characters, which begins at `by` in another. What was
    struck behind the last of them lies at their end."""
    start = min(found.start, most) + by
    end = min(found.end, most) + by
    if (start, end) == (found.start, found.end):
        return found
    return found.model_copy(update={"start": start, "end": end})


def _completed(found: Annotation, text: str, notes: Mapping[str, Sequence[_Note]]) -> Annotation:
    """An annotation with its words; a footnote mark with those of its note, which is the next one
    of that mark, else the last."""
    if found.kind != "footnote":
        return found.model_copy(update={"text": found.text.strip()}) if found.text else found
    alike = notes.get(found.text, ())
    if not alike:
        return found.model_copy(update={"text": ""})
    following = bisect_left(alike, found.end, key=lambda note: note.start)
    note = alike[min(following, len(alike) - 1)]
    return found.model_copy(update={"text": text[note.start : note.end].strip()})


@dataclass
class _OpenMark:
    """A mark whose words are being read."""

    kind: str
    start: int
    url: str = ""
    words: list[str] = field(default_factory=list)
    """Raised or struck words, which do not go into the text as they are."""


class _BlockText:
    """The text of one block, made from words with marks."""

    def __init__(self, kind: str, announced: frozenset[str]) -> None:
        self.annotations: list[Annotation] = []
        self.struck = 0
        self.hidden = 0
        self._kind = kind
        self._announced = announced
        self._lines: list[str] = []
        self._line: list[str] = []
        self._length = 0
        self._line_start = 0
        self._tail = ""
        """The end of the line as it is so far."""
        self._open: list[_OpenMark] = []
        self._marks: list[tuple[str, int]] = []
        """The mark of each note, and where its words begin."""
        self._has_lost = False
        """Whether words of this line were left out."""
        self._is_joint = False
        """Whether a mark stands before the next words, where two blanks may meet."""
        self._is_apart = False
        """Whether a footnote mark stands there, which a blank sets apart from words."""
        self._was_hidden = False

    def text(self) -> str:
        return "\n".join(self._lines)

    @property
    def notes(self) -> list[_Note]:
        """A note ends where the next begins, or at the end of its line."""
        text = self.text()
        begins = [start - len(f"[{mark}]") for mark, start in self._marks]
        notes = []
        for (mark, start), following in zip(self._marks, [*begins[1:], len(text)], strict=False):
            line_end = text.find("\n", start)
            end = following if line_end < 0 else min(following, line_end)
            notes.append(_Note(mark, start, end))
        return notes

    def add(self, marked: str) -> None:
        """Read the marked words of the block."""
        if not _PIECES.search(marked):
            self._lines.append(marked)
            return
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
                # Raised runs side by side are one: "1", "," and "2" are two marks.
                pieces.popleft()
            elif piece == _END:
                self._close()
            elif piece == _HIDDEN:
                self._hide()
            elif piece != _URL_ENDS:
                self._take(piece)
        while self._open:
            self._close()
        self._end_line()

    def _goes_on(self, pieces: Sequence[str]) -> bool:
        """Tell whether a raised run follows the one that ends here."""
        is_raised = bool(self._open) and self._open[-1].kind == _RAISED
        return is_raised and bool(pieces) and pieces[0] == _RAISED

    def _hide(self) -> None:
        """Runs side by side, which programs cut as they please, are one passage."""
        if not self._was_hidden:
            self.hidden += 1
        self._was_hidden = self._has_lost = self._is_joint = True

    def _take(self, words: str) -> None:
        """Words between two marks."""
        if words.strip():
            self._was_hidden = False
        holder = self._holder()
        figures = words.translate(_FROM_RAISED)
        if holder is not None:
            holder.words.append(words)
        elif figures != words and figures.isdigit():
            self._raise(figures)
        else:
            first, *others = words.split("\n")
            self._push(first)
            for line in others:
                self._end_line()
                self._push(line)

    def _holder(self) -> _OpenMark | None:
        """The mark that takes the words instead of the text."""
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
        self._tail = (self._tail + words)[-_TAIL:]

    def _end_line(self) -> None:
        """Leave out a line of which nothing is left but its number or its bars."""
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
        """Let what was struck in a line that is left out lie where the line was."""
        for number in range(len(self.annotations) - 1, -1, -1):
            found = self.annotations[number]
            if found.start <= start:
                break
            self.annotations[number] = found.model_copy(update={"start": start, "end": start})

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
        last = self.annotations[-1] if self.annotations else None
        if last and (last.kind, last.url, last.end) == ("link", mark.url, mark.start):
            self.annotations[-1] = last.model_copy(update={"end": self._length})
        else:
            link = Annotation(start=mark.start, end=self._length, kind="link", url=mark.url)
            self.annotations.append(link)

    def _strike(self, words: str) -> None:
        if not words.strip():
            self._push(words)
            return
        self._has_lost = self._is_joint = True
        at = self._length
        last = self.annotations[-1] if self.annotations else None
        if last and (last.kind, last.start) == ("struck", at):
            words = f"{last.text}{words}"
            self.annotations.pop()
        else:
            self.struck += 1
        self.annotations.append(Annotation(start=at, end=at, kind="struck", text=words))

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
        """Write footnote marks; at the beginning of a line it is that of the note itself."""
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
                found = Annotation(start=start, end=self._length, kind="footnote", text=mark)
                self.annotations.append(found)
            self._is_apart = True
            self._is_joint = False

    def _opens_note(self) -> bool:
        """Tell whether a mark opens a note here: the first of its line, or another behind it."""
        if self._kind in {"table", "heading", "code"}:
            return False
        is_first = len(self._tail) < _TAIL and not self._tail.strip(_BULLETS)
        has_begun = bool(self._marks) and self._marks[-1][1] > self._line_start
        return is_first or (has_begun and self._tail.rstrip().endswith((".", ";", "]")))
