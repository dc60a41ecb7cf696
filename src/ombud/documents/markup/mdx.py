"""Markdown with components (MDX): its modules and comments are code, the rest is Markdown."""

import re
from collections.abc import Iterator

from ombud.documents.blocks import ParsedFile
from ombud.documents.encodings import decode
from ombud.documents.markup import markdown
from ombud.documents.plain import unix_lines

_COMMENT = re.compile(r"{/\*.*?\*/}", re.DOTALL)


def read(data: bytes, pages: int) -> ParsedFile:
    """As Markdown is read, without imports, exports and comments."""
    text, loss = decode(data)
    source = "\n".join(_lines(_COMMENT.sub("", unix_lines(text))))
    parsed = markdown.read(source.encode("utf-8", errors="replace"), pages)
    return parsed._replace(loss=parsed.loss + loss)


def _lines(source: str) -> Iterator[str]:
    """The lines that are no module code, which begins a line and ends at a blank one."""
    is_fenced = is_module = False
    for line in source.split("\n"):
        if line.lstrip().startswith(("```", "~~~")):
            is_fenced = not is_fenced
        if not line.strip():
            is_module = False
        elif not is_fenced and line.startswith(("import ", "export ")):
            is_module = True
        if not is_module:
            yield line
