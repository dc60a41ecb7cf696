"""What a metric is called, what it is given and what it returns."""

from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from ombud.types import Observation

if TYPE_CHECKING:
    from ombud.lab.judges.asking import Judge

Embed = Callable[[Sequence[str]], Sequence[Sequence[float]]]
"""Texts -> one vector each, of one length."""
TextOf = Callable[[str, str], str | None]
"""(document id, digest) -> the stored text of that version; None when it is gone."""


@dataclass(frozen=True, slots=True, order=True)
class Metric:
    """A metric's name and cut-off: hashable, comparable, printed as it is parsed (`recall@8`,
    `words@5`)."""

    name: str
    cutoff: int | None = None
    words: bool = False
    """The cut-off counts words returned, not hits: `quote_recall@1000w`."""

    def __str__(self) -> str:
        if self.cutoff is None:
            return self.name
        unit = "w" if self.words else ""
        return f"{self.name}@{self.cutoff}{unit}"


@dataclass(frozen=True, slots=True)
class Instruments:
    """Dependencies that some metrics need; without them those metrics have no value and say why."""

    embed: Embed | None = None
    text_of: TextOf | None = None


@dataclass(frozen=True, slots=True)
class Undefined:
    """Why a metric has no value."""

    reason: str


Value = float | Undefined

Compute = Callable[[Observation, Metric, Instruments], Value]

SCORED_BY = 2
"""Of formulas: raised with every change that gives another value."""


class Judgement(NamedTuple):
    """A judge's verdict on one answer."""

    value: Value
    words: str = ""
    """Why, as the judge put it."""


Grade = Callable[[Observation, "Judge"], Coroutine[Any, Any, Judgement]]


def _needs_a_judge(observation: Observation, metric: Metric, instruments: Instruments) -> Value:
    del observation, metric, instruments
    return Undefined("a judge gives it; none was asked")


@dataclass(frozen=True, slots=True)
class Measure:
    """Definition of a metric: how it is computed and how its values are read."""

    compute: Compute
    what: str
    """One line for tables and `--help`."""
    cutoff: Literal["none", "optional", "hits", "hits or words"] = "none"
    better: Literal["higher", "lower", "neither"] = "higher"
    unit: str = "0-1"
    reads: Literal["answer", "hits", "both"] = "answer"
    """What the target is asked for: an answer, a search alone, or both."""
    version: int = SCORED_BY
    """Scores of different versions are not compared."""
    grade: Grade | None = None
    """Asks a chat model, in place of `compute`."""


def judged(
    grade: Grade,
    what: str,
    *,
    version: int,
    unit: str = "0-1",
    better: Literal["higher", "lower", "neither"] = "higher",
    reads: Literal["answer", "both"] = "answer",
) -> Measure:
    """Define a measure that a judge gives."""
    return Measure(
        compute=_needs_a_judge,
        what=what,
        better=better,
        unit=unit,
        reads=reads,
        version=version,
        grade=grade,
    )
