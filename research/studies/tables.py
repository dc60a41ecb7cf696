"""Cells and lines of the tables of a study, in Markdown."""

from collections.abc import Sequence

from ombud.lab.metrics.parsing import find_measure
from ombud.lab.report.comparing import RecordedRun
from ombud.lab.statistics import Comparison

DIGITS = {"words": 0, "tokens": 0, "US dollars": 5}
"""Unit of a metric -> digits; of all others three."""


def table_lines(head: Sequence[str]) -> tuple[str, str]:
    """The head of a table and the line under it."""
    return table_line(head), table_line(["---"] * len(head))


def table_line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def shown(run: RecordedRun, metric: str) -> str:
    """Its mean with the interval; a dash where no case has a value."""
    found = run.overall(metric).mean
    if found.value is None:
        return "–"
    digits = digits_of(metric)
    if found.low is None or found.high is None:
        return f"{found.value:.{digits}f}"
    return f"{found.value:.{digits}f} ({found.low:.{digits}f} to {found.high:.{digits}f})"


def between(found: Comparison) -> str:
    """A difference with its interval; empty where there is none."""
    if found.difference is None or found.low is None or found.high is None:
        return ""
    return f"{found.difference:+.3f} ({found.low:+.3f} to {found.high:+.3f})"


def shown_p(p: float | None) -> str:
    """Never 0: a test of so many draws cannot say that."""
    if p is None:
        return ""
    return "< 0.001" if p < 0.001 else f"{p:.3f}"


def digits_of(metric: str) -> int:
    measure = find_measure(metric)
    return DIGITS.get(measure.unit, 3) if measure else 3
