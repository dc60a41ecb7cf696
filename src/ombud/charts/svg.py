"""SVG elements, path data and escaping: the only place where angle brackets are written."""

import re
from collections.abc import Mapping, Sequence
from html import escape

XMLNS = "http://www.w3.org/2000/svg"
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")

Place = tuple[float, float]
"""x and y, in pixels."""
Attributes = Mapping[str, str | int | float]
"""Numbers are written with one decimal; what must be exact is given as text."""


def escaped(text: str) -> str:
    """Text that may stand between tags and in attributes: no markup, and no character that XML
    does not know."""
    return escape(_NOT_XML.sub("\N{REPLACEMENT CHARACTER}", text))


def element(tag: str, attributes: Attributes, *inner: str) -> str:
    """inner: SVG already; words go through `escaped` or `titled` first."""
    written = [f"<{tag}"]
    for name, value in attributes.items():
        shown = escaped(str(value))
        if isinstance(value, float):
            shown = f"{value:.1f}"
        written.append(f' {name}="{shown}"')
    written.append(f">{''.join(inner)}</{tag}>" if inner else "/>")
    return "".join(written)


def title(words: str) -> str:
    """What a pointer over the element around it, or a screen reader, tells."""
    return element("title", {}, escaped(words))


def document(attributes: Attributes, width: int, height: int, parts: Sequence[str]) -> str:
    """The whole picture, one part a line."""
    head = {
        "xmlns": XMLNS,
        "role": "img",
        "width": width,
        "height": height,
        "viewBox": f"0 0 {width} {height}",
        **attributes,
    }
    return element("svg", head, "\n", "\n".join(parts), "\n")


def polyline(places: Sequence[Place], *, closed: bool = False) -> str:
    """Path data of straight lines from each place to the next."""
    corners = [f"{x:.1f} {y:.1f}" for x, y in places]
    path = "M" + "L".join(corners)
    return f"{path}Z" if closed else path


def horizontal(start: Place, end_x: float) -> str:
    x, y = start
    return f"M{x:.1f} {y:.1f}H{end_x:.1f}"


def vertical(start: Place, end_y: float) -> str:
    x, y = start
    return f"M{x:.1f} {y:.1f}V{end_y:.1f}"


def staircase(places: Sequence[Place]) -> str:
    """Path data that goes across first, then up or down to the next place."""
    (x, y), *others = places
    path = f"M{x:.1f} {y:.1f}"
    for next_x, next_y in others:
        path += f"H{next_x:.1f}V{next_y:.1f}"
    return path


def level_curve(start: Place, end: Place) -> str:
    """Path data of a curve that leaves and arrives level (a cubic Bézier curve)."""
    x, y = start
    end_x, end_y = end
    bend = (x + end_x) / 2
    curve = f"C{bend:.1f} {y:.1f} {bend:.1f} {end_y:.1f} {end_x:.1f} {end_y:.1f}"
    return f"M{x:.1f} {y:.1f}{curve}"


def circle(centre: Place, radius: float) -> str:
    """Path data, so that every mark is a path."""
    x, y = centre
    right = f"a{radius} {radius} 0 1 0 {2 * radius} 0"
    left = f"a{radius} {radius} 0 1 0 {-2 * radius} 0"
    return f"M{x - radius:.1f} {y:.1f}{right}{left}Z"
