"""A study's tables by tag, country or set of cases, and with medians."""

from collections.abc import Iterator, Sequence
from statistics import median

from ombud.lab.report.claims import ClaimOutcome
from ombud.lab.report.comparing import RecordedRun, compare_runs
from ombud.lab.report.summary import Group
from ombud.types import Case
from research.studies.carrying import Recorded, StudyOutcome
from research.studies.tables import (
    between,
    digits_of,
    shown,
    shown_p,
    table_line,
    table_lines,
)

LEAST = 5
"""Cases of a group that is shown."""
MOST_GROUPS = 12


def means_by_group(runs: Sequence[Recorded], group: str, metric: str) -> Iterator[str]:
    """Mean and median by type, country, tag or set."""
    done = [(row, run) for row, run in runs if run]
    names = _names(done[0][1], group, metric)
    if not names:
        return
    yield f"## {metric} by {group}: mean, median\n"
    yield from table_lines(["", *(f"{name} (n {count})" for name, count in names.items())])
    for row, run in done:
        cells = [_mean_and_median(_values(run, group, name, metric), metric) for name in names]
        yield table_line([row.label, *cells])


def contrasts_by_group(outcome: StudyOutcome) -> Iterator[str]:
    """Each claim in each country, as where a flag is switched on in one of them."""
    group = outcome.study.contrasted
    rows: list[list[str]] = []
    for claim in outcome.claims:
        rows += _contrasted(outcome, claim, group)
    if not rows:
        return
    yield f"## The same by {group}\n"
    yield from table_lines(["", "metric", group, "difference", "p (Holm, of the row's)", "pairs"])
    for cells in rows:
        yield table_line(cells)


def medians_by_row(outcome: StudyOutcome, metrics: Sequence[str]) -> Iterator[str]:
    """Mean and median of one table's rows."""
    named = outcome.study.medians
    done = [(row, run) for row, run in outcome.runs if run and named and row.table == named]
    if not done:
        return
    columns = outcome.study.grouped or metrics[:1]
    yield f"## {named}: mean with interval, median\n"
    yield from table_lines(["", *columns])
    for row, run in done:
        cells = [row.label]
        for metric in columns:
            values = _known(run, metric)
            middle = f", {median(values):.{digits_of(metric)}f}" if values else ""
            cells.append(shown(run, metric) + middle)
        yield table_line(cells)


def _contrasted(outcome: StudyOutcome, claim: ClaimOutcome, group: str) -> list[list[str]]:
    runs = {row.label: run for row, run in outcome.runs if run}
    better = runs.get(claim.claim.better)
    worse = runs.get(claim.claim.worse)
    if not group or better is None or worse is None:
        return []
    by: list[Group] = ["country"] if group == "country" else ["type"]
    rows: list[list[str]] = []
    for row in compare_runs(worse, better, by=by, metrics=[claim.claim.metric]):
        if row.comparison.pairs >= LEAST:
            p = shown_p(row.within)
            compared = f"“{claim.claim.better}” over “{claim.claim.worse}”"
            pairs = str(row.comparison.pairs)
            rows.append([compared, row.metric, row.name, between(row.comparison), p, pairs])
    return rows


def _names(run: RecordedRun, group: str, metric: str) -> dict[str, int]:
    """The largest groups with enough cases that have a value -> how many."""
    valid: dict[str, int] = {}
    scores = run.values(metric)
    for case in run.cases:
        if case.id in scores and scores[case.id].value is not None:
            for name in _groups_of(case, group):
                valid[name] = valid.get(name, 0) + 1
    large = {name: count for name, count in valid.items() if count >= LEAST}
    ordered = sorted(large, key=lambda name: (-large[name], name))
    return {name: large[name] for name in ordered[:MOST_GROUPS]}


def _values(run: RecordedRun, group: str, name: str, metric: str) -> list[float]:
    scores = run.values(metric)
    values: list[float] = []
    for case in run.cases:
        score = scores.get(case.id)
        if score and score.value is not None and name in _groups_of(case, group):
            values.append(score.value)
    return values


def _known(run: RecordedRun, metric: str) -> list[float]:
    values: list[float] = []
    for score in run.values(metric).values():
        if score.value is not None:
            values.append(score.value)
    return values


def _mean_and_median(values: Sequence[float], metric: str) -> str:
    if not values:
        return "–"
    digits = min(2, digits_of(metric))
    mean = sum(values) / len(values)
    return f"{mean:.{digits}f}, {median(values):.{digits}f}"


def _groups_of(case: Case, group: str) -> Sequence[str]:
    if group == "tag":
        return tuple(dict.fromkeys(case.tags))
    if group == "set":
        return (_set_of(case),)
    return (case.type,) if group == "type" else (case.person.country or "none",)


def _set_of(case: Case) -> str:
    """Eva's two sets; what neither asks for a fact nor is sensitive is of neither."""
    if case.type == "sensitive" or case.expect == "handoff":
        return "sensitive"
    return "factual" if case.expect == "answer" else "neither"
