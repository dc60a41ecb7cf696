"""Numbers for people, beside a mark and along an axis."""

from collections.abc import Callable, Mapping
from typing import TypeGuard

_SECONDS = "\N{NO-BREAK SPACE}s"
_PERCENT = "\N{NO-BREAK SPACE}%"
_NONE = "–"


def is_drawable(value: float | None) -> TypeGuard[float]:
    """Tell whether there is a value, and a picture can hold it."""
    return value is not None and abs(value) < 1e15


def format_figure(value: float | None, unit: str = "") -> str:
    """Write a figure for people: `72 %` for a share (unit `%` or `0-1`), `+4.2` for a difference of
    shares (`points`)."""
    if not is_drawable(value):
        return _NONE
    return _FORMATS.get(unit, _plain)(value)


def _share(value: float) -> str:
    """Write to one place of a hundred, or to more where that would say all or nothing in vain."""
    figure = "0"
    for digits in range(7):
        figure = f"{100 * value:.{digits}f}"
        if abs(float(figure)) not in {0, 100} or value in {-1, 0, 1}:
            return _with_minus(figure) + _PERCENT
    return "0" + _PERCENT


def _points(value: float) -> str:
    if abs(value) < 0.0005:
        return "0.0"
    return _with_minus(f"{100 * value:+.1f}")


def _dollars(value: float) -> str:
    sign = "−" if value < 0 else ""
    digits = 2 if value == 0 or abs(value) >= 1 else 4
    return f"{sign}${abs(value):,.{digits}f}"


def _seconds(value: float) -> str:
    return _amount(value, whole=False) + _SECONDS


def _plain(value: float) -> str:
    return _amount(value, whole=value == int(value))


def _amount(value: float, *, whole: bool) -> str:
    """Write about three digits; none behind the point where the value is whole."""
    size = abs(value)
    if 0 < size < 0.01:
        return _with_minus(f"{value:.2g}")
    if whole or size >= 100:
        digits = 0
    elif size >= 10:
        digits = 1
    else:
        digits = 2
    return _with_minus(f"{value:,.{digits}f}")


def _with_minus(figure: str) -> str:
    """Set a minus as wide as a plus in place of a hyphen."""
    return figure.replace("-", "−")


_FORMATS: Mapping[str, Callable[[float], str]] = {
    "%": _share,
    "0-1": _share,
    "points": _points,
    "US dollars": _dollars,
    "seconds": _seconds,
}
