"""Word's styles and automatic numbers, which make a paragraph a heading, item or numbered
clause."""

from dataclasses import dataclass, field
from typing import NamedTuple
from xml.etree.ElementTree import Element

from ombud.documents.office import docx_names as w
from ombud.documents.office.numbering import DEEPEST, Counts, whole, written


class RunLook(NamedTuple):
    """The look of words; None means unspecified."""

    struck: bool | None = None
    hidden: bool | None = None
    raised: bool | None = None


_NO_LOOK = RunLook()


@dataclass
class Style:
    name: str = ""
    parent: str = ""
    outline: int | None = None
    number: str | None = None
    level: int | None = None
    bold: bool | None = None
    look: RunLook = _NO_LOOK


@dataclass
class NumberingLevel:
    """A level of a multilevel list."""

    format: str = "decimal"
    pattern: str = "%1."
    start: int = 1
    legal: bool = False
    """True if numbers of outer levels are written as decimals."""


_DEFAULT_LEVEL = NumberingLevel()
"""Level that a list does not define."""


@dataclass
class Numbering:
    """The lists of a document with their counters."""

    levels: dict[str, dict[int, NumberingLevel]] = field(default_factory=dict)
    """Abstract list -> level -> definition."""
    lists: dict[str, str] = field(default_factory=dict)
    """Number id -> abstract list."""
    restarts: dict[tuple[str, int], int] = field(default_factory=dict)
    """(number id, level) -> first number, for lists that restart."""
    counts: dict[str, Counts] = field(default_factory=dict)
    """Abstract list -> counters."""

    def label(self, number: str, depth: int) -> str:
        """Count a paragraph and return its number as printed; "-" for a bullet, "" for an unknown
        list."""
        abstract = self.lists.get(number)
        levels = self.levels.get(abstract or "", {})
        if abstract is None or depth not in levels:
            return ""
        counts = self.counts.setdefault(abstract, Counts())
        restart = self.restarts.pop((number, depth), None)
        if restart is not None:
            counts.set(depth, restart - 1)
        for outer in range(depth):
            # A skipped level counts as begun.
            counts.begin(outer, levels.get(outer, _DEFAULT_LEVEL).start)
        level = levels[depth]
        counts.count(depth, level.start)
        if level.format == "bullet":
            return "-"
        if level.format == "none":
            return ""
        return fill_pattern(level, levels, counts, depth)


def fill_pattern(
    level: NumberingLevel, levels: dict[int, NumberingLevel], counts: Counts, depth: int
) -> str:
    """Fill the pattern of a level with the numbers of all levels down to it."""
    label = level.pattern
    for outer in range(depth + 1):
        above = levels.get(outer, _DEFAULT_LEVEL)
        style = "decimal" if level.legal else above.format
        number = written(counts.at(outer, above.start), style)
        label = label.replace(f"%{outer + 1}", number)
    return label.strip()


def value(node: Element | None, name: str) -> str | None:
    """Read the attribute w:val of a child; None without one."""
    inner = node.find(name) if node is not None else None
    return inner.get(w.VALUE) if inner is not None else None


def is_on(node: Element | None, name: str) -> bool | None:
    """Read a toggle such as bold, which is on without a value; None if unspecified."""
    toggle = node.find(name) if node is not None else None
    if toggle is None:
        return None
    return toggle.get(w.VALUE, "1") not in {"0", "false", "off"}


def read_look(properties: Element | None) -> RunLook:
    """Read the own look of a run or style."""
    if properties is None:
        return _NO_LOOK
    struck = [on for name in w.STRUCK if (on := is_on(properties, name)) is not None]
    alignment = value(properties, w.RAISED)
    height = whole(value(properties, w.HEIGHT))
    raised = None if height is None else height > 0
    return RunLook(
        struck=any(struck) if struck else None,
        hidden=is_on(properties, w.HIDDEN),
        raised=alignment == "superscript" if alignment else raised,
    )


def numbering_of(properties: Element | None) -> Element | None:
    """Find the element that makes a paragraph a list item."""
    return properties.find(w.PARAGRAPH_NUMBERING) if properties is not None else None


def read_styles(root: Element | None) -> dict[str, Style]:
    styles: dict[str, Style] = {}
    for node in root.iter(w.STYLE) if root is not None else ():
        properties = node.find(w.PARAGRAPH_PROPERTIES)
        numbering = numbering_of(properties)
        run_properties = node.find(w.RUN_PROPERTIES)
        styles[node.get(w.STYLE_ID, "")] = Style(
            name=(value(node, w.NAME) or "").lower(),
            parent=value(node, w.BASED_ON) or "",
            outline=whole(value(properties, w.OUTLINE_LEVEL)),
            number=value(numbering, w.PARAGRAPH_LIST),
            level=whole(value(numbering, w.PARAGRAPH_LEVEL)),
            bold=is_on(run_properties, w.BOLD),
            look=read_look(run_properties),
        )
    return styles


def inherited(styles: dict[str, Style], name: str) -> list[Style]:
    """List a style and the styles it is based on, nearest first; circles end."""
    chain: list[Style] = []
    seen: set[str] = set()
    while name in styles and name not in seen:
        seen.add(name)
        chain.append(styles[name])
        name = styles[name].parent
    return chain


def read_numbering(root: Element | None) -> Numbering:
    numbering = Numbering()
    if root is None:
        return numbering
    for abstract in root.iter(w.LIST_DEFINITION):
        name = abstract.get(w.LIST_DEFINITION_ID, "")
        numbering.levels[name] = read_levels(abstract)
    for number in root.iter(w.LIST):
        name = number.get(w.LIST_ID, "")
        numbering.lists[name] = value(number, w.LIST_DEFINITION_ID) or ""
        for override in number.iter(w.LEVEL_OVERRIDE):
            depth = whole(override.get(w.LEVEL_DEPTH))
            first = whole(value(override, w.LEVEL_RESTART))
            if depth is not None and first is not None:
                numbering.restarts[(name, depth)] = first
    follow_style_links(root, numbering)
    return numbering


def follow_style_links(root: Element, numbering: Numbering) -> None:
    """Copy levels to lists that take them from a list style, from the list that defines it."""
    defining: dict[str, str] = {}
    for abstract in root.iter(w.LIST_DEFINITION):
        style = value(abstract, w.LIST_STYLE)
        if style:
            defining[style] = abstract.get(w.LIST_DEFINITION_ID, "")
    for abstract in root.iter(w.LIST_DEFINITION):
        source = defining.get(value(abstract, w.LIST_STYLE_LINK) or "", "")
        name = abstract.get(w.LIST_DEFINITION_ID, "")
        if source in numbering.levels and not numbering.levels.get(name):
            numbering.levels[name] = numbering.levels[source]


def read_levels(abstract: Element) -> dict[int, NumberingLevel]:
    levels = {}
    for node in abstract.iter(w.LEVEL):
        depth = whole(node.get(w.LEVEL_DEPTH))
        if depth is not None and 0 <= depth < DEEPEST:
            levels[depth] = read_level(node)
    return levels


def read_level(node: Element) -> NumberingLevel:
    start = whole(value(node, w.LEVEL_START))
    return NumberingLevel(
        format=value(node, w.LEVEL_FORMAT) or "decimal",
        pattern=value(node, w.LEVEL_PATTERN) or "",
        start=1 if start is None else start,
        legal=is_on(node, w.LEVEL_IS_LEGAL) is True,
    )
