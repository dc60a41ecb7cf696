"""Numbers of headings and list items in OpenDocument files, counted as the program that shows them
does."""

from dataclasses import dataclass, field
from xml.etree.ElementTree import Element

from ombud.documents.office.docx_styles import DEEPEST, whole, written

_FORMATS = {
    "1": "decimal",
    "a": "lowerLetter",
    "A": "upperLetter",
    "i": "lowerRoman",
    "I": "upperRoman",
}
Counts = list[int | None]


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

    def add(self, root: Element | None) -> None:
        """Take over the list styles of a part."""
        for style in root.iter() if root is not None else ():
            if style.tag in {"list-style", "outline-style"}:
                name = style.get("name", "") if style.tag == "list-style" else ""
                self.styles[name] = dict(_levels(style))

    def begin(self, style: str, node: Element) -> Counts:
        """Counters for an outermost list: new ones unless it goes on with another."""
        known = (
            self.latest.get("#" + node.get("continue-list", ""))
            if node.get("continue-list")
            else None
        )
        if known is None and node.get("continue-numbering") == "true":
            known = self.latest.get(style)
        counts: Counts = known if known is not None else [None] * DEEPEST
        self.latest[style] = counts
        if name := node.get("id"):
            self.latest["#" + name] = counts
        return counts

    def label(self, style: str, depth: int, counts: Counts, start: int | None = None) -> str:
        """Count one item and return its number as printed, "-" for a bullet."""
        levels = self.styles.get(style, {})
        level = levels.get(depth)
        if level is None:
            return ""
        current = counts[depth]
        counts[depth] = (
            start if start is not None else level.start if current is None else current + 1
        )
        counts[depth + 1 :] = [None] * (DEEPEST - depth - 1)
        if level.format not in _FORMATS:
            return level.format
        parts = []
        for outer in range(max(0, depth + 1 - level.shown), depth + 1):
            above = levels.get(outer, ListLevel())
            if above.format in _FORMATS:
                counted = counts[outer]
                parts.append(
                    written(above.start if counted is None else counted, _FORMATS[above.format])
                )
        return f"{level.before}{'.'.join(parts)}{level.after}".strip()


def _levels(style: Element) -> list[tuple[int, ListLevel]]:
    found = []
    for node in style:
        depth = (whole(node.get("level")) or 0) - 1
        if not 0 <= depth < DEEPEST:
            continue
        if node.tag in {"list-level-style-bullet", "list-level-style-image"}:
            found.append((depth, ListLevel("-")))
        else:
            shown, first = whole(node.get("display-levels")), whole(node.get("start-value"))
            level = ListLevel(
                node.get("num-format", ""), node.get("num-prefix", ""), node.get("num-suffix", "")
            )
            level.shown, level.start = shown or 1, 1 if first is None else first
            found.append((depth, level))
    return found
