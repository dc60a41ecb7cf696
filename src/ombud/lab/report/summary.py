"""From scores to the table: every mean by metric, overall and by tag, type, country, persona, and
by what a type tests."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal, get_args

from ombud.errors import LabError
from ombud.lab.judges.asking import INVALID
from ombud.lab.statistics import Mean, mean
from ombud.types import Case, CaseType, Score

Group = Literal["overall", "tag", "type", "country", "persona", "tests"]
GROUPS: tuple[Group, ...] = get_args(Group)
COMPARED: tuple[Group, ...] = ("overall", "tag", "type", "country")
"""Those in which runs are compared unless told otherwise: each more asks for a clearer
difference."""
TESTS: dict[CaseType, tuple[str, ...]] = {
    "simple": ("generator", "retriever", "router"),
    "complex": ("generator", "retriever"),
    "distracting": ("generator", "retriever", "rewriter"),
    "situational": ("generator",),
    "complex_situational": ("generator",),
    "double": ("generator", "rewriter"),
    "vague": ("generator", "rewriter"),
    "comparative": ("generator", "rewriter"),
    "rule_conclusion": ("generator", "rewriter"),
    "conversational": ("rewriter",),
    "off_topic": ("triage", "prompt"),
    "unanswerable": ("triage", "prompt"),
    "incoherent": ("triage", "prompt"),
    "sensitive": ("triage", "prompt"),
}
"""Type of question -> the components that it tests (HyPA-RAG, Kalra et al. 2024; triage is
ours)."""
NO_COUNTRY = "none"


@dataclass(frozen=True, slots=True)
class MetricSummary:
    """Mean of one metric over one group of cases."""

    metric: str
    group: Group
    name: str
    """The tag, type, country, persona or component; empty overall, `none` for cases without a
    country."""
    mean: Mean
    reasons: dict[str, int] = field(default_factory=dict)
    """Why values are missing -> how often, most frequent first."""

    @property
    def invalid(self) -> int:
        """Count verdicts that a judge gave in no form that can be read."""
        return sum(count for why, count in self.reasons.items() if why.startswith(INVALID))


def summarise(
    cases: Iterable[Case],
    scores: Iterable[Score],
    *,
    by: Sequence[Group] = GROUPS,
    seed: int = 0,
) -> tuple[MetricSummary, ...]:
    """Summarise by metric (in order of appearance), then group, then name.

    A case with two tags counts in both. Intervals are clustered by `cluster_of`. Raises LabError
    for a score of a case that is not given."""
    by_id = {case.id: case for case in cases}
    by_metric: dict[str, list[Score]] = {}
    for score in scores:
        if score.case_id not in by_id:
            raise LabError(
                f"A score belongs to case `{score.case_id}`, which is not in the dataset."
            )
        by_metric.setdefault(score.metric, []).append(score)
    lines = []
    for metric, of_metric in by_metric.items():
        cells: dict[tuple[Group, str], list[Score]] = {}
        for score in of_metric:
            for key in groups_of(by_id[score.case_id], by):
                cells.setdefault(key, []).append(score)
        for key in sorted(cells, key=lambda key: (by.index(key[0]), key[1])):
            clusters = []
            values = []
            for score in cells[key]:
                clusters.append(cluster_of(by_id[score.case_id]))
                values.append(score.value)
            line = MetricSummary(
                metric=metric,
                group=key[0],
                name=key[1],
                mean=mean(values, clusters, seed=seed),
                reasons=_reasons(cells[key]),
            )
            lines.append(line)
    return tuple(lines)


def cluster_of(case: Case) -> str:
    """Return the first evidence document's uri, or the case's own id: cases about one document are
    not independent."""
    return case.evidence[0].document if case.evidence else f"case {case.id}"


def groups_of(case: Case, by: Sequence[Group] = GROUPS) -> list[tuple[Group, str]]:
    """Yield (group, name) for everything that a case counts in."""
    names: dict[Group, tuple[str, ...]] = {
        "overall": ("",),
        "tag": tuple(dict.fromkeys(case.tags)),
        "type": (case.type,),
        "country": (case.person.country or NO_COUNTRY,),
        "persona": (case.person.persona,),
        "tests": TESTS[case.type],
    }
    groups: list[tuple[Group, str]] = []
    for group in by:
        for name in names[group]:
            groups.append((group, name))
    return groups


def group_cases(
    cases: Iterable[Case], by: Sequence[Group] = GROUPS
) -> dict[tuple[Group, str], list[Case]]:
    """Map (group, name) to its cases; groups in the order of `by`, names in alphabetical order."""
    groups: dict[tuple[Group, str], list[Case]] = {}
    for case in cases:
        for key in groups_of(case, by):
            groups.setdefault(key, []).append(case)
    ordered = sorted(groups, key=lambda key: (by.index(key[0]), key[1]))
    return {key: groups[key] for key in ordered}


def _reasons(scores: Iterable[Score]) -> dict[str, int]:
    """Count why values are missing, most frequent first."""
    reasons: Counter[str] = Counter()
    for score in scores:
        if score.value is None:
            reasons[score.reason or "no reason given"] += 1
    return dict(reasons.most_common())
