"""Whether what is claimed of a study's runs holds: a paired test each, corrected over all."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from ombud.lab.report.comparing import (
    LEVEL,
    Contrast,
    RecordedRun,
    compare_runs,
    correct_together,
    direction,
)
from ombud.lab.report.tables import figure, interval, p_value


@dataclass(frozen=True, slots=True)
class TestedClaim:
    """A claim that one run is better than another in one metric, or no worse."""

    said: str
    metric: str
    better: str
    """Label of a run."""
    worse: str
    stated: str = ""
    """The figures with which a study states it; empty: its design asks only."""
    is_less: bool = False
    """Better is less, of a metric that is neither better nor worse by itself."""
    margin: float = 0.0
    """Above 0: `better` is claimed to lose no more than this, and the interval decides."""


@dataclass(frozen=True, slots=True)
class ClaimOutcome:
    """The result of testing a claim on these cases."""

    claim: TestedClaim
    contrast: Contrast | None
    """better minus worse; None where one of the two was not run."""

    @property
    def verdict(self) -> str:
        """A sentence's end: holds, does not hold, cannot be told with n cases, or why not asked."""
        contrast = self.contrast
        if contrast is None:
            return "not run here"
        comparison = contrast.comparison
        if comparison.difference is None:
            return "cannot be told: no case has a value"
        if self.claim.margin:
            return self._within_margin(contrast)
        if contrast.adjusted is None or contrast.adjusted > LEVEL:
            least = f": nothing under {comparison.detectable:.2f}" if comparison.detectable else ""
            return f"cannot be told with {comparison.pairs} cases{least}"
        sign = -1 if self.claim.is_less else direction(self.claim.metric) or 1
        return "holds" if comparison.difference * sign > 0 else "does not hold: the opposite does"

    def as_text(self) -> str:
        """Write the claim, the verdict and the figures behind it."""
        claim = self.claim
        sentence = f"{claim.said} {self.verdict[0].upper()}{self.verdict[1:]}."
        if claim.stated:
            sentence += f" Stated: {claim.stated}."
        if self.contrast is None or self.contrast.comparison.difference is None:
            return sentence
        comparison = self.contrast.comparison
        span = interval(comparison.low, comparison.high, sign=True)
        p = "" if claim.margin else f", p {p_value(self.contrast.adjusted)} (Holm)"
        difference = f"{claim.metric} {figure(comparison.difference, sign=True)} ({span})"
        return f"{sentence} {difference}{p}, {comparison.pairs} pairs"

    def _within_margin(self, contrast: Contrast) -> str:
        holds = contrast.loses_no_more(self.claim.margin)
        if holds is None:
            return f"cannot be told with {contrast.comparison.pairs} cases"
        return "holds" if holds else "does not hold: it loses more"


def check_claims(
    claims: Sequence[TestedClaim], runs: Mapping[str, RecordedRun]
) -> tuple[ClaimOutcome, ...]:
    """runs: by label. p, and what so many cases could show, are corrected (Holm) over the claims
    that are tested; those with a margin are not."""
    outcomes = [_contrasted(claim, runs) for claim in claims]
    tested: dict[int, Contrast] = {}
    for number, outcome in enumerate(outcomes):
        if outcome.contrast and not outcome.claim.margin:
            tested[number] = outcome.contrast
    for number, contrast in zip(tested, correct_together(list(tested.values())), strict=True):
        outcomes[number] = replace(outcomes[number], contrast=contrast)
    return tuple(outcomes)


def _contrasted(claim: TestedClaim, runs: Mapping[str, RecordedRun]) -> ClaimOutcome:
    if claim.better not in runs or claim.worse not in runs:
        return ClaimOutcome(claim, None)
    worse, better = runs[claim.worse], runs[claim.better]
    rows = compare_runs(worse, better, by=["overall"], metrics=[claim.metric])
    return ClaimOutcome(claim, replace(rows[0], adjusted=None))
