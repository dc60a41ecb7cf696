"""A study's report in Markdown: its tables in its layout, its figures beside ours, its claims."""

import re
from collections.abc import Iterator, Sequence

from ombud.lab.judges.asking import INVALID
from ombud.lab.metrics.parsing import TIMED, parse_metrics, split_judged
from ombud.lab.report.claims import ClaimOutcome
from ombud.lab.report.comparing import RecordedRun, changes, compare_runs
from ombud.lab.report.plotting import Interval, Series, draw_intervals, draw_lines
from ombud.lab.report.wording import unit_of
from research.studies.carrying import Recorded, StudyOutcome
from research.studies.design import StudyRow
from research.studies.grouping import contrasts_by_group, means_by_group, medians_by_row
from research.studies.tables import between, shown, shown_p, table_line, table_lines

_K = re.compile(r"k=(\d+)")


def study_markdown(
    outcome: StudyOutcome, *, dataset: str, made: str, metrics: Sequence[str]
) -> str:
    """made: when, on what and by which version. metrics: the columns, first the leading one."""
    study = outcome.study
    parts = [
        f"# {study.title}",
        study.about,
        f"{outcome.cases} cases of {dataset}. {made} Means with 95 % intervals, bootstrap "
        "clustered by document; differences paired, p by permutation, corrected (Holm) over the "
        "claims that are tested.",
        "\n".join(_claims(outcome.claims)),
    ]
    for name in dict.fromkeys(row.table for row, _ in outcome.runs):
        parts.append("\n".join(_table(outcome, name, metrics)))
    parts.append("\n".join(_saved(outcome, metrics)))
    for group in study.groups:
        for metric in study.grouped or metrics[:1]:
            parts.append("\n".join(means_by_group(outcome.runs, group, metric)))
    parts.append("\n".join(contrasts_by_group(outcome)))
    parts.append("\n".join(medians_by_row(outcome, metrics)))
    parts.append("\n".join(_deviation(outcome, metrics)))
    parts += study.own_tables
    notes = [f"* {note}" for note in study.notes]
    parts.append("\n".join(["## Notes\n", *notes]) if notes else "")
    return "\n\n".join(part for part in parts if part) + "\n"


def study_charts(outcome: StudyOutcome, metric: str) -> dict[str, str]:
    """Table -> its rows in one metric as SVG, each with its interval; Wombat's figure 3 by k, one
    line a strategy. Without those of which fewer than two rows were run."""
    charts: dict[str, str] = {}
    for name in dict.fromkeys(row.table for row, _ in outcome.runs):
        rows = [(row, run) for row, run in outcome.runs if run and row.table == name]
        if len(rows) > 1:
            drawn = _by_k(rows, metric) if name and name == outcome.study.lines else ""
            charts[name or "Results"] = drawn or _by_row(rows, name, metric)
    return charts


def _by_row(rows: Sequence[tuple[StudyRow, RecordedRun]], name: str, metric: str) -> str:
    intervals: list[Interval] = []
    for row, run in rows:
        found = run.overall(metric).mean
        if found.value is not None:
            intervals.append(Interval(row.label, "", found.value, found.low, found.high))
    return draw_intervals(f"{name or 'Results'}: {metric}", intervals, unit=unit_of(metric))


def _by_k(rows: Sequence[tuple[StudyRow, RecordedRun]], metric: str) -> str:
    lines: dict[str, list[tuple[float, float, float | None, float | None]]] = {}
    for row, run in rows:
        place = _K.search(row.label)
        found = run.overall(metric).mean
        if place and found.value is not None:
            label = row.label[: place.start()].rstrip(", ")
            point = (float(place[1]), found.value, found.low, found.high)
            lines.setdefault(label, []).append(point)
    series = [Series(label, points) for label, points in lines.items()]
    return draw_lines(f"{metric} by k", ("k", metric), series) if series else ""


def _claims(claims: Sequence[ClaimOutcome]) -> Iterator[str]:
    yield "## What it says or asks, and what holds here\n"
    yield from table_lines(
        ["claim", "who says it", "by", "difference", "p (Holm)", "pairs", "here"]
    )
    for outcome in claims:
        contrast = outcome.contrast
        difference = p = pairs = ""
        if contrast:
            pairs = str(contrast.comparison.pairs)
            difference = between(contrast.comparison)
            p = shown_p(contrast.adjusted)
        claim = outcome.claim
        order = "under" if claim.is_less else "over"
        compared = f"{claim.metric}: “{claim.better}” {order} “{claim.worse}”"
        if claim.margin:
            compared += f", by no less than -{claim.margin:g}; the interval decides"
        who = f"the study ({claim.stated})" if claim.stated else "its design asks"
        yield table_line([claim.said, who, compared, difference, p, pairs, outcome.verdict])


def _table(outcome: StudyOutcome, name: str, metrics: Sequence[str]) -> Iterator[str]:
    study = outcome.study
    rows = [(row, run) for row, run in outcome.runs if row.table == name]
    is_timed = any(row.label in study.timed for row, _ in rows)
    columns = [*metrics, TIMED] if is_timed else list(metrics)
    _, judged = split_judged(parse_metrics(",".join(metrics)))
    of_judge = list(map(str, judged))
    counts = [f"n of {columns[0]}", *(["invalid verdicts"] if of_judge else [])]
    lines = [["", *columns, *counts]]
    for row, run in rows:
        lines.append([row.label, *_figures(row, run, columns), *_counted(run, columns, of_judge)])
    lines.append(["cases with a value", *_coverage(rows, columns), *([""] * len(counts))])
    _add_own_figures(lines, rows, study.paper_metrics)
    yield f"## {name or 'Results'}\n"
    yield from table_lines(lines[0])
    yield from map(table_line, lines[1:])


def _add_own_figures(
    lines: list[list[str]], rows: Sequence[Recorded], metrics: Sequence[str]
) -> None:
    """The study's own figures as the last columns, where it has some."""
    if not any(row.paper for row, _ in rows):
        return
    empty = [""] * len(metrics)
    head = [f"the study ({metric})" for metric in metrics]
    columns = [head, *(list(row.paper) or empty for row, _ in rows), empty]
    for line, figures in zip(lines, columns, strict=True):
        line += figures


def _figures(row: StudyRow, run: RecordedRun | None, columns: Sequence[str]) -> list[str]:
    if run is None:
        return [f"needs a {row.needs}"] * len(columns)
    return [shown(run, metric) for metric in columns]


def _counted(run: RecordedRun | None, columns: Sequence[str], judged: Sequence[str]) -> list[str]:
    """How many cases the leading metric stands on and, where a judge was asked, how many of its
    verdicts were invalid."""
    if run is None:
        return ["–"] * (2 if judged else 1)
    counted = [str(run.overall(columns[0]).mean.valid)]
    if judged:
        scores = [score for score in run.scores if score.metric in judged]
        invalid = [score for score in scores if (score.reason or "").startswith(INVALID)]
        counted.append(f"{len(invalid)} of {len(scores)}")
    return counted


def _coverage(rows: Sequence[Recorded], columns: Sequence[str]) -> list[str]:
    """How many cases have a value at all, in the first run; what has none has no mean."""
    runs = [run for _, run in rows if run]
    if not runs:
        return ["–"] * len(columns)
    cells: list[str] = []
    for metric in columns:
        found = runs[0].overall(metric).mean
        cells.append(f"{found.valid} of {found.total}")
    return cells


def _saved(outcome: StudyOutcome, metrics: Sequence[str]) -> Iterator[str]:
    """What each row saves beside one of them, and what it costs in the leading metric."""
    study = outcome.study
    runs = {row.label: run for row, run in outcome.runs if run}
    against = runs.get(study.saves)
    if against is None:
        return
    saved = [metric for metric in study.saved if metric in metrics]
    yield f"## Saved against {study.saves}\n"
    yield from table_lines(["", *saved, f"{metrics[0]}, difference"])
    for label, run in runs.items():
        if label == study.saves:
            continue
        cells = [label]
        for metric in saved:
            cells.append(_share_saved(against, run, metric))
        found = compare_runs(against, run, by=["overall"], metrics=[metrics[0]])
        yield table_line([*cells, between(found[0].comparison)])


def _share_saved(against: RecordedRun, run: RecordedRun, metric: str) -> str:
    whole = against.overall(metric).mean.value
    own = run.overall(metric).mean.value
    if not whole or own is None:
        return "–"
    return f"{1 - own / whole:.0%}"


def _deviation(outcome: StudyOutcome, metrics: Sequence[str]) -> Iterator[str]:
    """How far two runs of the first row differ."""
    first = outcome.runs[0][1]
    again = outcome.again
    if first is None or again is None:
        return
    yield f"## Two runs of “{outcome.runs[0][0].label}”\n"
    yield from table_lines(["", "first", "second", "cases that differ", "mean deviation of a case"])
    for metric in metrics:
        apart = [abs(one.difference or 0.0) for one in changes(first, again, metric)]
        deviation = sum(apart) / max(1, first.overall(metric).mean.valid)
        yield table_line(
            [
                metric,
                shown(first, metric),
                shown(again, metric),
                str(len(apart)),
                f"{deviation:.3f}",
            ]
        )
