"""Takes what Slack reports: messages, mentions, the home tab, buttons and windows."""

import asyncio
import json
from collections import OrderedDict
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from ombud.app import conversing
from ombud.channels.chats.address import Address
from ombud.channels.chats.talking import Click
from ombud.channels.slack.blocks import comment_view, home_view, plain_text
from ombud.channels.slack.connecting import SlackChat
from ombud.errors import OmbudError, StoreError, Undelivered
from ombud.messages import message

Payload = Mapping[str, Any]


class Occurrence(NamedTuple):
    """Something that Slack reports."""

    key: str
    """The same when it is reported again."""
    user: str
    team: str
    payload: Payload
    is_repeated: bool


class SlackEvents:
    """Stores what people write, so that it can be acknowledged; answers follow by themselves."""

    def __init__(self, chat: SlackChat) -> None:
        self._chat = chat
        self._taken: OrderedDict[str, asyncio.Task[None]] = OrderedDict()

    async def take_event(self, payload: Payload, *, is_repeated: bool) -> None:
        """Take what the Events API reports. Raises OmbudError if it should be reported again."""
        event = payload.get("event") or {}
        user = event.get("user")
        if not user or event.get("bot_id"):
            return
        key = str(payload.get("event_id") or event.get("event_ts"))
        team = str(payload.get("team_id") or "")
        happened = Occurrence(key, user, team, event, is_repeated)
        if event.get("type") == "app_home_opened" and event.get("tab") == "home":
            await self._once(self._take_home, happened)
        elif is_for_us(event):
            await self._once(self._take_message, happened)

    async def take_interaction(self, payload: Payload, *, is_repeated: bool) -> None:
        """Take a button or a window."""
        user = payload.get("user") or {}
        team = str((payload.get("team") or {}).get("id") or user.get("team_id") or "")
        key = str(payload.get("trigger_id") or "")
        happened = Occurrence(key, str(user.get("id") or ""), team, payload, is_repeated)
        if payload.get("type") == "block_actions" and payload.get("actions"):
            await self._once(self._take_button, happened)
        elif payload.get("type") == "view_submission":
            await self._once(self._take_comment, happened)

    async def _once(self, work: Any, happened: Occurrence) -> None:
        """Let a report that is repeated while the first is at work wait for it."""
        task = self._taken.get(happened.key)
        if task is None or (task.done() and task.exception()):
            task = asyncio.create_task(self._guarded(work, happened))
            self._taken[happened.key] = task
            while len(self._taken) > 1000:
                self._taken.popitem(last=False)
        await asyncio.shield(task)

    async def _guarded(self, work: Any, happened: Occurrence) -> None:
        try:
            await work(happened)
        except (StoreError, Undelivered):
            raise
        except OmbudError as refused:
            await self._reply(happened, f"{refused} {refused.hint}".strip())

    # Messages ---------------------------------------------------------------------------------

    async def _take_message(self, happened: Occurrence) -> None:
        event = happened.payload
        writer = await self._chat.writer(happened.user, happened.team)
        address = address_of_event(happened)
        reply = await self._chat.talks.receive(
            writer, address, plain_text(event.get("text") or ""), str(event.get("ts"))
        )
        if reply:
            await self._reply(happened, reply)

    async def _take_home(self, happened: Occurrence) -> None:
        settings = self._chat.workspace.settings
        talks: list[conversing.Listed] = []
        try:
            writer = await self._chat.writer(happened.user, happened.team)
            hello = message("channels.hello", name=settings.general.name)
            workspace = self._chat.workspace
            talks = await asyncio.to_thread(conversing.listed, workspace, writer.secret)
        except Undelivered:
            raise
        except OmbudError as refused:
            hello = str(refused)
        view = home_view(hello, talks, settings.server.public_url)
        await self._chat.call("views.publish", user_id=happened.user, view=view)

    # Buttons ----------------------------------------------------------------------------------

    async def _take_button(self, happened: Occurrence) -> None:
        action = happened.payload["actions"][0]
        kind = str(action.get("action_id") or "").partition("-")[0]
        value = str(action.get("value") or "{}")
        data = parsed(value)
        writer = await self._chat.writer(happened.user, happened.team)
        address = address_of_button(happened)
        if kind == "person":
            address = in_thread(address, happened)
        container = happened.payload.get("container") or {}
        at = f"{container.get('message_ts')}/{action.get('action_ts')}"
        reply = await self._chat.talks.click(writer, address, Click(kind, data, at))
        if kind == "rate":  # the window thanks
            trigger = happened.payload.get("trigger_id")
            await self._chat.call("views.open", trigger_id=trigger, view=comment_view(value))
        elif reply:
            await self._reply(happened, reply)

    async def _take_comment(self, happened: Occurrence) -> None:
        view = happened.payload.get("view") or {}
        fields = view.get("state", {}).get("values", {}).get("comment", {})
        comment = str(fields.get("comment", {}).get("value") or "")
        writer = await self._chat.writer(happened.user, happened.team)
        data = parsed(str(view.get("private_metadata"))) | {"comment": comment}
        await self._chat.talks.rate(writer, data)

    async def _reply(self, happened: Occurrence, text: str) -> None:
        """Reply at once: in a direct chat as a message, in a channel for the person alone."""
        if happened.payload.get("type") == "view_submission":
            return
        is_button = "container" in happened.payload
        address = address_of_button(happened) if is_button else address_of_event(happened)
        if address.is_group:
            address = address.model_copy(update={"private": "reply"})
        elif happened.is_repeated:
            since = datetime.now(UTC) - timedelta(hours=1)  # Slack repeats for some minutes
            if await self._chat.has_posted(address, happened.key, since):
                return
        await self._chat.post(address, happened.key, {"text": text})


def is_for_us(event: Payload) -> bool:
    """Tell whether an event is a new direct message or mention; of edited and deleted ones Slack
    tells too."""
    if event.get("type") == "app_mention":
        return not event.get("edited")
    is_direct = event.get("type") == "message" and event.get("channel_type") == "im"
    return is_direct and event.get("subtype") in (None, "file_share", "thread_broadcast")


def parsed(value: str) -> dict[str, Any]:
    """Parse what a button carries; what is not ours is empty."""
    try:
        data = json.loads(value)
    except ValueError:
        return {}
    return data if isinstance(data, dict) else {}


def address_of_event(happened: Occurrence) -> Address:
    """Return where a message stands; in a channel it is answered in its thread."""
    event = happened.payload
    is_group = event.get("type") == "app_mention"
    thread = event.get("thread_ts") or (event.get("ts") if is_group else "")
    return Address(
        channel=str(event.get("channel")),
        thread=str(thread or ""),
        user=happened.user,
        is_group=is_group,
        reference=happened.team,
    )


def address_of_button(happened: Occurrence) -> Address:
    container = happened.payload.get("container") or {}
    channel = str(container.get("channel_id") or "")
    is_group = not channel.startswith("D")
    thread = container.get("thread_ts") or (container.get("message_ts") if is_group else "")
    return Address(
        channel=channel,
        thread=str(thread or ""),
        user=happened.user,
        is_group=is_group,
        reference=happened.team,
    )


def in_thread(address: Address, happened: Occurrence) -> Address:
    """Return the thread below the message of a button: a talk with a person stays together."""
    if address.thread or address.is_group:
        return address
    message = (happened.payload.get("container") or {}).get("message_ts")
    return address.model_copy(update={"thread": str(message or "")})
