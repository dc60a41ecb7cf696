"""How wide words are, without asking a browser."""

from collections.abc import Iterable
from typing import NamedTuple
from unicodedata import combining, east_asian_width

_NARROW = frozenset("iljtfrI.,:;|!'’`()[]{} ")
_BROAD = frozenset("mwMWQ@%—")


class LetterWidths(NamedTuple):
    """Parts of the font size."""

    narrow: float
    usual: float
    capital: float
    broad: float


ON_AXES = LetterWidths(narrow=0.31, usual=0.6, capital=0.6, broad=1.0)
IN_BOXES = LetterWidths(narrow=0.36, usual=0.58, capital=0.66, broad=0.95)
"""A little more than any usual font takes, so that words stay inside their box."""


def text_width(text: str, size: float, widths: LetterWidths = ON_AXES) -> float:
    """Pixels, about. size: of the font, in pixels."""
    units = 0.0
    for character in text:
        if character in _NARROW or combining(character):
            units += widths.narrow
        elif character in _BROAD or east_asian_width(character) in "WF":
            units += widths.broad
        elif character.isupper():
            units += widths.capital
        else:
            units += widths.usual
    return units * size


def widest(texts: Iterable[str], size: float) -> float:
    """Pixels that the widest of them takes."""
    return max(text_width(text, size) for text in texts)


def shortened(text: str, room: float, size: float, widths: LetterWidths = ON_AXES) -> str:
    """The text, or as much of its beginning as fits with "…" behind it."""
    if text_width(text, size, widths) <= room:
        return text
    most = max(int(room / size / widths.narrow) + 1, 1)
    kept = text[:most]
    while kept and text_width(kept + "…", size, widths) > room:
        kept = kept[:-1]
    return kept.rstrip() + "…"
