"""Scales, and the round values at which an axis is marked."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import ceil, floor, log10

from ombud.charts.figures import SHARES, is_drawable

Numbers = Iterable[float | None]
_STEPS = (1, 2, 2.5, 5, 10, 20)


@dataclass(frozen=True, slots=True)
class Scale:
    """A value -> where it stands, in pixels; values beyond the ends stand at them."""

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        inside = min(max(value, self.low), self.high)
        share = (inside - self.low) / (self.high - self.low)
        return self.start + (self.end - self.start) * share


def scale_of(ticks: Sequence[float], start: float, end: float) -> Scale:
    """From the first tick to the last. start, end: where those stand, in pixels."""
    return Scale(ticks[0], ticks[-1], start, end)


def round_ticks(values: Numbers, unit: str, count: int, *, whole: bool = False) -> list[float]:
    """About `count` round values that hold all of them between the first and the last; at least
    two.

    whole: shares stand on the whole of 0 to 1."""
    drawable = list(filter(is_drawable, values))
    low = min(drawable, default=0.0)
    high = max(drawable, default=1.0)
    is_share = unit in SHARES and low >= 0 and high <= 1
    if whole and is_share:
        return [0.0, 0.25, 0.5, 0.75, 1.0] if count > 3 else [0.0, 0.5, 1.0]
    low, high = _widened(low, high, around_zero=unit == "points")
    step = _round_step((high - low) / count)
    first = floor(low / step + 1e-9)
    last = ceil(high / step - 1e-9)
    return [place * step for place in range(first, last + 1)]


def _widened(low: float, high: float, *, around_zero: bool) -> tuple[float, float]:
    """Ends that lie apart; differences (`around_zero`) have zero between them."""
    if around_zero:
        low = min(low, 0.0)
        high = max(high, 0.0)
    if high - low > 1e-9 * max(abs(low), abs(high), 1e-3):
        return low, high
    room = abs(high) / 10
    if not room:
        room = 0.05 if around_zero else 1.0
    return (low - room if low or around_zero else 0.0), high + room


def _round_step(size: float) -> float:
    """The least round number that is not below `size`."""
    power = 10.0 ** floor(log10(size))
    return next(times * power for times in _STEPS if times * power >= size * 0.999)
