"""Figures as the reports show them, and where they come from. Nothing here is typed by hand."""

import os
from collections.abc import Mapping, Sequence
from math import sqrt
from pathlib import Path
from typing import NamedTuple

from record import commit, machine, source

from ombud.lab import Comparison, Mean, holm

Z = 1.96


class Rate(NamedTuple):
    """A share with its 95 % interval by Wilson's score (Wilson, JASA 22, 1927)."""

    value: float
    low: float
    high: float


class Row(NamedTuple):
    """A paired difference of two settings, second minus first."""

    name: str
    metric: str
    comparison: Comparison


def header(name: str, **facts: object) -> str:
    """The text NAME_header.md with {origin} (commit, code, machine) and the facts filled in."""
    text = (Path(__file__).parent / f"{name}_header.md").read_text(encoding="utf-8").rstrip()
    return text.format(origin=origin(), **facts)


def origin() -> str:
    known = machine()
    load = round(os.getloadavg()[0], 1)
    return (
        f"commit {commit()} (code {source()}), {known['cpu']}, {known['cores']} cores, "
        f"Python {known['python']}, shared with other work (load {load})"
    )


def wilson_rate(hits: Sequence[bool]) -> Rate:
    """Return the share of True; 0 to 1 where there are none."""
    count = len(hits)
    if not count:
        return Rate(value=0.0, low=0.0, high=1.0)
    share = sum(hits) / count
    centre = share + Z * Z / (2 * count)
    reach = Z * sqrt(share * (1 - share) / count + Z * Z / (4 * count * count))
    whole = 1 + Z * Z / count
    return Rate(
        value=share,
        low=max(0.0, (centre - reach) / whole),
        high=min(1.0, (centre + reach) / whole),
    )


def figure(mean: Mean) -> str:
    """0.889 (0.841 to 0.932)."""
    if mean.value is None:
        return "–"
    if mean.low is None or mean.high is None:
        return f"{mean.value:.3f}"
    return f"{mean.value:.3f} ({mean.low:.3f} to {mean.high:.3f})"


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    return [
        f"| {' | '.join(head)} |",
        "|---" * len(head) + "|",
        *(f"| {' | '.join(row)} |" for row in rows),
    ]


def differences(title: str, rows: Sequence[Row]) -> list[str]:
    """A table of paired differences with p corrected over all of them."""
    known = [row for row in rows if row.comparison.p is not None]
    ps: Mapping[str, float] = {str(at): row.comparison.p or 0.0 for at, row in enumerate(known)}
    adjusted = list(holm(ps).values())
    lines = []
    for row, p in zip(known, adjusted, strict=True):
        found = row.comparison
        between = (
            f"{found.low:+.3f} to {found.high:+.3f}"
            if found.low is not None and found.high is not None
            else "–"
        )
        least = f"{found.detectable:.3f}" if found.detectable else ""
        lines.append(
            [
                row.name,
                row.metric,
                f"{found.difference:+.3f}",
                between,
                f"{p:.3f}" if p >= 0.001 else "<0.001",
                least,
                str(found.pairs),
            ]
        )
    return table([title, "metric", "difference", "95 %", "p (Holm)", "detectable", "pairs"], lines)
