"""How well triage tells messages apart: rates with intervals, calibration, risk against coverage, a
report."""

from collections.abc import Mapping, Sequence
from math import sqrt
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ombud.answer import Head, Trained, triage_scores
from ombud.charts import plots
from ombud.lab import Decision, area, risk_coverage
from ombud.models import linear
from ombud.training.triage.labelled import LabelledMessage, messages_digest
from ombud.training.triage.training import TriageTrainingParts, cross_validate, taught, train

if TYPE_CHECKING:
    from jinja2 import Environment

TAUGHT = "cross-validated"
"""Name of the training messages as a set: each judged by weights that saw none of its source."""
TARGETS = {"sensitive found": (0.95, "least"), "false alarms": (0.05, "most"), "out of scope denied": (0.95, "least"),
           "ordinary denied": (0.05, "most")}  # fmt: skip
Z = 1.96
BINS = 10


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
    sets: Mapping[str, Sequence[LabelledMessage]]
    trained: Mapping[str, Trained]
    areas: Mapping[tuple[str, str], float]
    """(variant, set) -> area under the risk-coverage curve of the head `sensitive`."""
    calibration: str
    coverage: str
    """SVG."""

    def of(self, variant: str, held: str) -> TriageScores:
        return next(one for one in self.judged if one[:2] == (variant, held))


def rate(name: str, hits: Sequence[bool]) -> Rate:
    """The share of True; 0 to 1 where there are none."""
    n, share = len(hits), sum(hits) / max(1, len(hits))
    if not n:
        return Rate(name, 0.0, 0.0, 1.0, 0)
    middle, wide = share + Z * Z / (2 * n), Z * sqrt(share * (1 - share) / n + Z * Z / (4 * n * n))
    whole = 1 + Z * Z / n
    return Rate(
        name, share, max(0.0, (middle - wide) / whole), min(1.0, (middle + wide) / whole), n
    )


def judge(
    variant: str,
    held: str,
    messages: Sequence[LabelledMessage],
    found: Mapping[Head, linear.Numbers],
    trained: Trained,
) -> TriageScores:
    """Probabilities against labels at the weights' own thresholds, before any term, passage or chat
    model."""
    at = trained.thresholds
    alarm = found["sensitive"][:, 1] >= at.sensitive
    outside = ((1 - found["scope"][:, 0]) >= at.outside) & ~alarm
    where = {
        label: np.array([m.label == label for m in messages]) for label in ("ordinary", "sensitive")
    }
    strange = np.array([m.label == "out_of_scope" for m in messages])
    rows = {
        "sensitive found": alarm[where["sensitive"]],
        "false alarms": alarm[~where["sensitive"]],
        "false alarms on ordinary": alarm[where["ordinary"]],
        "false alarms on hard ones": alarm[
            np.array([m.hard and m.label != "sensitive" for m in messages])
        ],
        "out of scope denied": outside[strange],
        "ordinary denied": outside[where["ordinary"]],
        "hard ordinary denied": outside[
            np.array([m.hard and m.label == "ordinary" for m in messages])
        ],
        "danger found": (alarm & (found["danger"][:, 1] >= at.danger))[
            np.array([m.danger for m in messages])
        ],
    }
    kinds = sorted({m.kind for m in messages if m.kind})
    by_kind = {kind: (outside if kind in _outside(messages) else alarm)[[m.kind == kind for m in messages]]
               for kind in kinds}  # fmt: skip
    return TriageScores(
        variant, held, tuple(rate(name, hits.tolist()) for name, hits in rows.items() if len(hits)),
        tuple(rate(kind, hits.tolist()) for kind, hits in by_kind.items()),
    )  # fmt: skip


def judge_weights(
    variant: str,
    trained: Trained,
    sets: Mapping[str, Sequence[LabelledMessage]],
    tools: TriageTrainingParts,
) -> list[TriageScores]:
    """On sets that the weights did not see."""
    return [
        judge(
            variant,
            held,
            rows,
            triage_scores([m.text for m in rows], trained, tools.embed),
            trained,
        )
        for held, rows in sets.items()
    ]


def compare_triage(
    messages: Sequence[LabelledMessage],
    sets: Mapping[str, Sequence[LabelledMessage]],
    variants: Mapping[str, TriageTrainingParts],
) -> TriageReport:
    """Every variant trained anew, judged by folds and on the sets that were held out."""
    messages, judged = taught(messages), list[TriageScores]()
    trained: dict[str, Trained] = {}
    areas: dict[tuple[str, str], float] = {}
    curves, bins = list[plots.Series](), list[plots.Series]()
    for variant, tools in variants.items():
        tools = tools.remembering()
        folds = cross_validate(messages, tools)
        trained[variant] = train(messages, tools, folds)
        found = {TAUGHT: folds} | {
            held: triage_scores([m.text for m in rows], trained[variant], tools.embed)
            for held, rows in sets.items()
        }
        for held, rows in {TAUGHT: messages, **sets}.items():
            judged.append(judge(variant, held, rows, found[held], trained[variant]))
            given = _decisions(rows, found[held], trained[variant])
            areas[variant, held] = area(given)
            name = f"{variant}, {held}"
            curves.append(_curve(name, given))
            bins.append(
                _bins(name, found[held]["sensitive"][:, 1], [m.label == "sensitive" for m in rows])
            )
    even = plots.Series("as likely as said", [(0.0, 0.0, None, None), (1.0, 1.0, None, None)])
    return TriageReport(
        tuple(judged), {TAUGHT: messages, **sets}, trained, areas,
        plots.lines("Calibration: sensitive", "probability said", "share that is sensitive", [*bins, even],
                    units=("0-1", "0-1")),
        plots.lines("Risk against coverage: sensitive or not", "share of messages decided, surest first",
                    "share decided wrongly", curves, units=("0-1", "0-1")),
    )  # fmt: skip


def triage_report(report: TriageReport, command: str, plots_: Mapping[str, str]) -> str:
    """docs/results/triage.md is made of it. plots_: `calibration` and `coverage` -> file name."""
    template = _templates().get_template("report.md")
    return template.render(
        report=report, command=command, plots=plots_, digest=messages_digest, targets=TARGETS, taught=TAUGHT,
        variants=list(report.trained),
    )  # fmt: skip


def _outside(messages: Sequence[LabelledMessage]) -> set[str]:
    return {m.kind for m in messages if m.label == "out_of_scope"}


def _decisions(
    messages: Sequence[LabelledMessage], found: Mapping[Head, linear.Numbers], trained: Trained
) -> list[Decision]:
    """Sensitive or not: how far the probability is from the threshold says how sure; `answerable`
    is "rightly"."""
    at = trained.thresholds.sensitive
    given = []
    for message, p in zip(messages, found["sensitive"][:, 1].tolist(), strict=True):
        right = (p >= at) == (message.label == "sensitive")
        sure = (p - at) / (1 - at) if p >= at else (at - p) / at
        given.append(Decision(sure, right, right, message.source))
    return given


def _curve(name: str, given: Sequence[Decision]) -> plots.Series:
    rows = risk_coverage(given)
    return plots.Series(
        name, [(r.coverage, r.wrong.value or 0.0, r.wrong.low, r.wrong.high) for r in rows]
    )


def _bins(name: str, said: linear.Numbers, labels: Sequence[bool]) -> plots.Series:
    """Mean probability and share of sensitive messages, tenths of the messages in order of
    probability."""
    order = np.argsort(said, kind="stable")
    rows = []
    for part in np.array_split(order, BINS):
        if len(part):
            one = rate("", [labels[n] for n in part])
            rows.append((float(said[part].mean()), one.value, one.low, one.high))
    return plots.Series(name, rows)


def _templates() -> "Environment":
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    loader = FileSystemLoader(Path(__file__).parent)
    found = Environment(  # noqa: S701
        loader=loader, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    found.tests["match_router"] = lambda source: source.startswith("router ")
    found.filters["share"] = lambda value: f"{value:.3f}".lstrip("0") if value < 1 else "1.000"
    return found
