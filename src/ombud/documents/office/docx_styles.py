"""Word's styles and automatic numbers: what makes a paragraph a heading, an item, a numbered
clause."""

from dataclasses import dataclass, field
from xml.etree.ElementTree import Element

from ombud.documents.office import docx_names as w
from ombud.documents.office.numbering import DEEPEST, Counts, whole, written


@dataclass(frozen=True)
class RunLook:
    """How words look; None where nothing is said of it."""

    struck: bool | None = None
    hidden: bool | None = None
    raised: bool | None = None


@dataclass
class Style:
    name: str = ""
    parent: str = ""
    outline: int | None = None
    number: str | None = None
    level: int | None = None
    bold: bool | None = None
    look: RunLook = RunLook()


@dataclass
class NumberingLevel:
    """One level of a multilevel list."""

    format: str = "decimal"
    pattern: str = "%1."
    start: int = 1
    legal: bool = False
    """Numbers of outer levels are written as decimals."""


_USUAL = NumberingLevel()
"""What a level is that a list does not define."""


@dataclass
class Numbering:
    """The lists of a document and how far each has counted."""

    levels: dict[str, dict[int, NumberingLevel]] = field(default_factory=dict)
    """Abstract list -> level -> definition."""
    lists: dict[str, str] = field(default_factory=dict)
    """Number id -> abstract list."""
    restarts: dict[tuple[str, int], int] = field(default_factory=dict)
    """(number id, level) -> first number, for lists that start anew."""
    counts: dict[str, Counts] = field(default_factory=dict)
    """Abstract list -> how far it has counted."""

    def label(self, number: str, depth: int) -> str:
        """Count one paragraph and return its number as printed, "-" for a bullet, "" when the list
        is not known."""
        abstract = self.lists.get(number)
        levels = self.levels.get(abstract or "", {})
        if abstract is None or depth not in levels:
            return ""
        counts = self.counts.setdefault(abstract, Counts())
        restart = self.restarts.pop((number, depth), None)
        if restart is not None:
            counts.set(depth, restart - 1)
        for outer in range(depth):
            # A level that was skipped counts as begun.
            counts.begin(outer, levels.get(outer, _USUAL).start)
        level = levels[depth]
        counts.count(depth, level.start)
        if level.format == "bullet":
            return "-"
        if level.format == "none":
            return ""
        return _filled_in(level, levels, counts, depth)


def _filled_in(
    level: NumberingLevel, levels: dict[int, NumberingLevel], counts: Counts, depth: int
) -> str:
    """The pattern of a level with the numbers of all levels down to it."""
    label = level.pattern
    for outer in range(depth + 1):
        above = levels.get(outer, _USUAL)
        style = "decimal" if level.legal else above.format
        number = written(counts.at(outer, above.start), style)
        label = label.replace(f"%{outer + 1}", number)
    return label.strip()


def value(node: Element | None, path: str) -> str | None:
    """Attribute w:val of a descendant, None when it is not there."""
    inner = node.find(path) if node is not None else None
    return inner.get(w.VALUE) if inner is not None else None


def is_on(node: Element | None, path: str) -> bool | None:
    """A toggle such as bold: there without a value means on; None when nothing is said."""
    toggle = node.find(path) if node is not None else None
    if toggle is None:
        return None
    return toggle.get(w.VALUE, "1") not in {"0", "false", "off"}


def read_look(node: Element) -> RunLook:
    """The look that a run or a style asks for itself."""
    struck = [on for path in w.STRUCK if (on := is_on(node, path)) is not None]
    alignment = value(node, w.RAISED)
    return RunLook(
        struck=any(struck) if struck else None,
        hidden=is_on(node, w.HIDDEN),
        raised=alignment == "superscript" if alignment else None,
    )


def read_styles(root: Element | None) -> dict[str, Style]:
    styles: dict[str, Style] = {}
    for node in root.iter(w.STYLE) if root is not None else ():
        properties = node.find(w.PARAGRAPH_PROPERTIES)
        styles[node.get(w.STYLE_ID, "")] = Style(
            name=(value(node, w.NAME) or "").lower(),
            parent=value(node, w.BASED_ON) or "",
            outline=whole(value(properties, w.OUTLINE_LEVEL)),
            number=value(properties, w.PARAGRAPH_LIST),
            level=whole(value(properties, w.PARAGRAPH_LEVEL)),
            bold=is_on(node, w.BOLD),
            look=read_look(node),
        )
    return styles


def inherited(styles: dict[str, Style], name: str) -> list[Style]:
    """A style and what it is based on, nearest first; a circle ends."""
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
        numbering.levels[name] = _levels(abstract)
    for number in root.iter(w.LIST):
        name = number.get(w.LIST_ID, "")
        numbering.lists[name] = value(number, w.LIST_DEFINITION_ID) or ""
        for override in number.iter(w.LEVEL_OVERRIDE):
            depth = whole(override.get(w.LEVEL_DEPTH))
            first = whole(value(override, w.LEVEL_RESTART))
            if depth is not None and first is not None:
                numbering.restarts[(name, depth)] = first
    _follow_links(root, numbering)
    return numbering


def _follow_links(root: Element, numbering: Numbering) -> None:
    """Lists that take their levels from a list style have those of the list that defines it."""
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


def _levels(abstract: Element) -> dict[int, NumberingLevel]:
    levels = {}
    for node in abstract.iter(w.LEVEL):
        depth = whole(node.get(w.LEVEL_DEPTH))
        if depth is not None and 0 <= depth < DEEPEST:
            levels[depth] = _level(node)
    return levels


def _level(node: Element) -> NumberingLevel:
    start = whole(value(node, w.LEVEL_START))
    return NumberingLevel(
        format=value(node, w.LEVEL_FORMAT) or "decimal",
        pattern=value(node, w.LEVEL_PATTERN) or "",
        start=1 if start is None else start,
        legal=is_on(node, w.LEVEL_IS_LEGAL) is True,
    )
