"""Parse plain text: paragraphs between blank lines."""

import re

from ombud.documents.blocks import ParsedFile, paragraph, tidy, visible
from ombud.documents.encodings import decode
from ombud.types import Block

_BLANK_LINE = re.compile(r"\n[ \t\f\r]*\n")
_ITEM = re.compile(r"\s*(?:[-*•–·]|\(?[0-9]{1,3}[.)]|\(?[a-zA-Z][.)])\s+\S")


def read(data: bytes, pages: int) -> ParsedFile:
    """Parse paragraphs, which blank lines separate; one whose lines are items is a list."""
    del pages
    text, loss = decode(data)
    return ParsedFile(paragraphs(text), loss=loss)


def paragraphs(text: str) -> list[Block]:
    """Split a text into paragraphs and lists."""
    blocks = []
    for part in _BLANK_LINE.split(visible(unix_lines(text))):
        lines = [line for line in part.splitlines() if line.strip()]
        if lines:
            blocks.append(make_block(lines))
    return blocks


def unix_lines(text: str) -> str:
    """Write every line break as one "\\n"."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def make_block(lines: list[str]) -> Block:
    is_list = _ITEM.match(lines[0]) and any(map(_ITEM.match, lines[1:]))
    if not is_list:
        return paragraph(tidy(" ".join(lines)))
    items = []
    for line in lines:
        expanded = line.expandtabs(4)
        depth = len(expanded) - len(expanded.lstrip())
        items.append(" " * min(depth, 12) + tidy(line))
    return Block(kind="list", text="\n".join(items))
