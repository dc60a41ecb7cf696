"""A study's report in Markdown: its tables in its layout, its figures beside ours, its claims."""

import re
from collections.abc import Iterator, Sequence
from statistics import median

from ombud.charts import Series, draw_lines
from ombud.lab.experiments.carrying import ClaimOutcome, StudyOutcome
from ombud.lab.report.comparing import RecordedRun, changes
from ombud.lab.report.summary import cluster_of
from ombud.lab.runs.sweeping import quality
from ombud.lab.statistics import Mean, mean
from ombud.types import Case

LEAST = 5
"""Cases of a group that is shown."""
MOST_GROUPS = 12
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
        "claims.",
    ]
    for name in dict.fromkeys(row.table for row, _ in outcome.runs):
        parts.append("\n".join(_table(outcome, name, metrics)))
    for group in study.groups:
        parts.append("\n".join(_by_group(outcome, group, metrics[0])))
    parts.append("\n".join(_deviation(outcome, metrics)))
    parts.append("\n".join(_claims(outcome.claims)))
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


def _table(outcome: StudyOutcome, name: str, metrics: Sequence[str]) -> Iterator[str]:
    rows = [(row, run) for row, run in outcome.runs if row.table == name]
    own = any(row.paper for row, _ in rows)
    yield f"## {name or 'Results'}\n"
    head = ["", *metrics]
    if own:
        head.append(f"the study ({outcome.study.paper_metric})")
    yield _line(head)
    yield _line(["---"] * len(head))
    for row, run in rows:
        cells = [row.label]
        for metric in metrics:
            cells.append(_shown(quality(run, metric)) if run else f"needs a {row.needs}")
        yield _line([*cells, row.paper] if own else cells)


def _shown(found: Mean) -> str:
    if found.value is None:
        return "–"
    if found.low is None or found.high is None:
        return f"{found.value:.3f}"
    return f"{found.value:.3f} ({found.low:.3f} to {found.high:.3f})"


def _by_group(outcome: StudyOutcome, group: str, metric: str) -> Iterator[str]:
    """Mean and median of the leading metric, by type, country, tag or persona."""
    runs = [(row, run) for row, run in outcome.runs if run]
    names = _names(runs[0][1], group)
    if not names:
        return
    yield f"## {metric} by {group}: mean, median (n)\n"
    yield _line(["", *names])
    yield _line(["---"] * (len(names) + 1))
    for row, run in runs:
        yield _line([row.label, *(_of_group(run, group, name, metric) for name in names)])


def _names(run: RecordedRun, group: str) -> list[str]:
    """The largest groups, those with enough cases."""
    counts: dict[str, int] = {}
    for case in run.cases:
        for name in _groups_of(case, group):
            counts[name] = counts.get(name, 0) + 1
    large = [name for name, count in counts.items() if count >= LEAST]
    return sorted(large, key=lambda name: (-counts[name], name))[:MOST_GROUPS]


def _of_group(run: RecordedRun, group: str, name: str, metric: str) -> str:
    scores = run.values(metric)
    values: list[float | None] = []
    clusters: list[str] = []
    for case in run.cases:
        if name in _groups_of(case, group) and case.id in scores:
            values.append(scores[case.id].value)
            clusters.append(cluster_of(case))
    found = mean(values, clusters)
    if found.value is None:
        return "–"
    known = [value for value in values if value is not None]
    return f"{found.value:.2f}, {median(known):.2f} ({found.valid})"


def _groups_of(case: Case, group: str) -> Sequence[str]:
    if group == "persona":
        return (case.person.persona or "none",)
    if group == "tag":
        return case.tags
    return (case.type,) if group == "type" else (case.person.country or "none",)


def _deviation(outcome: StudyOutcome, metrics: Sequence[str]) -> Iterator[str]:
    """How far two runs of the first row differ."""
    first = outcome.runs[0][1]
    again = outcome.again
    if first is None or again is None:
        return
    yield f"## Two runs of “{outcome.runs[0][0].label}”\n"
    yield _line(["", "first", "second", "cases that differ"])
    yield _line(["---"] * 4)
    for metric in metrics:
        differing = len(changes(first, again, metric))
        means = (_shown(quality(first, metric)), _shown(quality(again, metric)))
        yield _line([metric, *means, str(differing)])


def _claims(claims: Sequence[ClaimOutcome]) -> Iterator[str]:
    yield "## What it says or asks, and what holds here\n"
    yield _line(["claim", "who says it", "by", "difference", "p (Holm)", "pairs", "here"])
    yield _line(["---"] * 7)
    for outcome in claims:
        contrast = outcome.contrast
        difference = p = pairs = ""
        if contrast:
            found = contrast.comparison
            pairs = str(found.pairs)
            if found.difference is not None and found.low is not None and found.high is not None:
                difference = f"{found.difference:+.3f} ({found.low:+.3f} to {found.high:+.3f})"
            p = "" if contrast.adjusted is None else f"{contrast.adjusted:.3f}"
        claim = outcome.claim
        compared = f"{claim.metric}: “{claim.better}” over “{claim.worse}”"
        who = "the study" if claim.is_known else "its design asks"
        yield _line([claim.said, who, compared, difference, p, pairs, outcome.verdict])


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
