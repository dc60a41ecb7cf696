"""Numbers of headings and list items in OpenDocument files, counted as LibreOffice does."""

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
    """A level of a list style; a bullet if `format` is "-", nothing if it is empty."""

    format: str = ""
    before: str = ""
    after: str = ""
    levels: int = 1
    """Number of levels in the number: 2 for "1.2"."""
    start: int = 1


@dataclass
class Lists:
    styles: dict[str, dict[int, ListLevel]] = field(default_factory=dict)
    """Name -> depth from 0 -> level; the outline of headings under ""."""
    latest: dict[str, Counts] = field(default_factory=dict)
    """List style, or "#" and the id of a list -> counters."""

    def add(self, root: Element) -> None:
        """Add the list styles of a part."""
        for style in root.iter():
            if style.tag in {"list-style", "outline-style"}:
                name = style.get("name", "") if style.tag == "list-style" else ""
                self.styles[name] = dict(read_levels(style))

    def begin(self, style: str, node: Element) -> Counts:
        """Return the counters of an outermost list: new ones unless it continues another."""
        counts = self._continued(style, node)
        if counts is None:
            counts = Counts()
        self.latest[style] = counts
        name = node.get("id")
        if name:
            self.latest[f"#{name}"] = counts
        return counts

    def _continued(self, style: str, node: Element) -> Counts | None:
        """Return the counters of the list that another continues."""
        counts = None
        continued = node.get("continue-list")
        if continued:
            counts = self.latest.get(f"#{continued}")
        if counts is None and node.get("continue-numbering") == "true":
            counts = self.latest.get(style)
        return counts

    def label(self, style: str, depth: int, counts: Counts, start: int | None = None) -> str:
        """Count an item and return its number as printed, "-" for a bullet.

        start: number at which the item restarts the count."""
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
        for outer in range(max(0, depth + 1 - level.levels), depth + 1):
            above = levels.get(outer, ListLevel())
            if above.format in _FORMATS:
                number = counts.at(outer, above.start)
                numbers.append(written(number, _FORMATS[above.format]))
        return f"{level.before}{'.'.join(numbers)}{level.after}".strip()


def read_levels(style: Element) -> Iterator[tuple[int, ListLevel]]:
    """Yield (depth from 0, level)."""
    for node in style:
        depth = (whole(node.get("level")) or 0) - 1
        if 0 <= depth < DEEPEST:
            yield depth, read_level(node)


def read_level(node: Element) -> ListLevel:
    if node.tag in {"list-level-style-bullet", "list-level-style-image"}:
        return ListLevel("-")
    start = whole(node.get("start-value"))
    return ListLevel(
        format=node.get("num-format", ""),
        before=node.get("num-prefix", ""),
        after=node.get("num-suffix", ""),
        levels=whole(node.get("display-levels")) or 1,
        start=1 if start is None else start,
    )
