"""Words on the lines of a box: where a line ends, and what is left out."""

from collections.abc import Sequence
from typing import NamedTuple

from ombud.charts.lettering import IN_BOXES, shortened, text_width


class StyledWord(NamedTuple):
    text: str
    style: str


WrappedLine = list[StyledWord]


def wrapped(words: Sequence[StyledWord], room: float, size: float, most: int) -> list[WrappedLine]:
    """At most so many lines; the last one ends in "…" where words are left over. A word too long
    for a line is cut."""
    lines: list[WrappedLine] = [[]]
    used = 0.0
    for word in words:
        text = shortened(word.text, room, size, IN_BOXES)
        width = text_width(text + " ", size, IN_BOXES)
        if lines[-1] and used + width > room:
            if len(lines) == most:
                lines[-1] = _with_ellipsis(lines[-1], room, size)
                return lines
            lines.append([])
            used = 0.0
        lines[-1].append(StyledWord(text, word.style))
        used += width
    return lines


def _with_ellipsis(line: WrappedLine, room: float, size: float) -> WrappedLine:
    while len(line) > 1:
        text = " ".join(word.text for word in line) + "…"
        if text_width(text, size, IN_BOXES) <= room:
            break
        line = line[:-1]
    *others, last = line
    cut = last.text.rstrip(",;.") + "…"
    return [*others, StyledWord(cut, last.style)]
