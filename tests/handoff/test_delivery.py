"""Between a conversation and a desk nothing is lost, doubled or out of order, whatever fails."""

import asyncio
import random
import uuid
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from sqlalchemy import update

from copies import open_copy
from handoff.shaky import ShakyDesk
from handoff.talks import QUICK, add, handed_over, said_by_advisor, until
from ombud.handoff import Delivery, parts_of, wait_before
from ombud.store import (
    Store,
    desk_statuses,
    erase_rows,
    read_events,
    read_session,
    select_conversation,
)
from ombud.store.tables import lease as leases
from ombud.types import (
    Closed,
    Delivered,
    Ended,
    Joined,
    Said,
)
from seeds import seeds


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    opened = open_copy(tmp_path)
    yield opened
    opened.close()


def heard(desk: ShakyDesk, ticket: str) -> list[str]:
    return [text for text in desk.heard.get(ticket, {}).values() if not text.startswith("[")]


@pytest.mark.parametrize("seed", seeds(25, quick=5))
def test_each_message_arrives_once_and_in_order_both_ways(store: Store, seed: int) -> None:
    chance = random.Random(seed)
    desk = ShakyDesk(seed, fault=chance.choice([0.1, 0.3, 0.5]))

    async def run() -> None:
        talk, ticket = handed_over(store, "shaky", "first", "second")
        sent, told = [], []
        delivery = Delivery(store, desk, "shaky", pace=QUICK)
        task = asyncio.create_task(delivery.run())
        await desk.tell(ticket, kind="joined", name="Ana")
        for number in range(10):
            if chance.random() < 0.3:  # the process goes and another takes over
                task.cancel()
                with suppress(asyncio.CancelledError):
                    await task
                with store.write() as db:
                    db.execute(update(leases).values(expires=1.0))
                delivery = Delivery(store, desk, "shaky", pace=QUICK)
                task = asyncio.create_task(delivery.run())
            sent.append(f"mine {number}")
            key = str(uuid.uuid4())
            for _ in range(chance.randint(1, 3)):  # an impatient browser sends it again
                add(store, talk, Said(text=sent[-1]), key=key)
            told.append(f"theirs {number}")
            await desk.tell(ticket, kind="message", text=told[-1], name="Ana")
            for _ in range(chance.randint(0, 5)):
                await asyncio.sleep(0)
        await until(lambda: len(heard(desk, ticket)) == len(sent), delivery)
        await until(lambda: len(said_by_advisor(store, talk)) == len(told), delivery)
        await desk.tell(ticket, kind="ended", text="done")
        await until(lambda: read_session(store, talk).state == "returned", delivery)
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
        assert heard(desk, ticket) == sent
        assert said_by_advisor(store, talk) == told
        assert [event.place for event in read_events(store, talk)] == list(
            range(1, read_session(store, talk).last + 1)
        )

    asyncio.run(run())


def test_the_whole_history_comes_first_in_numbered_parts(store: Store) -> None:
    desk = ShakyDesk(1, fault=0.3)

    async def run() -> None:
        talk, ticket = handed_over(store, "shaky", "a " * 150, "b " * 100)
        add(store, talk, Said(text="new"))
        delivery = Delivery(store, desk, "shaky", pace=QUICK)
        task = asyncio.create_task(delivery.run())
        await until(lambda: "new" in desk.heard.get(ticket, {}).values(), delivery)
        task.cancel()
        *history, last = desk.heard[ticket].values()
        assert last == "new"
        numbers = [part.partition("]")[0] for part in history]
        assert numbers == [f"[{n}/{len(history)}" for n in range(1, len(history) + 1)]
        assert len(history) > 2
        whole = "".join(part.partition("] ")[2] for part in history)
        assert "Employee: " + "a " * 150 in whole
        assert desk.opened[ticket].asker.country == "GB"

    asyncio.run(run())


def test_a_desk_that_is_away_parks_and_then_gets_everything(store: Store) -> None:
    desk = ShakyDesk(1, fault=1.0)

    async def run() -> None:
        talk, ticket = handed_over(store, "shaky")
        add(store, talk, Said(text="one"))
        add(store, talk, Said(text="two"))
        delivery = Delivery(store, desk, "shaky", pace=QUICK)
        task = asyncio.create_task(delivery.run())

        def states() -> list[str]:
            return [e.what.state for e in read_events(store, talk) if isinstance(e.what, Delivered)]

        await until(lambda: states() == ["parked"], delivery)
        status = desk_statuses(store)[0]
        assert (status.waiting, status.parked, status.error) == (2, 1, "The desk is away.")
        desk.fault = 0.0
        await until(lambda: heard(desk, ticket) == ["one", "two"], delivery)
        await until(lambda: states() == ["parked", "delivered"], delivery)
        await until(lambda: desk_statuses(store)[0].sent == 3, delivery)
        task.cancel()

    asyncio.run(run())


def test_what_was_erased_is_not_sent(store: Store) -> None:
    desk = ShakyDesk(1, fault=1.0)

    async def run() -> None:
        talk, ticket = handed_over(store, "shaky", "secret")
        add(store, talk, Said(text="more"))
        delivery = Delivery(store, desk, "shaky", pace=QUICK)
        task = asyncio.create_task(delivery.run())
        await until(lambda: desk_statuses(store)[0].error, delivery)
        erase_rows(store, select_conversation(store, talk), "person")
        desk.fault = 0.0
        for _ in range(50):
            delivery.wake()
            await asyncio.sleep(0.001)
        task.cancel()
        assert desk.heard.get(ticket, {}) == {}
        assert desk_statuses(store) == []

    asyncio.run(run())


def test_an_employee_who_leaves_closes_the_line(store: Store) -> None:
    desk = ShakyDesk(3, fault=0.3)

    async def run() -> None:
        talk, ticket = handed_over(store, "shaky", "help")
        add(store, talk, Ended(reason="no longer needed"))
        delivery = Delivery(store, desk, "shaky", pace=QUICK)
        task = asyncio.create_task(delivery.run())
        await until(lambda: ticket in desk.closed, delivery)
        add(store, talk, Closed())
        task.cancel()

    asyncio.run(run())


def test_an_advisor_who_speaks_is_there(store: Store) -> None:
    """The event that says so may be lost or late."""
    desk = ShakyDesk(4, fault=0.0)

    async def run() -> None:
        talk, ticket = handed_over(store, "shaky", "help")
        delivery = Delivery(store, desk, "shaky", pace=QUICK)
        task = asyncio.create_task(delivery.run())
        await desk.tell(ticket, kind="position", position=2)
        await until(lambda: read_session(store, talk).position == 2, delivery)
        await desk.tell(ticket, kind="message", text="hello", name="Ana")
        await until(lambda: read_session(store, talk).state == "live", delivery)
        await desk.tell(ticket, kind="joined", name="Ana")
        await desk.tell(ticket, kind="ended")
        await until(lambda: read_session(store, talk).state == "returned", delivery)
        joined = [e for e in read_events(store, talk) if isinstance(e.what, Joined)]
        assert [(e.what.name if isinstance(e.what, Joined) else "") for e in joined] == ["Ana"]
        task.cancel()

    asyncio.run(run())


def test_waits_grow_to_the_longest_and_are_spread() -> None:
    assert [wait_before(tries, lambda: 1.0) for tries in range(4)] == [1.0, 1.5, 2.25, 3.375]
    assert wait_before(50, lambda: 1.0) == 30.0
    assert wait_before(0, lambda: 0.0) == 0.5


def test_parts_are_cut_between_words_and_keep_every_character() -> None:
    text = "one two three four five six seven"
    parts = parts_of(text, 22)
    assert parts == ["[1/3] one two ", "[2/3] three four ", "[3/3] five six seven"] or all(
        len(part) <= 22 for part in parts
    )
    assert "".join(part.partition("] ")[2] for part in parts) == text
    assert parts_of("short", 22) == ["short"]
    assert "".join(p.partition("] ")[2] for p in parts_of("x" * 100, 30)) == "x" * 100


@pytest.mark.parametrize("pause", range(6))
def test_it_ends_when_it_is_told_to_even_while_it_is_woken(store: Store, pause: int) -> None:
    async def run() -> None:
        for _ in range(10):
            delivery = Delivery(store, ShakyDesk(1, fault=0.0), "shaky", pace=QUICK)
            task = asyncio.create_task(delivery.run())
            await asyncio.sleep(0.05)
            delivery.wake()
            for _ in range(pause):
                await asyncio.sleep(0)
            task.cancel()
            with suppress(asyncio.CancelledError):
                async with asyncio.timeout(5):
                    await task

    asyncio.run(run())
