"""Limits how many questions are answered at once, in fair turns, and how much CPU time each person
may use."""

import asyncio
import math
import threading
import time
from collections import OrderedDict, deque
from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import partial
from types import TracebackType

from ombud.cpu_time import charged_to
from ombud.errors import TooMuchWork

MOST_OWNERS = 10_000
"""People whose CPU time is tracked; the longest inactive is dropped first."""
BURST_MINUTES = 2
"""Minutes of CPU time that may be used at once."""
Clock = Callable[[], float]


class CpuBudget:
    """CPU seconds that each person may use; per_minute = 0 means no limit.

    Time is charged after use, so that a started question is always answered; a person in debt waits
    until enough time has been credited.
    """

    def __init__(self, per_minute: float, clock: Clock = time.monotonic) -> None:
        self._per_second = per_minute / 60
        self._most = per_minute * BURST_MINUTES
        self._clock = clock
        self._seconds_left: OrderedDict[str, tuple[float, float]] = OrderedDict()
        """Owner -> seconds left, and when that was counted."""
        self._lock = threading.Lock()

    def check(self, owner: str) -> None:
        """Raise TooMuchWork if a person has no time left."""
        if not self._per_second:
            return
        with self._lock:
            owed = -self._current(owner)
        if owed < 0:
            return
        seconds = max(1, math.ceil(owed / self._per_second))
        raise TooMuchWork(
            "Your latest questions took more computing time than one person may use.",
            hint=f"Try again in {seconds} seconds, with a shorter message or history; "
            "server.person_cpu_seconds is the limit.",
            retry_after=seconds,
        )

    def charge(self, owner: str, seconds: float) -> None:
        if not self._per_second:
            return
        with self._lock:
            self._seconds_left[owner] = (self._current(owner) - seconds, self._clock())
            self._seconds_left.move_to_end(owner)
            if len(self._seconds_left) > MOST_OWNERS:
                self._seconds_left.popitem(last=False)

    def charging(self, owner: str) -> AbstractContextManager[None]:
        """Charge a person for the thread work started within the context."""
        return charged_to(partial(self.charge, owner))

    def _current(self, owner: str) -> float:
        now = self._clock()
        left, counted_at = self._seconds_left.get(owner, (self._most, now))
        return min(self._most, left + (now - counted_at) * self._per_second)


class AskingPlaces:
    """A limit on concurrent questions. Waiting questions take turns person by person, whoever sent
    the most; all of it runs on one event loop."""

    def __init__(self, count: int, budget: CpuBudget | None = None) -> None:
        self.budget = budget or CpuBudget(0)
        self._free = count
        self._waiting: dict[str, deque[asyncio.Future[None]]] = {}
        """Owner -> their questions in order; whose turn comes first stands first."""

    def of(self, owner: str, payer: str = "") -> "OwnPlace":
        """Return the place that one question waits for. Anonymous askers share one turn.

        payer: whose CPU time it uses, if not the owner's.
        """
        return OwnPlace(self, owner, payer or owner)

    @property
    def waiting(self) -> int:
        """Return how many questions wait for their turn."""
        return sum(map(len, self._waiting.values()))

    def locked(self) -> bool:
        """Tell whether a question would have to wait now."""
        return self._free == 0

    async def enter(self, owner: str) -> None:
        if self._free:
            self._free -= 1
            return
        turn = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(owner, deque()).append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():  # it was given its turn while being cancelled
                self.leave()
            raise

    def leave(self) -> None:
        while self._waiting:
            owner = next(iter(self._waiting))
            turns = self._waiting.pop(owner)
            turn = turns.popleft()
            if turns:
                self._waiting[owner] = turns  # to the end of the line
            if not turn.done():
                turn.set_result(None)
                return
        self._free += 1


class OwnPlace:
    """The place of one question, taken by `async with`; its CPU time is charged meanwhile."""

    def __init__(self, places: AskingPlaces, owner: str, payer: str) -> None:
        self._places = places
        self._owner = owner
        self._payer = payer
        self._charging = places.budget.charging(payer)

    def locked(self) -> bool:
        return self._places.locked()

    def check(self) -> None:
        """Raise TooMuchWork if the person has used up their CPU time."""
        self._places.budget.check(self._payer)

    async def __aenter__(self) -> None:
        self.check()
        await self._places.enter(self._owner)
        try:
            self.check()  # earlier questions may have used it up meanwhile
            self._charging.__enter__()
        except BaseException:
            self._places.leave()
            raise

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self._charging.__exit__(kind, error, at)
        self._places.leave()
