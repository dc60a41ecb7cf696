"""What a metric is called, what it is given and what it returns."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

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
    """What some metrics need from outside; without it they have no value and say so."""

    embed: Embed | None = None
    text_of: TextOf | None = None


@dataclass(frozen=True, slots=True)
class Undefined:
    """Why a metric has no value."""

    reason: str


Value = float | Undefined
