"""Plain text: decoding, and paragraphs between blank lines."""

import codecs
import re
import unicodedata

from ombud.documents.blocks import ParsedFile, paragraph, tidy, visible
from ombud.errors import SourceError
from ombud.types import Block

_BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_BLANK_LINE = re.compile(r"\n[ \t\f\r]*\n")
_ITEM = re.compile(r"\s*(?:[-*•–·]|\(?[0-9]{1,3}[.)]|\(?[a-zA-Z][.)])\s+\S")


def decode(data: bytes) -> str:
    """The text of a file: byte order mark, else UTF-8, else Windows-1252. Raises SourceError for
    binary data."""
    for mark, encoding in _BOMS:
        if data.startswith(mark):
            return _checked(data.decode(encoding, errors="replace"))
    if data.count(0) > len(data) // 1000:
        raise _not_text()
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return _checked(data.decode("cp1252", errors="replace"))


def _checked(text: str) -> str:
    """The text; raises SourceError for what was none before it was decoded."""
    beginning = text[:10_000]
    strange = sum(map(_is_strange, beginning))
    if strange > len(beginning) // 50:
        raise _not_text()
    return text


def _not_text() -> SourceError:
    return SourceError("The file is not text.", hint="Give it the ending of its real format.")


def _is_strange(character: str) -> bool:
    """Whether it stands in no text: what could not be decoded, control characters, and what
    Unicode has no character for."""
    if character == "\ufffd" or unicodedata.category(character) in {"Cn", "Cs"}:
        return True
    return character < " " and character not in "\t\r\n\f"


def read(data: bytes, pages: int) -> ParsedFile:
    """Paragraphs are separated by blank lines; a paragraph whose lines are items is a list."""
    del pages
    blocks = []
    text = visible(unix_lines(decode(data)))
    for part in _BLANK_LINE.split(text):
        lines = [line for line in part.splitlines() if line.strip()]
        if lines:
            blocks.append(_block(lines))
    return ParsedFile(blocks)


def unix_lines(text: str) -> str:
    """The text with every line break as one "\\n"."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _block(lines: list[str]) -> Block:
    if _is_list(lines):
        text = "\n".join(_indent(line) + tidy(line) for line in lines)
        return Block(kind="list", text=text)
    return paragraph(tidy(" ".join(lines)))


def _is_list(lines: list[str]) -> bool:
    if len(lines) < 2 or not _ITEM.match(lines[0]):
        return False
    return any(map(_ITEM.match, lines[1:]))


def _indent(line: str) -> str:
    expanded = line.expandtabs(4)
    depth = len(expanded) - len(expanded.lstrip())
    return " " * min(depth, 12)
