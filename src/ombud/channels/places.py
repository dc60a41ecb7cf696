"""Places for questions that are answered at the same time, given out fairly."""

import asyncio
from collections import deque
from types import TracebackType


class AskingPlaces:
    """So many at once; who waits is served person by person, one question each, and not by who sent
    the most. All of it happens on one event loop."""

    def __init__(self, count: int) -> None:
        self._free = count
        self._waiting: dict[str, deque[asyncio.Future[None]]] = {}
        """Owner -> their questions in order; whose turn comes first stands first."""

    def of(self, owner: str) -> "OwnPlace":
        """What one question of a person waits with; everybody without a name is one."""
        return OwnPlace(self, owner)

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
    """A place of one question, taken by `async with`."""

    def __init__(self, places: AskingPlaces, owner: str) -> None:
        self._places = places
        self._owner = owner

    def locked(self) -> bool:
        return self._places.locked()

    async def __aenter__(self) -> None:
        await self._places.enter(self._owner)

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self._places.leave()
