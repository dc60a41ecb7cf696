"""Words on lines of a drawing: how wide they are without asking a browser, and where a line
ends."""

from collections.abc import Sequence
from typing import NamedTuple

_NARROW, _BROAD = frozenset("iljtfrI.,:;|!'’`()[]{} "), frozenset("mwMWQ@%—…")


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
        text = shortened(word.text, room, size)
        wide = pixels(text + " ", size)
        if lines[-1] and used + wide > room:
            if len(lines) == most:
                lines[-1] = _ended(lines[-1], room, size)
                return lines
            lines.append([])
            used = 0.0
        lines[-1].append(StyledWord(text, word.style))
        used += wide
    return lines


def _ended(line: WrappedLine, room: float, size: float) -> WrappedLine:
    while len(line) > 1 and pixels(" ".join(word.text for word in line) + "…", size) > room:
        line = line[:-1]
    return [*line[:-1], StyledWord(line[-1].text.rstrip(",;.") + "…", line[-1].style)]


def shortened(text: str, room: float, size: float) -> str:
    if pixels(text, size) <= room:
        return text
    while text and pixels(text + "…", size) > room:
        text = text[:-1]
    return text.rstrip() + "…"


def pixels(text: str, size: float) -> float:
    """Pixels, a little more than any usual font takes."""
    units = sum(
        0.36 if c in _NARROW else 0.95 if c in _BROAD or c > "\u2e80" else 0.58 + 0.08 * c.isupper()
        for c in text
    )
    return units * size
