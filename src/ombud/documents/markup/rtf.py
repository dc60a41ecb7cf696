"""Parse Rich Text Format, group by group.

Own code rather than xberg, which joins raised figures to words ("251 days") and drops hidden words
without a count, and rather than striprtf, which returns only words."""

import codecs
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import zip_longest

from ombud.documents.blocks import Edges, ParsedFile, heading, paragraph, table_blocks, tidy
from ombud.documents.runs import field_link, run, unmarked
from ombud.errors import SourceError
from ombud.types import Block, Loss

_TOKEN = re.compile(
    rb"\\'([0-9a-fA-F]{2})|\\([a-zA-Z]{1,32})(-?[0-9]{1,9})? ?|\\(.)|([{}])|([^\\{}\r\n]+)|.",
    re.DOTALL,
)
_CHARSETS = {
    128: "cp932", 129: "cp949", 134: "gb18030", 136: "big5", 161: "cp1253", 162: "cp1254",
    163: "cp1258", 177: "cp1255", 178: "cp1256", 186: "cp1257", 204: "cp1251", 222: "cp874",
    238: "cp1250",
}  # fmt: skip
"""Number of a font's character set -> encoding."""
_SPECIAL = {
    "tab": " ", "line": "\n", "emdash": "—", "endash": "–", "lquote": "‘", "rquote": "’",
    "ldblquote": "“", "rdblquote": "”", "bullet": "•", "emspace": " ", "enspace": " ",
    "~": "\u00a0", "_": "-", "\\": "\\", "{": "{", "}": "}",
}  # fmt: skip
_PLACES = (
    "fonttbl", "stylesheet", "info", "title", "fldinst", "footnote", "pict", "colortbl", "shptxt",
    "sn", "sv",
    "header", "headerl", "headerr", "headerf", "footer", "footerl", "footerr", "footerf",
)  # fmt: skip
"""Groups whose words do not go into the body."""
_EDGES = tuple(place for place in _PLACES if place.startswith(("header", "footer")))
_PAGE_FIELDS = ("PAGE", "NUMPAGES", "SECTIONPAGES")
_PAGE_NUMBER = "\0"
"""Stands for the page number in headers and footers."""


@dataclass
class _Group:
    """The formatting of a group."""

    place: str = ""
    """Destination of its words; "skipped" drops them."""
    is_struck: bool = False
    is_hidden: bool = False
    is_raised: bool = False
    link: str = ""
    encoding: str = ""
    fallback: int = 1
    """Characters after a Unicode character that replace it in old readers."""


@dataclass
class _Reader:
    """Takes the tokens of a file and builds its blocks."""

    blocks: list[Block] = field(default_factory=list)
    title: str = ""
    pictures: int = 0
    hidden: int = 0
    """Number of hidden rows."""
    _property: str = ""
    """Name of a shape's property, whose value follows."""
    _descriptions: list[str] = field(default_factory=list)
    """Descriptions of pictures in the current paragraph."""
    _groups: list[_Group] = field(default_factory=lambda: [_Group()])
    _words: dict[str, list[str]] = field(default_factory=dict)
    """Place -> words."""
    _bytes: bytearray = field(default_factory=bytearray)
    """Characters that are not decoded yet."""
    _encoding: str = "cp1252"
    _fonts: dict[int, str] = field(default_factory=dict)
    _font: int = 0
    _levels: dict[int, int] = field(default_factory=dict)
    """Number of a style -> level of its headings."""
    _style: int = 0
    _level: int = 0
    _notes: list[str] = field(default_factory=list)
    _cells: list[str] = field(default_factory=list)
    _rows: list[list[str]] = field(default_factory=list)
    _is_in_table: bool = False
    _merged: list[str] = field(default_factory=list)
    """Control word by which each cell of the row is merged with another; empty for others."""
    _is_row_hidden: bool = False
    _merging: str = ""
    """Control word by which the next cell is merged."""
    _skip: int = 0
    """Replacement characters still to skip."""

    def read(self, data: bytes) -> None:
        at = 0
        while token := _TOKEN.match(data, at):
            at = token.end()
            code, word, number, symbol, brace, text = token.groups()
            if word == b"bin":
                at += max(0, int(number or 0))
            elif code or text:
                self._take(bytes.fromhex(code.decode()) if code else text)
            else:
                self._flush()
                if brace:
                    self._open() if brace == b"{" else self._close()
                elif word:
                    self._control(word.decode().lower(), int(number) if number else None)
                elif symbol:
                    self._symbol(symbol.decode("latin-1"))
        self._flush()
        self._end_paragraph()
        self._end_table()

    def notes(self) -> Iterator[Block]:
        """Yield the footnotes."""
        for number, note in enumerate(self._notes, start=1):
            yield paragraph(f"{run(str(number), footnote_ref=True)} {tidy(note)}")

    def edges(self) -> Edges:
        """Collect headers and footers."""
        edges = Edges()
        for place in _EDGES:
            for line in "".join(self._words.get(place, ())).split("\n"):
                words = tidy(line.replace(_PAGE_NUMBER, ""))
                edges.add(words, counts_pages=_PAGE_NUMBER in line)
        return edges

    def _take(self, data: bytes) -> None:
        skipped = min(self._skip, len(data))
        self._skip -= skipped
        self._bytes += data[skipped:]

    def _flush(self) -> None:
        if self._bytes:
            encoding = self._groups[-1].encoding or self._encoding
            words = bytes(self._bytes).decode(encoding, errors="replace")
            self._bytes.clear()
            self._say(words)

    def _say(self, words: str) -> None:
        group = self._groups[-1]
        if group.place == "skipped" or group.place == "pict":
            return
        marked = unmarked(words)
        if group.place not in {"fonttbl", "stylesheet", "fldinst"}:
            marked = run(
                words,
                struck=group.is_struck,
                hidden=group.is_hidden,
                superscript=group.is_raised,
                link=group.link,
            )
        self._words.setdefault(group.place, []).append(marked)

    def _open(self) -> None:
        self._groups.append(replace(self._groups[-1]))

    def _close(self) -> None:
        if len(self._groups) == 1:
            return
        group = self._groups.pop()
        outer = self._groups[-1]
        if group.place == outer.place:
            return
        words = "".join(self._words.get(group.place, ()))
        if group.place == "fldinst":
            self._begin_field(words, outer)
        elif group.place == "sn":
            self._property = words.strip()
        elif group.place == "sv" and self._property == "wzDescription":
            self._descriptions.append(tidy(words))
        elif group.place == "footnote":
            self._notes.append(words)
        elif group.place == "title":
            self.title = tidy(words)
        elif group.place == "pict":
            self.pictures += 1
        if group.place in {"fldinst", "footnote", "title", "pict", "sn", "sv"}:
            self._words.pop(group.place, None)

    def _begin_field(self, instruction: str, group: _Group) -> None:
        """Begin a field; its words follow."""
        group.link = field_link(instruction)
        if instruction.split()[:1] and instruction.split()[0] in _PAGE_FIELDS:
            self._count_page(group.place)

    def _count_page(self, place: str) -> None:
        if place in _EDGES:
            self._words.setdefault(place, []).append(_PAGE_NUMBER)

    def _symbol(self, symbol: str) -> None:
        if symbol == "*":
            # A group that is skipped unless the following word is known.
            self._groups[-1].place = "skipped"
        elif symbol in _SPECIAL:
            self._say(_SPECIAL[symbol])
        elif symbol in "\r\n":
            self._end_paragraph()

    def _control(self, word: str, number: int | None) -> None:
        group = self._groups[-1]
        if word in _PLACES:
            self._enter(word)
        elif word == "par" and group.place in _EDGES:
            self._words.setdefault(group.place, []).append("\n")
        elif word == "u" and number is not None:
            self._say_unicode(number % 65536)
        elif word in _SPECIAL:
            self._say(_SPECIAL[word])
        elif word in {"chftn", "chpgn"}:
            self._refer(group.place, is_note=word == "chftn")
        elif not self._look(word, is_on=number != 0) and group.place in {"", "shptxt"}:
            self._layout(word, number)
        if number is not None:
            self._set(word, number)

    def _look(self, word: str, *, is_on: bool) -> bool:
        """Change the look of the words that follow; tell whether the control word is about that."""
        group = self._groups[-1]
        if word in {"strike", "striked", "deleted"}:
            group.is_struck = is_on
        elif word == "v":
            group.is_hidden = is_on
        elif word in {"super", "up"}:
            group.is_raised = is_on
        elif word in {"nosupersub", "sub", "dn"}:
            group.is_raised = False
        elif word == "plain":
            group.is_struck = group.is_hidden = group.is_raised = False
        else:
            return False
        return True

    def _say_unicode(self, number: int) -> None:
        group = self._groups[-1]
        if 0xDC00 <= number < 0xE000 and self._words.get(group.place):
            # The second surrogate of a pair.
            half = self._words[group.place].pop()
            joined = (half + chr(number)).encode("utf-16", "surrogatepass")
            self._words[group.place].append(joined.decode("utf-16", errors="replace"))
        else:
            self._say(chr(number))
        self._skip = group.fallback

    def _enter(self, place: str) -> None:
        group = self._groups[-1]
        outside = self._groups[-2].place if len(self._groups) > 1 else ""
        if place in {"shptxt", "sn", "sv"} or outside != "skipped":
            group.place = "" if place == "shptxt" else place
        group.is_raised = False

    def _set(self, word: str, number: int) -> None:
        """Process a number that is not about layout."""
        group = self._groups[-1]
        if word == "ansicpg":
            self._encoding = find_encoding(f"cp{number}")
        elif word == "uc":
            group.fallback = max(0, number)
        elif word == "f" and group.place == "fonttbl":
            self._font = number
        elif word == "f":
            group.encoding = self._fonts.get(number, "")
        elif word == "fcharset" and number in _CHARSETS:
            self._fonts[self._font] = _CHARSETS[number]
        elif word == "s":
            self._style = number
            self._level = self._levels.get(number, 0)
        elif word == "outlinelevel" and number < 6:
            self._level = number + 1
            if group.place == "stylesheet":
                self._levels[self._style] = number + 1

    def _layout(self, word: str, number: int | None) -> None:
        if word == "par" or word == "sect" or word == "page":
            self._end_paragraph()
        elif word == "pard":
            self._is_in_table = False
            self._level = self._style = 0
        elif word == "intbl":
            self._is_in_table = number != 0
        elif word == "cell":
            self._cells.append(tidy("".join(self._words.pop("", ()))))
        elif word == "row":
            self.hidden += self._is_row_hidden
            self._rows += [] if self._is_row_hidden else [self._filled(self._cells)]
            self._cells = []
        else:
            self._define(word)

    def _define(self, word: str) -> None:
        """Process the definition of a row, cell by cell."""
        if word == "trowd":
            self._merged.clear()
            self._is_row_hidden = False
        elif word == "trhidden":
            self._is_row_hidden = True
        elif word in {"clvmrg", "clmrg"}:
            self._merging = word
        elif word == "cellx":
            self._merged.append(self._merging)
            self._merging = ""

    def _filled(self, cells: list[str]) -> list[str]:
        """Fill merged cells of a row with the text of the cell that they are merged with."""
        above = self._rows[-1] if self._rows else []
        filled: list[str] = []
        for place, (cell, merging) in enumerate(zip_longest(cells, self._merged[: len(cells)])):
            if merging == "clvmrg" and not cell and place < len(above):
                cell = above[place]
            elif merging == "clmrg" and not cell and filled:
                cell = filled[-1]
            filled.append(cell)
        return filled

    def _refer(self, place: str, *, is_note: bool) -> None:
        """Write the mark of a note, unless in the note itself; or count a page number."""
        if not is_note:
            self._count_page(place)
        elif place != "footnote":
            mark = run(str(len(self._notes) + 1), footnote_ref=True)
            self._words.setdefault(place, []).append(mark)

    def _end_paragraph(self) -> None:
        if self._is_in_table:
            self._words.setdefault("", []).append(" ")
            return
        self._end_table()
        words = tidy("".join(self._words.pop("", ())))
        if words:
            is_heading = self._level > 0
            self.blocks.append(heading(words, self._level) if is_heading else paragraph(words))
        self.blocks += map(paragraph, filter(None, self._descriptions))
        self.pictures = max(0, self.pictures - len(self._descriptions))
        self._descriptions.clear()

    def _end_table(self) -> None:
        self.blocks += table_blocks(self._rows)
        self._rows = []


def read(data: bytes, pages: int) -> ParsedFile:
    """Parse headings, paragraphs, tables and notes; raises SourceError for other files."""
    del pages
    if not data.lstrip().startswith(b"{\\rtf"):
        raise SourceError(
            "The file is broken or no Rich Text.", hint="Save it again as .rtf or .docx."
        )
    reader = _Reader()
    reader.read(data)
    edges = reader.edges()
    blocks = [*reader.blocks, *reader.notes(), *edges.blocks()]
    loss = Loss(hidden=reader.hidden, pictures=reader.pictures, repeated=edges.repeated)
    return ParsedFile(blocks, reader.title, loss)


def find_encoding(encoding: str) -> str:
    """Return an encoding that Python has, else cp1252."""
    try:
        return codecs.lookup(encoding).name
    except LookupError:
        return "cp1252"
