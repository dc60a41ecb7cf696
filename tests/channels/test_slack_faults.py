"""Slack under random faults: every answer and every advisor's message is posted once and in order.
TEST_SCHEDULES says how many schedules of faults are run."""

import asyncio
import os
import random
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi import FastAPI

from channels.slack_emulator import SECRET, TOKEN, Fault, Message, Slack, texts
from ombud.app import Workspace
from ombud.channels import AskingPlaces, opened_slack, slack_events
from ombud.handoff import Advisor, Pace, session
from ombud.store import channel_sessions, new_account, read_events
from ombud.types import Person
from ombud.web.problems import answer_errors
from web.running import LEAVE_GB, make_workspace

pytest.importorskip("slack_sdk", reason="the extra `slack` is not installed")
pytestmark = pytest.mark.anyio
SCHEDULES = int(os.environ.get("TEST_SCHEDULES", "10"))
ANNA = Advisor(id="anna", name="Anna")
QUESTIONS = {
    "How many days of annual leave do I have?": LEAVE_GB,
    "What is the cap for a hotel night in Paris?": "EUR 220",
    "Which badge do visitors of the laboratory wear?": "yellow badge",
}
FAULTS: list[Fault] = ["429", "500", "dropped", "lost", "expired"]


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A workspace of its own: what one test leaves to be relayed must not reach the next."""
    make_workspace(tmp_path).close()
    return tmp_path


async def no_time(seconds: float) -> None:
    """Passes at once, and lets others work."""
    await asyncio.sleep(0)


class Server:
    """The channel in a process that may be killed and started again."""

    def __init__(self, workspace: Workspace, draw: random.Random) -> None:
        self.workspace = workspace
        self.draw = draw
        self._app = FastAPI()
        self._app.include_router(slack_events)
        answer_errors(self._app)
        self._posting: set[asyncio.Task[httpx.Response]] = set()
        self.start()

    def start(self) -> None:
        self._app.state.slack = opened_slack(
            self.workspace, AskingPlaces(4), Pace(sleep=no_time, wait=lambda _: 0.0)
        )
        self._work = asyncio.create_task(self._app.state.slack.run())

    async def kill(self) -> None:
        for task in [self._work, *self._posting]:
            task.cancel()
        await asyncio.gather(self._work, *self._posting, return_exceptions=True)
        for _ in range(200):  # what is on its way arrives before another process can look
            await asyncio.sleep(0)

    async def deliver(self, slack: Slack, payload: dict[str, Any]) -> None:
        """Post an event until it is acknowledged, as Slack does, and sometimes once more."""
        transport = httpx.ASGITransport(app=self._app, raise_app_exceptions=False)
        async with httpx.AsyncClient(transport=transport, base_url="http://ask") as client:
            again = self.draw.random() < 0.3
            for attempt in range(200):
                task = asyncio.create_task(slack.send(client, payload, attempt=attempt))
                self._posting.add(task)
                await asyncio.wait([task])
                self._posting.discard(task)
                is_taken = not task.cancelled() and task.result().status_code == 200
                if is_taken and not again:
                    return
                again = again and not is_taken
        raise AssertionError("never acknowledged")


@asynccontextmanager
async def server_of(home: Path, slack: Slack, draw: random.Random) -> AsyncIterator[Server]:
    flags = {
        "slack": {"mode": "events", "api_url": f"{slack.url}api/"},
        "identity": {"kind": "local"},
    }
    workspace = Workspace(home, flags)
    server = Server(workspace, draw)
    try:
        yield server
    finally:
        await server.kill()
        workspace.close()


@pytest.mark.parametrize(
    "seed", [0, 1, *(pytest.param(n, marks=pytest.mark.slow) for n in range(2, SCHEDULES))]
)
async def test_whatever_fails_each_message_arrives_once_and_in_order(
    home: Path, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SLACK_BOT_TOKEN", TOKEN)
    monkeypatch.setenv("SLACK_SECRET", SECRET)
    draw = random.Random(seed)
    rate = draw.choice([0.0, 0.15, 0.35])

    def fault(method: str) -> Fault:
        # Nobody can look for what only one person sees: Slack's own word is not to rely on it.
        if draw.random() >= rate:
            return ""
        kind = draw.choice(FAULTS)
        return "" if kind == "lost" and method == "chat.postEphemeral" else kind

    async with Slack() as slack, server_of(home, slack, draw) as server:
        store = server.workspace.store
        users = [f"U{seed}A", f"U{seed}B"]
        channel = f"C{seed}"
        slack.channels[channel] = users
        for user in users:
            mail = f"{user.lower()}@example.org"
            slack.add_user(user, mail)
            new_account(store, mail, Person(country="GB"), ["employee"])
        slack.faults = fault
        kills = asyncio.create_task(kill_at_times(server, draw))
        await asyncio.gather(*[live(server, slack, user, channel) for user in users])
        kills.cancel()
        with suppress(asyncio.CancelledError):
            await kills
        for session_ in channel_sessions(store, "slack"):
            events = read_events(store, session_.id)
            keys = [event.key for event in events if event.key]
            assert len(keys) == len(set(keys))
        posted = [one for listed in slack.messages.values() for one in listed if "bot_id" in one]
        keys = [one["metadata"]["event_payload"]["key"] for one in posted]
        assert len(keys) == len(set(keys)), sorted(key for key in keys if keys.count(key) > 1)


async def kill_at_times(server: Server, draw: random.Random) -> None:
    """Kill the server after so many steps of the event loop, a few times."""
    for _ in range(draw.randrange(4)):
        for _ in range(draw.randrange(50, 2000)):
            await asyncio.sleep(0)
        await server.kill()
        server.start()


async def live(server: Server, slack: Slack, user: str, channel: str) -> None:
    """Ask directly and in a channel, and talk with an advisor, checking what arrives."""
    direct, draw = f"D-{user}", server.draw

    def answers(listed: list[Message], of_user: str = "") -> list[str]:
        return [texts(one) for one in listed if not of_user or one.get("user") == of_user]

    asked = draw.sample(list(QUESTIONS), 2)
    sent = [slack.message(user, question) for question in asked]
    mention = slack.message(user, asked[0], channel)
    if draw.random() < 0.3:  # Slack promises no order
        sent.reverse()
        asked.reverse()
    for one in sent:
        await server.deliver(slack, one)
    await server.deliver(slack, mention)
    await slack.wait_for(lambda: len(slack.posted(direct)) >= 2)
    read = answers(slack.posted(direct))
    for question, text in zip(asked, read, strict=True):
        assert QUESTIONS[question] in text

    def in_channel() -> list[str]:
        thread = [
            one for one in slack.posted(channel) if one["thread_ts"] == mention["event"]["ts"]
        ]
        return answers(thread) + answers(slack.ephemeral, user)

    await slack.wait_for(in_channel)
    card = slack.posted(direct)[-1]
    await server.deliver(slack, slack.click(user, card, "Talk to a person"))
    await slack.wait_for(lambda: len(slack.posted(direct)) >= 3)
    (stands,) = [
        one
        for one in channel_sessions(server.workspace.store, "slack")
        if one.state == "queued" and user in one.address
    ]
    await talk_with_advisor(server, slack, user, stands.id, card["ts"])
    assert len(in_channel()) == 1


async def talk_with_advisor(
    server: Server, slack: Slack, user: str, conversation: str, thread: str
) -> None:
    store, direct = server.workspace.store, f"D-{user}"
    await asyncio.to_thread(session.claim, store, conversation, ANNA)
    written: list[str] = []
    for number in range(3):
        await server.deliver(slack, slack.message(user, f"I wrote {number}.", thread=thread))
        text = f"Reply {number} to {user}."
        key = f"{user}-{number}"
        await asyncio.to_thread(session.reply, store, conversation, ANNA, text, key)
        written.append(f"Anna: {text}")
    await asyncio.to_thread(session.end, store, conversation, ANNA, reason="solved", note="")
    await slack.wait_for(lambda: len(slack.posted(direct)) >= 8)
    thread_posts = slack.posted(direct)[3:]
    assert all(one["thread_ts"] == thread for one in thread_posts)
    assert [texts(one) for one in thread_posts[1:4]] == written
    assert len(thread_posts) == 5
    mine = [one.text for one in read_events(store, conversation) if one.by == "user"]
    assert [text for text in mine if text.startswith("I wrote")] == [
        f"I wrote {number}." for number in range(3)
    ]


@pytest.mark.slow
async def test_a_killed_server_neither_loses_nor_repeats_a_message(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SLACK_BOT_TOKEN", TOKEN)
    monkeypatch.setenv("SLACK_SECRET", SECRET)
    workspace = make_workspace(tmp_path)
    new_account(workspace.store, "u1@example.org", Person(country="GB"), ["employee"])
    async with Slack() as slack:
        slack.add_user("U1", "u1@example.org")
        with (tmp_path / "ombud.toml").open("a", encoding="utf-8") as file:
            file.write(
                f'[identity]\nkind = "local"\n[slack]\nmode = "events"\napi_url = "{slack.url}api/"\n'
            )
        first, second, _ = [slack.message("U1", question) for question in QUESTIONS]
        async with serving(tmp_path) as (process, client):
            assert (await slack.send(client, first)).status_code == 200
            process.kill()  # acknowledged, and not answered
        async with serving(tmp_path) as (process, client):
            await slack.wait_for(lambda: slack.posted("D-U1"), 120)
            await slack.send(client, second)
            await slack.wait_for(lambda: len(slack.posted("D-U1")) > 1, 120)
            process.kill()  # posted, and perhaps not recorded
        async with serving(tmp_path) as (process, client):
            await slack.send(client, first, attempt=1)
            await slack.send(client, second, attempt=1)
            await slack.send(client, slack.message("U1", list(QUESTIONS)[2]))
            await slack.wait_for(lambda: len(slack.posted("D-U1")) > 2, 120)
        read = [texts(one) for one in slack.posted("D-U1")]
        for answer, text in zip(QUESTIONS.values(), read, strict=True):
            assert answer in text
    workspace.close()


@asynccontextmanager
async def serving(
    home: Path,
) -> AsyncIterator[tuple[asyncio.subprocess.Process, httpx.AsyncClient]]:
    """`ombud serve` in a process of its own."""
    arguments = ["-m", "ombud", "--home", str(home), "serve", "--port", "0"]
    process = await asyncio.create_subprocess_exec(
        sys.executable, *arguments, stdout=asyncio.subprocess.PIPE
    )
    assert process.stdout is not None
    try:
        async with asyncio.timeout(240):
            line = (await process.stdout.readline()).decode()
        url = line.split()[-1]
        async with httpx.AsyncClient(base_url=url, timeout=30) as client:
            yield process, client
    finally:
        with suppress(ProcessLookupError):
            process.kill()
        await process.communicate()
