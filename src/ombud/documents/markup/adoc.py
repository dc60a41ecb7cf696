"""Parse AsciiDoc by converting it to HTML.

Own code, as xberg leaves marks such as ^1^ and [.line-through]#old# in the text, and Asciidoctor is
not Python. Includes are not followed; attributes that the file sets are filled in."""

import csv
import re
from collections.abc import Iterable, Iterator, Sequence
from html import escape
from itertools import chain
from typing import NamedTuple

from ombud.documents.blocks import ParsedFile
from ombud.documents.encodings import decode
from ombud.documents.markup import html
from ombud.documents.plain import unix_lines
from ombud.types import Loss

_ATTRIBUTE = re.compile(r":([\w-]+):\s*(.*)")
_HEADING = re.compile(r"(={1,6}|#{1,6})\s+(.+)")
_ITEM = re.compile(r"\s*(\*{1,5}|-|\.{1,5}|\d+\.)\s+(?:\[[ xX*]\]\s+)?(.*)")
_TERM = re.compile(r"(\S.*?):{2,4}(?:\s+(.*))?$")
_COMMENT_BLOCK = re.compile(r"^/{4,}\n.*?^/{4,}$", re.DOTALL | re.MULTILINE)
_CODE_BLOCK = re.compile(r"(-{4,}|\.{4,}|`{3})\S*")
_TABLE = re.compile(r"[|,:!]={3,}")
_CELL = {
    mark: re.compile(rf"(?:^|\s)(?:(\d+)?(?:\.(\d+))?[+*])?[<^>.]*([adehlmsv])?{re.escape(mark)}")
    for mark in "|!"
}
_LEFT_OUT = re.compile(
    r"//|\[[^\]]*\]$|[=*_+-]{4,}$|--$|include::|ifn?def::|endif::|toc::|'''$|<<<$"
)
_ADMONITION = re.compile(r"(?:NOTE|TIP|IMPORTANT|WARNING|CAUTION): ")
_INLINE = (
    (re.compile(r"\[\.?[^\]#]*line-through[^\]#]*\]#{1,2}(.+?)#{1,2}"), r"<s>\1</s>"),
    (re.compile(r"\[[^\]#]*\]#{1,2}(.+?)#{1,2}"), r"\1"),
    (re.compile(r"\^(\S[^\^]*?)\^"), r"<sup>\1</sup>"),
    (re.compile(r"~(\S[^~]*?)~"), r"<sub>\1</sub>"),
    (
        re.compile(r"(?:link:|mailto:|(?=https?://))([^\s\[\]]+)\[([^\]]*)\]"),
        r'<a href="\1">\2</a>',
    ),
    (re.compile(r"(?:xref:|&lt;&lt;)[^\[,&]*(?:\[|,\s*)([^\]&]*)(?:\]|&gt;&gt;)"), r"\1"),
    (re.compile(r"image:{1,2}[^\s\[]+\[(?:&quot;)?([^\],&]*)[^\]]*\]"), r'<img alt="\1">'),
    (re.compile(r"(?<!\w)(\*{1,2}|_{1,2}|`{1,2})(?=\S)(.+?)(?<=\S)\1(?!\w)"), r"\2"),
)  # fmt: skip
"""Inline markup and its HTML."""
_FOOTNOTE = re.compile(r"footnote:[\w-]*\[([^\]]*)\]")


def read(data: bytes, pages: int) -> ParsedFile:
    """Parse what a reader of the rendered page sees."""
    text, loss = decode(data)
    page = _Page(_COMMENT_BLOCK.sub("", unix_lines(text)).split("\n"))
    parsed = html.read(
        f"<html><body>{page.to_html()}</body></html>".encode("utf-8", "replace"), pages
    )
    return parsed._replace(loss=parsed.loss + loss + Loss(hidden=page.hidden))


class _Cell(NamedTuple):
    words: str
    across: int = 1
    down: int = 1
    kind: str = ""


class _Page:
    """Converts the lines of a file to HTML, block by block."""

    def __init__(self, lines: list[str]) -> None:
        self.hidden = 0
        """Number of parts whose condition does not hold."""
        self._lines = self._visible_lines(lines)
        self._attributes: dict[str, str] = {}
        self._notes: list[str] = []
        self._about_block = ""

    def to_html(self) -> str:
        parts = list(self._blocks())
        for number, note in enumerate(self._notes, start=1):
            parts.append(f"<p><sup>{number}</sup> {note}</p>")
        return "\n".join(parts)

    def _visible_lines(self, lines: Iterable[str]) -> Iterator[str]:
        """Leave out parts whose condition does not hold; that of `ifeval` always does."""
        shows = [True]
        for line in lines:
            kind, _, rest = line.partition("::")
            names, _, words = rest.partition("[")
            if kind in {"ifdef", "ifndef", "ifeval"}:
                is_set = any(name in self._attributes for name in names.split(","))
                holds = shows[-1] and is_set == (kind == "ifdef")
                self.hidden += shows[-1] and not holds
                if not names or words.strip() == "]":
                    shows.append(holds)
                elif holds:
                    yield words.rstrip().removesuffix("]")
            elif kind == "endif":
                del shows[max(1, len(shows) - 1) :]
            elif shows[-1]:
                yield line

    def _blocks(self) -> Iterator[str]:
        paragraph: list[str] = []
        for line in self._lines:
            block = self._block(line)
            if not line.strip() or line.startswith("["):
                self._about_block = line
            if block is None and line.strip() not in {"", "+"}:
                paragraph.append(line.strip())
                continue
            if paragraph:
                yield f"<p>{self._words(_ADMONITION.sub('', ' '.join(paragraph)))}</p>"
                paragraph = []
            yield block or ""
        if paragraph:
            yield f"<p>{self._words(' '.join(paragraph))}</p>"

    def _block(self, line: str) -> str | None:
        """Convert a block that begins with this line; None for a line of a paragraph."""
        attribute = _ATTRIBUTE.fullmatch(line.rstrip())
        heading = _HEADING.fullmatch(line.rstrip())
        item = _ITEM.fullmatch(line)
        term = _TERM.fullmatch(line.rstrip())
        if attribute:
            self._attributes[attribute[1]] = attribute[2]
            return ""
        if heading:
            level = len(heading[1])
            return f"<h{level}>{self._words(heading[2])}</h{level}>"
        if _CODE_BLOCK.fullmatch(line.rstrip()):
            return f"<pre>{escape(self._until(line.rstrip()[:4].rstrip()))}</pre>"
        if _TABLE.fullmatch(line.rstrip()):
            return self._table(self._until(line.rstrip()), line[0])
        if item:
            return self._list(item)
        if term and not _LEFT_OUT.match(line):
            return f"<p>{self._words(term[1])}: {self._words(term[2] or '')}</p>"
        if line.startswith(".") and line[1:2].isalnum():
            return f"<p>{self._words(line[1:])}</p>"
        return "" if _LEFT_OUT.match(line.strip()) else None

    def _until(self, fence: str) -> str:
        """Join the lines up to one that begins with the fence."""
        inside = []
        for line in self._lines:
            if line.startswith(fence):
                break
            inside.append(line)
        return "\n".join(inside)

    def _list(self, first: re.Match[str]) -> str:
        """Convert a list with its nested lists; it ends at a blank line or another block."""
        items: list[tuple[str, str]] = [(first[1], first[2])]
        for line in self._lines:
            item = _ITEM.fullmatch(line)
            if item:
                items.append((item[1], item[2]))
            elif not line.strip():
                break
            elif line.strip() != "+" and not _LEFT_OUT.match(line.strip()):
                marker, words = items[-1]
                items[-1] = marker, f"{words} {line.strip()}"
        parts: list[str] = []
        markers: list[str] = []
        for marker, words in items:
            marker = "1." if marker[0].isdigit() else marker
            while marker in markers and markers[-1] != marker:
                parts.append(f"</{list_tag(markers.pop())}>")
            if marker not in markers:
                parts.append(f"<{list_tag(marker)}>")
                markers.append(marker)
            parts.append(f"<li>{self._words(words)}</li>")
        parts += [f"</{list_tag(marker)}>" for marker in reversed(markers)]
        return "".join(parts)

    def _table(self, source: str, mark: str) -> str:
        """Convert a table, with as many columns as its attributes name or its first line has
        cells."""
        lines = [line for line in source.split("\n") if not line.startswith("//")]
        if mark in _CELL:
            rows = split_cells(lines, _CELL[mark])
        else:
            rows = [list(map(_Cell, row)) for row in csv.reader(lines, delimiter=mark)]
        width = count_columns(self._about_block) or next((len(row) for row in rows if row), 1)
        parts: list[str] = []
        below = [0] * width  # rows that a cell above still spans
        column = 0
        tag = "th"
        for cell in chain.from_iterable(rows):
            while column == width or below[column]:
                if column == width:
                    column = 0
                    tag = "td"
                    parts.append("<tr>")
                else:
                    below[column] -= 1
                    column += 1
            across = min(cell.across, width - column)
            below[column : column + across] = [cell.down - 1] * across
            column += across
            spans = f'colspan="{across}" rowspan="{cell.down}"'
            parts.append(f"<{tag} {spans}>{self._inside(cell)}</{tag}>")
        return f"<table><tr>{''.join(parts)}</table>"

    def _inside(self, cell: _Cell) -> str:
        """Convert the words of a cell, or its blocks if its style says that it has some."""
        if cell.kind != "a":
            return self._words(cell.words.replace("\n", " "))
        page = _Page(cell.words.split("\n"))
        page._attributes, page._notes = self._attributes, self._notes
        return "".join(page._blocks())

    def _words(self, words: str) -> str:
        for name, value in self._attributes.items():
            words = words.replace(f"{{{name}}}", value) if len(words) < 100_000 else words
        converted = escape(words)
        for pattern, becomes in _INLINE:
            converted = pattern.sub(becomes, converted)
        return _FOOTNOTE.sub(self._note, converted)

    def _note(self, match: re.Match[str]) -> str:
        self._notes.append(match[1])
        return f"<sup>{len(self._notes)}</sup>"


def split_cells(lines: Sequence[str], mark: re.Pattern[str]) -> list[list[_Cell]]:
    """Split lines into cells; a line without a mark continues the cell before it."""
    rows: list[list[_Cell]] = [[]]
    for line in lines:
        starts = list(mark.finditer(line))
        before = line[: starts[0].start()].strip() if starts else line
        if rows[-1]:
            rows[-1][-1] = rows[-1][-1]._replace(
                words=f"{rows[-1][-1].words}\n{before}".rstrip(" ")
            )
        if starts:
            rows.append([])
        for start, following in zip(starts, [*starts[1:], None], strict=False):
            words = line[start.end() : following.start() if following else len(line)].strip()
            across, down = (min(max(int(start[n] or 1), 1), 100) for n in (1, 2))
            rows[-1].append(_Cell(words, across, down, start[3] or ""))
    return rows


def count_columns(attributes: str) -> int:
    """Count the columns that `[cols="1,3*"]` names; 0 if it names none."""
    _, _, value = attributes.partition("cols=")
    end = '"' if value.startswith('"') else ","
    count = 0
    for part in value.strip('"').partition(end)[0].rstrip("]").replace(";", ",").split(","):
        times, star, _ = part.strip().partition("*")
        count += int(times) if star and times.isdecimal() else 1
    return min(count, 100) if value else 0


def list_tag(marker: str) -> str:
    return "ol" if marker[0] in ".0123456789" else "ul"
