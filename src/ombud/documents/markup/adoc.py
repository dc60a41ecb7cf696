"""AsciiDoc: made into HTML, which is read as any other.

Own code: xberg leaves marks such as ^1^ and [.line-through]#old# in the words, and Asciidoctor is
no Python. Includes are not followed; attributes that the file sets itself are filled in."""

import re
from collections.abc import Iterator, Sequence
from html import escape

from ombud.documents.blocks import ParsedFile
from ombud.documents.encodings import decode
from ombud.documents.markup import html
from ombud.documents.plain import unix_lines

_ATTRIBUTE = re.compile(r":([\w-]+):\s*(.*)")
_HEADING = re.compile(r"(={1,6}|#{1,6})\s+(.+)")
_ITEM = re.compile(r"\s*(\*{1,5}|-|\.{1,5}|\d+\.)\s+(?:\[[ xX*]\]\s+)?(.*)")
_TERM = re.compile(r"(\S.*?):{2,4}(?:\s+(.*))?$")
_COMMENT_BLOCK = re.compile(r"^/{4,}\n.*?^/{4,}$", re.DOTALL | re.MULTILINE)
_CODE_BLOCK = re.compile(r"(-{4,}|\.{4,}|`{3})\S*")
_TABLE = re.compile(r"[|,:!]={3,}")
_CELL = re.compile(r"(?:^|\s)(?:(\d+)?(?:\.(\d+))?[+*])?[<^>.]*[adehlmsv]?\|")
_LEFT_OUT = re.compile(r"//|\[[^\]]*\]$|[=*_+-]{4,}$|--$|include::|toc::|'''$|<<<$")
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
    (re.compile(r"image:{1,2}[^\s\[]+\[&quot;?([^\],&]*)[^\]]*\]"), r'<img alt="\1">'),
    (re.compile(r"(?<!\w)(\*{1,2}|_{1,2}|`{1,2})(?=\S)(.+?)(?<=\S)\1(?!\w)"), r"\2"),
)  # fmt: skip
"""What marks of words become."""
_FOOTNOTE = re.compile(r"footnote:[\w-]*\[([^\]]*)\]")


def read(data: bytes, pages: int) -> ParsedFile:
    """What a reader of the page made of it sees."""
    text, loss = decode(data)
    source = _COMMENT_BLOCK.sub("", unix_lines(text))
    made = _Page(source.split("\n")).made()
    parsed = html.read(f"<html><body>{made}</body></html>".encode("utf-8", "replace"), pages)
    return parsed._replace(loss=parsed.loss + loss)


class _Page:
    """Turns the lines of a file into HTML, block by block."""

    def __init__(self, lines: list[str]) -> None:
        self._lines = iter(lines)
        self._attributes: dict[str, str] = {}
        self._notes: list[str] = []

    def made(self) -> str:
        parts = list(self._blocks())
        for number, note in enumerate(self._notes, start=1):
            parts.append(f"<p><sup>{number}</sup> {note}</p>")
        return "\n".join(parts)

    def _blocks(self) -> Iterator[str]:
        paragraph: list[str] = []
        for line in self._lines:
            block = self._block(line)
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
        """The HTML of a block that begins with this line; None for words of a paragraph."""
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
            return self._table(self._until(line.rstrip()))
        if item:
            return self._list(item)
        if term and not _LEFT_OUT.match(line):
            return f"<p>{self._words(term[1])}: {self._words(term[2] or '')}</p>"
        if line.startswith(".") and line[1:2].isalnum():
            return f"<p>{self._words(line[1:])}</p>"
        return "" if _LEFT_OUT.match(line.strip()) else None

    def _until(self, fence: str) -> str:
        """The lines up to one that begins with the fence, which is left out."""
        inside = []
        for line in self._lines:
            if line.startswith(fence):
                break
            inside.append(line)
        return "\n".join(inside)

    def _list(self, first: re.Match[str]) -> str:
        """A list with its nested lists; it ends at a blank line or another block."""
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
                parts.append(f"</{_kind_of(markers.pop())}>")
            if marker not in markers:
                parts.append(f"<{_kind_of(marker)}>")
                markers.append(marker)
            parts.append(f"<li>{self._words(words)}</li>")
        parts += [f"</{_kind_of(marker)}>" for marker in reversed(markers)]
        return "".join(parts)

    def _table(self, source: str) -> str:
        """A table whose first line of cells says how many columns there are."""
        lines = [line for line in source.split("\n") if not line.startswith("//")]
        width = next((len(_CELL.findall(line)) for line in lines if "|" in line), 1)
        rows: list[str] = []
        filled = 0
        for words, across in _cells(lines):
            rows.append("<tr>" if filled % width == 0 else "")
            rows.append(f'<td colspan="{across}">{self._words(words)}</td>')
            filled += across
        return f"<table>{''.join(rows)}</table>"

    def _words(self, words: str) -> str:
        for name, value in self._attributes.items():
            words = words.replace(f"{{{name}}}", value) if len(words) < 100_000 else words
        made = escape(words)
        for pattern, becomes in _INLINE:
            made = pattern.sub(becomes, made)
        return _FOOTNOTE.sub(self._note, made)

    def _note(self, found: re.Match[str]) -> str:
        self._notes.append(found[1])
        return f"<sup>{len(self._notes)}</sup>"


def _cells(lines: Sequence[str]) -> list[tuple[str, int]]:
    """Return the words of each cell of a table and how many columns it takes."""
    cells: list[tuple[str, int]] = []
    for line in lines:
        starts = list(_CELL.finditer(line))
        before = line[: starts[0].start()] if starts else line
        if before.strip() and cells:
            cells[-1] = f"{cells[-1][0]} {before.strip()}", cells[-1][1]
        for start, following in zip(starts, [*starts[1:], None], strict=False):
            end = following.start() if following else len(line)
            cells.append((line[start.end() : end].strip(), min(int(start[1] or 1), 100)))
    return cells


def _kind_of(marker: str) -> str:
    return "ol" if marker[0] in ".0123456789" else "ul"
