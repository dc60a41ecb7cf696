"""The desks as a schedule of faults works with them: what an advisor does there, what arrived."""

import asyncio
import random
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Protocol

from handoff.help_desk import HelpDesk, served
from handoff.miaw import DEPLOYMENT, ORGANISATION, Faults, Miaw, emulated
from handoff.real_synapse import Synapse, User
from handoff.shaky import ShakyDesk
from handoff.ticket_services import (
    REPLY_SECONDS,
    SERVICES,
    WEBHOOK_KEY,
    Stored,
    TicketService,
    serving,
)
from ombud.handoff import Desk, inbound, keep_event, open_tickets, ticket_system
from ombud.handoff.desks.opening import open_desk
from ombud.handoff.desks.salesforce import open_salesforce
from ombud.handoff.desks.salesforce.service import Pulse
from ombud.handoff.tickets.line import WITHDRAWN
from ombud.settings import HandoffSettings, SalesforceSettings, TicketSettings
from ombud.store import Store, find_line, look_soon, read_line

PULSE = Pulse(reply=5.0, heartbeat=5.0, echo=0.05, look=0.01, position=0.05)
HARD = [0.0, 0.05, 0.15, 0.3]
"""How often each kind of fault happens."""
SECRET_ENV, TOKEN_ENV = "TEST_SECRET", "TEST_MATRIX_TOKEN"


class Side(Protocol):
    """A desk, its advisors, and what they have read there."""

    name: str

    def desk(self) -> Desk:
        """As a process that has just started opens it."""
        ...

    def is_open(self, ticket: str) -> bool: ...

    async def accept(self, ticket: str) -> None: ...

    async def say(self, ticket: str, text: str) -> None: ...

    async def end(self, ticket: str) -> None: ...

    def arrived(self, ticket: str) -> list[str]: ...

    def disturb(self) -> None:
        """Something goes wrong there that a desk must get over."""
        ...


class ShakySide:
    name = "shaky"

    def __init__(self, seed: int, fault: float) -> None:
        self._desk = ShakyDesk(seed, fault)

    def desk(self) -> Desk:
        return self._desk

    def is_open(self, ticket: str) -> bool:
        return ticket in self._desk.opened

    async def accept(self, ticket: str) -> None:
        await self._desk.tell(ticket, kind="joined", name="Ana")

    async def say(self, ticket: str, text: str) -> None:
        await self._desk.tell(ticket, kind="message", text=text, name="Ana")

    async def end(self, ticket: str) -> None:
        await self._desk.tell(ticket, kind="ended")

    def arrived(self, ticket: str) -> list[str]:
        return list(self._desk.heard.get(ticket, {}).values())

    def disturb(self) -> None:
        return


class SalesforceSide:
    name = "salesforce"

    def __init__(self, miaw: Miaw) -> None:
        self._miaw = miaw

    def desk(self) -> Desk:
        salesforce = SalesforceSettings(
            url=self._miaw.url, organisation=ORGANISATION, deployment=DEPLOYMENT
        )
        return open_salesforce(HandoffSettings(desk="salesforce", salesforce=salesforce), PULSE)

    def is_open(self, ticket: str) -> bool:
        return ticket in self._miaw.conversations

    async def accept(self, ticket: str) -> None:
        await self._miaw.accept(ticket)

    async def say(self, ticket: str, text: str) -> None:
        await self._miaw.say(ticket, text)

    async def end(self, ticket: str) -> None:
        await self._miaw.end(ticket)

    def arrived(self, ticket: str) -> list[str]:
        talk = self._miaw.conversations.get(ticket)
        return talk.texts("EndUser") if talk else []

    def disturb(self) -> None:
        self._miaw.expire()


class WebhookSide:
    name = "webhook"

    def __init__(self, help_desk: HelpDesk, store: Store) -> None:
        self._help_desk = help_desk
        self._store = store

    def desk(self) -> Desk:
        webhook = {"url": self._help_desk.url, "secret_env": SECRET_ENV}
        settings = HandoffSettings.model_validate({"desk": "webhook", "webhook": webhook})
        desk = open_desk(settings)
        assert desk is not None
        return desk

    def is_open(self, ticket: str) -> bool:
        return ticket in self._help_desk.tickets

    async def accept(self, ticket: str) -> None:
        await self._post(ticket, type="joined", name="Ana")

    async def say(self, ticket: str, text: str) -> None:
        await self._post(ticket, type="message", text=text, name="Ana")

    async def end(self, ticket: str) -> None:
        await self._post(ticket, type="ended")

    def arrived(self, ticket: str) -> list[str]:
        entries = self._help_desk.tickets.get(ticket, [])
        return [entry["text"] for entry in entries if entry["type"] == "message"]

    def disturb(self) -> None:
        return

    async def _post(self, ticket: str, **what: Any) -> None:
        """Posted twice: its answer was lost."""
        told = inbound({"id": str(uuid.uuid4()), "ticket": {"id": ticket}, **what})
        line = read_line(self._store, ticket)
        assert told is not None
        assert line is not None
        for _ in range(2):
            with self._store.write() as db:
                keep_event(db, line.conversation_id, ticket, told.event)


class MatrixSide:
    name = "matrix"

    def __init__(self, synapse: Synapse, bot: User, ana: User) -> None:
        self._synapse = synapse
        self._bot = bot
        self._ana = ana
        self._rooms: dict[str, str] = {}

    def desk(self) -> Desk:
        matrix = {
            "url": self._synapse.url,
            "token_env": TOKEN_ENV,
            "advisors": [self._ana.id],
        }
        desk = open_desk(HandoffSettings(desk="matrix", matrix=matrix))
        assert desk is not None
        return desk

    def is_open(self, ticket: str) -> bool:
        if ticket not in self._rooms:
            alias = f"#ombud-{ticket}:{self._bot.id.partition(':')[2]}"
            room = self._ana.find(alias)
            if room and self._ana.may_join(room):
                self._rooms[ticket] = room
        return ticket in self._rooms

    async def accept(self, ticket: str) -> None:
        """She is there as soon as there is a room."""

    async def say(self, ticket: str, text: str) -> None:
        await asyncio.to_thread(self._ana.say, self._rooms[ticket], text)

    async def end(self, ticket: str) -> None:
        await asyncio.to_thread(self._ana.say, self._rooms[ticket], "!close")

    def arrived(self, ticket: str) -> list[str]:
        if not self.is_open(ticket):
            return []
        sent = self._ana.texts(self._rooms[ticket], self._bot.id)
        return [text for text in sent if not text.startswith("The employee has left")]

    def disturb(self) -> None:
        return


class TicketSide:
    """A ticket system whose agents answer by comments; half of them are announced by webhooks,
    twice and in no order."""

    def __init__(self, service: TicketService, store: Store, chance: random.Random) -> None:
        self.name = service.settings["system"]
        self._service = service
        self._store = store
        self._chance = chance

    def desk(self) -> Desk:
        values = {
            **self._service.settings,
            "url": self._service.url,
            "client": "client",
            "secret_env": SECRET_ENV,
            "poll_seconds": 0.02,
            "settle_seconds": 1.5 * REPLY_SECONDS,
            "timeout_seconds": REPLY_SECONDS,
        }
        desk = open_tickets(TicketSettings.model_validate(values), "https://ombud.example")
        assert desk is not None
        return desk

    def is_open(self, ticket: str) -> bool:
        return self._service.of(ticket) is not None

    async def accept(self, ticket: str) -> None:
        """Whoever comments first has joined."""

    async def say(self, ticket: str, text: str) -> None:
        self._service.reply(self._stored(ticket), "an internal note", public=False)
        self._service.reply(self._stored(ticket), text)
        if self._chance.random() < 0.5:
            self._announce()

    async def end(self, ticket: str) -> None:
        self._stored(ticket).is_closed = True
        self._announce()

    def arrived(self, ticket: str) -> list[str]:
        return [text for text in self._service.texts(self._stored(ticket)) if text != WITHDRAWN]

    def disturb(self) -> None:
        self._service.tokens.clear()

    def _stored(self, ticket: str) -> Stored:
        stored = self._service.of(ticket)
        assert stored is not None
        return stored

    def _announce(self) -> None:
        """Post a webhook about each ticket, as a system does that retries and reorders them."""
        stored = list(self._service.tickets.values()) * 2
        self._chance.shuffle(stored)
        for one in stored:
            announced = self._service.announcement(one)
            if announced is not None:
                remote_id = ticket_system(self.name).announced_ticket(*announced, WEBHOOK_KEY)
                line = find_line(self._store, self.name, "id", remote_id)
                if line is not None:
                    look_soon(self._store, line.ticket_id)


@asynccontextmanager
async def ticket_side(
    system: str, seed: int, chance: random.Random, store: Store
) -> AsyncIterator[Side]:
    hidden = chance.choice([0.0, REPLY_SECONDS])
    # Each request may fail twice: before its effect and after it.
    service = SERVICES[system](seed, chance.choice(HARD) / 2, hidden)
    async with serving(service):
        yield TicketSide(service, store, chance)


@asynccontextmanager
async def salesforce_side(seed: int, chance: random.Random) -> AsyncIterator[Side]:
    faults = Faults(**{name: chance.choice(HARD) for name in Faults.__dataclass_fields__})
    async with emulated(seed, faults) as miaw:
        miaw.hidden_seconds = chance.choice([0.0, 0.0, 0.005])
        miaw.knows_repeats = chance.random() < 0.5
        yield SalesforceSide(miaw)


@asynccontextmanager
async def webhook_side(seed: int, chance: random.Random, store: Store) -> AsyncIterator[Side]:
    async with served(seed, chance.choice(HARD)) as help_desk:
        yield WebhookSide(help_desk, store)
