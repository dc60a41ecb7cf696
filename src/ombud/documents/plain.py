"""Plain text: paragraphs between blank lines."""

import re

from ombud.documents.blocks import ParsedFile, paragraph, tidy, visible
from ombud.documents.encodings import decode
from ombud.types import Block

_BLANK_LINE = re.compile(r"\n[ \t\f\r]*\n")
_ITEM = re.compile(r"\s*(?:[-*•–·]|\(?[0-9]{1,3}[.)]|\(?[a-zA-Z][.)])\s+\S")


def read(data: bytes, pages: int) -> ParsedFile:
    """Paragraphs are separated by blank lines; a paragraph whose lines are items is a list."""
    del pages
    text, loss = decode(data)
    return ParsedFile(paragraphs(text), loss=loss)


def paragraphs(text: str) -> list[Block]:
    """The paragraphs and lists of a text."""
    blocks = []
    for part in _BLANK_LINE.split(visible(unix_lines(text))):
        lines = [line for line in part.splitlines() if line.strip()]
        if lines:
            blocks.append(_block(lines))
    return blocks


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
