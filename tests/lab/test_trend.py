from datetime import UTC, datetime

import pytest

from lab.recording import many, recorded
from ombud.errors import LabError
from ombud.lab import compute_trend, same_dataset
from ombud.types import Run


def run(name: str, day: int | None = 1, state: str = "done", digest: str = "d1") -> Run:
    started = datetime(2026, 4, day, tzinfo=UTC) if day else None
    given = {"id": name, "name": name, "dataset": "d.jsonl", "dataset_digest": digest}
    return Run.model_validate({**given, "state": state, "started": started})


def test_finished_runs_of_the_same_cases_oldest_first() -> None:
    known = [
        run("new", 3),
        run("old", 1),
        run("half", 2, "running"),
        run("other", 2, digest="d2"),
        run("dateless", 0),
    ]
    assert [one.name for one in same_dataset(known, known[0])] == ["dateless", "old", "new"]
    assert same_dataset([], known[0]) == ()


def test_each_run_is_compared_with_the_one_before() -> None:
    cases = many(10)
    worse, better = [0.0] * 10, [1.0] * 10
    runs = [
        recorded(cases, {"mrr": values}, id=name)
        for name, values in [("a", worse), ("b", better), ("c", [0.5] * 10)]
    ]
    steps = compute_trend(runs, "mrr")
    assert [step.run.id for step in steps] == ["a", "b", "c"]
    assert [step.line.mean.value for step in steps] == [0.0, 1.0, 0.5]
    assert steps[0].since is None
    assert [(s.since.comparison.difference, s.since.better) for s in steps if s.since] == [
        (1.0, True),
        (-0.5, False),
    ]


def test_only_the_metric_followed_is_tested() -> None:
    # Six of one size: p = 2/64. Corrected for the other two metrics of the runs it would say
    # nothing.
    cases, others = many(6), {"map": [1.0] * 6, "recall@5": [1.0] * 6}
    runs = [recorded(cases, {"mrr": [value] * 6, **others}) for value in (0.0, 1.0)]
    since = compute_trend(runs, "mrr")[1].since
    assert since is not None
    assert (since.metric, since.adjusted, since.better) == ("mrr", 2 / 64, True)


def test_runs_without_the_metric_are_left_out() -> None:
    cases = many(2)
    runs = [recorded(cases, {metric: [1.0, None]}, id=metric) for metric in ("mrr", "map")]
    (step,) = compute_trend([runs[1], *runs[:1]], "mrr")
    assert (step.run.id, step.since, step.line.mean.valid, step.line.mean.total) == (
        "mrr",
        None,
        1,
        2,
    )
    assert step.line.reasons == {"none": 1}
    with pytest.raises(LabError, match="No run of this dataset has `chrf`"):
        compute_trend(runs, "chrf")
