"""The deviation detector: did anything get worse, beyond noise?"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from xml.etree import ElementTree

from ombud.errors import LabError
from ombud.lab.report.comparing import (
    LEVEL,
    CaseDifference,
    Contrast,
    RecordedRun,
    changes,
    compare_runs,
    direction,
    shared_cases,
)
from ombud.lab.report.summary import groups_of
from ombud.lab.statistics import mcnemar
from ombud.types import Case

SHOWN = 5
"""Cases named under a fall."""
NOISY = {"latency"}
"""Not looked at unless asked for: a busy machine is no regression."""


@dataclass(frozen=True, slots=True)
class Fall:
    """One reason not to pass."""

    said: str
    contrast: Contrast | None = None
    worst: tuple[CaseDifference, ...] = ()


@dataclass(frozen=True, slots=True)
class Verdict:
    falls: tuple[Fall, ...]
    checked: tuple[str, ...]
    """Metrics that were looked at."""
    cases: int

    @property
    def passed(self) -> bool:
        return not self.falls


def check_gate(
    baseline: RecordedRun, candidate: RecordedRun, metrics: Sequence[str] = ()
) -> Verdict:
    """What fell in the candidate: overall, by tag, type and country, each paired and corrected for
    their number.

    Where a metric fell overall, the groups are named in which it did; elsewhere a group must fall
    so clearly that it stands out among all groups in all metrics. So an unchanged but noisy target
    seldom fails.

    metrics: those to look at; without it all that both runs have and that can be better or worse,
    latency left out. Raises LabError for runs that are not finished or share no case, and for a
    metric that cannot be looked at."""
    for run in (baseline.run, candidate.run):
        if run.state != "done":
            raise LabError(
                f"Run {run.id} ({run.name}) is not finished.",
                hint="Run it again: it goes on where it was.",
            )
    cases = shared_cases(baseline, candidate)
    looked = _looked_at(baseline, candidate, metrics)
    rows = compare_runs(baseline, candidate, metrics=looked)
    overall = {row.metric for row in rows if row.group == "overall" and row.better is False}
    fallen = [
        row
        for row in rows
        if row.better is False or (row.metric in overall and row.better_within is False)
    ]
    moved = {
        metric: changes(baseline, candidate, metric)
        for metric in dict.fromkeys(row.metric for row in fallen)
    }
    falls = [*_missing(baseline, cases), *_failures(baseline, candidate, cases), *_lost(rows)]
    falls += [_fall(row, moved[row.metric]) for row in fallen]
    return Verdict(tuple(falls), tuple(looked), len(cases))


def as_junit(verdict: Verdict, name: str) -> str:
    """The verdict as JUnit XML: a test a metric, and one for what concerns no metric."""
    suite = ElementTree.Element("testsuite", name=_printable(name))
    for metric in (*verdict.checked, "cases"):
        test = ElementTree.SubElement(
            suite, "testcase", classname="ombud.lab.report.gating", name=metric
        )
        mine = [
            fall
            for fall in verdict.falls
            if (fall.contrast.metric if fall.contrast else "cases") == metric
        ]
        if mine:
            failure = ElementTree.SubElement(test, "failure", message=_printable(mine[0].said))
            failure.text = _printable("\n".join(line for fall in mine for line in _lines(fall)))
    failures = len(suite.findall("testcase/failure"))
    suite.attrib |= {"tests": str(len(suite)), "failures": str(failures)}
    return ElementTree.tostring(suite, encoding="unicode") + "\n"


def _printable(text: str) -> str:
    """XML has no place for control characters."""
    return "".join(c for c in text if c.isprintable() or c == "\n")


def _lines(fall: Fall) -> list[str]:
    return [fall.said, *(f"    {change.case.id}: {change.case.question}" for change in fall.worst)]


def _looked_at(baseline: RecordedRun, candidate: RecordedRun, chosen: Sequence[str]) -> list[str]:
    """A gate that silently looks at less than it was told to would pass for the wrong reason."""
    both = [metric for metric in baseline.metrics if metric in candidate.metrics]
    lacking = [metric for metric in chosen if metric not in both]
    looked = list(chosen) or [
        metric for metric in both if metric not in NOISY and direction(metric)
    ]
    if lacking or not looked:
        some = ", ".join(f"`{metric}`" for metric in lacking) or "a metric that can fall"
        raise LabError(
            f"The runs do not both have {some}.",
            hint="`ombud lab rescore RUN --metrics …` adds some.",
        )
    if idle := next((metric for metric in looked if not direction(metric)), None):
        raise LabError(
            f"`{idle}` cannot fall: neither more nor less of it is better.",
            hint="Choose other metrics.",
        )
    return looked


def _missing(baseline: RecordedRun, cases: Sequence[Case]) -> list[Fall]:
    gone = len(baseline.observations) - len(cases)
    return (
        [Fall(f"Of the baseline's cases {gone} were not asked, or have changed since.")]
        if gone
        else []
    )


def _lost(rows: Sequence[Contrast]) -> list[Fall]:
    """Where no case has a value in both runs nothing was compared, and that is no pass."""
    bare = [row for row in rows if row.group == "overall" and row.lost and not row.comparison.pairs]
    said = "{} could not be compared: the {} cases that had a value have none any more."
    return [Fall(said.format(row.metric, row.lost), row) for row in bare]


def _failures(baseline: RecordedRun, candidate: RecordedRun, cases: Sequence[Case]) -> list[Fall]:
    """A case that the target failed has no value, so that no mean shows it."""
    asked = {case.id for case in cases}
    before = {
        seen.case.id for seen in baseline.observations if seen.error and seen.case.id in asked
    }
    after = {
        seen.case.id: seen.error
        for seen in candidate.observations
        if seen.error and seen.case.id in asked
    }
    new = [case for case in after if case not in before]
    if not new or mcnemar(len(before - after.keys()), len(new)) > LEVEL:
        return []
    return [
        Fall(
            f"The target failed {len(new)} cases that it answered before, such as {new[0]}: {after[new[0]]}"
        )
    ]


def _fall(row: Contrast, moved: Sequence[CaseDifference]) -> Fall:
    found = row.comparison
    where = f" for {row.group} {row.name}" if row.name else ""
    between = (
        f" ({found.low:+.3f} to {found.high:+.3f})"
        if found.low is not None and found.high is not None
        else ""
    )
    said = (
        f"{row.metric}{where} went from {row.first:.3f} to {row.second:.3f}: {found.difference:+.3f}{between}, "
        f"p {max(row.comparison.p or 0.0, 0.0001):.4f} over {found.pairs} cases."
    )
    # Fewer than six falls are no fall beyond noise: the first ones all got worse.
    inside = (change for change in moved if (row.group, row.name) in groups_of(change.case))
    return Fall(said, row, tuple(islice(inside, SHOWN)))
