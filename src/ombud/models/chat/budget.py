"""The money that models may cost in a day, for all processes that share a store: of everybody, of
each person and of each group."""

import asyncio
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import date
from hashlib import sha256
from typing import TYPE_CHECKING, Literal, NamedTuple

from ombud.errors import StoreError
from ombud.models.chat.outcomes import Usage
from ombud.settings import ModelSettings
from ombud.types import Person

if TYPE_CHECKING:
    from ombud.store import Store

FRESH = 10.0
"""Seconds for which it is not asked again what other processes have spent."""
SLOW = 2.0
"""Seconds that a question waits for the store."""
EVERYBODY = ""
"""Owner of the organisation's budget."""

Level = Literal["organisation", "person", "group"]

_payer: ContextVar[Person | None] = ContextVar("payer", default=None)


class BudgetLimit(NamedTuple):
    """US dollars a day."""

    level: Level
    amount: float


class Total(NamedTuple):
    """US dollars that an owner has spent today, and when that was read."""

    spent: float
    read_at: float


@contextmanager
def paid_by(person: Person) -> Iterator[None]:
    """Charge the calls made inside to the budgets of a person and of their groups."""
    token = _payer.set(person)
    try:
        yield
    finally:
        _payer.reset(token)


class Budget:
    """The budgets of the settings. They are looked at before a call and paid after it, so calls
    that are under way when one runs empty still cost something. A store that fails does not keep
    anyone from asking."""

    def __init__(
        self,
        store: Callable[[], "Store"],
        settings: ModelSettings,
        today: Callable[[], date],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._store = store
        self._settings = settings
        self._today = today
        self._clock = clock
        self._day = ""
        self._totals: dict[str, Total] = {}

    async def used_up(self) -> BudgetLimit | None:
        """Return the first limit that is reached: of the organisation, of the person who asks, of
        one of their groups; None if there is none."""
        day = self._begin_day()
        limits = self._limits()
        oldest = self._clock() - FRESH
        stale = [
            owner
            for owner in limits
            if owner not in self._totals or self._totals[owner].read_at < oldest
        ]
        if stale:
            try:
                async with asyncio.timeout(SLOW):
                    spent = await asyncio.to_thread(self._read, day, stale)
            except (StoreError, TimeoutError):
                return None
            for owner, amount in spent.items():
                self._totals[owner] = Total(amount, self._clock())
        for owner, limit in limits.items():
            total = self._totals.get(owner)
            if total and total.spent >= limit.amount:
                return limit
        return None

    async def pay(self, model: str, usage: Usage) -> None:
        """Record usage. Usage of unknown price counts as a call without price."""
        from ombud.store import Spending, add_spending

        day = self._begin_day()
        price = usage.price or 0.0
        spent = Spending(model, 1, usage.tokens_in, usage.tokens_out, price)
        owners = [owner for owner in self._limits() if owner != EVERYBODY]
        try:
            async with asyncio.timeout(SLOW):
                total = await asyncio.to_thread(
                    lambda: add_spending(self._store(), day, spent, owners)
                )
        except (StoreError, TimeoutError):  # where it is only slow, it is written all the same
            return
        if day != self._begin_day():
            return
        for owner in owners:  # what others have spent meanwhile is read before long
            before = self._totals.get(owner)
            if before:
                self._totals[owner] = before._replace(spent=before.spent + price)
        # Two that pay at once may end in either order.
        before = self._totals.get(EVERYBODY)
        most = max(total, before.spent) if before else total
        self._totals[EVERYBODY] = Total(most, self._clock())

    def _begin_day(self) -> str:
        """Return today, and forget the totals of another day."""
        day = self._today().isoformat()
        if day != self._day:
            self._day = day
            self._totals = {}
        return day

    def _limits(self) -> dict[str, BudgetLimit]:
        """Return the limits that count for whoever asks, by owner."""
        settings = self._settings
        limits: dict[str, BudgetLimit] = {}
        if settings.daily_budget:
            limits[EVERYBODY] = BudgetLimit("organisation", settings.daily_budget)
        person = _payer.get()
        if person is None:
            return limits
        if settings.person_budget:
            limits[_digest("person", person.id)] = BudgetLimit("person", settings.person_budget)
        for group in person.groups:
            if group in settings.group_budgets:
                amount = settings.group_budgets[group]
                limits[_digest("group", group)] = BudgetLimit("group", amount)
        return limits

    def _read(self, day: str, owners: list[str]) -> dict[str, float]:
        # Here, for the parser process imports this module too, and has no use for a database.
        from ombud.store import spent_by, spent_on

        own = [owner for owner in owners if owner != EVERYBODY]
        spent = spent_by(self._store(), day, own) if own else {}
        if EVERYBODY in owners:
            spent[EVERYBODY] = spent_on(self._store(), day)
        return spent


def _digest(kind: str, name: str) -> str:
    return sha256(f"{kind} {name}".encode()).hexdigest()
