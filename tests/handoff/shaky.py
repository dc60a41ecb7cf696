"""A desk in memory that loses connections, repeats itself and answers too late; seeded."""

import asyncio
import random
from collections.abc import AsyncIterator
from typing import Any

from ombud.errors import Undelivered
from ombud.handoff import DeskEvent, LineMemory, Outgoing
from ombud.types import Ticket


class ShakyDesk:
    """What it holds is the desk's truth; every call may fail, before or after it had an effect.

    fault: chance of a failure of each call and of each event.
    """

    longest_message = 200

    def __init__(self, seed: int, fault: float) -> None:
        self.random = random.Random(seed)
        self.fault = fault
        self.opened: dict[str, Ticket] = {}
        self.heard: dict[str, dict[str, str]] = {}
        """Ticket -> id -> text of what we have sent, in the order in which it came first."""
        self.told: dict[str, list[DeskEvent]] = {}
        self.closed: set[str] = set()
        self.news = asyncio.Condition()

    def line(self, ticket: Ticket, memory: LineMemory) -> "_ShakyLine":
        return _ShakyLine(self, ticket, memory)

    async def close(self) -> None:
        return

    async def tell(self, ticket_id: str, **said: Any) -> None:
        """The advisor's side."""
        events = self.told.setdefault(ticket_id, [])
        number = len(events) + 1
        event = DeskEvent(entry_id=f"{ticket_id}/{number}", cursor=str(number), **said)
        async with self.news:
            events.append(event)
            self.news.notify_all()

    def maybe(self) -> None:
        if self.random.random() < self.fault:
            raise Undelivered("The desk is away.")


class _ShakyLine:
    def __init__(self, desk: ShakyDesk, ticket: Ticket, memory: LineMemory) -> None:
        self._desk = desk
        self._ticket = ticket
        self._memory = memory

    async def open(self) -> None:
        self._desk.maybe()
        await self._memory.save({"token": "t"})
        self._desk.opened[self._ticket.id] = self._ticket
        await asyncio.sleep(0)
        self._desk.maybe()

    async def send(self, outgoing: Outgoing) -> None:
        self._desk.maybe()
        await asyncio.sleep(0)
        if outgoing.kind == "message":
            heard = self._desk.heard.setdefault(self._ticket.id, {})
            heard.setdefault(outgoing.id, outgoing.text)
        await asyncio.sleep(0)
        self._desk.maybe()

    async def events(self) -> AsyncIterator[DeskEvent]:
        self._desk.maybe()
        place = int(self._memory.cursor or 0)
        # A desk may begin a little before where it was asked to.
        place = max(0, place - self._desk.random.randrange(3))
        while True:
            told = self._desk.told.setdefault(self._ticket.id, [])
            while place < len(told):
                self._desk.maybe()
                yield told[place]
                if told[place].kind == "ended":
                    return
                place += 1
            async with self._desk.news:
                if place >= len(told):
                    await self._desk.news.wait()

    async def close(self) -> None:
        self._desk.maybe()
        self._desk.closed.add(self._ticket.id)
        self._desk.maybe()
