"""Markdown by markdown-it-py: without the template language of site generators it becomes HTML, and
is read as such."""

import re
from collections.abc import Callable, Set
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
    r"(?P<fenced>^[ \t]*(?:[-*>] |\d+[.)] )*[ \t]*(?P<fence>`{3,}|~{3,})[^\n`]*\n.*?"
    r"(?:^[ \t>]*(?P=fence)[`~]*[ \t]*$|\Z))"
    r"|(?P<code>(?<!`)(?P<ticks>`+)(?!`)[^\n]*?(?<!`)(?P=ticks)(?!`))"
    r"|{%-?\s*raw\s*-?%}(?P<raw>(?:(?!{%-?\s*raw\b).)*?){%-?\s*endraw\s*-?%}"
    r"|{%-?\s*comment\s*-?%}(?:(?!{%-?\s*comment\b).)*?{%-?\s*endcomment\s*-?%}"
    r"|<!--(?:(?!<!--).)*?-->",
    re.DOTALL | re.MULTILINE,
)
"""Code and comments, in which templates mean nothing."""
_TAG = re.compile(
    r"{{[<%](?P<short>[^{}]{0,2000}?)[>%]}}|{%-?(?P<block>[^{}]{0,2000}?)-?%}"
    r"|(?P<component></?[A-Z][\w.]{0,60}(?:\s[^<>]{0,2000})?>)"
)
_ATTRIBUTES = re.compile(r"{:[^}\n]*}|[ \t]*{#[\w:. -]+}[ \t]*$", re.MULTILINE)
_VARIABLE = re.compile(r"{{-?\s*([^{}\n]*?)\s*-?}}")
_SPOKEN = re.compile(
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
_LABELLED = re.compile(
    r"(?:(===[+!]*)[ \t]+|(?:!!!|\?\?\?\+?)[ \t]*[\w-][\w -]*)(?:\"([^\"\n]*)\")?[ \t]*"
)


def read(data: bytes, pages: int) -> ParsedFile:
    """Headings, paragraphs, lists with their nesting, pipe and HTML tables, code; front matter is
    left out."""
    del pages
    text, loss = decode(data)
    _, body = split(text)
    page = _parser().render(_outside_code(unix_lines(body)))
    return ParsedFile(html.fragment(page), loss=loss + Loss(pictures=page.count(' alt=""')))


@cache
def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": True, "maxNesting": 100})
    parser.enable(["table", "strikethrough"])
    # Indented code is nearly always a list that was indented carelessly.
    parser.disable("code")
    ends: RuleOptionsType = {"alt": ["paragraph", "reference", "blockquote", "list"]}
    parser.block.ruler.before("table", "labelled", _labelled, ends)
    parser.core.ruler.after("block", "numbers", _number)
    parser.inline.ruler.at("link", _bounded(link))
    parser.inline.ruler.at("image", _bounded(image))
    return parser


def _number(state: StateCore) -> None:
    """Give the items of a list the numbers that they are written with, unless these are all alike,
    which means that they are to be counted."""
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


def _bounded(rule: Callable[[StateInline, bool], bool]) -> Callable[[StateInline, bool], bool]:
    """The rule for brackets, in few others: for each around it it looks at everything once more."""

    def apply(state: StateInline, silent: bool) -> bool:
        if state.level < 10:
            return rule(state, silent)
        is_bracket = silent and state.src[state.pos] == "["
        if is_bracket:
            # As the parser itself does where nothing more may nest.
            state.pos = state.posMax
        return is_bracket

    return apply


def _labelled(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """Read a tab or an admonition of MkDocs: a label, and what is indented below it."""
    line = state.src[state.bMarks[start] + state.tShift[start] : state.eMarks[start]]
    found = _LABELLED.fullmatch(line)
    if not found or (found[1] and not found[2]):
        return False
    if silent:
        return True
    indent = state.sCount[start] + 4
    last = start + 1
    while last < end and (state.isEmpty(last) or state.sCount[last] >= indent):
        last += 1
    label = found[2] or ""
    begin = _panel(label) if found[1] else f"<div><p>{escape(label)}</p>\n"
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


def _panel(label: str) -> str:
    return f'<div role="tabpanel" aria-label="{escape(label)}">\n'


def _outside_code(body: str) -> str:
    """The source without template syntax; code stays as it is."""
    notes = {name for begins, name, colon in _NOTE.findall(body) if colon}
    parts: list[str] = []
    last = 0
    for part in _UNTOUCHED.finditer(body):
        parts.append(_without_templates(body[last : part.start()], notes))
        parts += filter(None, part.group("fenced", "code", "raw"))
        last = part.end()
    parts.append(_without_templates(body[last:], notes))
    return "".join(parts)


def _without_templates(source: str, notes: Set[str]) -> str:
    source = _TAG.sub(_spoken, source)
    source = _ATTRIBUTES.sub("", source)
    source = _VARIABLE.sub(_placeholder, source)
    source = _ADMONITION.sub(r"\1", source)
    source = _NOTE.sub(lambda mark: _note(mark) if mark[2] in notes else mark[0], source)
    # A blank line would end the HTML block in the middle of a table.
    return _HTML_TABLE.sub(lambda table: f"\n{_BLANK_LINES.sub('', table[1])}\n\n", source)


def _note(mark: re.Match[str]) -> str:
    """A footnote mark, or the beginning of the note, as a link to it."""
    begins, name, colon = mark.groups()
    if begins is not None and colon:
        return f'\n<a id="note-{name}" href="#note-{name}">[{name}]</a>'
    return f'<a href="#note-{name}" role="doc-noteref">{name}</a>{colon or ""}'


def _spoken(tag: re.Match[str]) -> str:
    """What a reader of the page would see of a shortcode or component: the panel of a tab, its
    summary or title, the tag itself where it stands for a value that is not here, or nothing."""
    inside = next(filter(None, tag.group("short", "block", "component")), "")
    tab = _TAB.match(inside)
    spoken = _TAB_NAME.match(inside) if tab else _SPOKEN.search(inside)
    label = spoken[spoken.lastindex or 0] if spoken else ""
    if tab:
        return _apart("</div>" if tab["end"] else _panel(label))
    if tag["component"]:
        return _apart(label) if label else tag["component"]
    return label or _argument(tag, inside)


def _argument(tag: re.Match[str], inside: str) -> str:
    """Return what is shown of a shortcode with one argument."""
    argument = _QUOTED.fullmatch(inside)
    if argument is None or argument[1] in _LAYOUT or _is_alone(tag):
        return ""
    return f"#{argument[2]}" if "channel" in argument[1] else _visible(tag)


def _is_alone(tag: re.Match[str]) -> bool:
    """Tell whether a tag has its line or table cell for itself, as an embedded video has: in a
    sentence it stands for a value."""
    before = _CELL_EDGE.split(tag.string[: tag.start()])[-1]
    after = _CELL_EDGE.split(tag.string[tag.end() :], maxsplit=1)[0]
    return not before.strip() and not after.strip()


def _apart(block: str) -> str:
    """Return a block between blank lines."""
    return f"\n\n{block}\n\n"


def _placeholder(variable: re.Match[str]) -> str:
    """Return what is shown of a variable: `{{Your start date}}` is a blank to fill,
    `{{ site.days }}` a value that is not here."""
    inside = variable.group(1)
    is_code = re.search(r"[|.\"'=()]", inside)
    return f"[{inside}]" if " " in inside and not is_code else _visible(variable)


def _visible(tag: re.Match[str]) -> str:
    """The tag as it is written, but not in the address of a link."""
    is_address = tag.string.endswith("](", 0, tag.start())
    return "" if is_address else tag.group().replace("|", "\\|")
