"""Plain text: decoding, and paragraphs between blank lines."""

import codecs
import re

from ombud.documents.blocks import ParsedFile, tidy, visible
from ombud.errors import SourceError
from ombud.types import Block

_BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_ITEM = re.compile(r"\s*(?:[-*•–·]|\(?[0-9]{1,3}[.)]|\(?[a-zA-Z][.)])\s+\S")


def decode(data: bytes) -> str:
    """The text of a file: byte order mark, else UTF-8, else Windows-1252. Raises SourceError for
    binary data."""
    for mark, encoding in _BOMS:
        if data.startswith(mark):
            return data.decode(encoding, errors="replace")
    if data.count(0) > len(data) // 1000:
        raise SourceError("The file is not text.", hint="Give it the ending of its real format.")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        text = data.decode("cp1252", errors="replace")
    strange = sum(1 for c in text[:10_000] if c == "\ufffd" or (c < " " and c not in "\t\r\n\f"))
    if strange > min(len(text), 10_000) // 50:
        raise SourceError("The file is not text.", hint="Give it the ending of its real format.")
    return text


def read(data: bytes, pages: int) -> ParsedFile:
    """Paragraphs are separated by blank lines; a paragraph whose lines are items is a list."""
    del pages
    blocks = []
    for part in re.split(
        r"\n[ \t\f\r]*\n", visible(decode(data).replace("\r\n", "\n").replace("\r", "\n"))
    ):
        lines = [line for line in part.splitlines() if line.strip()]
        if not lines:
            continue
        items = sum(1 for line in lines if _ITEM.match(line))
        if len(lines) > 1 and items >= 2 and _ITEM.match(lines[0]):
            text = "\n".join(_indent(line) + tidy(line) for line in lines)
            blocks.append(Block(kind="list", text=text))
        else:
            blocks.append(Block(kind="text", text=tidy(" ".join(lines))))
    return ParsedFile(blocks)


def _indent(line: str) -> str:
    depth = len(line.expandtabs(4)) - len(line.expandtabs(4).lstrip())
    return " " * min(depth, 12)
