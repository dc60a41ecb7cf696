"""Places for questions that are answered at the same time, given out fairly, and the CPU time that
answering one person may take."""

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
"""People whose CPU time is remembered; whoever was quiet longest is forgotten first."""
BURST_MINUTES = 2
"""Minutes of CPU time that may be used at once."""
Clock = Callable[[], float]


class CpuBudget:
    """CPU seconds that each person may use; per_minute = 0 limits nobody.

    Time is charged when it was used, so that a question that began is always answered; whoever
    owes time waits until it has come back."""

    def __init__(self, per_minute: float, clock: Clock = time.monotonic) -> None:
        self._per_second = per_minute / 60
        self._most = per_minute * BURST_MINUTES
        self._clock = clock
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()
        """Owner -> seconds left, and when that was counted."""
        self._lock = threading.Lock()

    def check(self, owner: str) -> None:
        """Raise TooMuchWork while a person has no time left."""
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
            self._left[owner] = (self._current(owner) - seconds, self._clock())
            self._left.move_to_end(owner)
            if len(self._left) > MOST_OWNERS:
                self._left.popitem(last=False)

    def charging(self, owner: str) -> AbstractContextManager[None]:
        """Charge a person for the work on threads that is begun inside."""
        return charged_to(partial(self.charge, owner))

    def _current(self, owner: str) -> float:
        now = self._clock()
        left, counted_at = self._left.get(owner, (self._most, now))
        return min(self._most, left + (now - counted_at) * self._per_second)


class AskingPlaces:
    """So many at once; who waits is served person by person, one question each, and not by who sent
    the most. All of it happens on one event loop."""

    def __init__(self, count: int, budget: CpuBudget | None = None) -> None:
        self.budget = budget or CpuBudget(0)
        self._free = count
        self._waiting: dict[str, deque[asyncio.Future[None]]] = {}
        """Owner -> their questions in order; whose turn comes first stands first."""

    def of(self, owner: str, payer: str = "") -> "OwnPlace":
        """What one question of a person waits with; everybody without a name is one.

        payer: whose CPU time it uses, where that is somebody else."""
        return OwnPlace(self, owner, payer or owner)

    def locked(self) -> bool:
        """Whether a question would have to wait now."""
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
            if turn.done() and not turn.cancelled():  # it had its turn, and does not want it
                self.leave()
            raise

    def leave(self) -> None:
        while self._waiting:
            owner = next(iter(self._waiting))
            turns = self._waiting.pop(owner)
            turn = turns.popleft()
            if turns:
                self._waiting[owner] = turns  # behind everybody else
            if not turn.done():
                turn.set_result(None)
                return
        self._free += 1


class OwnPlace:
    """A place of one question, taken by `async with`; its CPU time is charged meanwhile."""

    def __init__(self, places: AskingPlaces, owner: str, payer: str) -> None:
        self._places = places
        self._owner = owner
        self._payer = payer
        self._charging = places.budget.charging(payer)

    def locked(self) -> bool:
        return self._places.locked()

    def check(self) -> None:
        """Raise TooMuchWork where the person has used up their CPU time."""
        self._places.budget.check(self._payer)

    async def __aenter__(self) -> None:
        self.check()
        await self._places.enter(self._owner)
        try:
            self.check()  # what was asked before may have used it up meanwhile
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
