"""Two runs on the same cases: overall, by tag, type and country, and case by case."""

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from ombud.errors import LabError
from ombud.lab.metrics.losses import found_evidence
from ombud.lab.metrics.parsing import is_answer_metric, measure_of, parse_metric
from ombud.lab.report.summary import GROUPS, Group, MetricSummary, cluster_of, groups_of, summarise
from ombud.lab.statistics import Comparison, compare, holm, mcnemar
from ombud.store import Store, find_run, read_observations, read_scores, score_versions
from ombud.types import Case, Observation, Run, Score


@dataclass(frozen=True, slots=True)
class RecordedRun:
    """A run with all that was observed and scored, in the order of its dataset."""

    run: Run
    observations: tuple[Observation, ...]
    scores: tuple[Score, ...]
    versions: frozenset[int] = frozenset()
    """Of the metrics' formulas."""

    @property
    def cases(self) -> tuple[Case, ...]:
        return tuple(seen.case for seen in self.observations)

    @property
    def metrics(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(score.metric for score in self.scores))

    def values(self, metric: str) -> dict[str, Score]:
        """Case id -> its score."""
        return {score.case_id: score for score in self.scores if score.metric == metric}

    def summary(self, by: Sequence[Group] = GROUPS) -> tuple[MetricSummary, ...]:
        return summarise(self.cases, self.scores, by=by)

    def where_found(self) -> "RecordedRun":
        """The cases whose evidence came back from the search, so that answers are not blamed for
        what it missed."""
        kept = tuple(
            seen for seen in self.observations if seen.case.evidence and found_evidence(seen)
        )
        ids = {seen.case.id for seen in kept}
        scores = tuple(
            score
            for score in self.scores
            if score.case_id in ids and is_answer_metric(score.metric)
        )
        return replace(self, observations=kept, scores=scores)


@dataclass(frozen=True, slots=True)
class Contrast:
    """One metric over one group of cases, second minus first."""

    metric: str
    group: Group
    name: str
    first: float | None
    """Mean over the pairs."""
    second: float | None
    comparison: Comparison
    lost: int
    """Cases that have a value in the first run only."""
    won: int
    """Cases that have a value in the second run only."""
    adjusted: float | None = None
    """p after Holm's correction over everything of its kind: all metrics overall, all countries in
    all metrics, …"""
    within: float | None = None
    """p after Holm's correction over the names of this metric's group alone."""
    mcnemar: float | None = None
    """Exact p of pass/fail metrics, whose values are all 0 or 1."""

    @property
    def better(self) -> bool | None:
        """Whether the second is better beyond noise; False where it is worse, None where nothing is
        certain."""
        return self._moved(self.adjusted)

    @property
    def better_within(self) -> bool | None:
        """The same among the names of this metric's group alone: only for a metric that moved
        overall."""
        return self._moved(self.within)

    def _moved(self, p: float | None) -> bool | None:
        way, moved = direction(self.metric), self.comparison.difference
        return None if not way or moved is None or p is None or p > LEVEL else moved * way > 0


LEVEL = 0.05
"""Of a difference that counts, after correction."""


@dataclass(frozen=True, slots=True)
class CaseDifference:
    """One case's difference in one metric."""

    case: Case
    metric: str
    first: Score
    second: Score

    @property
    def difference(self) -> float | None:
        """Second minus first; None where one side has no value."""
        if self.first.value is None or self.second.value is None:
            return None
        return self.second.value - self.first.value


def direction(metric: str) -> int:
    """1 where higher is better, -1 where lower is, 0 where neither; raises UnknownName."""
    return {"higher": 1, "lower": -1, "neither": 0}[measure_of(parse_metric(metric).name).better]


def read_run(store: Store, named: str) -> RecordedRun:
    """A run by id, name or `last`; raises NotFound."""
    run = find_run(store, named)
    seen = tuple(observation for _, observation in read_observations(store, run.id))
    return RecordedRun(
        run, seen, tuple(read_scores(store, run.id)), frozenset(score_versions(store, run.id))
    )


def compare_runs(
    first: RecordedRun,
    second: RecordedRun,
    by: Sequence[Group] = GROUPS,
    metrics: Sequence[str] = (),
) -> tuple[Contrast, ...]:
    """Every metric that both runs have, over the cases that both asked. Raises LabError when they
    share none.

    metrics: these only; p is corrected for their number.
    """
    cases = shared_cases(first, second)
    both = [
        metric
        for metric in first.metrics
        if metric in second.metrics and (not metrics or metric in metrics)
    ]
    if not both:
        raise LabError(
            "The runs have no metric in common.",
            hint="`ombud lab rescore RUN --metrics …` adds some.",
        )
    rows: list[Contrast] = []
    for metric in both:
        a, b = first.values(metric), second.values(metric)
        groups: dict[tuple[Group, str], list[Case]] = {}
        for case in cases:
            for key in groups_of(case, by):
                groups.setdefault(key, []).append(case)
        ordered = sorted(groups, key=lambda key: (by.index(key[0]), key[1]))
        rows += [_contrast(metric, *key, groups[key], a, b) for key in ordered]
    return _corrected(rows)


def shared_cases(first: RecordedRun, second: RecordedRun) -> tuple[Case, ...]:
    """Cases that both runs asked in the same words; raises LabError when there are none."""
    known = {case.id: case for case in second.cases}
    cases = tuple(case for case in first.cases if case == known.get(case.id))
    if not cases:
        raise LabError(
            f"`{first.run.name}` and `{second.run.name}` have no case in common.",
            hint="Runs are compared on the same cases: use the same dataset and split.",
        )
    return cases


def changes(first: RecordedRun, second: RecordedRun, metric: str) -> tuple[CaseDifference, ...]:
    """The cases whose value differs: those that fell most first, then those with a value in one run
    only.

    Raises LabError when a run does not have the metric.
    """
    a, b = first.values(metric), second.values(metric)
    if bare := next((one.run for one, values in ((first, a), (second, b)) if not values), None):
        hint = f"`ombud lab rescore {bare.id} --metrics {metric}` adds it."
        raise LabError(f"Run {bare.id} ({bare.name}) has no `{metric}`.", hint=hint)
    found = [
        CaseDifference(case, metric, a[case.id], b[case.id])
        for case in shared_cases(first, second)
        if case.id in a and case.id in b and a[case.id].value != b[case.id].value
    ]
    sign = direction(metric) or 1
    return tuple(
        sorted(found, key=lambda change: (sign * (change.difference or 0.0), change.case.id))
    )


def _contrast(
    metric: str,
    group: Group,
    name: str,
    cases: Sequence[Case],
    a: Mapping[str, Score],
    b: Mapping[str, Score],
) -> Contrast:
    left = [a[case.id].value if case.id in a else None for case in cases]
    right = [b[case.id].value if case.id in b else None for case in cases]
    pairs = [(x, y) for x, y in zip(left, right, strict=True) if x is not None and y is not None]
    binary = bool(pairs) and all(value in (0.0, 1.0) for pair in pairs for value in pair)
    return Contrast(
        metric,
        group,
        name,
        first=sum(x for x, _ in pairs) / len(pairs) if pairs else None,
        second=sum(y for _, y in pairs) / len(pairs) if pairs else None,
        comparison=compare(left, right, [cluster_of(case) for case in cases]),
        lost=sum(x is not None and y is None for x, y in zip(left, right, strict=True)),
        won=sum(x is None and y is not None for x, y in zip(left, right, strict=True)),
        mcnemar=mcnemar(sum(x > y for x, y in pairs), sum(y > x for x, y in pairs))
        if binary
        else None,
    )


def _corrected(rows: Iterable[Contrast]) -> tuple[Contrast, ...]:
    """Overall over the metrics; by country, type and tag over all their names and metrics.

    `within` is over the names of one metric alone: it says where a metric fell that is known to
    have fallen."""
    listed = list(rows)
    adjusted = _holm(listed, lambda row: (row.group,))
    within = _holm(listed, lambda row: (row.group, row.metric))
    return tuple(
        replace(row, adjusted=adjusted.get(at), within=within.get(at))
        for at, row in enumerate(listed)
    )


def _holm(rows: Sequence[Contrast], family_of: Callable[[Contrast], Hashable]) -> dict[int, float]:
    """Place of a row -> its p, corrected inside its family."""
    families: dict[Hashable, dict[str, float]] = {}
    for place, row in enumerate(rows):
        if row.comparison.p is not None:
            families.setdefault(family_of(row), {})[str(place)] = row.comparison.p
    return {int(place): p for ps in families.values() for place, p in holm(ps).items()}
