"""How a page shows its elements: as furniture around the content, hidden, struck, raised, as the
panel of a tab, as a note.

It is worked out once for the whole page by selectors; who walks the page compares ids of nodes."""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import NamedTuple

from selectolax.lexbor import LexborHTMLParser, LexborNode, SelectolaxError

_FURNITURE = (
    "script, style, title, noscript, template, svg, math, nav, select, iframe, object, head, "
    "canvas, audio, video, button, [role=navigation], [role=search], [role=menu], [role=menubar]"
)
_OPENERS = (
    "button[aria-expanded], button[aria-controls], [role=tab], summary button, "
    "h1 button, h2 button, h3 button, h4 button, h5 button, h6 button"
)
_IN_SECTIONS = (
    ":is(main, article, section, aside, blockquote, figure, dialog, details, td) "
    ":is(header, footer)"
)
_HIDDEN = "[hidden], dialog:not([open]), [role=dialog][aria-hidden=true], " + (
    # Comments of Google Docs and Word are no part of the text.
    "sup:has(> a[href^='#cmnt']), div:has(> p > a[href^='#cmnt_ref']), "
    "[style*='mso-element:comment'], .MsoCommentReference"
)
_CONTROLS = "[aria-controls]:not([aria-haspopup]), a[href^='#'], [data-target], [data-bs-target]"
"""Elements that open another one."""
_NAMED_PANELS = ("aria-controls", "href", "data-target", "data-bs-target")
"""Attributes by which a control names the panel that it opens."""
_GIVEN_BY = {
    "display": ("hidden", "none"),
    "visibility": ("hidden", "hidden"),
    "mso-hide": ("hidden", "all"),
    "text-decoration": ("struck", "line-through"),
    "text-decoration-line": ("struck", "line-through"),
    "vertical-align": ("raised", "super"),
}
"""Property -> the look that it gives, and the word of its value that gives it."""


@dataclass
class Looks:
    """Ids of nodes by what they look like."""

    furniture: set[int] = field(default_factory=set)
    hidden: set[int] = field(default_factory=set)
    struck: set[int] = field(default_factory=set)
    raised: set[int] = field(default_factory=set)
    labels: dict[int, str] = field(default_factory=dict)
    """Panel -> the words of its tab."""
    references: dict[int, str] = field(default_factory=dict)
    """Link to a note -> its mark."""
    notes: dict[int, str] = field(default_factory=dict)
    """Note -> its mark."""


def looks_of(tree: LexborHTMLParser) -> Looks:
    """Look at a whole page."""
    looks = Looks()
    styled = _styled(tree)
    looks.struck = _ids(tree.css("s, del, strike")) | _ids(styled["struck"])
    looks.raised = _ids(tree.css("sup")) | _ids(styled["raised"])
    looks.furniture = _ids(tree.css(_FURNITURE)) - _ids(tree.css(_OPENERS))
    looks.furniture |= _ids(_frames(tree))
    for node in tree.css("[aria-hidden=true]"):
        # It is hidden from screen readers, not from eyes: icons are, and what stands there twice.
        if node.tag == "i" or not any(map(str.isalnum, node.text())):
            looks.furniture.add(node.mem_id)
    _add_panels(tree, looks)
    opened: set[str] = set()
    for control in tree.css(_CONTROLS):
        opened.update(_targets(control))
    for node in [*tree.css(_HIDDEN), *styled["hidden"]]:
        attributes = node.attributes
        is_panel = attributes.get("role") == "tabpanel" or attributes.get("hidden") == "until-found"
        if not is_panel and attributes.get("id") not in opened:
            looks.hidden.add(node.mem_id)
    _add_notes(tree, looks)
    return looks


def _ids(nodes: Iterable[LexborNode]) -> set[int]:
    return {node.mem_id for node in nodes}


def _frames(tree: LexborHTMLParser) -> Iterator[LexborNode]:
    """Headers and footers of the whole page; a header stays that holds the page's only h1."""
    in_sections = _ids(tree.css(_IN_SECTIONS))
    frames = [node for node in tree.css("header, footer") if node.mem_id not in in_sections]
    heads = [node for node in frames if node.tag == "header" and node.css_first("h1")]
    in_heads = sum(len(head.css("h1")) for head in heads)
    is_title_elsewhere = len(tree.css("h1")) > in_heads if heads else False
    for node in frames:
        is_head = any(node.mem_id == head.mem_id for head in heads)
        if not is_head or is_title_elsewhere:
            yield node


def _targets(control: LexborNode) -> list[str]:
    attributes = control.attributes
    targets: list[str] = []
    for name in _NAMED_PANELS:
        target = attributes.get(name) or ""
        if name == "aria-controls" or target.startswith("#"):
            targets += target.lstrip("#").split()
    return targets


def _add_panels(tree: LexborHTMLParser, looks: Looks) -> None:
    """Give panels the labels of their tabs, which then stand there and nowhere else."""
    for panel in tree.css("[role=tabpanel][aria-label]"):
        looks.labels[panel.mem_id] = panel.attributes.get("aria-label") or ""
    tabs = tree.css("[role=tab], [data-toggle=tab], [data-bs-toggle=tab]")
    by_id = _nodes_by_id(tree) if tabs else {}
    for tab in tabs:
        panels = [by_id[target] for target in _targets(tab) if target in by_id]
        _label(panels[:1], [tab], looks)
    for tab_list in tree.css("[role=tablist]"):
        around = tab_list.parent
        if around is not None:
            _label(around.css("[role=tabpanel]"), tab_list.css("[role=tab]"), looks)


def _label(panels: list[LexborNode], tabs: list[LexborNode], looks: Looks) -> None:
    if len(panels) != len(tabs):
        return
    for panel, tab in zip(panels, tabs, strict=True):
        looks.labels.setdefault(panel.mem_id, tab.text())
        looks.furniture.add(tab.mem_id)


def _nodes_by_id(tree: LexborHTMLParser) -> dict[str, LexborNode]:
    return {node.attributes.get("id") or "": node for node in tree.css("[id]")}


def _add_notes(tree: LexborHTMLParser, looks: Looks) -> None:
    """Find links to notes by their raised marks, the notes by these, and the ways back."""
    targets: dict[str, str] = {}
    for link in tree.css("a[href^='#']"):
        words = link.text().strip()
        mark = words.strip("[]() ")
        if mark and _leads_to_note(link, mark, looks):
            looks.references[link.mem_id] = mark
            targets[(link.attributes.get("href") or "").lstrip("#")] = mark
        elif words and not any(map(str.isalnum, words)):
            looks.furniture.add(link.mem_id)
    for name, node in _nodes_by_id(tree).items() if targets else ():
        if name in targets:
            looks.notes[node.mem_id] = targets[name]


def _leads_to_note(link: LexborNode, mark: str, looks: Looks) -> bool:
    if link.attributes.get("role") == "doc-noteref":
        return True
    parent = link.parent
    is_in_raised = parent is not None and parent.mem_id in looks.raised
    return len(mark) <= 3 and (is_in_raised or link.css_first("sup") is not None)


def _styled(tree: LexborHTMLParser) -> dict[str, list[LexborNode]]:
    """Look -> nodes that the page's own style gives it: of several rules the most specific."""
    strongest: dict[tuple[int, str], _Styled] = {}

    def apply(nodes: Iterable[LexborNode], declarations: str, specificity: int, order: int) -> None:
        for name, is_on, is_important in _effects(declarations):
            weight = (is_important, specificity, order)
            for node in nodes:
                before = strongest.get((node.mem_id, name))
                if before is None or before.weight <= weight:
                    strongest[node.mem_id, name] = _Styled(weight, is_on, node)

    for order, (selectors, declarations) in enumerate(_telling_rules(tree)):
        for selector in selectors.split(","):
            # What is no selector matches nothing.
            with suppress(SelectolaxError):
                apply(tree.css(selector), declarations, _specificity(selector), order)
    for node in tree.css("[style]"):
        apply([node], node.attributes.get("style") or "", 1_000_000, 0)
    styled: dict[str, list[LexborNode]] = {"hidden": [], "struck": [], "raised": []}
    for (_, name), style in strongest.items():
        if style.is_on:
            styled[_GIVEN_BY[name][0]].append(style.node)
    return styled


class _Styled(NamedTuple):
    """A property of a node, by the strongest rule so far."""

    weight: tuple[bool, int, int]
    is_on: bool
    node: LexborNode


def _telling_rules(tree: LexborHTMLParser) -> list[tuple[str, str]]:
    """The rules of a page that give looks or take them back; none where none gives any."""
    rules: list[tuple[str, str]] = []
    gives_any = False
    for sheet in tree.css("style"):
        for selectors, declarations in _rules(sheet.text()):
            effects = list(_effects(declarations))
            gives_any = gives_any or any(is_on for _, is_on, _ in effects)
            if effects:
                rules.append((selectors, declarations))
    return rules if gives_any else []


def _effects(declarations: str) -> Iterator[tuple[str, bool, bool]]:
    """(property, whether it gives its look, whether it is important)."""
    for declaration in declarations.lower().split(";"):
        name, _, value = declaration.partition(":")
        name = name.strip()
        if name in _GIVEN_BY:
            words = value.replace("!important", " ").split()
            yield name, _GIVEN_BY[name][1] in words, "!important" in value.replace(" ", "")


def _rules(sheet: str) -> Iterator[tuple[str, str]]:
    """(selectors, declarations) of a style sheet for every screen; what counts for print or for
    some screens is left out."""
    first, *others = sheet.split("/*")
    without_comments = first + "".join(part.partition("*/")[2] for part in others)
    conditions: list[bool] = []
    for chunk in without_comments.replace("<!--", " ").replace("-->", " ").split("}"):
        *around, declarations = chunk.split("{")
        if not around:
            conditions = conditions[:-1]
            continue
        *opened, selectors = around
        for rule in opened:
            is_limited = any(word in rule for word in ("(", "print", "not"))
            conditions.append(rule.strip().startswith("@") and not is_limited)
        if all(conditions):
            yield selectors.rpartition(";")[2], declarations


def _specificity(selector: str) -> int:
    """More for ids than for classes, more for these than for tags."""
    classes = selector.count(".") + selector.count("[") + selector.count(":")
    tags = [word for word in selector.replace(">", " ").split() if word[0].isalpha()]
    return selector.count("#") * 10_000 + classes * 100 + len(tags)
