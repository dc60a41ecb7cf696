"""One run of the lab over a target, kept in its workspace; the same code is not asked the same
twice."""

import asyncio
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

from corpora import tell
from record import source

from ombud.lab import (
    Comparison,
    Instruments,
    Mean,
    RecordedRun,
    RunOptions,
    Target,
    compare,
    mean,
    parse_metrics,
    read_run,
    run_cases,
)
from ombud.store import Store
from ombud.types import Case


def measure(
    name: str,
    target: Target,
    store: Store,
    cases: Sequence[Case],
    metrics: str,
    *,
    plan: Mapping[str, Any] | None = None,
    changed: Mapping[str, Any] | None = None,
    split: str = "",
    concurrency: int = 2,
) -> RecordedRun:
    """Gone on with when stopped; taken from the store when code, settings, index and cases are
    those of a finished run.

    changed: the index settings in which the target differs from its workspace, for the record.
    """
    options = RunOptions(
        metrics=parse_metrics(metrics),
        name=name,
        dataset=name,
        split=split,
        plan=plan or {},
        changed=changed or {},
        study=f"{name} {source()}",
        concurrency=concurrency,
    )
    tools = Instruments(text_of=target.text_of)
    run = asyncio.run(
        run_cases(cases, target, store, options, instruments=tools, on_progress=tell, reuse=True)
    )
    return read_run(store, run.id)


def values(recorded: RecordedRun, metric: str) -> list[float | None]:
    """In the order of the cases."""
    scores = recorded.values(metric)
    return [scores[case.id].value if case.id in scores else None for case in recorded.cases]


def average(recorded: RecordedRun, metric: str, clusters: Sequence[Hashable] | None = None) -> Mean:
    return mean(values(recorded, metric), clusters)


def paired(
    first: RecordedRun, second: RecordedRun, metric: str, clusters: Sequence[Hashable] | None = None
) -> Comparison:
    """Second minus first; their cases have the same ids in the same order, though perhaps other
    words."""
    if [case.id for case in first.cases] != [case.id for case in second.cases]:
        raise ValueError("the runs asked other cases")
    return compare(values(first, metric), values(second, metric), clusters)
