"""Parse Markdown with components (MDX): modules and comments are code, the rest is Markdown."""

import re
from collections.abc import Iterator
from html import escape

from ombud.documents.blocks import ParsedFile
from ombud.documents.encodings import decode
from ombud.documents.markup import markdown
from ombud.documents.plain import unix_lines

_SCRIPT = re.compile(r"{/\*.*?\*/}|\bstyle={{([^{}]*)}}", re.DOTALL)
"""A comment, or a style as an object of JavaScript."""


def read(data: bytes, pages: int) -> ParsedFile:
    """Parse Markdown without imports, exports and comments."""
    text, loss = decode(data)
    source = "\n".join(lines_outside_modules(_SCRIPT.sub(style_as_html, unix_lines(text))))
    parsed = markdown.read(source.encode("utf-8", errors="replace"), pages)
    return parsed._replace(loss=parsed.loss + loss)


def style_as_html(match: re.Match[str]) -> str:
    """Write a style such as `{textDecoration: 'line-through'}` as CSS; nothing for a comment."""
    if match[1] is None:
        return ""
    css = match[1].replace("'", "").replace('"', "").replace(",", ";")
    dashed = "".join(f"-{letter.lower()}" if letter.isupper() else letter for letter in css)
    return f'style="{escape(dashed)}"'


def lines_outside_modules(source: str) -> Iterator[str]:
    """Yield lines outside module code, which begins a line and ends at a blank one."""
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
