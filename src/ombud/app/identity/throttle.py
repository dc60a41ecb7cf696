"""Throttles password attempts: wrong ones delay the next ones, but a stranger's attempts never lock
anybody out."""

import asyncio
import time
from collections import OrderedDict, defaultdict
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, NamedTuple, TypeVar

from ombud.errors import Busy

T = TypeVar("T")
FORGIVING_SECONDS = 30.0
"""Time after which one wrong password is forgotten."""
FIRST_PAUSE = 0.5
LONGEST_PAUSE = 4.0
"""Longest delay in seconds: acceptable for people, and long enough to make guessing passwords of 12
characters hopeless."""
MOST_REMEMBERED = 10_000


class Limit(NamedTuple):
    """Limits of a name, an address, or both together."""

    free: int
    """Attempts without delay."""
    waiting: int
    """Attempts that may wait at once; one more refuses the oldest."""


BOTH = Limit(free=5, waiting=3)
EITHER = Limit(free=20, waiting=16)
Owner = tuple[str, str]
"""Name and address; an empty one stands for all."""


class Throttle:
    """Counts attempts by name, by address and by both, within one process and event loop.

    An attempt that is not free waits up to `LONGEST_PAUSE` without a thread and is then checked.
    """

    def __init__(
        self,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._clock = clock
        self._sleep = sleep
        self._tries: OrderedDict[Owner, tuple[float, float]] = OrderedDict()
        self._waiting: defaultdict[Owner, list[asyncio.Future[None]]] = defaultdict(list)

    async def take_turn(
        self, name: str, address: str, check: Callable[[], Awaitable[T | None]]
    ) -> T | None:
        """Run `check` after the delay; None = a wrong password. Raises Busy if newer attempts have
        displaced this one."""
        limits = {(name, address): BOTH, (name, ""): EITHER, ("", address): EITHER}
        pause = max(self._count(owner, limit) for owner, limit in limits.items())
        turned_away: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._enter(limits, turned_away)
        passing = asyncio.ensure_future(self._checked(pause, check))
        first: list[asyncio.Future[Any]] = [passing, turned_away]
        try:
            await asyncio.wait(first, return_when=asyncio.FIRST_COMPLETED)
            if not passing.done():
                raise Busy(
                    "Too many people sign in with this name, or from this address.",
                    hint="Try again in a few seconds.",
                )
            result = passing.result()
        finally:
            passing.cancel()
            self._leave(list(limits), turned_away)
        if result is not None:
            self._forgive(name, address)
        return result

    async def _checked(self, pause: float, check: Callable[[], Awaitable[T | None]]) -> T | None:
        if pause:
            await self._sleep(pause)
        return await check()

    def _count(self, owner: Owner, limit: Limit) -> float:
        """Count one more attempt, and return its delay in seconds."""
        tries = self._remembered(owner) + 1
        # Counting beyond the longest pause would only make it last longer.
        self._tries[owner] = (min(tries, 2 * limit.free), self._clock())
        self._tries.move_to_end(owner)
        while len(self._tries) > MOST_REMEMBERED:
            self._tries.popitem(last=False)
        beyond = min(tries, 2 * limit.free) - limit.free
        return min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** (beyond - 1)) if beyond > 0 else 0.0

    def _remembered(self, owner: Owner) -> float:
        tries, at = self._tries.get(owner, (0.0, 0.0))
        return max(0.0, tries - (self._clock() - at) / FORGIVING_SECONDS)

    def _forgive(self, name: str, address: str) -> None:
        """Reset the counts after the right password."""
        self._tries.pop((name, address), None)
        for owner in ((name, ""), ("", address)):
            self._tries[owner] = (max(0.0, self._remembered(owner) - 1), self._clock())

    def _enter(self, limits: dict[Owner, Limit], turned_away: "asyncio.Future[None]") -> None:
        for owner, limit in limits.items():
            waiting = [one for one in self._waiting[owner] if not one.done()]
            if len(waiting) >= limit.waiting:
                waiting.pop(0).set_result(None)
            self._waiting[owner] = [*waiting, turned_away]

    def _leave(self, owners: Sequence[Owner], turned_away: "asyncio.Future[None]") -> None:
        for owner in owners:
            others = [one for one in self._waiting.pop(owner, []) if one is not turned_away]
            if others:
                self._waiting[owner] = others
