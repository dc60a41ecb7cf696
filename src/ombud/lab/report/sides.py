"""The runs of a report: their letters and figures, and how each differs from the first."""

from collections import Counter
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, replace
from math import ceil

from ombud.errors import LabError
from ombud.lab.metrics.parsing import TIMED
from ombud.lab.report.accounting import PathCost, costs_by_path
from ombud.lab.report.comparing import LATENCY, Contrast, RecordedRun, compare_runs
from ombud.lab.report.summary import COMPARED, Group, MetricSummary, groups_of
from ombud.lab.report.wording import is_share, metric_name
from ombud.types import Case, Observation, Score, Trace

REPORT_GROUPS: tuple[Group, ...] = ("type", "tests", "country", "persona", "tag")
FAMILIES = (
    ("quote_recall", "page_recall", "recall", "hit", "ndcg", "mrr"),
    ("citation_recall", "token_f1", "rouge_l", "semantic_similarity", "number_agreement"),
    ("outcome_accuracy", "action_accuracy"),
    ("warm_latency", "latency"),
    ("price",),
)
"""Of each family the first metric that was measured is a key figure."""
MOST_NAMES = 60
"""Names of a group in a table."""


@dataclass(frozen=True, slots=True)
class Side:
    """A run as the report names it."""

    letter: str
    place: int
    recorded: RecordedRun
    lines: Mapping[tuple[str, Group, str], MetricSummary]
    """(metric, group, name) -> figures; types, countries and tags of key figures only."""
    values: Mapping[str, Mapping[str, Score]]
    seen: Mapping[Case, Observation]

    @property
    def label(self) -> str:
        return f"{self.letter} · {self.recorded.run.name}"

    @property
    def seconds(self) -> list[float]:
        times = []
        for seen in self.recorded.observations:
            if seen.seconds is not None:
                times.append(seen.seconds)
        return sorted(times)

    @property
    def warm(self) -> list[float]:
        """Seconds that were measured in turn with the other runs."""
        times = []
        for score in self.values.get(TIMED, {}).values():
            if score.value is not None:
                times.append(score.value)
        return sorted(times)

    @property
    def failed(self) -> int:
        return sum(bool(seen.error) for seen in self.recorded.observations)

    @property
    def traces(self) -> list[Trace]:
        traces = []
        for seen in self.recorded.observations:
            if seen.answer:
                traces.append(seen.answer.trace)
        return traces

    @property
    def costs(self) -> list[PathCost]:
        return costs_by_path(self.traces)

    @property
    def models(self) -> list[str]:
        return list(dict.fromkeys(trace.model for trace in self.traces if trace.model))

    def line(self, metric: str, group: Group = "overall", name: str = "") -> MetricSummary | None:
        return self.lines.get((metric, group, name))


@dataclass(frozen=True, slots=True)
class MetricContrast:
    """Difference between two runs in one metric."""

    contrast: Contrast
    together: int = 1
    """Metrics, or groups, that were compared at once."""

    @property
    def verdict(self) -> str:
        return self.contrast.verdict

    @property
    def why(self) -> str:
        """Why an interval that leaves out 0 is called noise all the same; else empty."""
        comparison = self.contrast.comparison
        if self.verdict != "within noise" or comparison.low is None or comparison.high is None:
            return ""
        if (
            comparison.low <= 0 <= comparison.high
            or comparison.p is None
            or self.contrast.adjusted is None
        ):
            return ""
        return (
            f"its interval leaves out 0, but of {self.together} compared at once one does by "
            f"chance now and then: p {comparison.p:.3f} alone, "
            f"{self.contrast.adjusted:.3f} among them"
        )


@dataclass(frozen=True, slots=True)
class SideComparison:
    """A run against the first one."""

    side: Side
    pairs: tuple[MetricContrast, ...]
    moved: tuple[MetricContrast, ...]
    """Types, countries and tags in which the leading metric moved beyond noise."""

    def judged(self, *verdicts: str) -> list[MetricContrast]:
        return [pair for pair in self.pairs if pair.verdict in verdicts]


def sides_of(runs: Sequence[RecordedRun], leading: str = "") -> list[Side]:
    """Give the runs their letters. leading: whose types, countries and tags are shown too. Raises
    LabError if there is no run."""
    if not runs:
        raise LabError(
            "There is nothing to report: no run was named.", hint="`ombud lab show` lists them."
        )
    grouped = {leading, *filter(is_share, key_metrics(metrics_of(runs)))}
    shared = set.intersection(*(set(recorded.cases) for recorded in runs))
    return [_side(place, recorded, grouped, shared) for place, recorded in enumerate(runs)]


def metrics_of(runs: Sequence[RecordedRun]) -> list[str]:
    """List every metric that one of the runs has. Latencies of runs made one after another are not
    shown side by side: the last looks fastest."""
    metrics: dict[str, None] = {}
    for recorded in runs:
        metrics |= dict.fromkeys(recorded.metrics)
    if len(runs) > 1:
        metrics.pop(LATENCY, None)
    return list(metrics)


def leading_metric(metrics: Sequence[str], chosen: str = "") -> str:
    """Choose what a report is about: the chosen metric, else the judged composite, else the first
    share; empty without any. Raises LabError where the chosen one was not measured."""
    if chosen and chosen not in metrics:
        raise LabError(f"No run has `{chosen}`.", hint=f"Measured: {', '.join(metrics)}.")
    composites = [metric for metric in metrics if metric_name(metric).endswith(".composite")]
    return chosen or next(iter(composites), "") or next(filter(is_share, metrics), "")


def key_metrics(metrics: Sequence[str]) -> list[str]:
    """Return the first measured metric of each family."""
    keys = []
    for family in FAMILIES:
        measured = _measured_of(family, metrics)
        if measured:
            keys.append(measured)
    return keys


def _measured_of(family: Sequence[str], metrics: Sequence[str]) -> str:
    """Return the first metric of the family that was measured; empty without one."""
    for name in family:
        for metric in metrics:
            if metric_name(metric) == name:
                return metric
    return ""


def compare_to_first(sides: Sequence[Side], leading: str) -> tuple[list[SideComparison], list[str]]:
    """Compare every run with the first, and explain why some could not be compared."""
    first = sides[0]
    comparisons = []
    reasons = []
    for side in sides[1:]:
        try:
            rows = compare_runs(first.recorded, side.recorded, by=("overall",))
        except LabError as error:
            reasons.append(f"{side.label}: {error}")
            continue
        moved = []
        if leading in first.values and leading in side.values:
            by_group = compare_runs(
                first.recorded, side.recorded, by=COMPARED[1:], metrics=(leading,)
            )
            for pair in _judged(by_group):
                if pair.verdict in {"better", "worse"}:
                    moved.append(pair)
        comparisons.append(SideComparison(side, tuple(_judged(rows)), tuple(moved)))
    return comparisons, reasons


def group_names(sides: Sequence[Side], group: Group) -> list[tuple[str, int]]:
    """List types, countries or others with their number of cases, the most frequent first; none if
    all have the same persona."""
    counts: Counter[str] = Counter()
    for case in cases_of(sides):
        for _, name in groups_of(case, (group,)):
            counts[name] += 1
    if group == "persona" and len(counts) < 2:
        return []
    return counts.most_common(MOST_NAMES)


def cases_of(sides: Sequence[Side]) -> list[Case]:
    """List every case that one of the runs asked."""
    cases: dict[Case, None] = {}
    for side in sides:
        cases |= dict.fromkeys(side.seen)
    return list(cases)


def timed_sides(sides: Sequence[Side]) -> list[tuple[Side, list[float]]]:
    """Choose runs with seconds that may stand beside each other: of several, those that were
    measured in turn, all together."""
    if len(sides) == 1:
        return [(side, side.seconds) for side in sides if side.seconds]
    together = {side.recorded.versions.get(TIMED) for side in sides}
    warm = [(side, side.warm) for side in sides if side.warm]
    return warm if len(warm) == len(sides) and len(together) == 1 else []


def percentile(ordered: Sequence[float], share: float) -> float:
    """Return the least value that this share of the values does not exceed."""
    return ordered[max(ceil(share * len(ordered)) - 1, 0)]


def _side(place: int, recorded: RecordedRun, grouped: set[str], shared: Set[Case]) -> Side:
    """grouped: metrics whose types, countries and tags are shown too. shared: cases that all runs
    asked, over which figures stand beside each other; where there are none, each has its own."""
    counted = _restricted(recorded, shared) if shared else recorded
    scores = tuple(score for score in counted.scores if score.metric in grouped)
    overall = counted.summary(by=("overall",))
    by_group = replace(counted, scores=scores).summary(by=REPORT_GROUPS)
    lines: dict[tuple[str, Group, str], MetricSummary] = {}
    for line in (*overall, *by_group):
        lines[line.metric, line.group, line.name] = line
    return Side(
        letter=chr(ord("A") + place) if place < 26 else str(place + 1),
        place=place,
        recorded=recorded,
        lines=lines,
        values={metric: recorded.values(metric) for metric in recorded.metrics},
        seen={seen.case: seen for seen in recorded.observations},
    )


def _restricted(recorded: RecordedRun, cases: Set[Case]) -> RecordedRun:
    observations = tuple(seen for seen in recorded.observations if seen.case in cases)
    ids = {case.id for case in cases}
    scores = tuple(score for score in recorded.scores if score.case_id in ids)
    return replace(recorded, observations=observations, scores=scores)


def _judged(rows: Sequence[Contrast]) -> list[MetricContrast]:
    counted = [row for row in rows if row.comparison.p is not None]
    return [MetricContrast(row, len(counted)) for row in rows]
