"""The Matrix desk, against a real homeserver."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from uuid import uuid4

import pytest

from handoff.memory import Memory, new_ticket
from handoff.real_synapse import SERVER_NAME, Synapse, User, running
from handoff.relay import relayed
from ombud.errors import HandoffError, Undelivered
from ombud.handoff.delivery import Delivery, Pace
from ombud.handoff.desks.desk import DeskEvent, Line, Outgoing
from ombud.handoff.desks.opening import open_desk
from ombud.settings import HandoffSettings
from ombud.store import (
    Store,
    append_events,
    new_conversation,
    open_store,
    read_events,
    read_session,
)
from ombud.types import HandedOver, Happening, NewEvent, Party, Person, Said
from ombud_matrix import MatrixDesk
from ombud_matrix.feed import PAGE

pytestmark = pytest.mark.slow
LONG_ENOUGH = 60
"""Seconds after which a test fails that waits in vain."""


@pytest.fixture(scope="module")
def synapse(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Synapse]:
    with running(tmp_path_factory.mktemp("synapse")) as server:
        yield server


class Office:
    """Our account, an advisor's, and what a line remembers of one ticket."""

    def __init__(self, synapse: Synapse, monkeypatch: pytest.MonkeyPatch) -> None:
        self.synapse = synapse
        self.bot, self.ana = synapse.user("bot"), synapse.user("ana")
        self.ana.rename("Ana López")
        self.advisors: tuple[str, ...] = (self.ana.id,)
        self.ticket, self.memory = new_ticket(), Memory()
        self.url = synapse.url
        self._monkeypatch = monkeypatch

    @property
    def room(self) -> str:
        return self.memory.values["room"]

    @asynccontextmanager
    async def desk(self, bot: User | None = None) -> AsyncIterator[MatrixDesk]:
        self._monkeypatch.setenv("TEST_MATRIX_TOKEN", (bot or self.bot).token)
        settings = {
            "url": self.url,
            "token_env": "TEST_MATRIX_TOKEN",
            "advisors": self.advisors,
        }
        desk = open_desk(HandoffSettings(desk="matrix", matrix=settings))
        assert isinstance(desk, MatrixDesk)
        try:
            yield desk
        finally:
            await desk.close()

    @asynccontextmanager
    async def line(self, bot: User | None = None) -> AsyncIterator[Line]:
        """The line of the ticket, as a process that has just started has it."""
        async with self.desk(bot) as desk:
            yield desk.line(self.ticket, self.memory)

    async def hear(self, line: Line, until: Callable[[DeskEvent], bool]) -> list[DeskEvent]:
        """What happens, up to the first event of this kind, each kept."""
        heard = []
        async with asyncio.timeout(LONG_ENOUGH):
            async for event in line.events():
                heard.append(event)
                self.memory.keep(event)
                if until(event):
                    return heard
        return heard

    async def opened(self) -> None:
        async with self.line() as line:
            await line.open()
        await asyncio.to_thread(self.ana.join, self.room)


@pytest.fixture
def office(synapse: Synapse, monkeypatch: pytest.MonkeyPatch) -> Office:
    return Office(synapse, monkeypatch)


def message(text: str) -> Outgoing:
    return Outgoing(id=str(uuid4()), text=text)


def text_is(text: str) -> Callable[[DeskEvent], bool]:
    return lambda event: event.text == text


def kind_is(kind: str) -> Callable[[DeskEvent], bool]:
    return lambda event: event.kind == kind


def texts(events: list[DeskEvent]) -> list[str]:
    return [event.text for event in events if event.kind == "message"]


def test_an_advisor_finds_the_room_and_talks_back(office: Office) -> None:
    async def talk() -> list[DeskEvent]:
        async with office.line() as line:
            await line.open()
            first, second = message("I need help."), message("It is about my leave.")
            await line.send(first)
            await line.send(second)
            office.ana.join(office.room)
            office.ana.say(office.room, "Hello, I am Ana.")
            heard = await office.hear(line, kind_is("message"))
            echoes = [event.entry_id for event in heard if event.kind == "echo"]
            assert echoes == [first.id, second.id]
            return heard

    heard = asyncio.run(talk())
    told = [(event.kind, event.name, event.text) for event in heard if event.kind != "echo"]
    assert told == [("joined", "Ana López", ""), ("message", "Ana López", "Hello, I am Ana.")]
    assert heard[-1].cursor
    said = office.ana.texts(office.room, office.bot.id)
    assert said == ["I need help.", "It is about my leave."]
    state = {entry["type"]: entry["content"] for entry in office.ana.entries(office.room)}
    assert state["m.room.name"] == {"name": "parental leave, GB"}
    assert "sensitive matter" in state["m.room.topic"]["topic"]
    assert "GB" in state["m.room.topic"]["topic"]


def test_a_ticket_has_one_room(office: Office) -> None:
    """However often it is opened, also by a process that knows nothing of the first try."""

    async def open_again() -> set[str]:
        rooms = set()
        for memory in (office.memory, office.memory, Memory()):
            office.memory = memory
            async with office.line() as line:
                await line.open()
            rooms.add(office.room)
        return rooms

    assert len(asyncio.run(open_again())) == 1
    invited = [
        entry["state_key"]
        for entry in office.bot.entries(office.room)
        if entry["content"].get("membership") == "invite"
    ]
    assert invited == [office.ana.id]


def test_a_message_that_is_sent_again_stands_there_once(office: Office) -> None:
    once = message("Only once.")

    async def send_again() -> None:
        await office.opened()
        for bot in (office.bot, office.bot, office.synapse.sign_in(office.bot)):
            async with office.line(bot) as line:
                await line.send(once)
                await line.send(message("Between."))
                # Not the last any more, and known for the same all the same.
                await line.send(once)

    asyncio.run(send_again())
    said = office.ana.texts(office.room, office.bot.id)
    assert said == ["Only once.", "Between.", "Between.", "Between."]


def test_a_message_whose_reply_was_lost_is_not_said_twice(office: Office) -> None:
    """The homeserver has it, and we do not know; what it knew of transactions is gone as well."""
    lost = message("Did you hear me?")

    async def lose_the_reply() -> None:
        await office.opened()
        async with relayed(office.synapse.port) as relay:
            office.url = relay.url
            async with office.line() as line:
                await line.send(message("Hello."))
                relay.deaf = True
                with pytest.raises(Undelivered):
                    await line.send(lost)
                relay.deaf = False
                await line.send(lost)
                await line.send(message("Good."))
            async with office.line(office.synapse.sign_in(office.bot)) as line:
                await line.send(lost)

    asyncio.run(lose_the_reply())
    assert office.ana.texts(office.room, office.bot.id) == ["Hello.", "Did you hear me?", "Good."]


def test_a_room_whose_reply_was_lost_is_found_again(office: Office) -> None:
    async def lose_the_reply() -> None:
        async with relayed(office.synapse.port) as relay:
            office.url = relay.url
            async with office.line() as line:
                await line.close()  # nothing is there; from now on it knows who it is
                relay.deaf = True
                with pytest.raises(Undelivered):
                    await line.open()
                relay.deaf = False
                await line.open()

    asyncio.run(lose_the_reply())
    office.ana.join(office.room)
    assert len(office.bot.call("GET", "joined_rooms")["joined_rooms"]) == 1


def test_a_room_of_somebody_else_is_not_ours(office: Office) -> None:
    """An alias can be taken by whoever knows it; what is said must not go there."""
    mallory = office.synapse.user("mallory")
    alias = f"ombud-{office.ticket.id}"
    body = {"preset": "public_chat", "room_alias_name": alias, "invite": [office.bot.id]}
    strange = mallory.call("POST", "createRoom", json=body)["room_id"]
    asyncio.run(office.opened())
    assert office.room != strange
    assert office.ana.entries(office.room)


def test_a_room_that_is_encrypted_is_refused(office: Office) -> None:
    """As every new one is where the homeserver is told so."""
    encrypted = {
        "type": "m.room.encryption",
        "state_key": "",
        "content": {"algorithm": "m.megolm.v1.aes-sha2"},
    }
    alias = f"ombud-{office.ticket.id}"
    body = {"room_alias_name": alias, "initial_state": [encrypted]}
    office.bot.call("POST", "createRoom", json=body)
    with pytest.raises(HandoffError, match="encrypts every room"):
        asyncio.run(office.opened())


def test_nothing_is_missed_while_nobody_listens(office: Office) -> None:
    """More than one page of messages, before the first look, and between two processes of ours."""

    async def listen(last: str) -> list[DeskEvent]:
        async with office.line() as line:
            return await office.hear(line, text_is(last))

    def say(numbers: range) -> list[str]:
        numbered = [f"message {number}" for number in numbers]
        for text in numbered:
            office.ana.say(office.room, text)
        return numbered

    asyncio.run(office.opened())
    early = say(range(PAGE + 5))
    heard = asyncio.run(listen(early[-1]))
    assert texts(heard) == early
    late = say(range(PAGE + 5, 3 * PAGE + 7))
    heard_later = asyncio.run(listen(late[-1]))
    assert texts(heard_later) == late
    ids = [event.entry_id for event in heard + heard_later]
    assert len(set(ids)) == len(ids)
    assert {event.name for event in heard_later} == {"Ana López"}


def test_what_was_not_kept_is_heard_again_the_same(office: Office) -> None:
    asyncio.run(office.opened())

    async def listen(last: str) -> list[DeskEvent]:
        async with office.line() as line:
            return await office.hear(line, text_is(last))

    office.ana.say(office.room, "first")
    asyncio.run(listen("first"))
    kept = office.memory.cursor
    office.ana.leave(office.room)
    bea = office.synapse.user("bea")
    office.bot.call("POST", "rooms", office.room, "invite", json={"user_id": bea.id})
    bea.join(office.room)
    heard = asyncio.run(listen_to_end(office))
    assert [event.kind for event in heard] == ["left", "ended"]
    office.memory.cursor = kept
    assert asyncio.run(listen_to_end(office)) == heard


async def listen_to_end(office: Office) -> list[DeskEvent]:
    async with office.line() as line:
        return await office.hear(line, kind_is("ended"))


def test_typing_is_seen_on_both_sides(office: Office) -> None:
    asyncio.run(office.opened())
    room = office.room

    async def type_both_ways() -> list[DeskEvent]:
        async with office.line() as line:
            start = await asyncio.to_thread(office.ana.call, "GET", "sync")
            await line.send(Outgoing(id=str(uuid4()), kind="typing", is_typing=True))
            query = {"since": start["next_batch"], "timeout": "30000"}
            seen = await asyncio.to_thread(office.ana.call, "GET", "sync", params=query)
            shown = seen["rooms"]["join"][room]["ephemeral"]["events"]
            assert [event["content"] for event in shown] == [{"user_ids": [office.bot.id]}]
            office.ana.type(room, True)
            return await office.hear(line, kind_is("typing"))

    typing = asyncio.run(type_both_ways())[-1]
    assert typing.is_typing
    assert typing.name == "Ana López"
    assert not typing.cursor


def test_an_end_of_typing_is_seen(office: Office) -> None:
    asyncio.run(office.opened())

    async def watch() -> list[bool]:
        seen = []
        office.ana.type(office.room, True)
        async with office.line() as line, asyncio.timeout(LONG_ENOUGH):
            async for event in line.events():
                if event.kind != "typing":
                    continue
                seen.append(event.is_typing)
                if not event.is_typing:
                    break
                await asyncio.to_thread(office.ana.type, office.room, False)
        return seen

    assert asyncio.run(watch()) == [True, False]


def test_who_has_read_is_seen_on_both_sides(office: Office) -> None:
    asyncio.run(office.opened())
    room, ours = office.room, message("And you this.")
    said = office.ana.say(room, "Please read this.")

    async def read_both_ways() -> list[DeskEvent]:
        async with office.line() as line:
            await line.send(ours)
            await office.hear(line, kind_is("echo"))
            # Without an entry: all that was heard so far.
            await line.send(Outgoing(id=str(uuid4()), kind="read"))
            last = office.ana.entries(room)[-1]["event_id"]
            office.ana.read(room, last)
            return await office.hear(line, kind_is("read"))

    read = asyncio.run(read_both_ways())[-1]
    assert (read.name, read.entry_id) == ("Ana López", ours.id)
    shown = office.ana.call("GET", "sync")["rooms"]["join"][room]["ephemeral"]["events"]
    receipts = [event["content"] for event in shown if event["type"] == "m.receipt"]
    assert office.bot.id in receipts[0][said]["m.read"]


def test_what_was_read_is_known_after_a_restart_of_ours(office: Office) -> None:
    asyncio.run(office.opened())
    room, ours = office.room, message("Please read this.")

    async def say() -> None:
        async with office.line() as line:
            await line.send(ours)
            office.ana.say(room, "One moment.")
            await office.hear(line, text_is("One moment."))

    async def see_it_read() -> list[DeskEvent]:
        async with office.line() as line:
            office.ana.read(room, office.ana.entries(room)[-1]["event_id"])
            return await office.hear(line, kind_is("read"))

    asyncio.run(say())
    assert asyncio.run(see_it_read())[-1].entry_id == ours.id


def test_an_advisor_closes(office: Office) -> None:
    asyncio.run(office.opened())
    office.ana.say(office.room, "All done.")
    office.ana.say(office.room, "!close settled by phone")
    heard = asyncio.run(listen_to_end(office))
    assert texts(heard) == ["All done."]
    assert heard[-1].text == "settled by phone"


def test_the_last_advisor_who_leaves_ends_it(office: Office) -> None:
    bea = office.synapse.user("bea")
    office.advisors = (office.ana.id, bea.id)
    asyncio.run(office.opened())
    bea.join(office.room)
    office.ana.leave(office.room)
    bea.say(office.room, "I go on.")
    bea.leave(office.room)
    heard = asyncio.run(listen_to_end(office))
    told = [(event.kind, event.name) for event in heard]
    assert told == [
        ("joined", "Ana López"),
        ("joined", bea.id[1:].partition(":")[0]),
        ("left", "Ana López"),
        ("message", bea.id[1:].partition(":")[0]),
        ("left", bea.id[1:].partition(":")[0]),
        ("ended", bea.id[1:].partition(":")[0]),
    ]


def test_when_every_advisor_declines_it_has_failed(office: Office) -> None:
    async def decline() -> list[DeskEvent]:
        async with office.line() as line:
            await line.open()
            office.ana.leave(office.room)
            return await office.hear(line, kind_is("failed"))

    heard = asyncio.run(decline())
    assert [event.kind for event in heard] == ["failed"]


def test_the_employee_leaves(office: Office) -> None:
    asyncio.run(office.opened())

    async def leave() -> None:
        async with office.line() as line:
            await line.send(message("Never mind."))
            await line.close()
            await line.close()

    asyncio.run(leave())
    said = office.ana.texts(office.room, office.bot.id)
    assert said == ["Never mind.", "The employee has left this conversation."]
    members = office.ana.call("GET", "rooms", office.room, "joined_members")["joined"]
    assert set(members) == {office.ana.id}


def test_closing_what_was_never_opened_is_nothing(office: Office) -> None:
    async def close() -> None:
        async with office.line() as line:
            await line.close()
            with pytest.raises(HandoffError, match="no Matrix room yet"):
                await line.send(message("Too early."))

    asyncio.run(close())
    assert not office.bot.call("GET", "joined_rooms")["joined_rooms"]


def test_a_name_spelt_wrong_keeps_no_other_advisor_away(office: Office) -> None:
    office.advisors = ("@nobody:nowhere.invalid", office.ana.id)
    asyncio.run(office.opened())
    assert office.ana.entries(office.room)


def test_a_homeserver_that_starts_again_goes_on(office: Office) -> None:
    asyncio.run(office.opened())
    office.ana.say(office.room, "before")

    async def live_through() -> list[DeskEvent]:
        async with office.line() as line:
            heard = await office.hear(line, text_is("before"))
            await asyncio.to_thread(office.synapse.stop)
            with pytest.raises(Undelivered):
                await line.send(message("while it is down"))
            with pytest.raises(Undelivered):
                await office.hear(line, text_is("after"))
            await asyncio.to_thread(office.synapse.start)
            await line.send(message("after it is up"))
            await asyncio.to_thread(office.ana.say, office.room, "after")
            return heard + await office.hear(line, text_is("after"))

    heard = asyncio.run(live_through())
    assert texts(heard) == ["before", "after"]
    assert office.ana.texts(office.room, office.bot.id) == ["after it is up"]


def test_who_sends_too_fast_is_told_how_long_to_wait(office: Office) -> None:
    asyncio.run(office.opened())
    office.synapse.limit_messages(office.bot, per_second=1, at_once=1)

    async def hurry() -> float | None:
        async with office.line() as line:
            for number in range(20):
                try:
                    await line.send(message(f"message {number}"))
                except Undelivered as later:
                    return later.retry_after
        return None

    wait = asyncio.run(hurry())
    assert wait is not None
    assert 0 < wait <= LONG_ENOUGH


def test_a_token_that_is_not_accepted_says_where_it_stands(office: Office) -> None:
    office.bot.token = "syt_wrong"

    async def open_it() -> None:
        async with office.line() as line:
            await line.open()

    with pytest.raises(HandoffError, match="does not accept our token") as refused:
        asyncio.run(open_it())
    assert not isinstance(refused.value, Undelivered)
    assert "TEST_MATRIX_TOKEN" in refused.value.hint


def test_the_longest_message_arrives_whole(office: Office) -> None:
    asyncio.run(office.opened())

    async def send() -> str:
        async with office.line() as line:
            longest = "🏡" * MatrixDesk.longest_message
            await line.send(message(longest))
        return longest

    longest = asyncio.run(send())
    assert office.ana.texts(office.room, office.bot.id) == [longest]


class Talk:
    """A conversation in the store, handed over to the ticket of an office."""

    def __init__(self, office: Office, store: Store) -> None:
        self.office, self.store = office, store
        self.id = new_conversation(store, Person(id="ada", country="GB"))
        self.add(Said(text="How long is my leave?"))
        ticket_id = office.ticket.id
        self.add(HandedOver(ticket_id=ticket_id, desk="matrix", reason="asked"), by="system")

    def add(self, what: Happening, by: Party = "user") -> None:
        append_events(self.store, self.id, lambda _: [NewEvent(by=by, what=what)])

    @property
    def alias(self) -> str:
        return f"#ombud-{self.office.ticket.id}:{SERVER_NAME}"

    @property
    def room(self) -> str:
        return str(self.office.bot.call("GET", "directory", "room", self.alias)["room_id"])

    def heard(self) -> list[str]:
        """What the employee has of the advisor."""
        return [event.text for event in read_events(self.store, self.id) if event.by == "advisor"]

    def arrived(self) -> list[str]:
        """What the advisor has of the employee, after the history."""
        return self.office.ana.texts(self.room, self.office.bot.id)[1:]

    def is_live(self) -> bool:
        return read_session(self.store, self.id).state == "live"

    @asynccontextmanager
    async def delivered(self) -> AsyncIterator[None]:
        """By a process that has just started, and ends."""
        async with self.office.desk() as desk:
            delivery = Delivery(self.store, desk, "matrix", pace=Pace(sleep=shortly))
            running = asyncio.create_task(delivery.run())
            try:
                yield
            finally:
                running.cancel()
                with suppress(asyncio.CancelledError):
                    await running


async def shortly(_seconds: float) -> None:
    await asyncio.sleep(0.01)


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(LONG_ENOUGH):
        for _ in range(100 * LONG_ENOUGH):
            if await asyncio.to_thread(condition):
                return
            await asyncio.sleep(0.01)
    raise AssertionError("it never came to that")


def test_delivery_brings_each_message_once_whatever_fails(office: Office, tmp_path: Path) -> None:
    """From an employee to an advisor and back, through the store, past two processes of ours and
    a homeserver that starts again."""
    store = open_store("", tmp_path)
    talk = Talk(office, store)
    sent, told = list[str](), list[str]()

    async def speak() -> None:
        for number in range(len(sent), len(sent) + 3):
            sent.append(f"mine {number}")
            talk.add(Said(text=sent[-1]))
            told.append(f"theirs {number}")
            await asyncio.to_thread(office.ana.say, talk.room, told[-1])

    async def run() -> None:
        async with talk.delivered():
            await until(lambda: office.ana.may_join(talk.alias))
            await until(talk.is_live)
            await speak()
            await asyncio.to_thread(office.synapse.stop)
            talk.add(Said(text="while it is down"))
            sent.append("while it is down")
            await asyncio.to_thread(office.synapse.start)
            await speak()
        await speak()
        async with talk.delivered():
            await speak()
            await until(lambda: len(talk.heard()) >= len(told))
            await until(lambda: len(talk.arrived()) >= len(sent))
            await asyncio.to_thread(office.ana.say, talk.room, "!close solved")
            await until(lambda: read_session(store, talk.id).state == "returned")

    try:
        asyncio.run(run())
        assert talk.heard() == told
        assert talk.arrived() == sent
        history = office.ana.texts(talk.room, office.bot.id)[0]
        assert "Employee: How long is my leave?" in history
    finally:
        store.close()
