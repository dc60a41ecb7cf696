"""The webhook desk, against a real HTTP server that checks signatures by itself."""

import asyncio
import json
import socket
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any
from uuid import uuid4

import pytest
import uvicorn

from handoff.help_desk import KEY, HelpDesk
from handoff.memory import Memory, new_ticket
from handoff.relay import relayed
from ombud.errors import BadRequest, BadSetting, HandoffError, Undelivered
from ombud.handoff.desks.desk import DeskEvent, DeskLink, Line, Outgoing
from ombud.handoff.desks.opening import open_desk
from ombud.handoff.desks.webhook import WebhookDesk, inbound, open_webhook
from ombud.handoff.signatures import BadSignature, sign_webhook, verify_webhook
from ombud.settings import HandoffSettings

NOW = 1_800_000_000.0


@pytest.fixture(scope="module")
def served() -> Iterator[HelpDesk]:
    help_desk = HelpDesk()
    config = uvicorn.Config(help_desk.app(), log_level="warning", ws="none", lifespan="off")
    server = uvicorn.Server(config)
    listening = socket.create_server(("127.0.0.1", 0))
    help_desk.port = listening.getsockname()[1]
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    try:
        yield help_desk
    finally:
        server.should_exit = True
        thread.join(30)
        listening.close()


class Office:
    """A ticket at the help desk, and what our line remembers of it."""

    def __init__(self, help_desk: HelpDesk) -> None:
        self.help_desk = help_desk
        self.ticket, self.memory = new_ticket("webhook"), Memory()
        self.url = help_desk.url
        self.now = NOW

    @asynccontextmanager
    async def line(self) -> AsyncIterator[Line]:
        """As a process that has just started has it."""
        settings = HandoffSettings.model_validate(
            {
                "desk": "webhook",
                "webhook": {"url": self.url, "secret_env": "TEST_SECRET"},
            }
        )
        desk = open_webhook(settings, clock=lambda: self.now)
        try:
            yield desk.line(self.ticket, self.memory)
        finally:
            await desk.close()

    def kept(self) -> list[tuple[str, str]]:
        return self.help_desk.kept(self.ticket.id)

    async def fail_to_say(self, outgoing: Outgoing) -> HandoffError:
        async with self.line() as line:
            with pytest.raises(HandoffError) as failed:
                await line.send(outgoing)
        return failed.value

    async def say(self, outgoing: Outgoing) -> None:
        async with self.line() as line:
            await line.send(outgoing)


@pytest.fixture
def office(served: HelpDesk, monkeypatch: pytest.MonkeyPatch) -> Office:
    monkeypatch.setenv("TEST_SECRET", KEY.decode())
    served.answers.clear()
    served.tries.clear()
    return Office(served)


def message(text: str) -> Outgoing:
    return Outgoing(id=str(uuid4()), text=text)


def test_a_conversation_arrives_in_order(office: Office) -> None:
    async def talk() -> None:
        async with office.line() as line:
            await line.open()
            await line.send(Outgoing(id=str(uuid4()), kind="typing", is_typing=True))
            await line.send(message("Grüße 🏡"))
            await line.send(Outgoing(id=str(uuid4()), kind="read", entry_id="entry-7"))
            await line.close()

    asyncio.run(talk())
    expected = [("open", ""), ("typing", ""), ("message", "Grüße 🏡"), ("read", ""), ("close", "")]
    assert office.kept() == expected
    opened, typing, _, read, _ = office.help_desk.tickets[office.ticket.id]
    assert opened["ticket"] == {
        "id": office.ticket.id,
        "reason": "sensitive",
        "topic": "parental leave",
        "country": "GB",
        "language": "en",
    }
    assert typing["is_typing"] is True
    assert read["entry_id"] == "entry-7"


def test_a_process_that_takes_over_says_nothing_twice(office: Office) -> None:
    first, second = message("first"), message("second")

    async def take_over() -> None:
        async with office.line() as line:
            await line.open()
            await line.send(first)
        office.memory = Memory()
        async with office.line() as line:
            await line.open()
            await line.send(first)
            await line.send(second)
            await line.close()
            await line.close()

    asyncio.run(take_over())
    assert office.kept() == [
        ("open", ""),
        ("message", "first"),
        ("message", "second"),
        ("close", ""),
    ]


@pytest.mark.parametrize(
    ("status", "headers", "seconds"),
    [
        (429, {"retry-after": "7"}, 7.0),
        (503, {"retry-after": "120"}, 120.0),
        (503, {}, None),
        (500, {}, None),
        (408, {}, None),
    ],
)
def test_what_is_not_had_yet_is_had_later(
    office: Office, status: int, headers: dict[str, str], seconds: float | None
) -> None:
    office.help_desk.answers.append((status, headers))
    kept = message("Later, please.")
    failed = asyncio.run(office.fail_to_say(kept))
    assert isinstance(failed, Undelivered)
    assert failed.retry_after == seconds
    office.now += 60
    asyncio.run(office.say(kept))
    assert office.kept() == [("message", "Later, please.")]
    # The same id for both tries, signed at the time of each.
    assert office.help_desk.tries == [(kept.id, "1800000000"), (kept.id, "1800000060")]


@pytest.mark.parametrize(
    ("status", "headers"), [(400, {}), (401, {}), (410, {}), (302, {"location": "/"})]
)
def test_what_will_not_be_had_is_told(office: Office, status: int, headers: dict[str, str]) -> None:
    office.help_desk.answers.append((status, headers))
    failed = asyncio.run(office.fail_to_say(message("No.")))
    assert not isinstance(failed, Undelivered)
    assert str(status) in str(failed)
    assert "handoff.webhook.url" in failed.hint
    assert len(office.help_desk.tries) == 1


def test_an_answer_that_is_lost_costs_nothing(office: Office) -> None:
    lost = message("Did you get this?")

    async def lose_the_answer() -> None:
        async with relayed(office.help_desk.port) as relay:
            office.url = f"{relay.url}/ombud"
            relay.deaf = True
            assert isinstance(await office.fail_to_say(lost), Undelivered)
            relay.deaf = False
            await office.say(lost)

    asyncio.run(lose_the_answer())
    assert office.kept() == [("message", "Did you get this?")]


def test_a_system_that_is_down_may_be_up_later(office: Office) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        office.url = f"http://127.0.0.1:{free.getsockname()[1]}"
        assert isinstance(asyncio.run(office.fail_to_say(message("Hello?"))), Undelivered)


def test_another_secret_is_not_accepted(office: Office, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEST_SECRET", "x" * 32)
    failed = asyncio.run(office.fail_to_say(message("Trust me.")))
    assert "same secret" in failed.hint
    assert not office.help_desk.tries


def test_an_opening_in_doubt_is_closed_as_well(office: Office) -> None:
    async def open_and_leave() -> None:
        office.help_desk.answers.append((503, {}))
        async with office.line() as line:
            with pytest.raises(Undelivered):
                await line.open()
            await line.close()

    asyncio.run(open_and_leave())
    assert office.kept() == [("close", "")]


def test_what_was_never_opened_is_not_closed(office: Office) -> None:
    async def close() -> None:
        async with office.line() as line:
            await line.close()

    asyncio.run(close())
    assert not office.help_desk.tries


def test_nothing_is_heard_on_the_line_until_it_is_closed(office: Office) -> None:
    async def listen() -> list[DeskEvent]:
        async with office.line() as line:
            listening = asyncio.create_task(_all_of(line))
            await line.open()
            assert not listening.done()
            await line.close()
            return await listening

    assert asyncio.run(listen()) == []


async def _all_of(line: Line) -> list[DeskEvent]:
    return [event async for event in line.events()]


def posted(kind: str, **what: Any) -> dict[str, Any]:
    return {"type": kind, "id": "entry-1", "ticket": {"id": "ticket-1"}, **what}


@pytest.mark.parametrize(
    ("payload", "event"),
    [
        (
            posted("message", text="Hello", name="Ana"),
            DeskEvent(kind="message", entry_id="entry-1", text="Hello", name="Ana"),
        ),
        (
            posted("message", files=[{"name": "a.pdf", "url": "https://a.example/a.pdf"}]),
            DeskEvent(
                kind="message",
                entry_id="entry-1",
                links=(DeskLink(name="a.pdf", url="https://a.example/a.pdf"),),
            ),
        ),
        (posted("joined", name="Ana"), DeskEvent(kind="joined", entry_id="entry-1", name="Ana")),
        (posted("left", name="Ana"), DeskEvent(kind="left", entry_id="entry-1", name="Ana")),
        (
            posted("ended", text="solved"),
            DeskEvent(kind="ended", entry_id="entry-1", text="solved"),
        ),
        (
            posted("failed", text="all out"),
            DeskEvent(kind="failed", entry_id="entry-1", text="all out"),
        ),
        (posted("typing", id="", is_typing=True), DeskEvent(kind="typing", is_typing=True)),
        (posted("position", id="", position=3), DeskEvent(kind="position", position=3)),
        (posted("position", id="", seconds=90), DeskEvent(kind="position", seconds=90)),
        (posted("waiting", id=""), DeskEvent(kind="waiting")),
        (posted("read", more={"of": "theirs"}), DeskEvent(kind="read", entry_id="entry-1")),
    ],
)
def test_what_advisors_do_comes_in(payload: dict[str, Any], event: DeskEvent) -> None:
    body = json.dumps(payload).encode()
    verified = verify_webhook(sign_webhook("delivery-1", body, KEY, NOW), body, KEY, NOW)
    assert inbound(verified) == ("ticket-1", event)


def test_what_was_changed_on_its_way_does_not_come_in() -> None:
    body = json.dumps(posted("message", text="Hello")).encode()
    headers = sign_webhook("delivery-1", body, KEY, NOW)
    with pytest.raises(BadSignature):
        verify_webhook(headers, body.replace(b"Hello", b"Adieu"), KEY, NOW)


@pytest.mark.parametrize("kind", ["echo", "survey", "", None, 5, ["message"], {}])
def test_types_that_nobody_knows_are_passed_over(kind: Any) -> None:
    assert inbound(posted("message", text="Hello") | {"type": kind}) is None


@pytest.mark.parametrize(
    ("payload", "why"),
    [
        (posted("message", id="", text="Hello"), "`id`"),
        (posted("joined", id=""), "`id`"),
        (posted("read", id=""), "`id`"),
        (posted("message"), "`text`"),
        (posted("message", text="  "), "`text`"),
        (posted("message", text=["Hello"]), "`text`"),
        (posted("message", text="Hello", ticket={}), "`ticket.id`"),
        (posted("message", text="Hello", ticket="ticket-1"), "`ticket`"),
        (posted("position", position=0), "`position`"),
        (posted("position", seconds=float("nan")), "`seconds`"),
        (posted("joined", name="x" * 201), "`name`"),
    ],
)
def test_what_is_posted_wrong_says_what_is_wrong(payload: dict[str, Any], why: str) -> None:
    with pytest.raises(BadRequest) as wrong:
        inbound(payload)
    assert why in str(wrong.value)


@pytest.mark.parametrize(
    ("webhook", "hint"),
    [
        ({"url": ""}, "handoff.webhook.url"),
        ({"url": "desk.example.org"}, "handoff.webhook.url"),
        ({"url": "https://desk.example.org", "secret_env": "TEST_NOT_THERE"}, "TEST_NOT_THERE"),
    ],
)
def test_settings_that_nothing_can_be_posted_with(webhook: dict[str, str], hint: str) -> None:
    settings = HandoffSettings.model_validate({"desk": "webhook", "webhook": webhook})
    with pytest.raises(BadSetting) as wrong:
        open_desk(settings)
    assert hint in wrong.value.hint


def test_the_desk_is_found_by_its_name(office: Office) -> None:
    settings = HandoffSettings.model_validate(
        {
            "desk": "webhook",
            "webhook": {"url": office.url, "secret_env": "TEST_SECRET"},
        }
    )
    desk = open_desk(settings)
    assert isinstance(desk, WebhookDesk)
    assert desk.longest_message > 0
