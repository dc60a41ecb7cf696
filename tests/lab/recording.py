"""Runs as they come out of the store, from a line of values for each metric."""

from collections.abc import Mapping, Sequence
from typing import Any

from lab.makers import case
from ombud.lab import RecordedRun
from ombud.types import Case, Observation, Run, Score


def many(size: int, **fields: Any) -> list[Case]:
    return [case(id=f"c{number:02}", **fields) for number in range(size)]


def recorded(
    cases: Sequence[Case],
    values: Mapping[str, Sequence[float | None]],
    *,
    seconds: Sequence[float | None] | None = None,
    errors: Mapping[str, str] | None = None,
    **run: Any,
) -> RecordedRun:
    """values: metric -> one value a case."""
    failed, times = errors or {}, seconds or [None] * len(cases)
    seen = [
        Observation(case=one, seconds=time, error=failed.get(one.id, ""))
        for one, time in zip(cases, times, strict=True)
    ]
    scores = [
        Score(
            case_id=one.id, metric=metric, value=value, reason="" if value is not None else "none"
        )
        for metric, line in values.items()
        for one, value in zip(cases, line, strict=True)
    ]
    given = {
        "id": "r1",
        "name": "a run",
        "dataset": "d.jsonl",
        "state": "done",
        "cases": len(cases),
    } | run
    return RecordedRun(Run(**given), tuple(seen), tuple(scores))
