"""Retries with exponential backoff, a circuit breaker that keeps one failing model from holding up
everybody, and the clock they go by."""

import asyncio
import random
import time
from collections.abc import Awaitable, Callable
from typing import Any, NamedTuple

FIRST_BACKOFF = 0.5
LONGEST_BACKOFF = 8.0
"""Seconds: most before the first retry, doubled each time, up to the longest."""
LONG_WAIT = 5.0
"""Seconds of waiting after which one failed call is reason enough to leave a model alone: the asker
felt it."""


class Timing(NamedTuple):
    """The passing of time, so that tests need not wait for it."""

    clock: Callable[[], float] = time.monotonic
    """Seconds that only grow."""
    sleep: Callable[[float], Awaitable[Any]] = asyncio.sleep
    chance: Callable[[], float] = random.random
    """From 0 to 1."""


def backoff_seconds(attempt: int, after: float | None, timing: Timing) -> float:
    """Return the seconds before the next attempt: Retry-After and up to a quarter more, else full
    jitter (Brooker, "Exponential Backoff And Jitter", AWS Architecture Blog, 2015).

    attempt: how often the model was asked, from 1. after: Retry-After of the server; the addition
    spreads clients that wait for the same moment."""
    if after is not None:
        return after * (1 + timing.chance() / 4)
    bound: float = min(LONGEST_BACKOFF, FIRST_BACKOFF * 2 ** (attempt - 1))
    return timing.chance() * bound


class CircuitBreaker:
    """A circuit breaker: closed until `failures` calls in a row have failed, then open for
    `seconds`, until one call tries the model again. It serves one event loop."""

    def __init__(self, failures: int, seconds: float, timing: Timing) -> None:
        self._most = failures
        self._seconds = seconds
        self._clock = timing.clock
        self._failed = 0
        self._until = 0.0
        self._trying = False

    @property
    def left(self) -> float:
        """Return the seconds until the model may be tried; 0 while it is closed."""
        return max(0.0, self._until - self._clock())

    @property
    def ready(self) -> bool:
        return not (self.left or self._trying)

    def admit(self) -> bool:
        """Tell whether a call may begin. An admitted caller reports `succeeded` or `failed`, and
        always `leave`."""
        if not self.ready:
            return False
        self._trying = self._until > 0
        return True

    def succeeded(self) -> None:
        self._failed = 0
        self._until = 0.0

    def failed(self, seconds: float, after: float | None = None) -> None:
        """Count a failure. seconds: duration of the call. after: Retry-After of the server."""
        self._failed += 1
        if self._trying or self._failed >= self._most or seconds >= LONG_WAIT:
            self._until = self._clock() + max(self._seconds, after or 0.0)

    def leave(self) -> None:
        """End an admitted call, also a cancelled one."""
        self._trying = False
