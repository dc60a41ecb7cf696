"""How a report calls metrics and groups, and writes their figures."""

import tomllib
from pathlib import Path
from typing import Protocol

from ombud.lab.metrics.parsing import find_measure
from ombud.lab.report.figures import format_figure
from ombud.lab.report.summary import NO_COUNTRY
from ombud.lab.statistics import Mean

TEMPLATES = Path(__file__).parent / "templates"
WORDS: dict[str, dict[str, str]] = tomllib.loads(
    (TEMPLATES / "words.toml").read_text(encoding="utf-8")
)
SHARE = "0-1"
"""Unit of a metric whose values are shares."""
_SPACE = "\N{NO-BREAK SPACE}"


def metric_name(metric: str) -> str:
    """Return `recall` for `recall@8`."""
    return metric.partition("@")[0]


def title_of(metric: str) -> str:
    """Put `quote_recall@5` into words: Right passage found, first 5."""
    name, _, cutoff = metric.partition("@")
    title = WORDS["titles"].get(name, name.replace("_", " "))
    if not cutoff:
        return title
    unit = " words" if cutoff.endswith("w") else ""
    return f"{title}, first {int(cutoff.removesuffix('w')):,}{unit}"


def unit_of(metric: str) -> str:
    measure = find_measure(metric)
    return measure.unit if measure else ""


def figure_of(value: float | None, metric: str) -> str:
    """Format a value in the metric's unit: `82 %`, `0.57 s`."""
    return format_figure(value, unit_of(metric))


def meaning_of(metric: str) -> str:
    measure = find_measure(metric)
    return measure.what if measure else ""


def is_share(metric: str) -> bool:
    return unit_of(metric) == SHARE


def is_judged(metric: str) -> bool:
    measure = find_measure(metric)
    return measure is not None and measure.grade is not None


def group_words(name: str) -> str:
    """Put a type, country or tag into words."""
    return "no country" if name == NO_COUNTRY else name.replace("_", " ")


def interval_of(mean: Mean, metric: str) -> str:
    """Format `59 to 83 %`, in the metric's unit; empty without an interval."""
    return interval_words(mean, unit_of(metric))


class WithInterval(Protocol):
    """A value with an interval, such as a `Mean`."""

    @property
    def low(self) -> float | None: ...
    @property
    def high(self) -> float | None: ...


def interval_words(mean: WithInterval, unit: str) -> str:
    """Format `59 to 83 %`; empty without an interval."""
    if mean.low is None or mean.high is None:
        return ""
    low = format_figure(mean.low, unit)
    high = format_figure(mean.high, unit)
    number, _, low_unit = low.partition(_SPACE)
    _, _, high_unit = high.partition(_SPACE)
    if low_unit == high_unit:
        low = number
    return f"{low} to {high}"


def difference_words(value: float | None, metric: str) -> str:
    """Format a difference: in percentage points for shares, else in the metric's unit, always with
    its sign."""
    if value is None or is_share(metric):
        return format_figure(value, "points")
    sign = "+" if value > 0 else ""
    return sign + format_figure(value, unit_of(metric))
