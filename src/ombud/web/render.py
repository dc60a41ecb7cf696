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

from ombud.messages import is_message, message
from ombud.types import Citation

_TAGS = {
    *("p", "br", "hr", "em", "strong", "s", "code", "pre", "blockquote", "a", "div", "button"),
    *("ul", "ol", "li", "h3", "h4", "h5", "h6"),
    *("table", "thead", "tbody", "tr", "th", "td"),
}
REST = ("answer.more_rows", "answer.more_items")
"""Messages below a list or table of which only some is shown."""
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
    """Render an answer as safe HTML. A marker such as [2] with a citation becomes a button that
    names its source."""
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
    """Return how a citation is read aloud."""
    title = citation.title
    if citation.page:
        title = message("notices.title_page", title=title, page=citation.page)
    return f"{message('thread.source_number', number=number)}: {title}"


def _marker(state: StateInline, silent: bool) -> bool:
    """Parse `[2]` as an inline rule: digits in brackets that count one of the citations."""
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
    aloud = escape(label(number, env["citations"][number - 1]))
    attributes = f'type="button" class="cite" data-n="{number}" aria-label="{aloud}"'
    return f"<button {attributes}>{number}</button>"


def _table_open(*_: Any) -> str:
    name = escape(message("thread.table"))
    return f'<div class="table" role="group" tabindex="0" aria-label="{name}"><table>'


def _table_close(*_: Any) -> str:
    return "</table></div>"


def lower_headings(state: Any) -> None:
    """Demote headings below those of the page."""
    for token in state.tokens:
        if token.type in {"heading_open", "heading_close"}:
            token.tag = f"h{min(6, int(token.tag[1]) + 2)}"


def align_by_class(state: Any) -> None:
    """Replace inline alignment by a class, because the page allows no inline style."""
    for token in state.tokens:
        if "right" in str(token.attrs.pop("style", "")):
            token.attrs["class"] = "number"


def mark_titles(state: Any) -> None:
    """Give classes to the line that answers and to the headings above quotes."""
    for opening, inline in pairwise(state.tokens):
        if opening.type != "paragraph_open":
            continue
        children = [child for child in inline.children or () if child.content or child.nesting]
        types = _types(children)
        if types[-2:] == ["strong_close", "citation"] and types[0] == "strong_open":
            opening.attrs["class"] = "leads"
        elif types == all_in("em") and is_message(inline.content[1:-1], *REST):
            opening.attrs["class"] = "rest"
        elif types in (all_in("strong"), all_in("em")):
            opening.attrs["class"] = "from"


def all_in(mark: str) -> list[str]:
    return [f"{mark}_open", "text", f"{mark}_close"]


def markers_into_tables(state: Any) -> None:
    """Move markers that stand alone below a table into its last cell, because they cite its last
    row."""
    tokens: list[Token] = []
    for token in state.tokens:
        tokens.append(token)
        if _types(tokens[-4:]) != _PARAGRAPH_BELOW_TABLE:
            continue
        markers = tokens[-2].children or []
        cell = last_inline(tokens[:-4])
        if cell and markers and set(_types(markers)) <= {"citation", "softbreak"}:
            space = Token("text", "", 0, content="\N{NO-BREAK SPACE}")
            cell.children = [*(cell.children or ()), space, *markers]
            del tokens[-3:]
    state.tokens = tokens


def last_inline(tokens: Sequence[Token]) -> Token | None:
    for token in reversed(tokens):
        if token.type == "inline":
            return token
    return None


def join_tables(state: Any) -> None:
    """Join adjacent tables with the same header."""
    tokens: list[Token] = []
    header = ""
    position = 0
    while position < len(state.tokens):
        token = state.tokens[position]
        if token.type == "table_open":
            end = header_end(state.tokens, position)
            own_header = header_text(state.tokens[position:end])
            has_rows = _types(state.tokens[end + 1 : end + 2]) == ["tbody_open"]
            if has_rows and own_header == header and _types(tokens[-2:]) == _TABLE_END:
                del tokens[-2:]
                position = end + 2
                continue
            header = own_header
        tokens.append(token)
        position += 1
    state.tokens = tokens


def header_end(tokens: Sequence[Token], start: int) -> int:
    """Return where the header of the table that begins at `start` ends."""
    end = start
    while tokens[end].type != "thead_close":
        end += 1
    return end


def header_text(tokens: Sequence[Token]) -> str:
    return "|".join(token.content for token in tokens if token.type == "inline")


def _types(tokens: Sequence[Token]) -> list[str]:
    return [token.type for token in tokens]


_RULES = (
    lower_headings,
    align_by_class,
    mark_titles,
    markers_into_tables,
    join_tables,
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
