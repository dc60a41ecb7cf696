"""Seconds of the steps of an answer."""

import time
from collections.abc import Mapping
from math import isfinite


class StepTimer:
    """Seconds of the steps of one run; what no step has claimed goes to the next that asks."""

    def __init__(self) -> None:
        self._started = time.perf_counter()
        self._seconds: dict[str, float] = {}

    def add(self, seconds: Mapping[str, float]) -> None:
        """Steps that were measured elsewhere."""
        self._seconds.update(seconds)

    def rest(self, step: str) -> None:
        """Gives to a step all that has passed and that no other step has."""
        claimed = sum(self._seconds.values())
        self._seconds[step] = self._elapsed() - claimed

    def total(self) -> dict[str, float]:
        """All steps and `total`; a run that was decided early has measured no signals."""
        self._seconds.setdefault("signals", 0.0)
        return {**self._seconds, "total": self._elapsed()}

    def _elapsed(self) -> float:
        return time.perf_counter() - self._started


def rounded(values: Mapping[str, float]) -> dict[str, float]:
    """As a trace keeps them: to four places, without what is no number."""
    return {name: round(value, 4) for name, value in values.items() if isfinite(value)}
