"""Figures as people read them: aligned columns, no zero before the point, a dash where there is
nothing."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ombud.lab import Contrast, MetricSummary, RecordedRun

NONE = "–"


def table(head: Sequence[str], rows: Sequence[Sequence[str]], left: int = 1) -> str:
    """Columns aligned under their heads, the first `left` to the left, the others to the right."""
    whole = [list(head), *map(list, rows)]
    widths = [max(len(row[at]) for row in whole) for at in range(len(head))]
    sides = [str.ljust if at < left else str.rjust for at in range(len(head))]
    lines = [
        [side(cell, width) for side, cell, width in zip(sides, row, widths, strict=True)]
        for row in whole
    ]
    return "\n".join("  ".join(line).rstrip() for line in lines)


def figure(value: float | None, sign: bool = False) -> str:
    if value is None:
        return NONE
    text = f"{value:+.3f}" if sign else f"{value:.3f}"
    return text.replace("0.", ".", 1) if abs(value) < 1 and round(abs(value), 3) < 1 else text


def chance(p: float | None) -> str:
    """A p value; below a thousandth nobody needs its digits."""
    return "< .001" if p is not None and p < 0.001 else figure(p)


def between(low: float | None, high: float | None, sign: bool = False) -> str:
    return NONE if low is None or high is None else f"{figure(low, sign)} to {figure(high, sign)}"


def summary_table(lines: Sequence["MetricSummary"]) -> str:
    head = ("metric", "of", "mean", "95 %", "median", "n")
    return table(
        head,
        [
            (
                line.metric,
                f"{line.group} {line.name}".strip(),
                figure(line.mean.value),
                between(line.mean.low, line.mean.high),
                figure(line.mean.median),
                f"{line.mean.valid}/{line.mean.total}",
            )
            for line in lines
        ],
        left=2,
    )


def contrast_table(rows: Sequence["Contrast"]) -> str:
    head = (
        "metric",
        "of",
        "first",
        "second",
        "difference",
        "95 %",
        "p",
        "McNemar",
        "effect",
        "detectable",
        "pairs",
        "",
    )
    words = {True: "better", False: "WORSE", None: ""}
    return table(
        head,
        [
            (
                row.metric,
                f"{row.group} {row.name}".strip(),
                figure(row.first),
                figure(row.second),
                figure(row.comparison.difference, sign=True),
                between(row.comparison.low, row.comparison.high, sign=True),
                chance(row.adjusted),
                chance(row.mcnemar),
                figure(row.comparison.effect),
                figure(row.comparison.detectable),
                str(row.comparison.pairs),
                words[row.better],
            )
            for row in rows
        ],
        left=2,
    )


def closing(recorded: "RecordedRun") -> str:
    """Where evidence was lost, how long it took, what it cost, what failed."""
    from collections import Counter

    from ombud.lab import LOSSES, mean

    seen = recorded.observations
    lost = Counter(one.lost for one in seen if one.lost)
    lines = []
    if lost:
        lines.append(
            "Evidence was lost: "
            + ", ".join(f"{what} {lost[what]}" for what in LOSSES if lost[what])
            + "."
        )
    seconds = sorted(one.seconds for one in seen if one.seconds is not None)
    if seconds:
        slow = seconds[min(len(seconds) - 1, int(0.95 * len(seconds)))]
        lines.append(f"Time a case: median {mean(seconds).median:.3f} s, 95 % within {slow:.3f} s.")
    traces = [one.answer.trace for one in seen if one.answer]
    tokens = sum(trace.tokens_in + trace.tokens_out for trace in traces)
    if tokens:
        prices = [trace.price for trace in traces if trace.price is not None]
        lines.append(
            f"Cost: {tokens:,} tokens, "
            + (f"{sum(prices):.4f} US dollars." if prices else "price not known.")
        )
    elif traces:
        lines.append("Cost: nothing, no model was called.")
    failed = [one for one in seen if one.error]
    if failed:
        lines.append(
            f"The target failed {len(failed)} of {len(seen)} cases, such as {failed[0].case.id}: {failed[0].error}"
        )
    return "\n".join(lines)
