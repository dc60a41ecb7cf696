"""Figures as people read them: aligned columns, no zero before the point, a dash where there is
nothing."""

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ombud.lab import Contrast, MetricSummary, PathCost, RecordedRun
    from ombud.types import Observation, Trace

NONE = "–"


def table(head: Sequence[str], rows: Sequence[Sequence[str]], left: int = 1) -> str:
    """Columns aligned under their heads, the first `left` to the left, the others to the right."""
    widths = list(map(len, head))
    for row in rows:
        widths = [max(width, len(cell)) for width, cell in zip(widths, row, strict=True)]
    lines: list[str] = []
    for row in (head, *rows):
        cells: list[str] = []
        for column, (cell, width) in enumerate(zip(row, widths, strict=True)):
            cells.append(cell.ljust(width) if column < left else cell.rjust(width))
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)


def figure(value: float | None, sign: bool = False) -> str:
    if value is None:
        return NONE
    text = f"{value:+.3f}" if sign else f"{value:.3f}"
    below_one = round(abs(value), 3) < 1
    return text.replace("0.", ".", 1) if below_one else text


def chance(p: float | None) -> str:
    """A p value; below a thousandth nobody needs its digits."""
    return "< .001" if p is not None and p < 0.001 else figure(p)


def between(low: float | None, high: float | None, sign: bool = False) -> str:
    return NONE if low is None or high is None else f"{figure(low, sign)} to {figure(high, sign)}"


def summary_table(lines: Sequence["MetricSummary"]) -> str:
    rows: list[tuple[str, ...]] = []
    for line in lines:
        mean = line.mean
        rows.append(
            (
                line.metric,
                f"{line.group} {line.name}".strip(),
                figure(mean.value),
                between(mean.low, mean.high),
                figure(mean.median),
                f"{mean.valid}/{mean.total}",
            )
        )
    return table(("metric", "of", "mean", "95 %", "median", "n"), rows, left=2)


CONTRAST_HEAD = (
    *("metric", "of", "first", "second", "difference", "95 %", "p", "McNemar", "effect"),
    *("detectable", "pairs", ""),
)
BETTER = {True: "better", False: "WORSE", None: ""}


def contrast_table(contrasts: Sequence["Contrast"]) -> str:
    rows: list[tuple[str, ...]] = []
    for contrast in contrasts:
        comparison = contrast.comparison
        rows.append(
            (
                contrast.metric,
                f"{contrast.group} {contrast.name}".strip(),
                figure(contrast.first),
                figure(contrast.second),
                figure(comparison.difference, sign=True),
                between(comparison.low, comparison.high, sign=True),
                chance(contrast.adjusted),
                chance(contrast.mcnemar),
                figure(comparison.effect),
                figure(comparison.detectable),
                str(comparison.pairs),
                BETTER[contrast.better],
            )
        )
    return table(CONTRAST_HEAD, rows, left=2)


def closing(recorded: "RecordedRun") -> str:
    """Where evidence was lost, how long it took, what it cost, what failed."""
    observations = recorded.observations
    lines = (
        _lost_line(observations),
        _time_line(observations),
        _cost_line(observations),
        judging_line(recorded),
        _failed_line(observations),
    )
    return "\n".join(line for line in lines if line)


def _lost_line(observations: Sequence["Observation"]) -> str:
    from ombud.lab import LOSSES

    lost = Counter(observation.lost for observation in observations if observation.lost)
    counts = [f"{stage} {lost[stage]}" for stage in LOSSES if lost[stage]]
    return f"Evidence was lost: {', '.join(counts)}." if lost else ""


def _time_line(observations: Sequence["Observation"]) -> str:
    from ombud.lab import mean

    measured = [observation.seconds for observation in observations]
    seconds = sorted(value for value in measured if value is not None)
    if not seconds:
        return ""
    slow = seconds[min(len(seconds) - 1, int(0.95 * len(seconds)))]
    return f"Time a case: median {mean(seconds).median:.3f} s, 95 % within {slow:.3f} s."


def _cost_line(observations: Sequence["Observation"]) -> str:
    from ombud.lab import costs_by_path

    traces = [observation.answer.trace for observation in observations if observation.answer]
    if not traces:
        return ""
    tokens = sum(trace.tokens_in + trace.tokens_out for trace in traces)
    if not tokens:
        return "Cost: nothing, no model was called."
    price = _price(traces)
    return "\n".join((f"Cost: {tokens:,} tokens, {price}.", *path_lines(costs_by_path(traces))))


def _price(traces: Sequence["Trace"]) -> str:
    """What is known of it; prices of some answers are not the price of all."""
    prices = [trace.price for trace in traces if trace.price is not None]
    if not prices:
        return "price not known"
    said = f"{sum(prices):.4f} US dollars"
    unknown = sum(trace.price is None and bool(trace.model) for trace in traces)
    if unknown:
        said += f" and what {unknown} of {len(traces)} answers cost, whose price is not known"
    return said


def path_lines(costs: Sequence["PathCost"]) -> list[str]:
    """What a question cost, by the way its answer came about."""
    lines = []
    for cost in costs:
        price = "price not known" if cost.price is None else f"{cost.price:.5f} US dollars"
        tokens = f"{cost.tokens_in:,.0f} ({cost.tokens_cached:,.0f} read before)"
        lines.append(
            f"  {cost.path}: {cost.questions} questions, each {cost.calls:.2f} calls, "
            f"{tokens} + {cost.tokens_out:,.0f} tokens, {price}"
        )
    return lines


def _failed_line(observations: Sequence["Observation"]) -> str:
    failed = [observation for observation in observations if observation.error]
    if not failed:
        return ""
    example = f"{failed[0].case.id}: {failed[0].error}"
    return f"The target failed {len(failed)} of {len(observations)} cases, such as {example}"


def judging_line(recorded: "RecordedRun") -> str:
    """Name the judges, their invalid verdicts and what they cost; empty without a judge."""
    values = judging_json(recorded)
    if not values:
        return ""
    price = "price not known" if values["price"] is None else f"{values['price']:.4f} US dollars"
    tokens = f"{values['tokens_in']:,} + {values['tokens_out']:,} tokens"
    line = (
        f"Judged by {', '.join(values['judges'])}: {values['verdicts']} verdicts, "
        f"{values['invalid']} invalid; {values['replies']} replies, {tokens}, {price}."
    )
    if values["own"]:
        line += f" {', '.join(values['own'])} also writes the answers: it may favour its own."
    return line


def judging_json(recorded: "RecordedRun") -> dict[str, Any]:
    """Collect the values of `judging_line`; empty without a judge."""
    from ombud.lab import INVALID

    costs = recorded.judging
    judges: set[str] = set()
    valid = 0
    invalid = 0
    for score in recorded.scores:
        if score.by:
            judges.add(score.by)
            valid += score.value is not None
            invalid += score.reason.startswith(INVALID)
    if not judges or costs is None:
        return {}
    written = str(recorded.run.config.get("models", ""))
    return {
        "judges": sorted(judges),
        "verdicts": valid + invalid,
        "invalid": invalid,
        "own": sorted(judge for judge in judges if judge in written),
        **costs._asdict(),
    }
