"""Rich Text Format, read group by group.

Own code rather than xberg, which joins raised figures to words ("251 days") and drops hidden words
without a count, and rather than striprtf, which gives words alone."""

import codecs
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from ombud.documents.blocks import ParsedFile, heading, paragraph, table_blocks, tidy
from ombud.documents.runs import run, unmarked
from ombud.errors import SourceError
from ombud.types import Block, Loss

_TOKEN = re.compile(
    rb"\\'([0-9a-fA-F]{2})|\\([a-zA-Z]{1,32})(-?[0-9]{1,9})? ?|\\(.)|([{}])|([^\\{}\r\n]+)|.",
    re.DOTALL,
)
_LINK = re.compile(r"HYPERLINK\s+\"([^\"]+)\"")
_CHARSETS = {
    128: "cp932", 129: "cp949", 134: "gb18030", 136: "big5", 161: "cp1253", 162: "cp1254",
    163: "cp1258", 177: "cp1255", 178: "cp1256", 186: "cp1257", 204: "cp1251", 222: "cp874",
    238: "cp1250",
}  # fmt: skip
"""Number of a font's set of characters -> encoding."""
_SPECIAL = {
    "tab": " ", "line": "\n", "emdash": "—", "endash": "–", "lquote": "‘", "rquote": "’",
    "ldblquote": "“", "rdblquote": "”", "bullet": "•", "emspace": " ", "enspace": " ",
    "~": "\u00a0", "_": "-", "\\": "\\", "{": "{", "}": "}",
}  # fmt: skip
_PLACES = (
    "fonttbl", "stylesheet", "info", "title", "fldinst", "footnote", "pict", "colortbl", "shptxt",
    "header", "headerl", "headerr", "headerf", "footer", "footerl", "footerr", "footerf",
)  # fmt: skip
"""Groups whose words go elsewhere than into the body."""


@dataclass
class _Group:
    """What holds until a group ends."""

    place: str = ""
    """Where its words go; "skipped" for nowhere."""
    is_struck: bool = False
    is_hidden: bool = False
    is_raised: bool = False
    link: str = ""
    encoding: str = ""
    fallback: int = 1
    """Characters that stand after one of Unicode, for readers that do not know it."""


@dataclass
class _Reader:
    """Takes the tokens of a file and builds its blocks."""

    blocks: list[Block] = field(default_factory=list)
    title: str = ""
    pictures: int = 0
    _groups: list[_Group] = field(default_factory=lambda: [_Group()])
    _words: dict[str, list[str]] = field(default_factory=dict)
    """Place -> its words."""
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
    _skip: int = 0
    """Characters that are left of those after one of Unicode."""

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
        """The footnotes, and what stands at the edges of pages, once."""
        for number, note in enumerate(self._notes, start=1):
            yield paragraph(f"{run(str(number), footnote_ref=True)} {tidy(note)}")
        edges = (name for name in _PLACES if name.startswith(("header", "footer")))
        said = (tidy("".join(self._words.get(name, ()))) for name in edges)
        yield from (paragraph(words) for words in dict.fromkeys(said) if words)

    def _take(self, data: bytes) -> None:
        left = min(self._skip, len(data))
        self._skip -= left
        self._bytes += data[left:]

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
            target = _LINK.search(words)
            outer.link = target[1] if target else ""
        elif group.place == "footnote":
            self._notes.append(words)
        elif group.place == "title":
            self.title = tidy(words)
        elif group.place == "pict":
            self.pictures += 1
        if group.place in {"fldinst", "footnote", "title", "pict"}:
            self._words.pop(group.place, None)

    def _symbol(self, symbol: str) -> None:
        if symbol == "*":
            # A group that readers may leave out, unless they know the word that follows.
            self._groups[-1].place = "skipped"
        elif symbol in _SPECIAL:
            self._say(_SPECIAL[symbol])
        elif symbol in "\r\n":
            self._end_paragraph()

    def _control(self, word: str, number: int | None) -> None:
        group = self._groups[-1]
        if word in _PLACES:
            self._enter(word)
        elif word == "u" and number is not None:
            self._say_unicode(number % 65536)
        elif word in _SPECIAL:
            self._say(_SPECIAL[word])
        elif word == "chftn":
            self._refer()
        elif not self._look(word, is_on=number != 0) and group.place in {"", "shptxt"}:
            self._layout(word, number)
        if number is not None:
            self._set(word, number)

    def _look(self, word: str, *, is_on: bool) -> bool:
        """Take in how the words that follow look; tell whether this word is about that."""
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
            # The second half of a character beyond the first plane.
            half = self._words[group.place].pop()
            joined = (half + chr(number)).encode("utf-16", "surrogatepass")
            self._words[group.place].append(joined.decode("utf-16", errors="replace"))
        else:
            self._say(chr(number))
        self._skip = group.fallback

    def _enter(self, place: str) -> None:
        group = self._groups[-1]
        outside = self._groups[-2].place if len(self._groups) > 1 else ""
        if place == "shptxt" or outside != "skipped":
            group.place = "" if place == "shptxt" else place
        group.is_raised = False

    def _set(self, word: str, number: int) -> None:
        """Take in a number that is no layout."""
        group = self._groups[-1]
        if word == "ansicpg":
            self._encoding = _known(f"cp{number}")
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
            self._rows.append(self._cells)
            self._cells = []

    def _refer(self) -> None:
        is_note = self._groups[-1].place == "footnote"
        if not is_note:
            mark = run(str(len(self._notes) + 1), footnote_ref=True)
            self._words.setdefault(self._groups[-1].place, []).append(mark)

    def _end_paragraph(self) -> None:
        if self._is_in_table:
            self._words.setdefault("", []).append(" ")
            return
        self._end_table()
        words = tidy("".join(self._words.pop("", ())))
        if words:
            is_heading = self._level > 0
            self.blocks.append(heading(words, self._level) if is_heading else paragraph(words))

    def _end_table(self) -> None:
        self.blocks += table_blocks(self._rows)
        self._rows = []


def read(data: bytes, pages: int) -> ParsedFile:
    """Headings, paragraphs, tables and notes; raises SourceError for what is no such file."""
    del pages
    if not data.lstrip().startswith(b"{\\rtf"):
        raise SourceError(
            "The file is broken or no Rich Text.", hint="Save it again as .rtf or .docx."
        )
    reader = _Reader()
    reader.read(data)
    blocks = [*reader.blocks, *reader.notes()]
    return ParsedFile(blocks, reader.title, Loss(pictures=reader.pictures))


def _known(encoding: str) -> str:
    try:
        return codecs.lookup(encoding).name
    except LookupError:
        return "cp1252"
