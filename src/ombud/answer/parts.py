"""What an answer needs of the workspace, and the seconds of its steps."""

import time
from collections.abc import Callable, Mapping, Sequence
from math import isfinite
from typing import NamedTuple

from ombud.answer.contacts import Contacts
from ombud.answer.personas.personas import Persona
from ombud.answer.proof.citing import Stored
from ombud.answer.triage.checking import Triage
from ombud.models import Chat, Reader
from ombud.retrieve import SearchParts
from ombud.settings import Settings


def no_reader() -> Reader | None:
    """Return no reader."""
    return None


class AnswerParts(NamedTuple):
    settings: Settings
    knowledge: SearchParts
    chat: Chat | None
    """Writes answers; None: they are quotes."""
    verifier: Chat | None
    """Compares what claims mean with their passages; None: their words alone are compared."""
    stored: Stored
    contacts: Contacts
    personas: Mapping[str, Persona]
    triage: Triage
    reader: Callable[[], Reader | None] = no_reader
    """Opens what reads passages beside the question; None: sentences are told by their vectors."""
    may_read: bool = True
    """Whether the reader has time for a question that is unsure, beside those of others."""
    countries: Sequence[str] = ()
    """ISO codes of those for which there are documents."""


class StepTimer:
    """Seconds of the steps of one run; what no step has claimed goes to the next that asks."""

    def __init__(self) -> None:
        self._started = time.perf_counter()
        self._seconds: dict[str, float] = {}

    def add(self, seconds: Mapping[str, float]) -> None:
        """Add steps that were measured elsewhere."""
        self._seconds.update(seconds)

    def rest(self, step: str) -> None:
        """Attribute the time that no other step has to this step."""
        claimed = sum(self._seconds.values())
        self._seconds[step] = self._elapsed() - claimed

    def total(self) -> dict[str, float]:
        """Return the seconds of all steps and their `total`."""
        self._seconds.setdefault("signals", 0.0)
        return {**self._seconds, "total": self._elapsed()}

    def _elapsed(self) -> float:
        return time.perf_counter() - self._started


def rounded(values: Mapping[str, float]) -> dict[str, float]:
    """Round values to four places for a trace, and leave out NaN."""
    return {name: round(value, 4) for name, value in values.items() if isfinite(value)}
