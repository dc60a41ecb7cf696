"""Markdown to HTML, the only place where it happens: no raw HTML in, an allow-list without images
out."""

from collections.abc import Sequence
from html import escape
from itertools import pairwise
from typing import Any

import nh3
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererProtocol
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token
from markdown_it.utils import EnvType, OptionsDict

from ombud.types import Citation

_TAGS = {
    *("p", "br", "hr", "em", "strong", "s", "code", "pre", "blockquote", "a", "div", "button"),
    *("ul", "ol", "li", "h3", "h4", "h5", "h6"),
    *("table", "thead", "tbody", "tr", "th", "td"),
}
_TABLE_END = ["tbody_close", "table_close"]
_PARAGRAPH_BELOW_TABLE = ["table_close", "paragraph_open", "inline", "paragraph_close"]
_ATTRIBUTES = {
    "a": {"href"},
    "p": {"class"},
    "ol": {"start"},
    "th": {"class"},
    "td": {"class"},
    "div": {"class", "role", "tabindex", "aria-label"},
    "button": {"type", "class", "data-n", "aria-label"},
}


def to_html(text: str, citations: Sequence[Citation] = ()) -> str:
    """Safe HTML of an answer. A marker such as [2] that has a citation becomes a button that says
    its source."""
    tokens = _markdown.parse(text, {"citations": citations})
    html = _markdown.renderer.render(tokens, _markdown.options, {"citations": citations})
    return nh3.clean(
        html,
        tags=_TAGS,
        attributes=_ATTRIBUTES,
        url_schemes={"http", "https", "mailto", "tel"},
        link_rel="noopener noreferrer",
        set_tag_attribute_values={"a": {"target": "_blank"}},
    )


def label(number: int, citation: Citation) -> str:
    """How a citation is read aloud."""
    page = f", page {citation.page}" if citation.page else ""
    return f"Source {number}: {citation.title}{page}"


def _marker(state: StateInline, silent: bool) -> bool:
    """The inline rule of `[2]`: plain digits in brackets that count one of the citations."""
    end = state.src.find("]", state.pos, state.pos + 5)
    digits = state.src[state.pos + 1 : end]
    if state.src[state.pos] != "[" or end < 0 or not (digits.isascii() and digits.isdecimal()):
        return False
    if not 1 <= int(digits) <= len(state.env.get("citations", ())):
        return False
    if not silent:
        if state.pending.endswith(" "):  # a marker never begins a line of its own
            state.pending = state.pending[:-1] + "\N{NO-BREAK SPACE}"
        state.push("citation", "", 0).content = str(int(digits))
    state.pos = end + 1
    return True


def _button(
    renderer: RendererProtocol,
    tokens: Sequence[Token],
    index: int,
    options: OptionsDict,
    env: EnvType,
) -> str:
    del renderer, options
    number = int(tokens[index].content)
    spoken = escape(label(number, env["citations"][number - 1]))
    attributes = f'type="button" class="cite" data-n="{number}" aria-label="{spoken}"'
    return f"<button {attributes}>{number}</button>"


def _table_open(*_: Any) -> str:
    return '<div class="table" role="group" tabindex="0" aria-label="Table"><table>'


def _table_close(*_: Any) -> str:
    return "</table></div>"


def _lower_headings(state: Any) -> None:
    """Headings stand below those of the page."""
    for token in state.tokens:
        if token.type in {"heading_open", "heading_close"}:
            token.tag = f"h{min(6, int(token.tag[1]) + 2)}"


def _align_by_class(state: Any) -> None:
    """Alignment as a class, since the page allows no inline style."""
    for token in state.tokens:
        if "right" in str(token.attrs.pop("style", "")):
            token.attrs["class"] = "number"


def _mark_titles(state: Any) -> None:
    """A paragraph that is nothing but bold, such as a document's title above its quotes, gets a
    class of its own."""
    for opening, inline in pairwise(state.tokens):
        if opening.type != "paragraph_open":
            continue
        children = [child for child in inline.children or () if child.content or child.nesting]
        if _types(children) == ["strong_open", "text", "strong_close"]:
            opening.attrs["class"] = "from"


def _markers_into_tables(state: Any) -> None:
    """Markers that stand alone below a table move into its last cell: they prove its last row."""
    tokens: list[Token] = []
    for token in state.tokens:
        tokens.append(token)
        if _types(tokens[-4:]) != _PARAGRAPH_BELOW_TABLE:
            continue
        markers = tokens[-2].children or []
        cell = _last_inline(tokens[:-4])
        if cell and markers and set(_types(markers)) <= {"citation", "softbreak"}:
            space = Token("text", "", 0, content="\N{NO-BREAK SPACE}")
            cell.children = [*(cell.children or ()), space, *markers]
            del tokens[-3:]
    state.tokens = tokens


def _last_inline(tokens: Sequence[Token]) -> Token | None:
    for token in reversed(tokens):
        if token.type == "inline":
            return token
    return None


def _join_tables(state: Any) -> None:
    """Tables one after the other under the same header become one."""
    tokens: list[Token] = []
    header = ""
    position = 0
    while position < len(state.tokens):
        token = state.tokens[position]
        if token.type == "table_open":
            end = _header_end(state.tokens, position)
            own_header = _header_text(state.tokens[position:end])
            has_rows = _types(state.tokens[end + 1 : end + 2]) == ["tbody_open"]
            if has_rows and own_header == header and _types(tokens[-2:]) == _TABLE_END:
                del tokens[-2:]
                position = end + 2
                continue
            header = own_header
        tokens.append(token)
        position += 1
    state.tokens = tokens


def _header_end(tokens: Sequence[Token], start: int) -> int:
    """Where the header of the table that begins at `start` is closed."""
    end = start
    while tokens[end].type != "thead_close":
        end += 1
    return end


def _header_text(tokens: Sequence[Token]) -> str:
    return "|".join(token.content for token in tokens if token.type == "inline")


def _types(tokens: Sequence[Token]) -> list[str]:
    return [token.type for token in tokens]


_RULES = (
    _lower_headings,
    _align_by_class,
    _mark_titles,
    _markers_into_tables,
    _join_tables,
)


def _build() -> MarkdownIt:
    markdown = MarkdownIt("commonmark", {"html": False, "maxNesting": 50}).enable(
        ["table", "strikethrough"]
    )
    markdown.disable(["image", "reference"])
    markdown.inline.ruler.before("link", "citation", _marker)
    for rule in _RULES:
        markdown.core.ruler.push(rule.__name__, rule)
    markdown.add_render_rule("citation", _button)
    markdown.add_render_rule("table_open", _table_open)
    markdown.add_render_rule("table_close", _table_close)
    return markdown


_markdown = _build()
