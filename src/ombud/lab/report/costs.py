"""What answers cost, by the path on which they came about."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import get_args

from ombud.types import AnswerPath, Trace

ALL = "all"
NOT_RECORDED = "not recorded"
"""Of runs that are older than the paths."""


@dataclass(frozen=True, slots=True)
class PathCost:
    """What questions of one path came to, each figure the mean of a question."""

    path: str
    questions: int
    calls: float
    tokens_in: float
    tokens_cached: float
    tokens_out: float
    price: float | None
    """US dollars; None where the price of one of them is not known."""


def costs_by_path(traces: Iterable[Trace]) -> list[PathCost]:
    """A line for each path that was taken, then one of all where there are several; none where
    nothing was asked of a model."""
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
