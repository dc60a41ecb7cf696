"""The money that models may cost in a day, for all processes that share a store."""

import asyncio
import time
from collections.abc import Callable
from datetime import date
from typing import TYPE_CHECKING

from ombud.errors import StoreError
from ombud.models.chat.outcomes import Usage

if TYPE_CHECKING:
    from ombud.store import Store

FRESH = 10.0
"""Seconds for which it is not asked again what other processes have spent."""
SLOW = 2.0
"""Seconds that a question waits for the store."""


class Budget:
    """limit: US dollars a day. It is looked at before a call and paid after it, so calls that are
    under way when it runs empty still cost something. A store that fails does not keep anyone from
    asking."""

    def __init__(
        self,
        store: Callable[[], "Store"],
        limit: float,
        today: Callable[[], date],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.limit = limit
        self._store = store
        self._today = today
        self._clock = clock
        self._day = ""
        self._spent = 0.0
        self._read_at = 0.0

    async def is_spent(self) -> bool:
        # Here, for the parser process imports this module too, and has no use for a database.
        from ombud.store import spent_on

        day = self._today().isoformat()
        now = self._clock()
        if day != self._day or now - self._read_at > FRESH:
            try:
                async with asyncio.timeout(SLOW):
                    spent = await asyncio.to_thread(lambda: spent_on(self._store(), day))
            except (StoreError, TimeoutError):
                return False
            self._day = day
            self._spent = spent
            self._read_at = now
        return self._spent >= self.limit

    async def pay(self, model: str, usage: Usage) -> None:
        """Usage whose price is not known counts as a call of no price."""
        from ombud.store import Spending, add_spending

        day = self._today().isoformat()
        spent = Spending(model, 1, usage.tokens_in, usage.tokens_out, usage.price or 0.0)
        try:
            async with asyncio.timeout(SLOW):
                total = await asyncio.to_thread(lambda: add_spending(self._store(), day, spent))
        except (StoreError, TimeoutError):  # where it is only slow, it is written all the same
            return
        # Two that pay at once may end in either order.
        self._spent = max(total, self._spent) if day == self._day else total
        self._day = day
        self._read_at = self._clock()
