"""Find letters that a line strikes out: it runs through their middle, from the first to the last of
them. A line of a chart or form goes on beyond."""

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Sequence

from ombud.documents.pdf.page.letters import Letter, Typeface
from ombud.documents.pdf.page.placing import Edge, is_inside

_LOWEST = 0.1
_HIGHEST = 0.55
"""Heights at which a line strikes letters, in sizes of type above the baseline; an underline is
lower, the rule of a table higher."""
_FILLED = 0.6
"""Least share of its length on letters."""


def struck_by(letters: Sequence[Letter], edges: Sequence[Edge]) -> tuple[set[int], set[Edge]]:
    """Return the numbers of the letters that are struck out, and the lines that do it."""
    horizontal = [edge for edge in edges if edge[2] - edge[0] > edge[3] - edge[1]]
    level = sorted(horizontal, key=height_of)
    if not level:
        return set(), set()
    faces = {letter.face.painted: letter.face for letter in letters}
    crossed = crossing_lines(faces, level)
    if not crossed:
        return set(), set()
    under: dict[Edge, list[int]] = defaultdict(list)
    for number, letter in enumerate(letters):
        for edge in crossed.get(letter.face.painted, ()):
            x0, _, x1, _ = edge
            if x0 <= letter.across <= x1:
                under[edge].append(number)
    struck: set[int] = set()
    strikes: set[Edge] = set()
    for edge, numbers in under.items():
        if is_strike(edge, [letters[number] for number in numbers]):
            struck.update(numbers)
            strikes.add(edge)
    return struck, strikes


def marked_on(letters: Sequence[Letter], boxes: Sequence[Edge]) -> set[int]:
    """Return the numbers of the letters in the boxes of annotations."""
    marked = set()
    for number, letter in enumerate(letters if boxes else ()):
        if any(is_inside(letter.box, box) for box in boxes):
            marked.add(number)
    return marked


def crossing_lines(faces: dict[int, Typeface], level: list[Edge]) -> dict[int, list[Edge]]:
    """Map text objects to the lines at the height of the middle of their letters."""
    heights = [height_of(edge) for edge in level]
    crossed = {}
    for painted, face in faces.items():
        first = bisect_left(heights, face.baseline - _HIGHEST * face.size)
        last = bisect_right(heights, face.baseline - _LOWEST * face.size)
        if first < last:
            crossed[painted] = level[first:last]
    return crossed


def height_of(edge: Edge) -> float:
    _, top, _, bottom = edge
    return (top + bottom) / 2


def is_strike(edge: Edge, letters: Sequence[Letter]) -> bool:
    """Tell whether a line begins and ends with the letters that it crosses."""
    x0, _, x1, _ = edge
    beyond = max(letter.face.size for letter in letters) / 2
    left = min(letter.box[0] for letter in letters)
    right = max(letter.box[2] for letter in letters)
    if x0 < left - beyond or x1 > right + beyond:
        return False
    covered = sum(letter.box[2] - letter.box[0] for letter in letters)
    return covered >= _FILLED * (x1 - x0)
