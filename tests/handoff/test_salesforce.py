"""The Salesforce desk, against an emulator of the service."""

import asyncio
import json
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from joserfc.jwk import RSAKey

from copies import open_copy
from handoff.memory import Memory, new_ticket
from handoff.miaw import API, DEPLOYMENT, KEY, KEY_ID, ORGANISATION, Faults, Miaw, emulated
from handoff.relay import relayed
from handoff.sides import SalesforceSide
from handoff.talks import QUICK, add, handed_over, until
from ombud.errors import BadSetting, ConversationLost, HandoffError, Undelivered
from ombud.handoff import Delivery
from ombud.handoff.desks.desk import DeskEvent, Line, Outgoing
from ombud.handoff.desks.opening import open_desk
from ombud.handoff.desks.salesforce import SalesforceDesk, open_salesforce
from ombud.handoff.desks.salesforce.entries import message_text, read_entry
from ombud.handoff.desks.salesforce.feed import REPLAYED
from ombud.handoff.desks.salesforce.service import ConversationEntry, Pulse
from ombud.settings import HandoffSettings, SalesforceSettings
from ombud.store import read_events, read_session
from ombud.types import LOST, Ended, HandedOver, Said

LONG_ENOUGH = 30
QUICK_PULSE = Pulse(reply=2.0, heartbeat=2.0, echo=0.05, look=0.01, position=2.0)


class Office:
    """One ticket, what its line remembers, and the service."""

    def __init__(self, miaw: Miaw) -> None:
        self.miaw = miaw
        self.ticket, self.memory = new_ticket("salesforce"), Memory()
        self.url, self.pulse, self.key_env = miaw.url, QUICK_PULSE, ""

    @property
    def talk(self) -> str:
        return self.ticket.id

    def settings(self) -> SalesforceSettings:
        return SalesforceSettings(
            url=self.url,
            organisation=ORGANISATION,
            deployment=DEPLOYMENT,
            key_env=self.key_env,
            key_id=KEY_ID,
        )

    @asynccontextmanager
    async def line(self) -> AsyncIterator[Line]:
        """As a process that has just started has it."""
        settings = HandoffSettings(desk="salesforce", salesforce=self.settings())
        desk = open_salesforce(settings, self.pulse)
        try:
            yield desk.line(self.ticket, self.memory)
        finally:
            await desk.close()

    async def hear(self, line: Line, until: Callable[[DeskEvent], bool]) -> list[DeskEvent]:
        heard: list[DeskEvent] = []
        async with asyncio.timeout(LONG_ENOUGH):
            async for event in line.events():
                heard.append(event)
                self.memory.keep(event)
                if until(event):
                    break
        return heard

    def texts(self) -> list[str]:
        return self.miaw.conversations[self.talk].texts("EndUser")


def at_the_office(
    test: Callable[[Office, Line], Awaitable[None]], faults: Faults | None = None
) -> None:
    """With a line that is open."""

    async def run() -> None:
        async with emulated(faults=faults) as miaw:
            office = Office(miaw)
            async with office.line() as line:
                await line.open()
                await test(office, line)

    asyncio.run(run())


def kinds(events: list[DeskEvent]) -> list[str]:
    return [event.kind for event in events]


def message(text: str) -> Outgoing:
    return Outgoing(id=str(uuid.uuid4()), text=text)


# To the desk --------------------------------------------------------------------------------------


def test_a_conversation_is_opened_once_with_what_it_is_routed_by() -> None:
    async def test(office: Office, line: Line) -> None:
        await line.open()
        async with office.line() as another:
            await another.open()
        assert list(office.miaw.conversations) == [office.talk]
        told = office.miaw.conversations[office.talk].attributes
        assert told == {"reason": "sensitive", "topic": "parental leave", "country": "GB"}
        posted = [path for method, path in office.miaw.requests if method == "POST"]
        assert posted.count(f"{API}/conversation") == 1

    at_the_office(test)


def test_a_process_that_died_while_it_opened_finds_the_conversation() -> None:
    async def test(office: Office, line: Line) -> None:
        del line
        await office.memory.save({"opened": "tried"})
        async with office.line() as again:
            await again.open()
            await again.send(message("hello"))
        assert office.texts() == ["hello"]

    at_the_office(test)


def test_what_was_said_before_the_stream_and_while_nobody_listened_is_heard() -> None:
    async def test(office: Office, line: Line) -> None:
        await office.miaw.accept(office.talk)
        for number in range(120):  # more than two pages
            await office.miaw.say(office.talk, f"{number}")
        heard = await office.hear(line, lambda event: event.text == "119")
        assert [e.text for e in heard if e.kind == "message"] == [f"{n}" for n in range(120)]
        assert heard[0].kind == "joined"
        assert heard[0].name == "Ana"
        await office.miaw.say(office.talk, "later")
        async with office.line() as restarted:
            again = await office.hear(restarted, lambda event: event.text == "later")
        # It begins with the last entry that was heard, which the store knows.
        assert [e.text for e in again if e.kind == "message"] == ["119", "later"]

    at_the_office(test)


def test_the_stream_goes_on_a_little_before_where_it_was() -> None:
    """It may have mixed up what came last: the end before a message that was heard."""

    async def test(office: Office, line: Line) -> None:
        await office.miaw.accept(office.talk)

        async def say() -> None:
            await office.miaw.listened()
            for number in range(2 * REPLAYED):
                await office.miaw.say(office.talk, f"{number}")

        saying = asyncio.create_task(say())
        await office.hear(line, lambda event: event.text == f"{2 * REPLAYED - 1}")
        await saying
        (events,) = office.miaw.streams.values()
        await office.miaw.end(office.talk)
        # As if it had come before the last messages, on a stream that broke before it.
        numbers = [number for number, _, _ in events]
        events.insert(len(events) - REPLAYED // 2, events.pop())
        events[:] = [(number, *event[1:]) for number, event in zip(numbers, events, strict=True)]
        async with office.line() as restarted:
            heard = await office.hear(restarted, lambda event: event.kind == "ended")
        assert heard[-1].kind == "ended"

    at_the_office(test)


def test_a_message_that_was_taken_and_lost_is_sent_again() -> None:
    async def test(office: Office, line: Line) -> None:
        office.miaw.faults.lost = 1.0
        one = message("one")
        with pytest.raises(Undelivered, match="does not stand there"):
            await line.send(one)
        office.miaw.faults.lost = 0.0
        await line.send(one)
        await line.send(message("two"))
        assert office.texts() == ["one", "two"]

    at_the_office(test)


@pytest.mark.parametrize("knows_repeats", [True, False])
def test_a_message_whose_reply_was_cut_off_stands_once(knows_repeats: bool) -> None:
    async def test(office: Office, line: Line) -> None:
        del line
        office.miaw.knows_repeats = knows_repeats
        port = int(office.miaw.url.rpartition(":")[2])
        one = message("one")
        async with relayed(port) as relay:
            office.url = relay.url
            async with office.line() as cut:
                await cut.send(message("before"))
                relay.deaf = True
                with pytest.raises(Undelivered):
                    await cut.send(one)
        office.url = office.miaw.url
        async with office.line() as again:
            await again.send(one)
        assert office.texts() == ["before", "one"]

    at_the_office(test)


def test_typing_and_reading_are_told() -> None:
    async def test(office: Office, line: Line) -> None:
        for on in (True, False):
            await line.send(Outgoing(id=str(uuid.uuid4()), kind="typing", is_typing=on))
        said = await office.miaw.say(office.talk, "hello")
        await office.hear(line, lambda event: event.text == "hello")
        await line.send(Outgoing(id=str(uuid.uuid4()), kind="read"))
        talk = office.miaw.conversations[office.talk]
        assert talk.typed == ["TypingStartedIndicator", "TypingStoppedIndicator"]
        acks = [(ack["entryType"], ack["conversationEntryId"]) for ack in talk.acks]
        assert acks == [("Read", said)]

    at_the_office(test)


def test_an_employee_who_leaves_closes_the_conversation_once() -> None:
    async def test(office: Office, line: Line) -> None:
        await line.close()
        await line.close()
        assert office.miaw.conversations[office.talk].is_closed
        assert kinds(await office.hear(line, lambda event: event.kind == "ended"))[-1] == "ended"

    at_the_office(test)


# From the desk ------------------------------------------------------------------------------------


def test_every_event_of_the_contract_is_told() -> None:
    async def test(office: Office, line: Line) -> None:
        miaw, talk = office.miaw, office.talk
        mine = message("hello")
        await line.send(mine)

        async def advisor() -> None:
            await miaw.listened()
            await miaw.position(talk, 3)
            await miaw.route(talk, seconds=240)
            await miaw.work(talk, "Assigned")
            await miaw.work(talk, "Declined")
            await miaw.accept(talk)
            await miaw.typing(talk, on=True)
            await miaw.typing(talk, on=False)
            await miaw.say(talk, "how are you")
            await miaw.say(talk, "We record this chat.", "Bot", reason="AutomatedResponse")
            await miaw.has_read(talk, mine.id)
            await miaw.leave(talk)
            await miaw.end(talk)

        speaking = asyncio.create_task(advisor())
        heard = await office.hear(line, lambda event: event.kind == "ended")
        await speaking
        told = {(e.kind, e.position, e.seconds, e.name) for e in heard}
        assert told == {
            ("echo", None, None, ""),
            ("waiting", None, None, ""),
            ("position", 3, None, ""),
            ("position", None, 240.0, ""),
            ("joined", None, None, "Ana"),
            ("typing", None, None, "Ana"),
            ("message", None, None, "Ana"),
            ("notice", None, None, "Bot"),
            ("read", None, None, ""),
            ("left", None, None, "Ana"),
            ("ended", None, None, ""),
        }
        lasting = [kind for kind in kinds(heard) if kind in {"joined", "message", "notice", "left"}]
        assert lasting == ["joined", "message", "notice", "left"]
        assert kinds(heard)[-1] == "ended"
        assert [e.is_typing for e in heard if e.kind == "typing"] == [True, False]
        assert [e.entry_id for e in heard if e.kind == "read"] == [mine.id]
        assert [e.entry_id for e in heard if e.kind == "echo"] == [mine.id]

    at_the_office(test)


def test_what_is_unknown_broken_or_of_another_conversation_is_passed_over() -> None:
    async def test(office: Office, line: Line) -> None:
        miaw, talk = office.miaw, office.talk
        await miaw.raw(talk, "CONVERSATION_STREAMING_TOKEN", '{"conversationId": 7}')
        await miaw.raw(talk, "CONVERSATION_MESSAGE", "not even JSON")
        await miaw.raw(talk, "CONVERSATION_MESSAGE", "[]")
        await miaw.happen(talk, "PROGRESS_INDICATOR", {"text": "thinking"})
        await miaw.happen(talk, "QUEUE_POSITION", {"position": "many"})
        await miaw.happen(talk, "PARTICIPANT_CHANGED", {"entries": ["x", {"operation": "add"}]})
        await miaw.happen(talk, "MESSAGE", {"abstractMessage": None}, role="Agent")
        other = json.dumps({"conversationId": str(uuid.uuid4()), "conversationEntry": {}})
        await miaw.raw(talk, "CONVERSATION_CLOSE_CONVERSATION", other)
        await miaw.say(talk, "still here")
        heard = await office.hear(line, lambda event: event.text == "still here")
        assert set(kinds(heard)) <= {"waiting", "message"}
        assert kinds(heard).count("message") == 1

    at_the_office(test)


def test_nobody_who_can_be_routed_to_is_a_failure() -> None:
    async def test(office: Office, line: Line) -> None:
        await office.miaw.route(office.talk, failure="RoutingError")
        heard = await office.hear(line, lambda event: event.kind == "failed")
        assert heard[-1].text == "RoutingError"

    at_the_office(test)


def test_a_choice_is_told_with_what_can_be_chosen() -> None:
    options = [{"titleItem": {"title": "Leave"}}, {"titleItem": {"title": "Pay"}}, "broken"]
    choices = {"text": "What is it about?", "optionItems": options}
    payload = {"abstractMessage": {"messageType": "ChoicesMessage", "choices": choices}}
    assert message_text(payload) == "What is it about?\n- Leave\n- Pay"


@pytest.mark.parametrize(
    ("content", "text", "link"),
    [
        (
            {
                "formatType": "Attachments",
                "text": "As promised.",
                "attachments": [{"name": "a.pdf", "url": "https://a.example/a.pdf"}, "broken"],
            },
            "As promised.",
            ("file", "a.pdf", "https://a.example/a.pdf"),
        ),
        (
            {
                "formatType": "RichLink",
                "linkItem": {"titleItem": {"title": "Leave"}, "url": "https://a.example/leave"},
            },
            "",
            ("link", "Leave", "https://a.example/leave"),
        ),
        ({"formatType": "WebView"}, "", ("other", "", "")),
    ],
)
def test_files_and_links_of_advisors_are_told(
    content: dict[str, Any], text: str, link: tuple[str, str, str]
) -> None:
    message = {"messageType": "StaticContentMessage", "staticContent": content}
    sent = {"sender": {"role": "Agent"}, "entryPayload": {"abstractMessage": message}}
    (event,) = read_entry("CONVERSATION_MESSAGE", ConversationEntry.model_validate(sent))
    assert (event.kind, event.text) == ("message", text)
    assert [(one.kind, one.name, one.url) for one in event.links] == [link]


def test_events_of_others_than_advisors_say_nothing() -> None:
    entry = ConversationEntry.model_validate({"identifier": "1", "sender": {"role": "EndUser"}})
    assert read_entry("CONVERSATION_TYPING_STARTED_INDICATOR", entry) == []
    assert read_entry("CONVERSATION_SESSION_STATUS_CHANGED", entry) == []
    assert read_entry("SOMETHING_NEW", entry) == []


def test_an_entry_that_the_listing_does_not_know_yet_is_told_in_its_place() -> None:
    async def test(office: Office, line: Line) -> None:
        office.miaw.hidden_seconds = 0.015
        for text in ("one", "two", "three"):
            await office.miaw.say(office.talk, text)
        heard = await office.hear(line, lambda event: event.text == "three")
        said = [event.text for event in heard if event.kind == "message"]
        assert said == ["one", "two", "three"]

    at_the_office(test)


def test_a_silent_stream_is_given_up_and_a_broken_one_too() -> None:
    async def test(office: Office, line: Line) -> None:
        del line
        office.miaw.is_silent = True
        office.pulse = QUICK_PULSE._replace(heartbeat=0.1)
        async with office.line() as silent:
            with pytest.raises(Undelivered, match="cannot be reached"):
                await office.hear(silent, lambda event: False)
        office.miaw.is_silent = False
        office.miaw.faults.drop = 1.0
        async with office.line() as broken:
            with pytest.raises(Undelivered):
                await office.hear(broken, lambda event: False)

    at_the_office(test)


def test_a_place_in_the_queue_that_is_not_told_again_is_asked_for() -> None:
    async def test(office: Office, line: Line) -> None:
        del line
        office.pulse = QUICK_PULSE._replace(position=0.05)
        async with office.line() as waiting:
            asked = f"{API}/conversation/{office.talk}"
            heard = await office.hear(waiting, lambda event: ("GET", asked) in office.miaw.requests)
        assert heard[-1].kind == "waiting"

    at_the_office(test)


# Who we are there ---------------------------------------------------------------------------------


def test_a_token_that_has_ended_is_continued() -> None:
    async def test(office: Office, line: Line) -> None:
        await line.send(message("one"))
        office.miaw.expire()
        await line.send(message("two"))
        async with office.line() as restarted:
            office.miaw.expire()
            with pytest.raises(Undelivered, match="run out"):
                await office.hear(restarted, lambda event: False)
            await office.miaw.say(office.talk, "hello")
            await office.hear(restarted, lambda event: event.text == "hello")
        assert office.texts() == ["one", "two"]
        assert len(office.miaw.streams) == 1

    at_the_office(test)


def test_a_token_that_cannot_be_continued_loses_the_conversation() -> None:
    async def test(office: Office, line: Line) -> None:
        office.miaw.expire()
        office.miaw.forgets_subjects = True
        with pytest.raises(ConversationLost):
            await line.send(message("one"))

    at_the_office(test)


def test_a_lost_conversation_is_handed_over_again_with_everything(tmp_path: Path) -> None:
    """Also where the employee has nothing left to send, and waits for an answer."""
    store = open_copy(tmp_path)

    async def run(*, writes: bool) -> None:
        async with emulated() as miaw:
            side = SalesforceSide(miaw)
            talk, ticket = handed_over(store, side.name, "first")
            delivery = Delivery(store, side.desk(), side.name, pace=QUICK)
            delivering = asyncio.create_task(delivery.run())
            await until(lambda: side.is_open(ticket), delivery)
            await side.accept(ticket)
            await until(lambda: read_session(store, talk).state == "live", delivery)
            miaw.expire()
            miaw.forgets_subjects = True
            if writes:
                add(store, talk, Said(text="lost on its way"))
            else:
                await miaw.break_streams()
            await until(lambda: read_session(store, talk).state == "returned", delivery)
            ended = [e.what for e in read_events(store, talk) if isinstance(e.what, Ended)]
            assert [what.reason for what in ended] == [LOST]
            again = str(uuid.uuid4())
            add(store, talk, HandedOver(ticket_id=again, desk=side.name, reason="asked"))
            await until(lambda: side.arrived(again), delivery)
            assert ("lost on its way" in side.arrived(again)[0]) is writes
            assert "lost on its way" not in side.arrived(ticket)
            delivering.cancel()
            with suppress(asyncio.CancelledError):
                await delivering

    try:
        asyncio.run(run(writes=True))
        asyncio.run(run(writes=False))
    finally:
        store.close()


def test_each_employee_is_known_by_a_token_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    async def run() -> None:
        async with emulated() as miaw:
            office = Office(miaw)
            office.key_env = "TEST_KEY"
            for owner, subject in (("ann", "AUTH/ann"), ("bob", "AUTH/bob"), ("", "ANON/")):
                ticket = new_ticket("salesforce").model_copy(update={"owner": owner})
                office.ticket, office.memory = ticket, Memory()
                async with office.line() as line:
                    await line.open()
                assert f"v2/iamessage/{subject}" in miaw.conversations[office.talk].owner
            monkeypatch.setenv("TEST_KEY", RSAKey.generate_key(2048).as_pem(private=True).decode())
            ticket = new_ticket("salesforce").model_copy(update={"owner": "ann"})
            office.ticket, office.memory = ticket, Memory()
            async with office.line() as forged:
                with pytest.raises(HandoffError, match="customer identity"):
                    await forged.open()

    monkeypatch.setenv("TEST_KEY", KEY.as_pem(private=True).decode())
    asyncio.run(run())


def test_when_it_wants_to_be_left_alone_it_says_for_how_long() -> None:
    async def test(office: Office, line: Line) -> None:
        office.miaw.faults.before = 1.0
        waits = set()
        for _ in range(20):
            with pytest.raises(HandoffError) as failed:
                await line.send(message("one"))
            if isinstance(failed.value, Undelivered):
                waits.add(failed.value.retry_after)
        assert waits == {None, 0.0}

    at_the_office(test)


# Settings -----------------------------------------------------------------------------------------


def test_a_ticket_needs_an_id_that_the_service_takes() -> None:
    ticket = new_ticket("salesforce").model_copy(update={"id": "of-another-time"})
    settings = SalesforceSettings(
        url="https://a.example.org", organisation=ORGANISATION, deployment="d"
    )
    desk = open_desk(HandoffSettings(desk="salesforce", salesforce=settings))
    assert isinstance(desk, SalesforceDesk)
    with pytest.raises(HandoffError, match="no id that Salesforce takes"):
        desk.line(ticket, Memory())


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        ({"url": ""}, "url"),
        ({"organisation": "00D5"}, "organisation"),
        ({"organisation": "0055g00000ABCDE"}, "organisation"),
        ({"deployment": ""}, "deployment"),
        ({"key_env": "NOT_SET_ANYWHERE", "key_id": "k"}, "NOT_SET_ANYWHERE"),
    ],
)
def test_settings_that_cannot_work_are_said_at_once(wrong: dict[str, str], named: str) -> None:
    right = {"url": "https://a.example.org", "organisation": ORGANISATION, "deployment": "d"}
    settings = SalesforceSettings.model_validate({**right, **wrong})
    with pytest.raises(BadSetting, match=named):
        open_salesforce(HandoffSettings(desk="salesforce", salesforce=settings))
