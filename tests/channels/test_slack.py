"""Slack: events as Slack posts them, signed, and what the app posts through the real SDK."""

import asyncio
import json
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi import FastAPI

from channels.slack_emulator import (
    APP_TOKEN,
    SECRET,
    TOKEN,
    Message,
    Slack,
    buttons,
    signed,
    texts,
)
from ombud.app import Workspace
from ombud.channels import AskingPlaces, opened_slack, slack_events
from ombud.errors import SetupError
from ombud.handoff import Advisor, session
from ombud.messages import message
from ombud.store import (
    change_account,
    list_feedback,
    list_sessions,
    new_account,
    owner_of,
    read_events,
)
from ombud.types import Person, Session
from ombud.web.problems import answer_errors
from web.running import LEAVE_DE, LEAVE_GB, make_workspace

pytest.importorskip("slack_sdk", reason="the extra `slack` is not installed")
pytestmark = pytest.mark.anyio
LEAVE = "How many days of annual leave do I have?"
ANNA = Advisor(id="anna", name="Anna")


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A workspace of its own: what one test leaves to be relayed must not reach the next."""
    make_workspace(tmp_path).close()
    return tmp_path


@asynccontextmanager
async def app_of(
    home: Path, slack: Slack, mode: str = "events", identity: str = "local"
) -> AsyncIterator[tuple[Workspace, httpx.AsyncClient]]:
    """The channel of a workspace, as a server runs it, and a client that posts to it."""
    flags = {
        "slack": {"mode": mode, "api_url": f"{slack.url}api/"},
        "identity": {"kind": identity},
        "server": {"public_url": "https://ask.example.org"},
    }
    workspace = Workspace(home, flags)
    app = FastAPI()
    app.state.slack = opened_slack(workspace, AskingPlaces(4))
    app.include_router(slack_events)
    answer_errors(app)
    work = asyncio.create_task(app.state.slack.run())
    transport = httpx.ASGITransport(app=app, raise_app_exceptions=False)
    try:
        async with httpx.AsyncClient(transport=transport, base_url="http://ask") as client:
            yield workspace, client
    finally:
        work.cancel()
        await asyncio.gather(work, return_exceptions=True)
        workspace.close()


@pytest.fixture
async def slack(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Slack]:
    monkeypatch.setenv("SLACK_BOT_TOKEN", TOKEN)
    monkeypatch.setenv("SLACK_SECRET", SECRET)
    async with Slack() as made:
        yield made


@pytest.fixture
async def bob(home: Path, slack: Slack) -> AsyncIterator["Colleague"]:
    async with app_of(home, slack) as (workspace, client):
        yield Colleague(workspace, client, slack, "U1", Person(country="GB"))


class Colleague:
    """Somebody with an account who writes in Slack."""

    def __init__(
        self,
        workspace: Workspace,
        client: httpx.AsyncClient,
        slack: Slack,
        user: str,
        person: Person,
    ) -> None:
        self.workspace, self.client, self.slack, self.user = workspace, client, slack, user
        mail = f"{user.lower()}-{uuid.uuid4().hex}@example.org"
        slack.add_user(user, mail.upper())
        self.account = new_account(workspace.store, mail, person, ["employee"])
        self.seen = len(slack.posted(self.direct))

    @property
    def direct(self) -> str:
        return f"D-{self.user}"

    def colleague(self, user: str, person: Person) -> "Colleague":
        return Colleague(self.workspace, self.client, self.slack, user, person)

    async def write(self, text: str, channel: str = "", **more: Any) -> Message:
        """Write; the message itself."""
        sent = self.slack.message(self.user, text, channel, **more)
        assert (await self.slack.send(self.client, sent)).status_code == 200
        written: Message = sent["event"]
        return written

    async def click(self, card: Message, title: str) -> None:
        sent = self.slack.click(self.user, card, title)
        assert (await self.slack.send(self.client, sent)).status_code == 200

    async def next(self, channel: str = "") -> Message:
        """What the app posts next to the direct chat or to a channel."""
        where = channel or self.direct
        self.seen += 1
        number = self.seen
        posted = await self.slack.wait_for(lambda: self.slack.posted(where)[number - 1 : number])
        first: Message = posted[0]
        return first

    def sessions(self, *states: str) -> list[Session]:
        """Their own conversations in one of these states."""
        own = f"account:{self.account.id}"
        named = list_sessions(self.workspace.store, states)
        return [
            one
            for one in named
            if owner_of(self.workspace.store, one.id) == sha256(own.encode()).hexdigest()
        ]


async def test_a_direct_message_is_answered_with_a_card(bob: Colleague) -> None:
    await bob.write(LEAVE)
    card = await bob.next()
    read = texts(card)
    assert LEAVE_GB in read
    assert LEAVE_DE not in read
    assert "<https://ask.example.org/documents/" in read
    assert "role=" not in read
    assert {"Talk to a person", "👍", "👎"} <= buttons(card).keys()
    await bob.write("And in Germany?")
    assert LEAVE_DE in texts(await bob.next())


async def test_cards_are_in_the_language_of_the_slack_client(bob: Colleague) -> None:
    bob.slack.users["U1"]["locale"] = "de-DE"
    await bob.write("Wie viele Tage Urlaub habe ich?")
    card = await bob.next()
    assert message("thread.talk_to_person", "de") in buttons(card)
    await bob.click(card, message("thread.talk_to_person", "de"))
    assert message("thread.asked_for_person", "de") in texts(await bob.next())
    await bob.click(card, "👎")
    _, view = bob.slack.views[-1]
    assert message("channels.comment", "de") in json.dumps(view, ensure_ascii=False)


async def test_an_event_that_comes_again_is_answered_once(bob: Colleague) -> None:
    sent = bob.slack.message("U1", LEAVE)
    first = [bob.slack.send(bob.client, sent, attempt=attempt) for attempt in range(3)]
    await asyncio.gather(*first)
    await bob.next()
    await bob.slack.send(bob.client, sent, attempt=3)
    await bob.write("What is the cap for a hotel night in Paris?")
    assert "EUR 220" in texts(await bob.next())
    assert len(bob.slack.posted(bob.direct)) == 2


async def test_whoever_has_no_account_is_told_so(bob: Colleague) -> None:
    bob.slack.add_user("U2", "eve@example.org")
    bob.slack.add_user("U3", "u1@example.org", is_email_confirmed=False)
    bob.slack.add_user("U4", bob.account.name, team_id="T2")
    change_account(bob.workspace.store, bob.account.id, disabled=True)
    for user in ("U1", "U2", "U3", "U4"):
        await bob.slack.send(bob.client, bob.slack.message(user, LEAVE))
        (refusal,) = await bob.slack.wait_for(partial(bob.slack.posted, f"D-{user}"))
        assert "annual leave" not in texts(refusal)
    assert bob.sessions("bot") == []


async def test_requests_that_slack_did_not_sign_are_refused(bob: Colleague) -> None:
    body = json.dumps(bob.slack.message("U1", LEAVE))
    wrong = [
        {},
        signed(body, secret="other"),
        signed(body, age=400),
        signed(body + " "),
        signed(body) | {"x-slack-request-timestamp": "soon"},
        signed(body) | {"x-slack-signature": "v0=é"},
    ]
    for headers in wrong:
        sent = {name.encode(): value.encode() for name, value in headers.items()}
        reply = await bob.client.post("/api/slack", content=body, headers=sent)
        assert reply.status_code == 401, headers
    for strange in ("{", "[]", "{}"):
        reply = await bob.client.post(
            "/api/slack",
            content=strange,
            headers=signed(strange) | {"content-type": "application/json"},
        )
        assert reply.status_code == 422
    hello = {"type": "url_verification", "challenge": "c"}
    assert (await bob.slack.send(bob.client, hello)).json() == {"challenge": "c"}
    assert bob.sessions("bot") == []


async def test_a_rating_may_have_a_comment(bob: Colleague) -> None:
    await bob.write(LEAVE)
    card = await bob.next()
    await bob.click(card, "👎")
    _, view = bob.slack.views[-1]
    await bob.slack.send(bob.client, bob.slack.submit("U1", view, "Which year?"))
    eve = bob.colleague("U2", Person())
    await eve.click(card, "👍")
    identity = json.loads(view["private_metadata"])["answer"]
    rated = [one for one in list_feedback(bob.workspace.store) if one.answer_id == identity]
    assert [(one.thumb, one.comment) for one in rated] == [(-1, "Which year?")]


async def test_a_suggestion_is_asked_by_its_button(bob: Colleague) -> None:
    eve = bob.colleague("U2", Person())
    await eve.write(LEAVE)
    await eve.click(await eve.next(), "Germany")
    assert LEAVE_DE in texts(await eve.next())


async def test_the_home_tab_lists_ones_own_conversations(bob: Colleague) -> None:
    await bob.write(LEAVE)
    await bob.next()
    eve = bob.colleague("U2", Person())
    for user in ("U1", "U2"):
        opened = bob.slack.event({"type": "app_home_opened", "tab": "home", "user": user})
        await bob.slack.send(bob.client, opened)
    (_, own), (_, other) = bob.slack.views
    assert LEAVE in json.dumps(own)
    assert LEAVE not in json.dumps(other)
    assert eve.sessions("bot") == []


# In channels --------------------------------------------------------------------------------------

HOTEL = "What is the cap for a hotel night in Paris?"
PAY = "Where does the confidential pay band of grade G5 begin?"


async def test_in_a_channel_everybody_reads_only_what_all_may_read(bob: Colleague) -> None:
    eve = bob.colleague("U2", Person(country="DE"))
    boss = bob.colleague("U3", Person(country="GB", roles=("manager",)))
    slack = bob.slack
    slack.add_user("B1", "", is_bot=True)
    slack.channels["C1"] = ["B1", "U1", "U2", "U3"]
    asked = await boss.write(HOTEL, "C1")
    (card,) = await slack.wait_for(lambda: slack.posted("C1"))
    assert card["thread_ts"] == asked["ts"]
    assert "EUR 220" in texts(card)
    # Of managers alone, and of one country alone: only who asks is shown it.
    await boss.write(PAY, "C1")
    (private,) = await slack.wait_for(lambda: slack.ephemeral)
    assert private["user"] == "U3"
    assert "48,000" in texts(private)
    assert "Only you see this" in texts(private)
    await eve.write(LEAVE, "C1")
    await slack.wait_for(lambda: len(slack.ephemeral) == 2)
    assert LEAVE_DE in texts(slack.ephemeral[1])
    slack.channels["C2"] = ["U1", "U3"]
    await boss.write(LEAVE, "C2")
    (shared,) = await slack.wait_for(lambda: slack.posted("C2"))
    assert LEAVE_GB in texts(shared)
    assert len(slack.posted("C1")) == 1
    # With a colleague less, all are managers.
    slack.channels["C2"] = ["U3"]
    await boss.write(PAY, "C2")
    await slack.wait_for(lambda: len(slack.posted("C2")) == 2)
    assert "48,000" in texts(slack.posted("C2")[1])


async def test_what_was_private_stays_out_of_the_thread(bob: Colleague) -> None:
    boss = bob.colleague("U3", Person(country="GB", roles=("manager",)))
    slack = bob.slack
    slack.channels["C1"] = ["U1", "U3"]
    asked = await boss.write(PAY, "C1")
    await slack.wait_for(lambda: slack.ephemeral)
    await boss.write("And where does it end?", "C1", thread=asked["ts"])
    await slack.wait_for(lambda: len(slack.ephemeral) == 2)
    assert slack.posted("C1") == []


@pytest.mark.parametrize("who", ["guest", "leaver", "nobody lists them", "too many requests"])
async def test_where_readers_are_not_known_the_answer_is_private(bob: Colleague, who: str) -> None:
    slack = bob.slack
    slack.channels["C1"] = ["U1", "U9"]
    slack.add_user("U9", "guest@elsewhere.example")
    if who == "leaver":
        gone = bob.colleague("U9", Person(country="GB"))
        change_account(bob.workspace.store, gone.account.id, disabled=True)
    elif who == "nobody lists them":
        slack.faults = lambda method: "500" if method == "conversations.members" else ""
    elif who == "too many requests":
        slack.faults = lambda method: "429" if method == "conversations.members" else ""
    await bob.write(HOTEL, "C1")
    (card,) = await slack.wait_for(lambda: slack.ephemeral)
    assert "EUR 220" in texts(card)
    assert slack.posted("C1") == []


async def test_roles_that_are_withdrawn_count_at_once(bob: Colleague) -> None:
    boss = bob.colleague("U3", Person(country="GB", roles=("manager",)))
    await boss.write(PAY)
    assert "48,000" in texts(await boss.next())
    change_account(bob.workspace.store, boss.account.id, person=Person(country="GB"))
    await boss.write(PAY)
    assert "48,000" not in texts(await boss.next())
    change_account(bob.workspace.store, boss.account.id, disabled=True)
    await boss.write(HOTEL)
    assert "EUR 220" not in texts(await boss.next())


# A person takes over ------------------------------------------------------------------------------


async def test_a_person_takes_over_in_the_thread(bob: Colleague) -> None:
    store = bob.workspace.store
    await bob.write(LEAVE)
    card = await bob.next()
    await bob.click(card, "Talk to a person")
    queued = await bob.next()
    assert queued["thread_ts"] == card["ts"]
    (stands,) = bob.sessions("queued")
    session.claim(store, stands.id, ANNA)
    session.reply(store, stands.id, ANNA, "What is it about? <!channel>", "k1")
    assert "Anna has joined" in texts(await bob.next())
    said = await bob.next()
    assert "Anna: What is it about? &lt;!channel&gt;" in texts(said)
    assert said["thread_ts"] == card["ts"]
    # Whether in the thread or beside it, it is for Anna.
    await bob.write("My leave was refused.", thread=card["ts"])
    await bob.write("For no reason.")
    heard = [event.text for event in read_events(store, stands.id) if event.by == "user"]
    assert heard[-2:] == ["My leave was refused.", "For no reason."]
    session.end(store, stands.id, ANNA, reason="solved", note="")
    assert message("thread.person_ended") in texts(await bob.next())
    await bob.write(HOTEL)
    again = await bob.next()
    assert "EUR 220" in texts(again)
    assert "thread_ts" not in again


async def test_nothing_reaches_whoever_has_left(bob: Colleague) -> None:
    store = bob.workspace.store
    await bob.write(LEAVE)
    await bob.click(await bob.next(), "Talk to a person")
    await bob.next()
    (stands,) = bob.sessions("queued")
    change_account(store, bob.account.id, disabled=True)
    session.claim(store, stands.id, ANNA)
    session.reply(store, stands.id, ANNA, "Your file is here.", "k1")
    await bob.write("Hello?")
    assert "no account here" in texts(await bob.next())
    assert "Your file" not in json.dumps(bob.slack.posted(bob.direct))


async def test_what_is_said_to_a_person_leaves_the_channel(bob: Colleague) -> None:
    eve = bob.colleague("U2", Person(country="GB"))
    bob.slack.channels["C1"] = ["U1", "U2"]
    await bob.write(HOTEL, "C1")
    (card,) = await bob.slack.wait_for(lambda: bob.slack.posted("C1"))
    await bob.click(card, "Talk to a person")
    await bob.next()
    (stands,) = bob.sessions("queued")
    assert HOTEL in [event.text for event in read_events(bob.workspace.store, stands.id)]
    await eve.click(card, "Talk to a person")
    queued = await eve.next()
    (of_eve,) = eve.sessions("queued")
    assert HOTEL not in [event.text for event in read_events(bob.workspace.store, of_eve.id)]
    await eve.click(queued, "I no longer need a person")
    await eve.next()
    assert eve.sessions("queued") == []
    assert len(bob.sessions("queued")) == 1
    assert len(bob.slack.posted("C1")) == 1


# Socket mode --------------------------------------------------------------------------------------


async def test_socket_mode_needs_no_open_port(
    home: Path, slack: Slack, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SLACK_SECRET", APP_TOKEN)
    async with app_of(home, slack, mode="socket") as (workspace, client):
        bob = Colleague(workspace, client, slack, "U1", Person(country="GB"))
        await slack.wait_for(lambda: slack.connected)
        body = json.dumps(slack.message("U1", LEAVE))
        reply = await client.post("/api/slack", content=body, headers=signed(body))
        assert reply.status_code == 404
        sent = slack.message("U1", LEAVE)
        await slack.send_envelope(sent)
        await slack.send_envelope(sent)
        card = await bob.next()
        assert LEAVE_GB in texts(card)
        await slack.send_envelope(slack.click("U1", card, "Talk to a person"), "interactive")
        assert message("thread.asked_for_person") in texts(await bob.next())
        await slack.wait_for(lambda: not slack.unacknowledged)


def test_settings_that_would_let_anybody_write_are_refused(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SLACK_BOT_TOKEN", TOKEN)
    monkeypatch.delenv("SLACK_SECRET", raising=False)
    for identity, api in (("none", "https://slack.com/api/"), ("local", "https://slack.com/api/")):
        flags = {"slack": {"mode": "events", "api_url": api}, "identity": {"kind": identity}}
        workspace = Workspace(home, flags)
        with pytest.raises(SetupError) as refused:
            opened_slack(workspace, AskingPlaces(1))
        assert refused.value.hint
        workspace.close()
