"""Markdown by the tokens of markdown-it-py, after the template language of site generators is taken
out."""

import re
from collections.abc import Iterator, Sequence

from markdown_it import MarkdownIt
from markdown_it.token import Token

from ombud.documents import html
from ombud.documents.blocks import ParsedFile, pipe_table, tidy, visible
from ombud.documents.frontmatter import split
from ombud.documents.plain import decode
from ombud.types import Block

_FENCED = re.compile(
    r"^[ \t]*(?:[-*>] |\d+[.)] )*[ \t]*(`{3,}|~{3,})[^\n`]*\n.*?(?:^[ \t>]*\1[`~]*[ \t]*$|\Z)",
    re.DOTALL | re.MULTILINE,
)
_COMMENT = re.compile(r"{%-?\s*(comment|raw)\s*-?%}.*?{%-?\s*end\1\s*-?%}|<!--.*?-->", re.DOTALL)
_SHORTCODE = re.compile(r"{{[<%]([^{}]{0,2000}?)[>%]}}|{%-?([^{}]{0,2000}?)-?%}")
_ATTRIBUTES = re.compile(r"{:[^}\n]*}|[ \t]*{#[\w:. -]+}[ \t]*$", re.MULTILINE)
_VARIABLE = re.compile(r"{{-?\s*([^{}\n]*?)\s*-?}}")
_SPOKEN = re.compile(
    r"\b(?:summary|title|header|text|label)\s*=\s*\"([^\"]+)\"|^\s*label\s+name=\"([^\"]+)\""
)
_QUOTED = re.compile(r"\s*(\w+)\s+\"([\w -]+)\"\s*")
_HTML_TABLE = re.compile(r"^[ \t]*(<table\b.*?</table>)", re.DOTALL | re.MULTILINE | re.IGNORECASE)
_ADMONITION = re.compile(r"^\[!\w+\]\s*")


def read(data: bytes, pages: int) -> ParsedFile:
    """Headings, paragraphs, lists with their nesting, pipe and HTML tables, code; front matter is
    left out."""
    del pages
    body = split(decode(data))[1].replace("\r\n", "\n").replace("\r", "\n")
    parser = MarkdownIt("commonmark", {"html": True, "maxNesting": 100}).enable(
        ["table", "strikethrough"]
    )
    # Indented code is nearly always a list that was indented carelessly.
    parser.disable("code")
    tokens = parser.parse(_outside_code(body))
    return ParsedFile(list(_blocks(tokens, 0, len(tokens))))


def _outside_code(body: str) -> str:
    """The source without template syntax; fenced code stays as it is."""
    parts, last = [], 0
    for fence in _FENCED.finditer(body):
        parts += [_without_templates(body[last : fence.start()]), fence.group()]
        last = fence.end()
    return "".join([*parts, _without_templates(body[last:])])


def _without_templates(source: str) -> str:
    source = _SHORTCODE.sub(_spoken, _COMMENT.sub("", source))
    source = _VARIABLE.sub(_placeholder, _ATTRIBUTES.sub("", source))
    # A blank line would end the HTML block in the middle of the table.
    return _HTML_TABLE.sub(
        lambda table: "\n" + re.sub(r"\n[ \t]*(?=\n)", "", table.group(1)) + "\n\n", source
    )


def _spoken(code: re.Match[str]) -> str:
    """What a reader of the page would see of a shortcode: its summary or title, a single plain
    argument, or nothing."""
    inside = code.group(1) or code.group(2) or ""
    if said := _SPOKEN.search(inside):
        return said.group(1) or said.group(2)
    argument = _QUOTED.fullmatch(inside)
    if argument and argument.group(1) not in {"include", "import", "layout", "extends", "block"}:
        return ("#" if "channel" in argument.group(1) else "") + argument.group(2)
    return ""


def _placeholder(variable: re.Match[str]) -> str:
    """`{{ site.url | filter }}` is code; `{{Your start date}}` is a blank for the reader to
    fill."""
    inside = variable.group(1)
    return f"[{inside}]" if " " in inside and not re.search(r"[|.\"'=()]", inside) else ""


def _blocks(tokens: Sequence[Token], start: int, end: int) -> Iterator[Block]:
    at = start
    while at < end:
        token = tokens[at]
        close = _closing(tokens, at) if token.nesting == 1 else at
        if token.type == "heading_open":
            if text := inline_text(tokens[at + 1]):
                yield Block(kind="heading", text=text, level=int(token.tag[1]))
        elif token.type == "paragraph_open":
            if text := _ADMONITION.sub("", inline_text(tokens[at + 1])):
                yield Block(kind="text", text=text)
        elif token.type in {"bullet_list_open", "ordered_list_open"}:
            if text := "\n".join(_items(tokens, at, close, 0)):
                yield Block(kind="list", text=text)
        elif token.type == "table_open":
            if text := pipe_table(_rows(tokens, at, close)):
                yield Block(kind="table", text=text)
        elif token.type == "blockquote_open":
            yield from _blocks(tokens, at + 1, close)
        elif token.type in {"fence", "code_block"}:
            if text := visible(token.content).strip("\n"):
                yield Block(kind="code", text=text)
        elif token.type == "html_block":
            yield from html.fragment(token.content)
        at = close + 1


def _closing(tokens: Sequence[Token], at: int) -> int:
    """Position of the token that closes the one at `at`."""
    depth = 0
    for position in range(at, len(tokens)):
        depth += tokens[position].nesting
        if depth == 0:
            return position
    return len(tokens) - 1


def _items(tokens: Sequence[Token], start: int, end: int, depth: int) -> Iterator[str]:
    """Lines of a list: a marker and text, nested lists two spaces further in."""
    indent, at, ordered = "  " * depth, start + 1, tokens[start].type.startswith("ordered")
    while at < end:
        close = _closing(tokens, at)
        marker = f"{tokens[at].info or '1'}{tokens[at].markup}" if ordered else "-"
        lines = list(_item_lines(tokens, at + 1, close, depth + 1))
        if lines and lines[0].startswith(indent + "  "):
            yield f"{indent}{marker} {lines[0].strip()}"
            yield from lines[1:]
        at = close + 1


def _item_lines(tokens: Sequence[Token], start: int, end: int, depth: int) -> Iterator[str]:
    indent, at = "  " * depth, start
    while at < end:
        close = _closing(tokens, at) if tokens[at].nesting == 1 else at
        if tokens[at].type in {"bullet_list_open", "ordered_list_open"}:
            yield from _items(tokens, at, close, depth)
        else:
            for block in _blocks(tokens, at, close + 1):
                yield from (indent + line for line in block.text.split("\n"))
        at = close + 1


def _rows(tokens: Sequence[Token], start: int, end: int) -> list[list[str]]:
    rows: list[list[str]] = []
    for at in range(start, end):
        if tokens[at].type == "tr_open":
            rows.append([])
        elif tokens[at].type == "inline":
            rows[-1].append(inline_text(tokens[at]))
    return rows


def inline_text(token: Token) -> str:
    """The words of an inline token: links and images keep their text, markup and tags go."""
    said = []
    for child in token.children or []:
        if child.type in {"text", "code_inline"}:
            said.append(child.content)
        elif child.type in {"softbreak", "hardbreak"} or (
            child.type == "html_inline" and child.content[1:3] == "br"
        ):
            said.append(" ")
        elif child.type == "image":
            said.append(child.content)
    return tidy("".join(said))
