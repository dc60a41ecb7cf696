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
    *(
        "p",
        "br",
        "hr",
        "em",
        "strong",
        "s",
        "code",
        "pre",
        "blockquote",
        "ul",
        "ol",
        "li",
        "h3",
        "h4",
        "h5",
        "h6",
    ),
    *("table", "thead", "tbody", "tr", "th", "td", "a", "div", "button"),
}
_TABLE_END = ["tbody_close", "table_close"]
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
    return f"Source {number}: {citation.title}" + (
        f", page {citation.page}" if citation.page else ""
    )


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
    return f'<button type="button" class="cite" data-n="{number}" aria-label="{spoken}">{number}</button>'


def _table_open(*_: Any) -> str:
    return '<div class="table" role="group" tabindex="0" aria-label="Table"><table>'


def _table_close(*_: Any) -> str:
    return "</table></div>"


def _quieter(state: Any) -> None:
    """Headings below those of the page; alignment as a class, since the page allows no inline
    style; a paragraph that is nothing but bold, such as a document's title above its quotes, gets a
    class of its own."""
    for token in state.tokens:
        if token.type in {"heading_open", "heading_close"}:
            token.tag = f"h{min(6, int(token.tag[1]) + 2)}"
        if "right" in str(token.attrs.pop("style", "")):
            token.attrs["class"] = "number"
    for opening, inline in pairwise(state.tokens):
        kinds = [child.type for child in inline.children or () if child.content or child.nesting]
        if opening.type == "paragraph_open" and kinds == ["strong_open", "text", "strong_close"]:
            opening.attrs["class"] = "from"


def _into_tables(state: Any) -> None:
    """Markers that stand alone below a table move into its last cell: they prove its last row."""
    tokens: list[Token] = []
    for token in state.tokens:
        tokens.append(token)
        if [one.type for one in tokens[-4:]] == [
            "table_close",
            "paragraph_open",
            "inline",
            "paragraph_close",
        ]:
            marks = tokens[-2].children or []
            cell = next((one for one in reversed(tokens[:-4]) if one.type == "inline"), None)
            if cell and marks and all(one.type in {"citation", "softbreak"} for one in marks):
                space = Token("text", "", 0, content="\N{NO-BREAK SPACE}")
                cell.children = [*(cell.children or ()), space, *marks]
                del tokens[-3:]
    state.tokens = tokens


def _joined(state: Any) -> None:
    """Tables one after the other under the same header become one."""
    tokens: list[Token] = []
    at, header = 0, ""
    while at < len(state.tokens):
        token = state.tokens[at]
        if token.type == "table_open":
            end = next(
                n for n in range(at, len(state.tokens)) if state.tokens[n].type == "thead_close"
            )
            kinds = [one.type for one in state.tokens[end + 1 : end + 2]]
            said = "|".join(one.content for one in state.tokens[at:end] if one.type == "inline")
            if (
                said == header
                and kinds == ["tbody_open"]
                and [one.type for one in tokens[-2:]] == _TABLE_END
            ):
                del tokens[-2:]
                at = end + 2
                continue
            header = said
        tokens.append(token)
        at += 1
    state.tokens = tokens


def _build() -> MarkdownIt:
    markdown = MarkdownIt("commonmark", {"html": False, "maxNesting": 50}).enable(
        ["table", "strikethrough"]
    )
    markdown.disable(["image", "reference"])
    markdown.inline.ruler.before("link", "citation", _marker)
    for rule in (_quieter, _into_tables, _joined):
        markdown.core.ruler.push(rule.__name__, rule)
    markdown.add_render_rule("citation", _button)
    markdown.add_render_rule("table_open", _table_open)
    markdown.add_render_rule("table_close", _table_close)
    return markdown


_markdown = _build()
