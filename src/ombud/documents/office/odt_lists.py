"""Numbers of headings and list items in OpenDocument files, counted as the program that shows them
does."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from xml.etree.ElementTree import Element

from ombud.documents.office.numbering import DEEPEST, Counts, whole, written

_FORMATS = {
    "1": "decimal",
    "a": "lowerLetter",
    "A": "upperLetter",
    "i": "lowerRoman",
    "I": "upperRoman",
}


@dataclass
class ListLevel:
    """One level of a list style; a bullet when `format` is "-", nothing when it is empty."""

    format: str = ""
    before: str = ""
    after: str = ""
    shown: int = 1
    """How many levels the number says: 2 for "1.2"."""
    start: int = 1


@dataclass
class Lists:
    styles: dict[str, dict[int, ListLevel]] = field(default_factory=dict)
    """Name -> depth from 0 -> level; the outline of headings under ""."""
    latest: dict[str, Counts] = field(default_factory=dict)
    """List style, or "#" and the id of a list -> how far it has counted."""

    def add(self, root: Element) -> None:
        """Take over the list styles of a part."""
        for style in root.iter():
            if style.tag in {"list-style", "outline-style"}:
                name = style.get("name", "") if style.tag == "list-style" else ""
                self.styles[name] = dict(_levels(style))

    def begin(self, style: str, node: Element) -> Counts:
        """Counters for an outermost list: new ones unless it goes on with another."""
        counts = self._continued(style, node)
        if counts is None:
            counts = Counts()
        self.latest[style] = counts
        name = node.get("id")
        if name:
            self.latest[f"#{name}"] = counts
        return counts

    def _continued(self, style: str, node: Element) -> Counts | None:
        """The counters of the list that another goes on with."""
        counts = None
        continued = node.get("continue-list")
        if continued:
            counts = self.latest.get(f"#{continued}")
        if counts is None and node.get("continue-numbering") == "true":
            counts = self.latest.get(style)
        return counts

    def label(self, style: str, depth: int, counts: Counts, start: int | None = None) -> str:
        """Count one item and return its number as printed, "-" for a bullet.

        start: where the item begins a count of its own."""
        levels = self.styles.get(style, {})
        level = levels.get(depth)
        if level is None:
            return ""
        if start is not None:
            counts.set(depth, start - 1)
        counts.count(depth, level.start)
        if level.format not in _FORMATS:
            return level.format
        numbers = []
        for outer in range(max(0, depth + 1 - level.shown), depth + 1):
            above = levels.get(outer, ListLevel())
            if above.format in _FORMATS:
                number = counts.at(outer, above.start)
                numbers.append(written(number, _FORMATS[above.format]))
        return f"{level.before}{'.'.join(numbers)}{level.after}".strip()


def _levels(style: Element) -> Iterator[tuple[int, ListLevel]]:
    """(depth from 0, level)"""
    for node in style:
        depth = (whole(node.get("level")) or 0) - 1
        if 0 <= depth < DEEPEST:
            yield depth, _level(node)


def _level(node: Element) -> ListLevel:
    if node.tag in {"list-level-style-bullet", "list-level-style-image"}:
        return ListLevel("-")
    start = whole(node.get("start-value"))
    return ListLevel(
        format=node.get("num-format", ""),
        before=node.get("num-prefix", ""),
        after=node.get("num-suffix", ""),
        shown=whole(node.get("display-levels")) or 1,
        start=1 if start is None else start,
    )
