"""Runs and comparisons as JSON, for programs."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ombud.lab import Contrast, Fall, MetricSummary, RecordedRun, Step
    from ombud.types import Run


def run_json(recorded: "RecordedRun") -> dict[str, Any]:
    """Return a run with its figures, as JSON."""
    from ombud.lab import LOSSES, judging_summary

    # Of another system nobody can say where its evidence was lost.
    lost = [seen.lost for seen in recorded.observations if not seen.lacks]
    failed = {seen.case.id: seen.error for seen in recorded.observations if seen.error}
    return {
        "run": recorded.run.model_dump(mode="json"),
        "metrics": list(map(_line_json, recorded.summary())),
        "metrics_where_found": list(map(_line_json, recorded.where_found().summary(["overall"]))),
        "lost": {what: lost.count(what) for what in LOSSES} if lost else {},
        "failed": failed,
        "judging": judging_summary(recorded),
    }


def report_json(runs: "Sequence[RecordedRun]") -> dict[str, Any]:
    """Return the runs and their comparisons with the first, as JSON."""
    from ombud.lab import compare_runs

    first, *others = runs
    compared: list[dict[str, Any]] = []
    for other in others:
        rows = list(map(contrast_json, compare_runs(first, other)))
        compared.append(
            {"first": head_json(first.run), "second": head_json(other.run), "metrics": rows}
        )
    return {"runs": list(map(run_json, runs)), "compared": compared}


def _line_json(line: "MetricSummary") -> dict[str, Any]:
    mean = asdict(line.mean)
    about = {"metric": line.metric, "group": line.group, "name": line.name}
    return {**about, "mean": mean.pop("value"), **mean, "reasons": line.reasons}


def contrast_json(row: "Contrast") -> dict[str, Any]:
    comparison = asdict(row.comparison)
    del comparison["error"], comparison["clusters"]
    about = {"metric": row.metric, "group": row.group, "name": row.name}
    means = {"first": row.first, "second": row.second}
    tested = {"p_holm": row.adjusted, "p_mcnemar": row.mcnemar, "better": row.better}
    return {
        **about,
        **means,
        **comparison,
        **tested,
        "only_first": row.lost,
        "only_second": row.won,
    }


def fall_json(fall: "Fall") -> dict[str, Any]:
    row = contrast_json(fall.contrast) if fall.contrast else None
    return {"said": fall.said, "contrast": row, "cases": [change.case.id for change in fall.worst]}


def step_json(step: "Step") -> dict[str, Any]:
    figures = step.line.mean
    since = contrast_json(step.since) if step.since else None
    return {
        "run": head_json(step.run),
        "mean": figures.value,
        "low": figures.low,
        "high": figures.high,
        "since": since,
    }


def head_json(run: "Run") -> dict[str, Any]:
    named = {"id", "name", "dataset", "split", "target", "digest", "started"}
    return run.model_dump(mode="json", include=named)
