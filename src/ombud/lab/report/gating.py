"""The deviation detector: did anything get worse, beyond noise?"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple
from xml.etree import ElementTree

from ombud.errors import LabError
from ombud.lab.metrics.parsing import TIMED
from ombud.lab.people.reviewing import unreviewed
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
from ombud.lab.report.trends import find_drifts
from ombud.lab.statistics import mcnemar
from ombud.types import Case

SHOWN = 5
"""Cases named under a fall."""
DETECTION_LEVEL = 0.01
"""Of a fall that is reported without anybody asking: stricter, for it is looked for every week."""
FIGURES = "number_agreement"
CASES = "cases"
"""What a fall concerns that is of no metric."""
BAR = 0.6
"""Spearman's correlation with people. RAGChecker, the best of the published ones on its own human
labels, reaches .61 (Ru et al. 2024)."""
LEAST_ITEMS = 30
"""Fewer say nothing: at 30 a correlation of .6 has an interval from .3 to .8."""
NOISY = {TIMED}
"""Not looked at unless asked for: it says something only of runs that were timed together."""


@dataclass(frozen=True, slots=True)
class Fall:
    """A reason why the gate fails."""

    said: str
    contrast: Contrast | None = None
    worst: tuple[CaseDifference, ...] = ()

    @property
    def concerns(self) -> str:
        """The metric that fell, or `CASES`."""
        return self.contrast.metric if self.contrast else CASES


class FallLimits(NamedTuple):
    """Largest falls that are not reported unless they are beyond noise."""

    metrics: Mapping[str, float] = {}
    """Metric -> the largest fall of its mean."""
    wrong_figures: int | None = None
    """Most answers that state fewer of the right figures; None: any number."""


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
    level: float = LEVEL,
    limits: "FallLimits | None" = None,
) -> Verdict:
    """Find what fell in the candidate: overall and by tag, type and country, each paired and
    corrected for their number.

    Where a metric fell overall, the groups are named in which it did; elsewhere a group must fall
    so clearly that it stands out among all groups in all metrics. So an unchanged but noisy target
    seldom fails.

    metrics: those to look at; without it all that both runs have and that can be better or worse,
    latency left out. allow_unreviewed: synthetic cases count though nobody has accepted them.
    judge_bar: what `below_bar` asks of judges. level: of a fall, after correction. limits: falls
    that are reported whether or not they are beyond noise. Raises LabError for such cases, for runs
    that are not finished or share no case, and for a metric that cannot be looked at."""
    for run in (baseline.run, candidate.run):
        if run.state != "done":
            raise LabError(
                f"Run {run.id} ({run.name}) is not finished.",
                hint="Run it again: it goes on where it was.",
            )
    allowed = limits or FallLimits()
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
        *_beyond_limits(rows, baseline, candidate, allowed.metrics),
        *_wrong_figures(rows, baseline, candidate, allowed.wrong_figures),
    ]
    changed: dict[str, tuple[CaseDifference, ...]] = {}
    reported = {fall.contrast for fall in falls}
    for row in _fallen(rows, level):
        if row in reported:
            continue
        if row.metric not in changed:
            changed[row.metric] = changes(baseline, candidate, row.metric)
        falls.append(_fall(row, changed[row.metric]))
    return Verdict(tuple(falls), tuple(checked), len(cases), left_out)


def find_deviations(runs: Sequence[RecordedRun], limits: FallLimits) -> Verdict:
    """Compare the last of these runs with the first, which a person pinned, and look for a slow
    drift through all of them. It only notifies: nobody need have accepted the cases, nor held a
    judge against people. Raises LabError as `check_gate` does."""
    verdict = check_gate(
        runs[0], runs[-1], allow_unreviewed=True, judge_bar=0, level=DETECTION_LEVEL, limits=limits
    )
    fallen = {fall.concerns for fall in verdict.falls}
    falls = list(verdict.falls)
    for row in find_drifts(runs, verdict.checked):
        if row.metric not in fallen and row.moved(row.adjusted, DETECTION_LEVEL) is False:
            deviation = _fall(row, changes(runs[0], runs[-1], row.metric))
            falls.append(
                replace(deviation, said=f"Slow drift over {len(runs)} runs: {deviation.said}")
            )
    return replace(verdict, falls=tuple(falls))


def below_bar(runs: Sequence[RecordedRun], bar: float = BAR) -> dict[str, str]:
    """Map each judged metric whose judge may not gate to the reason."""
    if not bar:
        return {}
    reasons: dict[str, str] = {}
    for recorded in runs:
        for metric, judges in recorded.versions.items():
            for judge, version in sorted(judges):
                why = _why_not(recorded, metric, judge, version, bar) if judge else ""
                if why:
                    reasons[metric] = why
    return reasons


def _why_not(recorded: RecordedRun, metric: str, judge: str, version: int, bar: float) -> str:
    for alignment in recorded.alignments:
        if (alignment.metric, alignment.judge, alignment.version) != (metric, judge, version):
            continue
        if alignment.items < LEAST_ITEMS:
            return (
                f"{judge} was compared with people on {alignment.items} answers, "
                f"{LEAST_ITEMS} are needed"
            )
        if alignment.spearman is None or alignment.spearman < bar:
            reached = "nothing" if alignment.spearman is None else f"{alignment.spearman:.2f}"
            return f"{judge} reaches {reached} with people, the bar is {bar:.2f}"
        return ""
    return f"nobody has held {judge} against people"


def _check_reviewed(cases: Sequence[Case]) -> None:
    ids = unreviewed(cases)
    if ids:
        raise LabError(
            f"{len(ids)} of {len(cases)} cases are synthetic or harvested and nobody has "
            f"accepted them, such as {ids[0]}.",
            hint="`ombud lab review DATASET` has people accept them; --unreviewed takes them as "
            "they are.",
        )


def _fallen(rows: Sequence[Contrast], level: float) -> list[Contrast]:
    """List rows that fell on their own, and groups in which a metric fell that fell overall."""
    overall = set()
    for row in rows:
        if row.group == "overall" and row.moved(row.adjusted, level) is False:
            overall.add(row.metric)
    fallen = []
    for row in rows:
        within = row.metric in overall and row.moved(row.within, level) is False
        if row.moved(row.adjusted, level) is False or within:
            fallen.append(row)
    return fallen


def _beyond_limits(
    rows: Sequence[Contrast],
    baseline: RecordedRun,
    candidate: RecordedRun,
    most_by_metric: Mapping[str, float],
) -> list[Fall]:
    falls: list[Fall] = []
    for row in rows:
        most = most_by_metric.get(row.metric)
        loss = -(row.comparison.difference or 0.0) * direction(row.metric)
        if row.group == "overall" and most is not None and loss > most:
            fall = _fall(row, changes(baseline, candidate, row.metric))
            falls.append(replace(fall, said=f"{fall.said} Its threshold is {most:g}."))
    return falls


def _wrong_figures(
    rows: Sequence[Contrast], baseline: RecordedRun, candidate: RecordedRun, most: int | None
) -> list[Fall]:
    if most is None or FIGURES not in {row.metric for row in rows}:
        return []
    wrong = [one for one in changes(baseline, candidate, FIGURES) if (one.difference or 0.0) < 0]
    if len(wrong) <= most:
        return []
    summary = f"{len(wrong)} answers state fewer of the right figures than in the baseline"
    return [Fall(f"{summary}; the threshold is {most}.", worst=tuple(wrong[:SHOWN]))]


def as_junit(verdict: Verdict, name: str) -> str:
    """Write the verdict as JUnit XML: one test for each metric, and one for what concerns no
    metric."""
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
    """Remove control characters, which XML does not allow."""
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
    """Return the metrics to check, or refuse those that cannot be: a gate that silently checks less
    than it was told to would pass for the wrong reason."""
    _check_judges(chosen, left_out)
    in_both = shared_metrics(baseline, candidate, chosen)
    missing = [f"`{metric}`" for metric in chosen if metric not in in_both]
    checked = list(chosen) or _usually_checked(in_both, left_out)
    if missing or not checked:
        wanted = ", ".join(missing) or "a metric that can fall"
        raise LabError(
            f"The runs do not both have {wanted}.",
            hint="`ombud lab run --rescore RUN --metrics …` adds some.",
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
    """List the metrics without a case that has a value in both runs: nothing was compared, so the
    gate cannot pass."""
    falls = []
    for row in rows:
        if row.group == "overall" and row.lost and not row.comparison.pairs:
            why = f"the {row.lost} cases that had a value have none any more"
            falls.append(Fall(f"{row.metric} could not be compared: {why}.", row))
    return falls


def _new_failures(
    baseline: RecordedRun, candidate: RecordedRun, cases: Sequence[Case]
) -> list[Fall]:
    """List the cases that the target newly failed: they have no value, so no mean shows them."""
    ids = {case.id for case in cases}
    before = _errors(baseline, ids)
    after = _errors(candidate, ids)
    new = [case for case in after if case not in before]
    mended = before.keys() - after.keys()
    if not new or mcnemar(len(mended), len(new)) > LEVEL:
        return []
    example = f"such as {new[0]}: {after[new[0]]}"
    return [Fall(f"The target failed {len(new)} cases that it answered before, {example}")]


def _errors(recorded: RecordedRun, ids: set[str]) -> dict[str, str]:
    """Map the id of each failed case to the error, among those asked in both runs."""
    errors = {}
    for seen in recorded.observations:
        if seen.error and seen.case.id in ids:
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
