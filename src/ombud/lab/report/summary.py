"""From scores to the table: every mean by metric, overall and by tag, type and country."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal, get_args

from ombud.errors import LabError
from ombud.lab.statistics import Mean, mean
from ombud.types import Case, Score

Group = Literal["overall", "tag", "type", "country"]
GROUPS: tuple[Group, ...] = get_args(Group)
NO_COUNTRY = "none"


@dataclass(frozen=True, slots=True)
class MetricSummary:
    """One metric over one group of cases."""

    metric: str
    group: Group
    name: str
    """The tag, type or country; empty overall, `none` for cases without a country."""
    mean: Mean
    reasons: dict[str, int] = field(default_factory=dict)
    """Why values are missing -> how often, most frequent first."""


def summarise(
    cases: Iterable[Case],
    scores: Iterable[Score],
    *,
    by: Sequence[Group] = GROUPS,
    seed: int = 0,
    repeats: int = 2000,
) -> tuple[MetricSummary, ...]:
    """Lines by metric (in order of appearance), then group, then name.

    A case with two tags counts in both. Intervals are clustered by `cluster_of`. Raises LabError
    for a score of a case that is not given."""
    known = {case.id: case for case in cases}
    cells: dict[str, dict[tuple[Group, str], list[Score]]] = {}
    for score in scores:
        if score.case_id not in known:
            raise LabError(
                f"A score belongs to case `{score.case_id}`, which is not in the dataset."
            )
        for key in groups_of(known[score.case_id], by):
            cells.setdefault(score.metric, {}).setdefault(key, []).append(score)
    return tuple(
        _line(metric, group, name, groups[group, name], known, seed, repeats)
        for metric, groups in cells.items()
        for group, name in sorted(groups, key=lambda key: (by.index(key[0]), key[1]))
    )


def cluster_of(case: Case) -> str:
    """The first evidence document's uri, else the case's own id: cases about one document are not
    independent."""
    return case.evidence[0].document if case.evidence else f"case {case.id}"


def summary_markdown(lines: Iterable[MetricSummary]) -> str:
    """A Markdown table; values to three digits, coverage beside every mean."""
    head = "| metric | group | mean | 95 % interval | median | n |\n|---|---|---:|---:|---:|---:|\n"
    return head + "".join(_row(line) for line in lines)


def groups_of(case: Case, by: Sequence[Group] = GROUPS) -> list[tuple[Group, str]]:
    """(group, name) of everything a case counts in."""
    names: dict[Group, tuple[str, ...]] = {
        "overall": ("",),
        "tag": tuple(dict.fromkeys(case.tags)),
        "type": (case.type,),
        "country": (case.person.country or NO_COUNTRY,),
    }
    return [(group, name) for group in by for name in names[group]]


def _line(
    metric: str,
    group: Group,
    name: str,
    scores: Sequence[Score],
    known: dict[str, Case],
    seed: int,
    repeats: int,
) -> MetricSummary:
    clusters = [cluster_of(known[score.case_id]) for score in scores]
    figures = mean([score.value for score in scores], clusters, seed=seed, repeats=repeats)
    reasons = Counter(score.reason or "no reason given" for score in scores if score.value is None)
    return MetricSummary(metric, group, name, figures, dict(reasons.most_common()))


def _row(line: MetricSummary) -> str:
    mean_, low, high, middle = (
        "" if value is None else f"{value:.3f}"
        for value in (line.mean.value, line.mean.low, line.mean.high, line.mean.median)
    )
    name = f"{line.group} {line.name}".strip().replace("|", "\\|")
    between = f"{low} to {high}" if low else ""
    return f"| {line.metric} | {name} | {mean_} | {between} | {middle} | {line.mean.valid}/{line.mean.total} |\n"
