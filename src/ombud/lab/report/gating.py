"""The deviation detector: did anything get worse, beyond noise?"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from xml.etree import ElementTree

from ombud.errors import LabError
from ombud.lab.metrics.parsing import TIMED
from ombud.lab.people.reviewing import unreviewed
from ombud.lab.report.bar import BAR, below_bar
from ombud.lab.report.comparing import (
    LEVEL,
    CaseDifference,
    Contrast,
    RecordedRun,
    changes,
    compare_runs,
    direction,
    shared_cases,
    shared_metrics,
)
from ombud.lab.report.summary import groups_of
from ombud.lab.statistics import mcnemar
from ombud.types import Case

SHOWN = 5
"""Cases named under a fall."""
CASES = "cases"
"""What a fall concerns that is of no metric."""
NOISY = {TIMED}
"""Not looked at unless asked for: it says something only of runs that were timed together."""


@dataclass(frozen=True, slots=True)
class Fall:
    """One reason not to pass."""

    said: str
    contrast: Contrast | None = None
    worst: tuple[CaseDifference, ...] = ()

    @property
    def concerns(self) -> str:
        """The metric that fell, or `CASES`."""
        return self.contrast.metric if self.contrast else CASES


@dataclass(frozen=True, slots=True)
class Verdict:
    falls: tuple[Fall, ...]
    checked: tuple[str, ...]
    """Metrics that were looked at."""
    cases: int
    left_out: Mapping[str, str] = field(default_factory=dict)
    """Judged metrics that were not, and why their judge may not gate."""

    @property
    def passed(self) -> bool:
        return not self.falls


def check_gate(
    baseline: RecordedRun,
    candidate: RecordedRun,
    metrics: Sequence[str] = (),
    *,
    allow_unreviewed: bool = False,
    judge_bar: float = BAR,
) -> Verdict:
    """What fell in the candidate: overall, by tag, type and country, each paired and corrected for
    their number.

    Where a metric fell overall, the groups are named in which it did; elsewhere a group must fall
    so clearly that it stands out among all groups in all metrics. So an unchanged but noisy target
    seldom fails.

    metrics: those to look at; without it all that both runs have and that can be better or worse,
    latency left out. allow_unreviewed: synthetic cases count though nobody has accepted them.
    judge_bar: what `below_bar` asks of judges. Raises LabError for such cases, for runs that are
    not finished or share no case, and for a metric that cannot be looked at."""
    for run in (baseline.run, candidate.run):
        if run.state != "done":
            raise LabError(
                f"Run {run.id} ({run.name}) is not finished.",
                hint="Run it again: it goes on where it was.",
            )
    cases = shared_cases(baseline, candidate)
    if not allow_unreviewed:
        _check_reviewed(cases)
    left_out = below_bar((baseline, candidate), judge_bar)
    checked = _checked_metrics(baseline, candidate, metrics, left_out)
    rows = compare_runs(baseline, candidate, metrics=checked)
    falls = [
        *_missing_cases(baseline, cases),
        *_new_failures(baseline, candidate, cases),
        *_lost_values(rows),
    ]
    changed: dict[str, tuple[CaseDifference, ...]] = {}
    for row in _fallen(rows):
        if row.metric not in changed:
            changed[row.metric] = changes(baseline, candidate, row.metric)
        falls.append(_fall(row, changed[row.metric]))
    return Verdict(tuple(falls), tuple(checked), len(cases), left_out)


def _check_reviewed(cases: Sequence[Case]) -> None:
    found = unreviewed(cases)
    if found:
        raise LabError(
            f"{len(found)} of {len(cases)} cases are synthetic or harvested and nobody has "
            f"accepted them, such as {found[0]}.",
            hint="`ombud lab review DATASET` has people accept them; --unreviewed takes them as "
            "they are.",
        )


def _fallen(rows: Sequence[Contrast]) -> list[Contrast]:
    """Rows that fell on their own, and groups in which a metric fell that fell overall."""
    overall = set()
    for row in rows:
        if row.group == "overall" and row.better is False:
            overall.add(row.metric)
    fallen = []
    for row in rows:
        within = row.metric in overall and row.better_within is False
        if row.better is False or within:
            fallen.append(row)
    return fallen


def as_junit(verdict: Verdict, name: str) -> str:
    """The verdict as JUnit XML: a test a metric, and one for what concerns no metric."""
    suite = ElementTree.Element("testsuite", name=_printable(name))
    for metric in (*verdict.checked, CASES):
        test = ElementTree.SubElement(
            suite, "testcase", classname="ombud.lab.report.gating", name=metric
        )
        falls = [fall for fall in verdict.falls if fall.concerns == metric]
        if not falls:
            continue
        failure = ElementTree.SubElement(test, "failure", message=_printable(falls[0].said))
        lines: list[str] = []
        for fall in falls:
            lines += _lines(fall)
        failure.text = _printable("\n".join(lines))
    failures = len(suite.findall("testcase/failure"))
    suite.attrib |= {"tests": str(len(suite)), "failures": str(failures)}
    return ElementTree.tostring(suite, encoding="unicode") + "\n"


def _printable(text: str) -> str:
    """XML has no place for control characters."""
    return "".join(c for c in text if c.isprintable() or c == "\n")


def _lines(fall: Fall) -> list[str]:
    lines = [fall.said]
    for change in fall.worst:
        lines.append(f"    {change.case.id}: {change.case.question}")
    return lines


def _checked_metrics(
    baseline: RecordedRun,
    candidate: RecordedRun,
    chosen: Sequence[str],
    left_out: Mapping[str, str],
) -> list[str]:
    """A gate that silently looks at less than it was told to would pass for the wrong reason."""
    _check_judges(chosen, left_out)
    in_both = shared_metrics(baseline, candidate)
    missing = [f"`{metric}`" for metric in chosen if metric not in in_both]
    checked = list(chosen) or _usually_checked(in_both, left_out)
    if missing or not checked:
        wanted = ", ".join(missing) or "a metric that can fall"
        raise LabError(
            f"The runs do not both have {wanted}.",
            hint="`ombud lab rescore RUN --metrics …` adds some.",
        )
    flat = [metric for metric in checked if not direction(metric)]
    if flat:
        raise LabError(
            f"`{flat[0]}` cannot fall: neither more nor less of it is better.",
            hint="Choose other metrics.",
        )
    return checked


def _check_judges(chosen: Sequence[str], left_out: Mapping[str, str]) -> None:
    for metric in chosen:
        if metric in left_out:
            raise LabError(
                f"`{metric}` cannot gate: {left_out[metric]}.",
                hint=f"`ombud lab align --labels FILE --metric {metric}` holds it against people.",
            )


def _usually_checked(metrics: Sequence[str], left_out: Collection[str]) -> list[str]:
    without = NOISY.union(left_out)
    return [metric for metric in metrics if metric not in without and direction(metric)]


def _missing_cases(baseline: RecordedRun, cases: Sequence[Case]) -> list[Fall]:
    gone = len(baseline.observations) - len(cases)
    if not gone:
        return []
    return [Fall(f"Of the baseline's cases {gone} were not asked, or have changed since.")]


def _lost_values(rows: Sequence[Contrast]) -> list[Fall]:
    """Where no case has a value in both runs nothing was compared, and that is no pass."""
    falls = []
    for row in rows:
        if row.group == "overall" and row.lost and not row.comparison.pairs:
            why = f"the {row.lost} cases that had a value have none any more"
            falls.append(Fall(f"{row.metric} could not be compared: {why}.", row))
    return falls


def _new_failures(
    baseline: RecordedRun, candidate: RecordedRun, cases: Sequence[Case]
) -> list[Fall]:
    """A case that the target failed has no value, so that no mean shows it."""
    asked = {case.id for case in cases}
    before = _errors(baseline, asked)
    after = _errors(candidate, asked)
    new = [case for case in after if case not in before]
    mended = before.keys() - after.keys()
    if not new or mcnemar(len(mended), len(new)) > LEVEL:
        return []
    example = f"such as {new[0]}: {after[new[0]]}"
    return [Fall(f"The target failed {len(new)} cases that it answered before, {example}")]


def _errors(recorded: RecordedRun, asked: set[str]) -> dict[str, str]:
    """Case id -> why the target failed it; of those that were asked in both runs."""
    errors = {}
    for seen in recorded.observations:
        if seen.error and seen.case.id in asked:
            errors[seen.case.id] = seen.error
    return errors


def _fall(row: Contrast, changed: Sequence[CaseDifference]) -> Fall:
    compared = row.comparison
    where = f" for {row.group} {row.name}" if row.name else ""
    between = ""
    if compared.low is not None and compared.high is not None:
        between = f" ({compared.low:+.3f} to {compared.high:+.3f})"
    p = max(compared.p or 0.0, 0.0001)
    # Fewer than six falls are no fall beyond noise: the first ones all got worse.
    inside = []
    for one in changed:
        if (row.group, row.name) in groups_of(one.case):
            inside.append(one)
    return Fall(
        f"{row.metric}{where} went from {row.first:.3f} to {row.second:.3f}: "
        f"{compared.difference:+.3f}{between}, p {p:.4f} over {compared.pairs} cases.",
        contrast=row,
        worst=tuple(inside[:SHOWN]),
    )
