"""What a run came to beside its figures: losses, times, costs, failures."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any, get_args

from ombud.lab.judges.asking import INVALID
from ombud.lab.metrics.losses import LOSSES
from ombud.lab.report.comparing import RecordedRun
from ombud.lab.report.tables import markdown_table
from ombud.types import AnswerPath, Observation, Trace

ALL = "all"
NOT_RECORDED = "not recorded"
"""Of runs that are older than the paths."""


@dataclass(frozen=True, slots=True)
class PathCost:
    """Cost of the questions answered in one way; each figure is the mean of a question."""

    path: str
    questions: int
    calls: float
    tokens_in: float
    tokens_cached: float
    tokens_out: float
    price: float | None
    """US dollars; None where the price of one of them is not known."""


def costs_by_path(traces: Iterable[Trace]) -> list[PathCost]:
    """Compute the cost of each path taken, then of all together if there are several; empty if no
    model was asked."""
    every = list(traces)
    if not any(trace.calls or trace.tokens_in for trace in every):
        return []
    lines = []
    for path in get_args(AnswerPath):
        of_path = [trace for trace in every if trace.path == path]
        if of_path:
            lines.append(_cost(path or NOT_RECORDED, of_path))
    if len(lines) > 1:
        lines.append(_cost(ALL, every))
    return lines


def _cost(path: str, traces: list[Trace]) -> PathCost:
    number = len(traces)
    prices = [trace.price for trace in traces if trace.price is not None]
    return PathCost(
        path=path,
        questions=number,
        calls=sum(trace.calls for trace in traces) / number,
        tokens_in=sum(trace.tokens_in for trace in traces) / number,
        tokens_cached=sum(trace.tokens_cached for trace in traces) / number,
        tokens_out=sum(trace.tokens_out for trace in traces) / number,
        price=sum(prices) / number if len(prices) == number else None,
    )


def costs_table(costs: Iterable[PathCost]) -> str:
    """Tabulate the cost of a question by the way in which it was answered."""
    rows: list[tuple[str, ...]] = []
    for cost in costs:
        price = "not known" if cost.price is None else f"${cost.price:.5f}"
        tokens = [f"{n:,.0f}" for n in (cost.tokens_in, cost.tokens_cached, cost.tokens_out)]
        rows.append((cost.path, str(cost.questions), f"{cost.calls:.2f}", *tokens, price))
    counted = ("tokens in", "read before", "tokens out")
    return markdown_table(("way", "questions", "calls", *counted, "price"), rows)


def closing(recorded: RecordedRun) -> str:
    """List where evidence was lost, how long the run took, what it cost and what failed."""
    observations = recorded.observations
    lines = (
        _unmeasured_line(recorded),
        _lost_line(observations),
        _time_line(observations),
        _cost_line(observations),
        _judging_line(recorded),
        _failed_line(observations),
    )
    return "\n".join(f"* {line}" for line in lines if line)


def _unmeasured_line(recorded: RecordedRun) -> str:
    """List the metrics without any value, with the reasons."""
    by_reason: dict[str, list[str]] = {}
    for metric in recorded.metrics:
        scores = list(recorded.values(metric).values())
        reasons = {score.reason for score in scores}
        if len(reasons) == 1 and all(score.value is None for score in scores):
            by_reason.setdefault(reasons.pop(), []).append(metric)
    return "\n* ".join(f"{', '.join(names)}: {why}." for why, names in by_reason.items())


def _lost_line(observations: Sequence[Observation]) -> str:
    lost = Counter(observation.lost for observation in observations if observation.lost)
    counts = [f"{stage} {lost[stage]}" for stage in LOSSES if lost[stage]]
    return f"Evidence was lost: {', '.join(counts)}." if lost else ""


def _time_line(observations: Sequence[Observation]) -> str:
    measured = [observation.seconds for observation in observations]
    seconds = sorted(value for value in measured if value is not None)
    if not seconds:
        return ""
    slow = seconds[min(len(seconds) - 1, int(0.95 * len(seconds)))]
    return f"Time a case: median {median(seconds):.3f} s, 95 % within {slow:.3f} s."


def _cost_line(observations: Sequence[Observation]) -> str:
    traces = [observation.answer.trace for observation in observations if observation.answer]
    if not traces or any("tokens" in observation.lacks for observation in observations):
        return ""
    tokens = sum(trace.tokens_in + trace.tokens_out for trace in traces)
    if not tokens:
        return "Cost: nothing, no model was called."
    price = _price(traces)
    return f"Cost: {tokens:,} tokens, {price}."


def _price(traces: Sequence[Trace]) -> str:
    """Add up the known prices and count the answers without one."""
    prices = [trace.price for trace in traces if trace.price is not None]
    if not prices:
        return "price not known"
    total = f"{sum(prices):.4f} US dollars"
    unknown = sum(trace.price is None and bool(trace.model) for trace in traces)
    if unknown:
        total += f" and what {unknown} of {len(traces)} answers cost, whose price is not known"
    return total


def _failed_line(observations: Sequence[Observation]) -> str:
    failed = [observation for observation in observations if observation.error]
    if not failed:
        return ""
    example = f"{failed[0].case.id}: {failed[0].error}"
    return f"The target failed {len(failed)} of {len(observations)} cases, such as {example}"


def _judging_line(recorded: RecordedRun) -> str:
    """Name the judges, their invalid verdicts and what they cost; empty without a judge."""
    values = judging_summary(recorded)
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


def judging_summary(recorded: RecordedRun) -> dict[str, Any]:
    """Collect the values of `judging_line`; empty without a judge."""
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
