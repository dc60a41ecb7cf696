"""Find how a page displays its elements: as furniture around the content, hidden, struck, raised,
as the panel of a tab, as a note.

Selectors find this once for the whole page; walks compare ids of nodes."""

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
_LOOK_OF_PROPERTY = {
    "display": ("hidden", "none"),
    "visibility": ("hidden", "hidden"),
    "mso-hide": ("hidden", "all"),
    "text-decoration": ("struck", "line-through"),
    "text-decoration-line": ("struck", "line-through"),
    "vertical-align": ("raised", "super"),
}
"""Property -> its look, and the value that causes it."""


@dataclass
class Looks:
    """Ids of nodes by their look."""

    furniture: set[int] = field(default_factory=set)
    hidden: set[int] = field(default_factory=set)
    struck: set[int] = field(default_factory=set)
    raised: set[int] = field(default_factory=set)
    labels: dict[int, str] = field(default_factory=dict)
    """Panel -> label of its tab."""
    references: dict[int, str] = field(default_factory=dict)
    """Link to a note -> mark."""
    notes: dict[int, str] = field(default_factory=dict)
    """Note -> mark."""
    marked: set[int] = field(default_factory=set)
    """Struck and raised nodes, and links."""
    replaced: set[int] = field(default_factory=set)
    """Furniture, hidden nodes and links to notes."""


def looks_of(tree: LexborHTMLParser) -> Looks:
    """Find the looks of a whole page."""
    looks = Looks()
    styled = styled_nodes(tree)
    looks.struck = node_ids(tree.css("s, del, strike")) | node_ids(styled["struck"])
    looks.raised = node_ids(tree.css("sup")) | node_ids(styled["raised"])
    looks.furniture = node_ids(tree.css(_FURNITURE))
    if len(looks.furniture) > 1:  # a page always has its head
        looks.furniture -= node_ids(tree.css(_OPENERS))
    if tree.css_first("header, footer"):
        looks.furniture |= node_ids(page_frames(tree))
    for node in tree.css("[aria-hidden=true]"):
        # Hidden from screen readers only: icons, and text that is there twice.
        if node.tag == "i" or not any(map(str.isalnum, node.text())):
            looks.furniture.add(node.mem_id)
    add_panels(tree, looks)
    hidden = [*tree.css(_HIDDEN), *styled["hidden"]]
    opened: set[str] = set()
    for control in tree.css(_CONTROLS) if hidden else ():
        opened.update(control_targets(control))
    for node in hidden:
        attributes = node.attributes
        is_panel = attributes.get("role") == "tabpanel" or attributes.get("hidden") == "until-found"
        if not is_panel and attributes.get("id") not in opened:
            looks.hidden.add(node.mem_id)
    add_notes(tree, looks)
    looks.marked = looks.struck | looks.raised | node_ids(tree.css("a"))
    looks.replaced = looks.furniture | looks.hidden | looks.references.keys()
    return looks


def node_ids(nodes: Iterable[LexborNode]) -> set[int]:
    return {node.mem_id for node in nodes}


def page_frames(tree: LexborHTMLParser) -> Iterator[LexborNode]:
    """Yield headers and footers of the whole page, except a header with the page's only h1."""
    in_sections = node_ids(tree.css(_IN_SECTIONS))
    frames = [node for node in tree.css("header, footer") if node.mem_id not in in_sections]
    heads = [node for node in frames if node.tag == "header" and node.css_first("h1")]
    in_heads = sum(len(head.css("h1")) for head in heads)
    is_title_elsewhere = len(tree.css("h1")) > in_heads if heads else False
    for node in frames:
        is_head = any(node.mem_id == head.mem_id for head in heads)
        if not is_head or is_title_elsewhere:
            yield node


def control_targets(control: LexborNode) -> list[str]:
    attributes = control.attributes
    targets: list[str] = []
    for name in _NAMED_PANELS:
        target = attributes.get(name) or ""
        if name == "aria-controls" or target.startswith("#"):
            targets += target.lstrip("#").split()
    return targets


def add_panels(tree: LexborHTMLParser, looks: Looks) -> None:
    """Give panels the labels of their tabs, and leave out the tabs."""
    if not tree.css_first("[role], [data-toggle], [data-bs-toggle]"):
        return
    for panel in tree.css("[role=tabpanel][aria-label]"):
        looks.labels[panel.mem_id] = panel.attributes.get("aria-label") or ""
    tabs = tree.css("[role=tab], [data-toggle=tab], [data-bs-toggle=tab]")
    by_id = nodes_by_id(tree) if tabs else {}
    for tab in tabs:
        panels = [by_id[target] for target in control_targets(tab) if target in by_id]
        label_panels(panels[:1], [tab], looks)
    for tab_list in tree.css("[role=tablist]"):
        around = tab_list.parent
        if around is not None:
            label_panels(around.css("[role=tabpanel]"), tab_list.css("[role=tab]"), looks)


def label_panels(panels: list[LexborNode], tabs: list[LexborNode], looks: Looks) -> None:
    if len(panels) != len(tabs):
        return
    for panel, tab in zip(panels, tabs, strict=True):
        looks.labels.setdefault(panel.mem_id, tab.text())
        looks.furniture.add(tab.mem_id)


def nodes_by_id(tree: LexborHTMLParser) -> dict[str, LexborNode]:
    return {node.id or "": node for node in tree.css("[id]")}


def add_notes(tree: LexborHTMLParser, looks: Looks) -> None:
    """Find links to notes by their raised marks, the notes by these links, and the links back."""
    targets: dict[str, str] = {}
    for link in tree.css("a[href^='#']"):
        words = link.text().strip()
        mark = words.strip("[]() ")
        if mark and leads_to_note(link, mark, looks):
            looks.references[link.mem_id] = mark
            targets[(link.attributes.get("href") or "").lstrip("#")] = mark
        elif words and not any(map(str.isalnum, words)):
            looks.furniture.add(link.mem_id)
    for name, node in nodes_by_id(tree).items() if targets else ():
        if name in targets:
            looks.notes[node.mem_id] = targets[name]


def leads_to_note(link: LexborNode, mark: str, looks: Looks) -> bool:
    if link.attributes.get("role") == "doc-noteref":
        return True
    parent = link.parent
    is_in_raised = parent is not None and parent.mem_id in looks.raised
    return len(mark) <= 3 and (is_in_raised or link.css_first("sup") is not None)


def styled_nodes(tree: LexborHTMLParser) -> dict[str, list[LexborNode]]:
    """Find the nodes that the page's own styles hide, strike or raise; of several rules the most
    specific counts."""
    strongest: dict[tuple[int, str], _Styled] = {}

    def apply(nodes: Iterable[LexborNode], declarations: str, specificity: int, order: int) -> None:
        for name, is_on, is_important in look_effects(declarations):
            weight = (is_important, specificity, order)
            for node in nodes:
                before = strongest.get((node.mem_id, name))
                if before is None or before.weight <= weight:
                    strongest[node.mem_id, name] = _Styled(weight, is_on, node)

    for order, (selectors, declarations) in enumerate(look_rules(tree)):
        for selector in selectors.split(","):
            # What is no selector matches nothing.
            with suppress(SelectolaxError):
                apply(tree.css(selector), declarations, specificity_of(selector), order)
    for node in tree.css("[style]"):
        apply([node], node.attributes.get("style") or "", 1_000_000, 0)
    styled: dict[str, list[LexborNode]] = {"hidden": [], "struck": [], "raised": []}
    for (_, name), style in strongest.items():
        if style.is_on:
            styled[_LOOK_OF_PROPERTY[name][0]].append(style.node)
    return styled


class _Styled(NamedTuple):
    """A property of a node, by the strongest rule so far."""

    weight: tuple[bool, int, int]
    is_on: bool
    node: LexborNode


def look_rules(tree: LexborHTMLParser) -> list[tuple[str, str]]:
    """List the style rules that change looks; none if no rule gives a look."""
    rules: list[tuple[str, str]] = []
    gives_any = False
    for sheet in tree.css("style"):
        for selectors, declarations in screen_rules(sheet.text()):
            effects = list(look_effects(declarations))
            gives_any = gives_any or any(is_on for _, is_on, _ in effects)
            if effects:
                rules.append((selectors, declarations))
    return rules if gives_any else []


def look_effects(declarations: str) -> Iterator[tuple[str, bool, bool]]:
    """Yield each property with whether it causes its look and whether it is important."""
    for declaration in declarations.lower().split(";"):
        name, _, value = declaration.partition(":")
        name = name.strip()
        if name in _LOOK_OF_PROPERTY:
            words = value.replace("!important", " ").split()
            yield name, _LOOK_OF_PROPERTY[name][1] in words, "!important" in value.replace(" ", "")


def screen_rules(sheet: str) -> Iterator[tuple[str, str]]:
    """Yield the selectors and declarations of a style sheet that apply to every screen, not only to
    print or some screens."""
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


def specificity_of(selector: str) -> int:
    """Weigh a selector: ids above classes, classes above tags."""
    classes = selector.count(".") + selector.count("[") + selector.count(":")
    tags = [word for word in selector.replace(">", " ").split() if word[0].isalpha()]
    return selector.count("#") * 10_000 + classes * 100 + len(tags)
