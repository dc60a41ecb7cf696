"""Markdown by the tokens of markdown-it-py, after the template language of site generators is taken
out."""

import re
from collections.abc import Callable, Iterator, Sequence

from markdown_it import MarkdownIt
from markdown_it.token import Token

from ombud.documents import html
from ombud.documents.blocks import BlockKind, ParsedFile, pipe_table, tidy, visible
from ombud.documents.encodings import decode
from ombud.documents.frontmatter import split
from ombud.documents.plain import unix_lines
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
_LAYOUT = frozenset(("include", "import", "layout", "extends", "block"))
"""Shortcodes whose argument names a file."""
_HTML_TABLE = re.compile(r"^[ \t]*(<table\b.*?</table>)", re.DOTALL | re.MULTILINE | re.IGNORECASE)
_ADMONITION = re.compile(r"^\[!\w+\]\s*")


def read(data: bytes, pages: int) -> ParsedFile:
    """Headings, paragraphs, lists with their nesting, pipe and HTML tables, code; front matter is
    left out."""
    del pages
    text, loss = decode(data)
    _, body = split(text)
    parser = MarkdownIt("commonmark", {"html": True, "maxNesting": 100})
    parser.enable(["table", "strikethrough"])
    # Indented code is nearly always a list that was indented carelessly.
    parser.disable("code")
    tokens = parser.parse(_outside_code(unix_lines(body)))
    return ParsedFile(list(_blocks(tokens, 0, len(tokens))), loss=loss)


def _outside_code(body: str) -> str:
    """The source without template syntax; fenced code stays as it is."""
    parts = []
    last = 0
    for fence in _FENCED.finditer(body):
        parts.append(_without_templates(body[last : fence.start()]))
        parts.append(fence.group())
        last = fence.end()
    parts.append(_without_templates(body[last:]))
    return "".join(parts)


def _without_templates(source: str) -> str:
    source = _COMMENT.sub("", source)
    source = _SHORTCODE.sub(_spoken, source)
    source = _ATTRIBUTES.sub("", source)
    source = _VARIABLE.sub(_placeholder, source)
    return _HTML_TABLE.sub(_html_block, source)


def _html_block(table: re.Match[str]) -> str:
    # A blank line would end the HTML block in the middle of the table.
    without_blank_lines = re.sub(r"\n[ \t]*(?=\n)", "", table.group(1))
    return "\n" + without_blank_lines + "\n\n"


def _spoken(code: re.Match[str]) -> str:
    """What a reader of the page would see of a shortcode: its summary or title, a single plain
    argument, or nothing."""
    inside = code.group(1) or code.group(2) or ""
    spoken = _SPOKEN.search(inside)
    if spoken:
        return spoken.group(1) or spoken.group(2)
    argument = _QUOTED.fullmatch(inside)
    if argument is None or argument.group(1) in _LAYOUT:
        return ""
    name, value = argument.groups()
    return f"#{value}" if "channel" in name else value


def _placeholder(variable: re.Match[str]) -> str:
    """`{{ site.url | filter }}` is code; `{{Your start date}}` is a blank for the reader to
    fill."""
    inside = variable.group(1)
    is_code = re.search(r"[|.\"'=()]", inside)
    return f"[{inside}]" if " " in inside and not is_code else ""


def _blocks(tokens: Sequence[Token], start: int, end: int) -> Iterator[Block]:
    at = start
    while at < end:
        close = _closing(tokens, at)
        yield from _blocks_of(tokens, at, close)
        at = close + 1


def _blocks_of(tokens: Sequence[Token], start: int, close: int) -> Iterator[Block]:
    """The blocks of one token, or of all from an opening one to that which closes it."""
    token = tokens[start]
    if token.type == "blockquote_open":
        yield from _blocks(tokens, start + 1, close)
    elif token.type == "html_block":
        yield from html.fragment(token.content)
    elif token.type in _READERS:
        kind, read_text = _READERS[token.type]
        text = read_text(tokens[start : close + 1])
        level = int(token.tag[1]) if kind == "heading" else 0
        if text:
            yield Block(kind=kind, text=text, level=level)


def _closing(tokens: Sequence[Token], at: int) -> int:
    """Position of the token that closes the one at `at`; its own where it opens nothing."""
    if tokens[at].nesting != 1:
        return at
    depth = 0
    for position in range(at, len(tokens)):
        depth += tokens[position].nesting
        if depth == 0:
            return position
    return len(tokens) - 1


def _heading(tokens: Sequence[Token]) -> str:
    return inline_text(tokens[1])


def _paragraph(tokens: Sequence[Token]) -> str:
    return _ADMONITION.sub("", inline_text(tokens[1]))


def _list(tokens: Sequence[Token]) -> str:
    return "\n".join(_items(tokens, 0, len(tokens) - 1, 0))


def _table(tokens: Sequence[Token]) -> str:
    rows: list[list[str]] = []
    for token in tokens:
        if token.type == "tr_open":
            rows.append([])
        elif token.type == "inline":
            rows[-1].append(inline_text(token))
    return pipe_table(rows)


def _code(tokens: Sequence[Token]) -> str:
    return visible(tokens[0].content).strip("\n")


def _items(tokens: Sequence[Token], start: int, end: int, depth: int) -> Iterator[str]:
    """Lines of a list: a marker and text, nested lists two spaces further in."""
    indent = "  " * depth
    is_ordered = tokens[start].type.startswith("ordered")
    at = start + 1
    while at < end:
        item = tokens[at]
        close = _closing(tokens, at)
        marker = f"{item.info or '1'}{item.markup}" if is_ordered else "-"
        lines = list(_item_lines(tokens, at + 1, close, depth + 1))
        if lines and lines[0].startswith(indent + "  "):
            yield f"{indent}{marker} {lines[0].strip()}"
            yield from lines[1:]
        at = close + 1


def _item_lines(tokens: Sequence[Token], start: int, end: int, depth: int) -> Iterator[str]:
    indent = "  " * depth
    at = start
    while at < end:
        close = _closing(tokens, at)
        if tokens[at].type in _LISTS:
            yield from _items(tokens, at, close, depth)
        else:
            for block in _blocks_of(tokens, at, close):
                for line in block.text.split("\n"):
                    yield indent + line
        at = close + 1


def inline_text(token: Token) -> str:
    """The words of an inline token: links and images keep their text, markup and tags go."""
    words = []
    for child in token.children or []:
        is_break = child.type == "html_inline" and child.content[1:3] == "br"
        if child.type in {"text", "code_inline", "image"}:
            words.append(child.content)
        elif is_break or child.type in {"softbreak", "hardbreak"}:
            words.append(" ")
    return tidy("".join(words))


_LISTS = frozenset(("bullet_list_open", "ordered_list_open"))
_READERS: dict[str, tuple[BlockKind, Callable[[Sequence[Token]], str]]] = {
    "heading_open": ("heading", _heading),
    "paragraph_open": ("text", _paragraph),
    "bullet_list_open": ("list", _list),
    "ordered_list_open": ("list", _list),
    "table_open": ("table", _table),
    "fence": ("code", _code),
    "code_block": ("code", _code),
}
"""Type of a token -> the kind of block that it becomes, and what makes the text of it and the
tokens up to that which closes it."""
