"""Two runs on the same cases: overall, by tag, type and country, and case by case."""

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from ombud.errors import LabError
from ombud.lab.metrics.losses import found_evidence
from ombud.lab.metrics.parsing import find_measure, is_answer_metric, measure_of, parse_metric
from ombud.lab.report.summary import (
    COMPARED,
    GROUPS,
    Group,
    MetricSummary,
    cluster_of,
    group_cases,
    summarise,
)
from ombud.lab.statistics import (
    Comparison,
    compare,
    holm,
    mcnemar,
    mean,
    most_that_differ,
    smallest_difference,
)
from ombud.store import (
    JudgeCosts,
    Store,
    StoredAlignment,
    find_run,
    judge_costs,
    list_alignments,
    read_observations,
    read_scores,
    score_versions,
)
from ombud.types import Case, Observation, Run, Score


@dataclass(frozen=True, slots=True)
class RecordedRun:
    """A run with all that was observed and scored, in the order of its dataset."""

    run: Run
    observations: tuple[Observation, ...]
    scores: tuple[Score, ...]
    versions: Mapping[str, frozenset[tuple[str, int]]] = field(default_factory=dict)
    """Metric -> (who gave it, version of its formula)."""
    alignments: tuple[StoredAlignment, ...] = ()
    """Of judges with people; of any metric."""
    judging: JudgeCosts | None = None

    @property
    def cases(self) -> tuple[Case, ...]:
        return tuple(seen.case for seen in self.observations)

    @property
    def metrics(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(score.metric for score in self.scores))

    def values(self, metric: str) -> dict[str, Score]:
        """Map each case id to its score."""
        scores = {}
        for score in self.scores:
            if score.metric == metric:
                scores[score.case_id] = score
        return scores

    def summary(
        self, by: Sequence[Group] = GROUPS, metrics: Sequence[str] = ()
    ) -> tuple[MetricSummary, ...]:
        """Summarise these metrics, or all if none are named."""
        scores = [score for score in self.scores if not metrics or score.metric in metrics]
        return summarise(self.cases, scores, by=by)

    def overall(self, metric: str) -> MetricSummary:
        """Summarise one metric over all cases that have it."""
        lines = self.summary(["overall"], [metric])
        return lines[0] if lines else MetricSummary(metric, "overall", "", mean([]))

    def where_found(self) -> "RecordedRun":
        """Restrict the run to cases whose evidence was retrieved, so that answers are not blamed
        for what the search missed."""
        retrieved = []
        for seen in self.observations:
            if seen.case.evidence and found_evidence(seen):
                retrieved.append(seen)
        ids = {seen.case.id for seen in retrieved}
        scores = []
        for score in self.scores:
            if score.case_id in ids and is_answer_metric(score.metric):
                scores.append(score)
        return replace(self, observations=tuple(retrieved), scores=tuple(scores))


@dataclass(frozen=True, slots=True)
class Contrast:
    """Difference in one metric over one group of cases: second run minus first."""

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
    all metrics, … A primary metric is of a kind of its own."""
    within: float | None = None
    """p after Holm's correction over the names of this metric's group alone."""
    mcnemar: float | None = None
    """Exact p of pass/fail metrics, whose values are all 0 or 1."""

    @property
    def better(self) -> bool | None:
        """Tell whether the second run is better beyond noise; False if it is worse, None if
        uncertain."""
        return self.moved(self.adjusted)

    @property
    def better_within(self) -> bool | None:
        """Tell the same after correction within this metric's group only; meant for a metric that
        moved overall."""
        return self.moved(self.within)

    def moved(self, p: float | None, level: float | None = None) -> bool | None:
        """Return whether the second is better where p is at most `level`; None where it is not."""
        sign = direction(self.metric)
        difference = self.comparison.difference
        if not sign or difference is None:
            return None
        if p is None or p > (LEVEL if level is None else level):
            return None
        return difference * sign > 0

    @property
    def verdict(self) -> str:
        """better, worse, higher, lower, within noise, the same or not compared."""
        comparison = self.comparison
        if comparison.difference is None or self.adjusted is None or not find_measure(self.metric):
            return "not compared"
        if comparison.difference == 0 == comparison.low == comparison.high:
            return "the same"
        if self.adjusted > LEVEL or comparison.difference == 0:
            return "within noise"
        if self.better is None:
            return "higher" if comparison.difference > 0 else "lower"
        return "better" if self.better else "worse"

    def loses_no_more(self, margin: float) -> bool | None:
        """Return whether the second loses no more than this against the first, by the interval: a
        test cannot show that two are alike. None where that cannot be told."""
        comparison = self.comparison
        if comparison.low is None or comparison.high is None or comparison.pairs < LEAST_PAIRS:
            return None
        sign = direction(self.metric) or 1
        worst, best = sorted((comparison.low * sign, comparison.high * sign))
        if worst == best:  # equal pairs: a bootstrap of them has no width, whatever their number
            span = span_of(self.metric)
            if span is None:
                return None
            worst -= span * most_that_differ(comparison.clusters)
        if worst >= -margin:
            return True
        return False if best < -margin else None


LATENCY = "latency"
LEAST_PAIRS = 20
"""For a claim that one loses no more than another."""
LEVEL = 0.05
"""Of a difference that counts, after correction."""


@dataclass(frozen=True, slots=True)
class CaseDifference:
    """Difference of one case in one metric."""

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
    """Return 1 if higher is better, -1 if lower is, 0 if neither; raises UnknownName."""
    return {"higher": 1, "lower": -1, "neither": 0}[measure_of(parse_metric(metric).name).better]


def span_of(metric: str) -> float | None:
    """Return how far the lowest value is from the highest; None without ends."""
    low, _, high = measure_of(parse_metric(metric).name).unit.rpartition("-")
    try:
        return float(high) - float(low)
    except ValueError:
        return None


def read_run(store: Store, named: str) -> RecordedRun:
    """Read a run by id, name or `last`; raises NotFound."""
    run = find_run(store, named)
    observations = [observation for _, observation in read_observations(store, run.id)]
    return RecordedRun(
        run=run,
        observations=tuple(observations),
        scores=tuple(read_scores(store, run.id)),
        versions={
            metric: frozenset(pairs) for metric, pairs in score_versions(store, run.id).items()
        },
        alignments=tuple(list_alignments(store)),
        judging=judge_costs(store, run.id),
    )


def compare_runs(
    first: RecordedRun,
    second: RecordedRun,
    by: Sequence[Group] = COMPARED,
    metrics: Sequence[str] = (),
    primary: str = "",
) -> tuple[Contrast, ...]:
    """Compare every metric that both runs have, over the cases that both asked. Raises LabError if
    they share none.

    metrics: these only; p is corrected for their number. primary: what the comparison is made for;
    its p is corrected for its groups alone, and others are not corrected for it.
    """
    cases = shared_cases(first, second)
    in_both = shared_metrics(first, second, metrics)
    if not in_both:
        apart = other_versions(first, second)
        why = f" in the same version ({', '.join(apart)} differ)" if apart else ""
        raise LabError(
            f"The runs have no metric in common{why}.",
            hint="`ombud lab run --rescore RUN --metrics …` adds some, and scores others again.",
        )
    groups = group_cases(cases, by)
    rows = []
    for metric in in_both:
        first_scores = first.values(metric)
        second_scores = second.values(metric)
        for (group, name), of_group in groups.items():
            pairs = _Paired(
                first=[_value(first_scores, case) for case in of_group],
                second=[_value(second_scores, case) for case in of_group],
                clusters=list(map(cluster_of, of_group)),
            )
            rows.append(_contrast(metric, group, name, pairs))
    return _corrected(rows, primary)


def shared_metrics(
    first: RecordedRun, second: RecordedRun, chosen: Sequence[str] = ()
) -> list[str]:
    """List the metrics that both runs have in the same version and by the same judge: the chosen
    ones or, if none are chosen, all but latency, which cannot be compared between runs made one
    after another."""
    shared = []
    for metric in first.metrics:
        wanted = metric in chosen if chosen else metric != LATENCY
        if metric in second.metrics and wanted:
            shared.append(metric)
    apart = set(other_versions(first, second))
    return [metric for metric in shared if metric not in apart]


def other_versions(first: RecordedRun, second: RecordedRun) -> list[str]:
    """List metrics that the runs have from different formulas, rubrics or judges: they cannot be
    compared until one run is scored again."""
    apart: list[str] = []
    for metric in first.metrics:
        both = first.versions.get(metric, frozenset()) | second.versions.get(metric, frozenset())
        if metric in second.metrics and len(both) > 1:
            apart.append(metric)
    return apart


def _value(scores: Mapping[str, Score], case: Case) -> float | None:
    score = scores.get(case.id)
    return score.value if score else None


def shared_cases(first: RecordedRun, second: RecordedRun) -> tuple[Case, ...]:
    """List the cases that both runs asked in the same words; raises LabError if there are none."""
    by_id = {case.id: case for case in second.cases}
    cases = tuple(case for case in first.cases if case == by_id.get(case.id))
    if not cases:
        raise LabError(
            f"`{first.run.name}` and `{second.run.name}` have no case in common.",
            hint="Runs are compared on the same cases: use the same dataset and split.",
        )
    return cases


def changes(first: RecordedRun, second: RecordedRun, metric: str) -> tuple[CaseDifference, ...]:
    """List the cases whose value differs: the largest falls first, then those with a value in one
    run only.

    Raises LabError when a run does not have the metric.
    """
    before = first.values(metric)
    after = second.values(metric)
    for run, scores in ((first.run, before), (second.run, after)):
        if not scores:
            raise LabError(
                f"Run {run.id} ({run.name}) has no `{metric}`.",
                hint=f"`ombud lab run --rescore {run.id} --metrics {metric}` adds it.",
            )
    differences = []
    for case in shared_cases(first, second):
        if case.id not in before or case.id not in after:
            continue
        change = CaseDifference(
            case=case,
            metric=metric,
            first=before[case.id],
            second=after[case.id],
        )
        if change.first.value != change.second.value:
            differences.append(change)
    sign = direction(metric) or 1

    def order(change: CaseDifference) -> tuple[float, str]:
        gain = sign * (change.difference or 0.0)
        return gain, change.case.id

    return tuple(sorted(differences, key=order))


class _Paired(NamedTuple):
    """Values of the same cases in two runs; position i of all three is case i."""

    first: Sequence[float | None]
    second: Sequence[float | None]
    clusters: Sequence[str]

    def complete(self) -> list[tuple[float, float]]:
        """List the pairs of the cases that have a value in both runs."""
        pairs = []
        for first, second in zip(self.first, self.second, strict=True):
            if first is not None and second is not None:
                pairs.append((first, second))
        return pairs


def _contrast(metric: str, group: Group, name: str, values: _Paired) -> Contrast:
    pairs = values.complete()
    return Contrast(
        metric=metric,
        group=group,
        name=name,
        first=_mean([first for first, _ in pairs]),
        second=_mean([second for _, second in pairs]),
        comparison=compare(values.first, values.second, values.clusters),
        lost=_valid(values.first) - len(pairs),
        won=_valid(values.second) - len(pairs),
        mcnemar=_exact_p(pairs),
    )


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None


def _valid(values: Sequence[float | None]) -> int:
    return len(values) - list(values).count(None)


def _exact_p(pairs: Sequence[tuple[float, float]]) -> float | None:
    """None where some value is neither 0 nor 1."""
    only_first = 0
    only_second = 0
    for first, second in pairs:
        if not {first, second} <= {0.0, 1.0}:
            return None
        only_first += first > second
        only_second += second > first
    return mcnemar(only_first, only_second) if pairs else None


def correct_together(rows: Sequence[Contrast]) -> list[Contrast]:
    """Correct p by Holm over all rows, and with it what so many cases could show."""
    adjusted = _holm(rows, lambda _: None)
    corrected: list[Contrast] = []
    for place, row in enumerate(rows):
        comparison = _detectable(row, len(adjusted))
        corrected.append(replace(row, comparison=comparison, adjusted=adjusted.get(place)))
    return corrected


def _corrected(rows: Iterable[Contrast], primary: str) -> tuple[Contrast, ...]:
    """Overall over the metrics; by country, type and tag over all their names and metrics.

    `within` is over the names of one metric alone: it says where a metric fell that is known to
    have fallen."""
    listed = list(rows)

    def family(row: Contrast) -> Hashable:
        return row.group, row.metric == primary

    adjusted = _holm(listed, family)
    within = _holm(listed, lambda row: (row.group, row.metric))
    together = Counter(family(row) for row in listed if row.comparison.p is not None)
    corrected = []
    for place, row in enumerate(listed):
        with_p = replace(row, adjusted=adjusted.get(place), within=within.get(place))
        corrected.append(replace(with_p, comparison=_detectable(row, together[family(row)])))
    return tuple(corrected)


def _detectable(row: Contrast, comparisons: int) -> Comparison:
    """Compute the smallest difference that the cases can show when so many rows are corrected
    together."""
    comparison = row.comparison
    if comparison.error is None:
        return comparison
    least = smallest_difference(
        comparison.error, comparison.clusters, comparisons=max(1, comparisons)
    )
    return replace(comparison, detectable=least)


def _holm(rows: Sequence[Contrast], family_of: Callable[[Contrast], Hashable]) -> dict[int, float]:
    """Place of a row -> its p, corrected inside its family."""
    families: dict[Hashable, dict[int, float]] = {}
    for place, row in enumerate(rows):
        if row.comparison.p is not None:
            families.setdefault(family_of(row), {})[place] = row.comparison.p
    corrected: dict[int, float] = {}
    for family in families.values():
        corrected |= holm(family)
    return corrected
