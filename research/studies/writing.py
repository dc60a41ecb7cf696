"""A study's report in Markdown: its tables in its layout, its figures beside ours, its claims."""

import re
from collections.abc import Iterator, Sequence

from ombud.charts import Series, draw_lines
from ombud.lab.metrics.parsing import TIMED
from ombud.lab.report.comparing import RecordedRun, changes, compare_runs
from ombud.lab.runs.sweeping import quality
from research.studies.carrying import ClaimOutcome, Recorded, StudyOutcome
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


def study_chart(outcome: StudyOutcome, metric: str) -> str:
    """Score by k, one line a strategy (Wombat's figure 3), as SVG; empty where there is none."""
    lines: dict[str, list[tuple[float, float, float | None, float | None]]] = {}
    for row, run in outcome.runs:
        place = _K.search(row.label) if row.table == outcome.study.lines else None
        if run is None or place is None:
            continue
        found = quality(run, metric)
        if found.value is not None:
            label = row.label[: place.start()].rstrip(", ")
            point = (float(place[1]), found.value, found.low, found.high)
            lines.setdefault(label, []).append(point)
    series = [Series(label, points) for label, points in lines.items()]
    if not series:
        return ""
    return draw_lines(f"{metric} by k", ("k", metric), series)


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
        who = "the study" if claim.is_known else "its design asks"
        yield table_line([claim.said, who, compared, difference, p, pairs, outcome.verdict])


def _table(outcome: StudyOutcome, name: str, metrics: Sequence[str]) -> Iterator[str]:
    rows = [(row, run) for row, run in outcome.runs if row.table == name]
    columns = [*metrics, TIMED] if name and name == outcome.study.timed else list(metrics)
    lines = [["", *columns]]
    for row, run in rows:
        lines.append([row.label, *_figures(row, run, columns)])
    lines += _coverage(rows, columns)
    _add_own_figures(lines, rows, outcome.study.paper_metric)
    yield f"## {name or 'Results'}\n"
    yield from table_lines(lines[0])
    yield from map(table_line, lines[1:])


def _add_own_figures(lines: list[list[str]], rows: Sequence[Recorded], metric: str) -> None:
    """The study's own figures as the last column, where it has some."""
    own = [row.paper for row, _ in rows]
    if any(own):
        column = [f"the study ({metric})", *own, ""]
        for line, figure in zip(lines, column, strict=False):
            line.append(figure)


def _figures(row: StudyRow, run: RecordedRun | None, columns: Sequence[str]) -> list[str]:
    if run is None:
        return [f"needs a {row.needs}"] * len(columns)
    return [shown(run, metric) for metric in columns]


def _coverage(rows: Sequence[Recorded], columns: Sequence[str]) -> list[list[str]]:
    """How many cases have a value at all, in the first run; what has none has no mean."""
    runs = [run for _, run in rows if run]
    if not runs:
        return []
    cells = ["n"]
    for metric in columns:
        found = quality(runs[0], metric)
        cells.append(f"{found.valid} of {found.total}")
    return [cells]


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
    whole = quality(against, metric).value
    own = quality(run, metric).value
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
        deviation = sum(apart) / max(1, quality(first, metric).valid)
        yield table_line(
            [
                metric,
                shown(first, metric),
                shown(again, metric),
                str(len(apart)),
                f"{deviation:.3f}",
            ]
        )
