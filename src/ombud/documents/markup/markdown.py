"""Parse Markdown by markdown-it-py: without the template language of site generators it is
converted to HTML."""

import re
from collections.abc import Callable, Collection
from functools import cache
from html import escape

from markdown_it import MarkdownIt
from markdown_it.ruler import RuleOptionsType
from markdown_it.rules_block import StateBlock
from markdown_it.rules_core import StateCore
from markdown_it.rules_inline import StateInline, image, link
from markdown_it.token import Token

from ombud.documents.blocks import ParsedFile
from ombud.documents.encodings import decode
from ombud.documents.frontmatter import split
from ombud.documents.markup import html
from ombud.documents.plain import unix_lines
from ombud.types import Loss

_UNTOUCHED = re.compile(
    r"\n[ \t]*(?:[-*>] |\d+[.)] )*[ \t]*(?P<fence>`{3,}|~{3,})[^\n`]*\n.*?"
    r"(?:^[ \t>]*(?P=fence)[`~]*[ \t]*$|\Z)"
    r"|`(?<!``)(?P<ticks>`*)(?!`)[^\n]*?(?<!`)`(?P=ticks)(?!`)"
    r"|{%-?\s*raw\s*-?%}(?P<raw>(?:(?!{%-?\s*raw\b).)*?){%-?\s*endraw\s*-?%}"
    r"|{%-?\s*comment\s*-?%}(?:(?!{%-?\s*comment\b).)*?{%-?\s*endcomment\s*-?%}"
    r"|<!--(?:(?!<!--).)*?-->",
    re.DOTALL | re.MULTILINE,
)
"""Code and comments, in which templates mean nothing. Each alternative begins with a character of
its own, which makes the search fast."""
_TAG = re.compile(
    r"{{[<%](?P<short>[^{}]{0,2000}?)[>%]}}|{%-?(?P<block>[^{}]{0,2000}?)-?%}"
    r"|</?[A-Z][\w.]{0,60}(?:\s[^<>]{0,2000})?>"
)
_ATTRIBUTES = re.compile(r"{:[^}\n]*}|[ \t]*{#[\w:. -]+}[ \t]*$", re.MULTILINE)
_VARIABLE = re.compile(r"{{-?\s*([^{}\n]*?)\s*-?}}")
_TEXT_ARGUMENT = re.compile(
    r"\b(?:summary|title|header|text|label)\s*=\s*\"([^\"]+)\"|^\s*label\s+name=\"([^\"]+)\""
)
_QUOTED = re.compile(r"\s*(\w+)\s+\"([\w -]+)\"\s*")
_TAB = re.compile(r"[\s<]*(?P<end>/|end)?\s*tab(?:item|panel|pane)?\b", re.IGNORECASE)
_TAB_NAME = re.compile(
    r"(?:.*?\b(?:label|title|header)\s*=|.*?\b(?:name|value)\s*=|\s*\w+)\s*[\"']([^\"']+)",
    re.DOTALL,
)
_LAYOUT = frozenset(("include", "import", "layout", "extends", "block"))
"""Shortcodes whose argument names a file."""
_HTML_TABLE = re.compile(r"^[ \t]*(<table\b.*?</table>)", re.DOTALL | re.MULTILINE | re.IGNORECASE)
_BLANK_LINES = re.compile(r"\n[ \t]*(?=\n)")
_CELL_EDGE = re.compile(r"[\n|]|</?t[dh]\b[^>]*>")
_ADMONITION = re.compile(r"^([ \t]*>[ \t>]*)\[!\w+\][+-]?|^[ \t]*:{3,}[ \t]*[\w-]*", re.MULTILINE)
_NOTE = re.compile(r"(^ {0,3})?\[\^([\w.-]{1,40})\](:)?", re.MULTILINE)
_INLINE_SYNTAX = re.compile(r"[\n\\`~*_\[<&]")
_LABELLED = re.compile(
    r"(?:(===[+!]*)[ \t]+|(?:!!!|\?\?\?\+?)[ \t]*[\w-][\w -]*)(?:\"([^\"\n]*)\")?[ \t]*"
)


def read(data: bytes, pages: int) -> ParsedFile:
    """Parse headings, paragraphs, nested lists, pipe and HTML tables and code; front matter is left
    out."""
    del pages
    text, loss = decode(data)
    _, body = split(text)
    page = make_parser().render(remove_templates(unix_lines(body)))
    return ParsedFile(
        html.blocks_of(html.fragment(page)), loss=loss + Loss(pictures=page.count(' alt=""'))
    )


@cache
def make_parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": True, "maxNesting": 100})
    parser.enable(["table", "strikethrough"])
    parser.validateLink = lambda _: True  # type: ignore[assignment,method-assign]  # see `runs`
    # Indented code is nearly always a list that was indented carelessly.
    parser.disable("code")
    ends: RuleOptionsType = {"alt": ["paragraph", "reference", "blockquote", "list"]}
    parser.block.ruler.before("table", "labelled", parse_labelled, ends)
    parser.core.ruler.after("block", "numbers", number_items)
    parser.core.ruler.at("inline", parse_inline)
    parser.inline.ruler.at("link", bound_nesting(link))
    parser.inline.ruler.at("image", bound_nesting(image))
    return parser


def number_items(state: StateCore) -> None:
    """Give list items the numbers in the source, unless all are equal, which means that they are to
    be counted."""
    lists: list[list[Token]] = []
    for token in state.tokens:
        if token.type in {"ordered_list_open", "bullet_list_open"}:
            lists.append([])
        elif token.type == "list_item_open":
            lists[-1].append(token)
        elif token.type in {"ordered_list_close", "bullet_list_close"}:
            items = lists.pop()
            if len({item.info for item in items}) > 1:
                for item in items:
                    item.attrSet("value", item.info)


def parse_inline(state: StateCore) -> None:
    """Parse inline content; most of it is plain text, for which no rules are needed."""
    for token in state.tokens:
        if token.type != "inline":
            continue
        token.children = token.children or []
        if _INLINE_SYNTAX.search(token.content):
            state.md.inline.parse(token.content, state.md, state.env, token.children)
        elif token.content:
            token.children.append(Token("text", "", 0, content=token.content))


def bound_nesting(rule: Callable[[StateInline, bool], bool]) -> Callable[[StateInline, bool], bool]:
    """Limit the nesting of the rule for brackets: each level scans everything once more."""

    def apply(state: StateInline, silent: bool) -> bool:
        if state.level < 10:
            return rule(state, silent)
        is_bracket = silent and state.src[state.pos] == "["
        if is_bracket:
            # As the parser itself does at its deepest level.
            state.pos = state.posMax
        return is_bracket

    return apply


def parse_labelled(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """Parse a tab or an admonition of MkDocs: a label, and indented content below it."""
    at = state.bMarks[start] + state.tShift[start]
    if not state.src.startswith(("===", "!!!", "???"), at):
        return False
    line = state.src[at : state.eMarks[start]]
    match = _LABELLED.fullmatch(line)
    if not match or (match[1] and not match[2]):
        return False
    if silent:
        return True
    indent = state.sCount[start] + 4
    last = start + 1
    while last < end and (state.isEmpty(last) or state.sCount[last] >= indent):
        last += 1
    label = match[2] or ""
    begin = open_panel(label) if match[1] else f"<div><p>{escape(label)}</p>\n"
    state.push("html_block", "", 0).content = begin
    before = state.blkIndent, state.lineMax
    state.blkIndent = indent
    state.lineMax = last
    state.level += 1
    state.md.block.tokenize(state, start + 1, last)
    state.level -= 1
    state.blkIndent, state.lineMax = before
    state.push("html_block", "", 0).content = "</div>\n"
    state.line = last
    return True


def open_panel(label: str) -> str:
    return f'<div role="tabpanel" aria-label="{escape(label)}">\n'


def remove_templates(body: str) -> str:
    """Remove template syntax from a source; code stays as it is."""
    notes = {name for begins, name, colon in _NOTE.findall(body) if colon} if "[^" in body else ()
    body = f"\n{body}"
    parts: list[str] = []
    last = 0
    for part in _UNTOUCHED.finditer(body):
        parts.append(replace_templates(body[last : part.start()], notes))
        parts.append(part[0] if part[0][0] in "\n`" else part["raw"] or "")
        last = part.end()
    parts.append(replace_templates(body[last:], notes))
    return "".join(parts)


def replace_templates(source: str, notes: Collection[str]) -> str:
    source = _TAG.sub(visible_tag, source)
    # Most sources contain none of these, and checking that first is faster.
    if "{" in source:
        source = _ATTRIBUTES.sub("", source)
        source = _VARIABLE.sub(visible_variable, source)
    if "[!" in source or ":::" in source:
        source = _ADMONITION.sub(r"\1", source)
    if notes:
        source = _NOTE.sub(lambda mark: link_note(mark) if mark[2] in notes else mark[0], source)
    if "</" not in source:
        return source
    # A blank line would end the HTML block in the middle of a table.
    return _HTML_TABLE.sub(lambda table: f"\n{_BLANK_LINES.sub('', table[1])}\n\n", source)


def link_note(mark: re.Match[str]) -> str:
    """Write a footnote mark, or the beginning of the note, as a link to it."""
    begins, name, colon = mark.groups()
    if begins is not None and colon:
        return f'\n<a id="note-{name}" href="#note-{name}">[{name}]</a>'
    return f'<a href="#note-{name}" role="doc-noteref">{name}</a>{colon or ""}'


def visible_tag(tag: re.Match[str]) -> str:
    """Return what a reader sees of a shortcode or component: the panel of a tab, its summary or
    title, the tag itself if it stands for a missing value, or nothing."""
    is_component = tag[0][0] == "<"
    inside = tag[0] if is_component else tag["short"] or tag["block"] or ""
    tab = _TAB.match(inside)
    text = _TAB_NAME.match(inside) if tab else _TEXT_ARGUMENT.search(inside)
    label = text[text.lastindex or 0] if text else ""
    if tab:
        return between_blank_lines("</div>" if tab["end"] else open_panel(label))
    if is_component:
        return between_blank_lines(label) if label else tag[0]
    return label or visible_argument(tag, inside)


def visible_argument(tag: re.Match[str], inside: str) -> str:
    """Return what a reader sees of a shortcode with one argument."""
    argument = _QUOTED.fullmatch(inside)
    if argument is None or argument[1] in _LAYOUT or is_alone(tag):
        return ""
    return f"#{argument[2]}" if "channel" in argument[1] else as_written(tag)


def is_alone(tag: re.Match[str]) -> bool:
    """Tell whether a tag is alone in its line or table cell, as an embedded video is; in a sentence
    it stands for a value."""
    before = _CELL_EDGE.split(tag.string[: tag.start()])[-1]
    after = _CELL_EDGE.split(tag.string[tag.end() :], maxsplit=1)[0]
    return not before.strip() and not after.strip()


def between_blank_lines(block: str) -> str:
    """Return a block between blank lines."""
    return f"\n\n{block}\n\n"


def visible_variable(variable: re.Match[str]) -> str:
    """Return what a reader sees of a variable: `{{Your start date}}` is a blank to fill,
    `{{ site.days }}` a missing value."""
    inside = variable.group(1)
    is_code = re.search(r"[|.\"'=()]", inside)
    return f"[{inside}]" if " " in inside and not is_code else as_written(variable)


def as_written(tag: re.Match[str]) -> str:
    """Return the tag as it is written, or nothing in the address of a link."""
    is_address = tag.string.endswith("](", 0, tag.start())
    return "" if is_address else tag.group().replace("|", "\\|")
