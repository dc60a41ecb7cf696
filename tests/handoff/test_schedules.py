"""Whatever a network does between a conversation and Salesforce, each message arrives once and in
order, both ways. TEST_SCHEDULES says how many schedules of faults are tried: `make handoff` takes
500."""

import asyncio
import os
import random
import uuid
from contextlib import suppress
from pathlib import Path

import pytest
from sqlalchemy import update

from handoff.miaw import DEPLOYMENT, ORGANISATION, Faults, Miaw, emulated
from handoff.talks import QUICK, add, handed_over, said_by_advisor, until
from ombud.handoff import Delivery
from ombud.handoff.desks.salesforce import SalesforceDesk, open_salesforce
from ombud.handoff.desks.salesforce.service import Pulse
from ombud.settings import HandoffSettings, SalesforceSettings
from ombud.store import Store, open_store, read_session
from ombud.store.tables import lease as leases
from ombud.types import Said

pytestmark = pytest.mark.slow

SCHEDULES = int(os.environ.get("TEST_SCHEDULES", "5"))
MESSAGES = 8
"""Of each side."""
PULSE = Pulse(reply=5.0, heartbeat=5.0, echo=0.05, look=0.01, position=0.05)
HARD = [0.0, 0.05, 0.15, 0.3]
"""How often each kind of fault happens."""


def desk_of(miaw: Miaw) -> SalesforceDesk:
    salesforce = SalesforceSettings(url=miaw.url, organisation=ORGANISATION, deployment=DEPLOYMENT)
    return open_salesforce(HandoffSettings(desk="salesforce", salesforce=salesforce), PULSE)


class Server:
    """A process that delivers, and is killed and started again."""

    def __init__(self, store: Store, miaw: Miaw) -> None:
        self.store = store
        self.miaw = miaw
        self.start()

    def start(self) -> None:
        self.delivery = Delivery(self.store, desk_of(self.miaw), "salesforce", pace=QUICK)
        self.task = asyncio.create_task(self.delivery.run())

    async def kill(self) -> None:
        self.task.cancel()
        with suppress(asyncio.CancelledError):
            await self.task
        with self.store.write() as db:
            db.execute(update(leases).values(expires=1.0))


def _said(texts: list[str]) -> list[str]:
    """Without the history that comes first."""
    return [text for text in texts if text.startswith("mine")]


@pytest.mark.parametrize("seed", range(SCHEDULES))
def test_each_message_is_there_once_and_in_order(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    rates = {name: chance.choice(HARD) for name in Faults.__dataclass_fields__}
    store = open_store("", tmp_path)
    try:
        asyncio.run(_run(store, seed, Faults(**rates), chance))
    finally:
        store.close()


async def _run(store: Store, seed: int, faults: Faults, chance: random.Random) -> None:
    async with emulated(seed, faults) as miaw:
        miaw.hidden_seconds = chance.choice([0.0, 0.0, 0.005])
        miaw.knows_repeats = chance.random() < 0.5
        talk, ticket = handed_over(store, "salesforce", "first", "second")
        server = Server(store, miaw)
        await until(lambda: ticket in miaw.conversations, server.delivery)
        await miaw.accept(ticket)
        sent: list[str] = []
        told: list[str] = []
        for number in range(MESSAGES):
            if chance.random() < 0.15:
                await server.kill()
                server.start()
            if chance.random() < 0.15:
                miaw.expire()
            sent.append(f"mine {number}")
            key = str(uuid.uuid4())
            for _ in range(chance.randint(1, 2)):  # an impatient browser sends it again
                add(store, talk, Said(text=sent[-1]), key=key)
            told.append(f"theirs {number}")
            await miaw.say(ticket, told[-1])
            if chance.random() < 0.5:
                await asyncio.sleep(chance.random() / 50)
        conversation = miaw.conversations[ticket]
        await until(lambda: len(_said(conversation.texts("EndUser"))) >= len(sent), server.delivery)
        await until(lambda: len(said_by_advisor(store, talk)) >= len(told), server.delivery)
        await miaw.end(ticket)
        await until(lambda: read_session(store, talk).state == "returned", server.delivery)
        await server.kill()
        texts = conversation.texts("EndUser")
        assert _said(texts) == sent
        assert "first" in texts[0]
        assert len(texts) == len(sent) + 1
        assert said_by_advisor(store, talk) == told
