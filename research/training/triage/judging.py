"""How well triage tells messages apart: rates with intervals, calibration, risk against coverage, a
report."""

from collections.abc import Callable, Mapping, Sequence
from math import sqrt
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ombud.answer import Head, TriageWeights, judges, triage_scores
from ombud.charts import Series, draw_lines
from ombud.lab import Decision, risk_area, risk_coverage
from ombud.models import linear
from research.training.linear import TrainingEmbedder
from research.training.reporting import render_report
from research.training.triage.labelled import (
    Flags,
    LabelledMessage,
    are_dangerous,
    have_label,
    messages_digest,
    texts_of,
)
from research.training.triage.training import (
    SecondOpinion,
    cross_validate,
    train,
    with_router_questions,
)

TAUGHT = "cross-validated"
"""Name of the training messages as a set: each judged by weights that saw none of its source."""
TARGETS = {
    "sensitive found": (0.95, "least"),
    "false alarms": (0.05, "most"),
    "out of scope denied": (0.95, "least"),
    "ordinary denied": (0.05, "most"),
}
Z = 1.96
BINS = 10
REPORT = Path(__file__).with_name("report.md")
MessageSets = Mapping[str, Sequence[LabelledMessage]]


class Rate(NamedTuple):
    name: str
    value: float
    low: float
    high: float
    """95 % interval: Wilson's score interval (Wilson 1927)."""
    of: int
    """Messages it is a share of."""


class TriageScores(NamedTuple):
    variant: str
    """`with vectors` or `words`."""
    held: str
    """`TAUGHT` or the name of a set that was held out."""
    rates: tuple[Rate, ...]
    by_kind: tuple[Rate, ...]
    """Share of each kind that was found."""


class TriageReport(NamedTuple):
    judged: tuple[TriageScores, ...]
    sets: MessageSets
    trained: Mapping[str, TriageWeights]
    areas: Mapping[tuple[str, str], float]
    """(variant, set) -> area under the risk-coverage curve of the head `sensitive`."""
    calibration: str
    coverage: str
    """SVG."""

    def of(self, variant: str, held: str) -> TriageScores:
        return next(scores for scores in self.judged if scores[:2] == (variant, held))


class JudgedMessages(NamedTuple):
    """What one variant made of one set."""

    variant: str
    held: str
    messages: Sequence[LabelledMessage]
    probabilities: Mapping[Head, linear.Numbers]
    trained: TriageWeights

    @property
    def name(self) -> str:
        return f"{self.variant}, {self.held}"

    @property
    def sensitive(self) -> linear.Numbers:
        """Probability of each message."""
        return self.probabilities["sensitive"][:, 1]

    def scores(self) -> TriageScores:
        """Against labels at the weights' own thresholds, before any term, passage or chat model."""
        least = self._leasts()
        danger = self.probabilities["danger"][:, 1]
        alarmed = (self.sensitive >= least("sensitive")) | (danger >= least("peril"))
        in_danger = danger >= least("danger")
        outside = 1 - self.probabilities["scope"][:, 0] >= least("outside")
        denied = outside & ~alarmed
        rates = self._rates(alarmed, alarmed & in_danger, denied)
        by_kind = self._rates_by_kind(alarmed, denied)
        return TriageScores(self.variant, self.held, tuple(rates), tuple(by_kind))

    def _leasts(self) -> Callable[[str], linear.Numbers]:
        """Name of a threshold -> what it is for each message; whom the second opinion judges is
        looked at once."""
        alone = self.trained.thresholds
        both = self.trained.joined or alone
        joined = np.zeros(len(self.messages), bool)
        if self.trained.joined:
            joined[:] = [judges(message.text) for message in self.messages]

        def least(name: str) -> linear.Numbers:
            together: float = getattr(both, name)
            otherwise: float = getattr(alone, name)
            return np.where(joined, together, otherwise).astype(float)

        return least

    def _rates(self, alarmed: Flags, alarmed_in_danger: Flags, denied: Flags) -> list[Rate]:
        sensitive = have_label(self.messages, "sensitive")
        ordinary = have_label(self.messages, "ordinary")
        out_of_scope = have_label(self.messages, "out_of_scope")
        danger = are_dangerous(self.messages)
        hard = np.array([message.hard for message in self.messages], bool)
        rows = {
            "sensitive found": alarmed[sensitive],
            "false alarms": alarmed[~sensitive],
            "false alarms on ordinary": alarmed[ordinary],
            "false alarms on hard ones": alarmed[hard & ~sensitive],
            "out of scope denied": denied[out_of_scope],
            "ordinary denied": denied[ordinary],
            "hard ordinary denied": denied[hard & ordinary],
            "danger found": alarmed_in_danger[danger],
        }
        rates = []
        for name, hits in rows.items():
            if len(hits):
                rates.append(wilson_rate(name, hits.tolist()))
        return rates

    def _rates_by_kind(self, alarmed: Flags, denied: Flags) -> list[Rate]:
        """Kinds of what is out of scope are to be denied, all others to raise an alarm."""
        outside: set[str] = set()
        places: dict[str, list[int]] = {}
        for place, message in enumerate(self.messages):
            places.setdefault(message.kind, []).append(place)
            if message.label == "out_of_scope":
                outside.add(message.kind)
        rates = []
        for kind in sorted(filter(None, places)):
            hits = denied if kind in outside else alarmed
            rates.append(wilson_rate(kind, hits[places[kind]].tolist()))
        return rates

    def decisions(self) -> list[Decision]:
        """Sensitive or not: how far the probability is from the threshold says how sure;
        `answerable` is "rightly"."""
        leasts = self._leasts()("sensitive").tolist()
        probabilities = self.sensitive.tolist()
        decisions = []
        for message, probability, threshold in zip(
            self.messages, probabilities, leasts, strict=True
        ):
            alarmed = probability >= threshold
            right = alarmed == (message.label == "sensitive")
            confidence = _distance(probability, threshold)
            decisions.append(Decision(confidence, right, right, message.source))
        return decisions

    def calibration(self) -> Series:
        """Mean probability and share of sensitive messages, tenths of the messages in order of
        probability."""
        order = np.argsort(self.sensitive, kind="stable")
        labels = have_label(self.messages, "sensitive")
        rows = []
        for part in np.array_split(order, BINS):
            if not len(part):
                continue
            rate = wilson_rate("", labels[part].tolist())
            mean = float(self.sensitive[part].mean())
            rows.append((mean, rate.value, rate.low, rate.high))
        return Series(self.name, rows)

    def coverage(self) -> Series:
        rows = []
        for risk in risk_coverage(self.decisions()):
            wrong = risk.wrong
            rows.append((risk.coverage, wrong.value or 0.0, wrong.low, wrong.high))
        return Series(self.name, rows)


def wilson_rate(name: str, hits: Sequence[bool]) -> Rate:
    """The share of True; 0 to 1 where there are none."""
    count = len(hits)
    if not count:
        return Rate(
            name,
            value=0.0,
            low=0.0,
            high=1.0,
            of=0,
        )
    share = sum(hits) / count
    centre = share + Z * Z / (2 * count)
    variance = share * (1 - share) / count
    reach = Z * sqrt(variance + Z * Z / (4 * count * count))
    whole = 1 + Z * Z / count
    return Rate(
        name=name,
        value=share,
        low=max(0.0, (centre - reach) / whole),
        high=min(1.0, (centre + reach) / whole),
        of=count,
    )


def _distance(probability: float, threshold: float) -> float:
    """From the threshold, 0 to 1, on whichever side."""
    if probability >= threshold:
        return (probability - threshold) / (1 - threshold)
    return (threshold - probability) / threshold


def judge_triage(
    variant: str,
    trained: TriageWeights,
    sets: MessageSets,
    embedder: TrainingEmbedder,
    opinion: SecondOpinion | None = None,
) -> list[JudgedMessages]:
    """On sets that the weights did not see."""
    fine_tuned = opinion.fine_tuned if opinion else None
    judged = []
    for held, messages in sets.items():
        probabilities = triage_scores(texts_of(messages), trained, embedder.embed, fine_tuned)
        judged.append(JudgedMessages(variant, held, messages, probabilities, trained))
    return judged


def compare_triage(
    messages: Sequence[LabelledMessage],
    sets: MessageSets,
    variants: Mapping[str, TrainingEmbedder],
    opinion: SecondOpinion | None = None,
) -> TriageReport:
    """Every variant trained anew, judged by folds and on the sets that were held out.

    opinion: for variants with vectors."""
    messages = with_router_questions(messages)
    judged: list[JudgedMessages] = []
    trained: dict[str, TriageWeights] = {}
    for variant, embedder in variants.items():
        remembering = embedder.remembering()
        second = opinion if embedder.embed else None
        folds = cross_validate(messages, remembering)
        weights = train(messages, remembering, second, folds)
        trained[variant] = weights
        found = second.join(messages, folds) if second else folds
        judged.append(JudgedMessages(variant, TAUGHT, messages, found, weights))
        judged += judge_triage(variant, weights, sets, remembering, second)
    areas: dict[tuple[str, str], float] = {}
    for one in judged:
        areas[one.variant, one.held] = risk_area(one.decisions())
    return TriageReport(
        judged=tuple(one.scores() for one in judged),
        sets={TAUGHT: messages, **sets},
        trained=trained,
        areas=areas,
        calibration=_draw_calibration(judged),
        coverage=_draw_coverage(judged),
    )


def triage_report(report: TriageReport, command: str, plots: Mapping[str, str]) -> str:
    """docs/results/triage.md is made of it. plots: `calibration` and `coverage` -> file name."""
    return render_report(
        REPORT,
        report=report,
        command=command,
        plots=plots,
        digest=messages_digest,
        targets=TARGETS,
        taught=TAUGHT,
        variants=list(report.trained),
    )


def _draw_calibration(judged: Sequence[JudgedMessages]) -> str:
    curves = [one.calibration() for one in judged]
    even = Series("as likely as said", [(0.0, 0.0, None, None), (1.0, 1.0, None, None)])
    return draw_lines(
        "Calibration: sensitive",
        ("probability said", "share that is sensitive"),
        [*curves, even],
        units=("0-1", "0-1"),
    )


def _draw_coverage(judged: Sequence[JudgedMessages]) -> str:
    return draw_lines(
        "Risk against coverage: sensitive or not",
        ("share of messages decided, surest first", "share decided wrongly"),
        [one.coverage() for one in judged],
        units=("0-1", "0-1"),
    )
