"""Word's styles and automatic numbers: what makes a paragraph a heading, an item, a numbered
clause."""

from dataclasses import dataclass, field
from xml.etree.ElementTree import Element

from ombud.documents.office import docx_names as w

DEEPEST = 9
_ROMAN = (
    (1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l"),
    (40, "xl"), (10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i"),
)  # fmt: skip


@dataclass
class Style:
    name: str = ""
    parent: str = ""
    outline: int | None = None
    number: str | None = None
    level: int | None = None
    bold: bool | None = None


@dataclass
class NumberingLevel:
    """One level of a multilevel list."""

    format: str = "decimal"
    pattern: str = "%1."
    start: int = 1
    legal: bool = False
    """Numbers of outer levels are written as decimals."""


@dataclass
class Numbering:
    """The lists of a document and how far each has counted."""

    levels: dict[str, dict[int, NumberingLevel]] = field(default_factory=dict)
    """Abstract list -> level -> definition."""
    lists: dict[str, str] = field(default_factory=dict)
    """Number id -> abstract list."""
    restarts: dict[tuple[str, int], int] = field(default_factory=dict)
    """(number id, level) -> first number, for lists that start anew."""
    counts: dict[str, list[int | None]] = field(default_factory=dict)

    def label(self, number: str, depth: int) -> str:
        """Count one paragraph and return its number as printed, "-" for a bullet, "" when the list
        is not known."""
        abstract = self.lists.get(number)
        levels = self.levels.get(abstract or "", {})
        if abstract is None or depth not in levels:
            return ""
        counts = self.counts.setdefault(abstract, [None] * DEEPEST)
        if (number, depth) in self.restarts:
            counts[depth] = self.restarts.pop((number, depth)) - 1
        _count(counts, depth, levels)
        level = levels[depth]
        if level.format == "bullet":
            return "-"
        if level.format == "none":
            return ""
        return _filled_in(level, counts[: depth + 1], levels)


def _count(counts: list[int | None], depth: int, levels: dict[int, NumberingLevel]) -> None:
    """One more at that depth; deeper levels begin anew."""
    for outer in range(depth):
        if counts[outer] is None:
            # A level that was skipped counts as begun.
            counts[outer] = levels.get(outer, NumberingLevel()).start
    current = counts[depth]
    counts[depth] = levels[depth].start if current is None else current + 1
    counts[depth + 1 :] = [None] * (DEEPEST - depth - 1)


def _filled_in(
    level: NumberingLevel, counts: list[int | None], levels: dict[int, NumberingLevel]
) -> str:
    """The pattern of a level with the numbers of all levels down to it."""
    label = level.pattern
    for depth, count in enumerate(counts):
        above = levels.get(depth, NumberingLevel())
        number = above.start if count is None else count
        style = "decimal" if level.legal else above.format
        label = label.replace(f"%{depth + 1}", written(number, style))
    return label.strip()


def written(value: int, style: str) -> str:
    """A number in one of Word's formats: 4 -> 4, 04, d, D, iv, IV."""
    if style in {"lowerLetter", "upperLetter"} and value > 0:
        letter = chr(ord("a") + (value - 1) % 26) * min(1 + (value - 1) // 26, 9)
        return letter if style == "lowerLetter" else letter.upper()
    if style in {"lowerRoman", "upperRoman"} and 0 < value < 4000:
        roman = _roman(value)
        return roman if style == "lowerRoman" else roman.upper()
    return f"{value:02d}" if style == "decimalZero" else str(value)


def _roman(value: int) -> str:
    numerals = []
    for size, letters in _ROMAN:
        numerals.append(letters * (value // size))
        value %= size
    return "".join(numerals)


def value(node: Element | None, path: str) -> str | None:
    """Attribute w:val of a descendant, None when it is not there."""
    inner = node.find(path) if node is not None else None
    return inner.get(w.VALUE) if inner is not None else None


def whole(text: str | None) -> int | None:
    """A whole number of at most nine digits; None for anything else."""
    if text is None or len(text) >= 10:
        return None
    return int(text) if text.lstrip("-").isdigit() else None


def is_on(node: Element | None, path: str) -> bool | None:
    """A toggle such as bold: there without a value means on; None when nothing is said."""
    toggle = node.find(path) if node is not None else None
    if toggle is None:
        return None
    return toggle.get(w.VALUE, "1") not in {"0", "false", "off"}


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
    return numbering


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
