"""Whatever a network does between a conversation and a desk, each message arrives once and in
order, both ways, and nothing that was written after the end. TEST_SCHEDULES says how many schedules
of faults are tried at each desk: `make handoff` takes 500."""

import asyncio
import os
import random
import uuid
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import pytest
from sqlalchemy import update

from copies import open_copy
from handoff.help_desk import KEY
from handoff.real_synapse import Synapse, running
from handoff.sides import (
    HARD,
    SECRET_ENV,
    TOKEN_ENV,
    MatrixSide,
    ShakySide,
    Side,
    salesforce_side,
    ticket_side,
    webhook_side,
)
from handoff.talks import QUICK, add, handed_over, said_by_advisor, until
from handoff.ticket_services import SECRET, SERVICES
from ombud.handoff import Delivery, session
from ombud.store import Store, desk_statuses, read_events, read_session
from ombud.store.tables import lease as leases
from ombud.types import Answered, Ended, HandedOver, Said

SCHEDULES = range(int(os.environ.get("TEST_SCHEDULES", "5")))
MESSAGES = 8
"""Of each side."""


class Server:
    """A process that delivers, and is killed and started again."""

    def __init__(self, store: Store, side: Side) -> None:
        self.store = store
        self.side = side
        self.kills = 0
        self.start()

    def start(self) -> None:
        self.delivery = Delivery(self.store, self.side.desk(), self.side.name, pace=QUICK)
        self.task = asyncio.create_task(self.delivery.run())

    async def kill(self) -> None:
        self.task.cancel()
        with suppress(asyncio.CancelledError):
            await self.task
        with self.store.write() as db:
            db.execute(update(leases).values(expires=1.0))

    async def maybe_restart(self, chance: random.Random, how_often: float) -> None:
        if chance.random() < how_often:
            await self.kill()
            self.kills += 1
            self.start()


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    opened = open_copy(tmp_path)
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def synapse(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Synapse]:
    with running(tmp_path_factory.mktemp("synapse")) as server:
        yield server


@pytest.mark.parametrize("seed", range(5))
def test_a_shaky_desk_has_everything_up_to_the_end(store: Store, seed: int) -> None:
    chance = random.Random(seed)
    side = ShakySide(seed, chance.choice(HARD))
    asyncio.run(_run(store, side, chance))


@pytest.mark.slow
@pytest.mark.parametrize("seed", SCHEDULES)
def test_salesforce_has_everything_up_to_the_end(store: Store, seed: int) -> None:
    async def run() -> None:
        chance = random.Random(seed)
        async with salesforce_side(seed, chance) as side:
            await _run(store, side, chance)

    asyncio.run(run())


@pytest.mark.slow
@pytest.mark.parametrize("seed", SCHEDULES)
def test_another_system_has_everything_up_to_the_end(
    store: Store, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(SECRET_ENV, KEY.decode())

    async def run() -> None:
        chance = random.Random(seed)
        async with webhook_side(seed, chance, store) as side:
            await _run(store, side, chance)

    asyncio.run(run())


@pytest.mark.slow
@pytest.mark.parametrize("system", SERVICES)
@pytest.mark.parametrize("seed", SCHEDULES)
def test_a_ticket_system_has_everything_up_to_the_end(
    store: Store, system: str, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(SECRET_ENV, SECRET)

    async def run() -> None:
        chance = random.Random(seed)
        async with ticket_side(system, seed, chance, store) as side:
            await _run(store, side, chance)

    asyncio.run(run())


@pytest.mark.slow
@pytest.mark.parametrize("seed", SCHEDULES)
def test_a_matrix_room_has_everything_up_to_the_end(
    store: Store, seed: int, synapse: Synapse, monkeypatch: pytest.MonkeyPatch
) -> None:
    bot, ana = synapse.user("bot"), synapse.user("ana")
    monkeypatch.setenv(TOKEN_ENV, bot.token)
    asyncio.run(_run(store, MatrixSide(synapse, bot, ana), random.Random(seed)))


async def _run(store: Store, side: Side, chance: random.Random) -> None:
    """Both sides talk, one of them ends it, the employee writes on to the assistant, and sometimes
    asks for a person again."""
    talk, ticket = handed_over(store, side.name, "first", "second")
    async with _serving(store, side) as server:
        await until(lambda: side.is_open(ticket), server.delivery)
        await side.accept(ticket)
        await _talk(store, talk, ticket, server, chance)
        await _end(store, talk, ticket, server, chance)
        await _write_privately(store, talk, server, chance)
        tickets = [ticket]
        if chance.random() < 0.5:
            tickets.append(_hand_over_again(store, talk, side.name))
            await server.maybe_restart(chance, 0.3)
            add(store, talk, Said(text="mine again"))
        await until(lambda: _is_all_sent(store), server.delivery)
        for number, one in enumerate(tickets):
            _check_arrived(store, talk, one, side.arrived(one), is_first=number == 0)


@asynccontextmanager
async def _serving(store: Store, side: Side) -> AsyncIterator[Server]:
    server = Server(store, side)
    try:
        yield server
    finally:
        await server.kill()
        print(f"kills: {server.kills}")


async def _talk(
    store: Store, talk: str, ticket: str, server: Server, chance: random.Random
) -> None:
    told: list[str] = []
    for number in range(MESSAGES):
        await server.maybe_restart(chance, 0.15)
        if chance.random() < 0.15:
            server.side.disturb()
        key = str(uuid.uuid4())
        for _ in range(chance.randint(1, 2)):  # an impatient browser sends it again
            add(store, talk, Said(text=f"mine {number}"), key=key)
        told.append(f"theirs {number}")
        await server.side.say(ticket, told[-1])
        if chance.random() < 0.5:
            await asyncio.sleep(chance.random() / 50)
    await until(lambda: len(said_by_advisor(store, talk)) >= len(told), server.delivery)
    assert said_by_advisor(store, talk) == told


async def _end(store: Store, talk: str, ticket: str, server: Server, chance: random.Random) -> None:
    """Ended by either side while the employee goes on typing."""
    add(store, talk, Said(text="mine, while it ends"))
    if chance.random() < 0.5:
        await server.side.end(ticket)
    else:
        session.take_back(store, talk)
    number = 0
    while read_session(store, talk).is_handed_over:
        if number < MESSAGES:
            add(store, talk, Said(text=f"mine {number}, while it ends"))
            number += 1
            await server.maybe_restart(chance, 0.1)
        server.delivery.wake()
        await asyncio.sleep(0.005)


async def _write_privately(store: Store, talk: str, server: Server, chance: random.Random) -> None:
    for number in range(3):
        add(store, talk, Said(text=f"private question {number}"))
        add(store, talk, Answered(text=f"private answer {number}"), by="assistant")
        await server.maybe_restart(chance, 0.3)
        if chance.random() < 0.5:
            await asyncio.sleep(chance.random() / 50)


def _hand_over_again(store: Store, talk: str, desk: str) -> str:
    again = HandedOver(ticket_id=str(uuid.uuid4()), desk=desk, reason="asked")
    add(store, talk, again)
    return again.ticket_id


def _is_all_sent(store: Store) -> bool:
    return all(one.waiting == one.parked == 0 for one in desk_statuses(store))


def _check_arrived(
    store: Store, talk: str, ticket: str, arrived: list[str], *, is_first: bool
) -> None:
    """What the employee wrote between hand-over and end, once and in order, behind the history."""
    expected: list[str] = []
    is_open = False
    for event in read_events(store, talk):
        if isinstance(event.what, HandedOver):
            is_open = event.what.ticket_id == ticket
        elif isinstance(event.what, Ended):
            is_open = False
        elif is_open and event.by == "user":
            expected.append(event.text)
    history = [text for text in arrived if text.startswith("[")]
    assert [text for text in arrived if not text.startswith("[")] == [
        text for text in expected if text
    ]
    whole_history = "".join(text.partition("] ")[2] for text in history)
    assert "first" in whole_history
    assert ("private answer 2" in whole_history) is not is_first
    assert arrived[: len(history)] == history
