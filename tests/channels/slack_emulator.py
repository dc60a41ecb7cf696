"""Slack as its public contract describes it: Web API, Events API and Socket Mode, with faults."""

import asyncio
import hashlib
import hmac
import itertools
import json
import time
from collections import defaultdict
from collections.abc import Callable, Mapping
from typing import Any, Literal

import httpx
from aiohttp import WSMsgType, web

TOKEN = "xoxb-1"
SECRET = "signing"
APP_TOKEN = "xapp-1"
TEAM = "T1"
Fault = Literal["", "429", "500", "dropped", "lost", "expired"]
"""dropped: the connection ends before the call is carried out; lost: after it."""
Message = dict[str, Any]
NUMBERS = itertools.count(1)
"""No id is given twice, also by another emulator before the same database."""


class Slack:
    """One workspace. `faults` is asked for each call of a method."""

    def __init__(self) -> None:
        self.users: dict[str, dict[str, Any]] = {}
        self.channels: dict[str, list[str]] = {}
        self.messages: dict[str, list[Message]] = defaultdict(list)
        self.ephemeral: list[Message] = []
        self.views: list[tuple[str, dict[str, Any]]] = []
        self.calls: list[str] = []
        self.faults: Callable[[str], Fault] = lambda _: ""
        self.target: Callable[[bytes, dict[str, str]], Any] | None = None
        self.changed = asyncio.Condition()
        self.unacknowledged: dict[str, dict[str, Any]] = {}
        self.url = ""
        self._sockets: set[web.WebSocketResponse] = set()

    async def __aenter__(self) -> "Slack":
        app = web.Application()
        app.router.add_post("/api/{method}", self._call)
        app.router.add_get("/link", self._link)
        self._runner = web.AppRunner(app, shutdown_timeout=0.1)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", 0)
        await site.start()
        port = self._runner.addresses[0][1]
        self.url = f"http://127.0.0.1:{port}/"
        return self

    async def __aexit__(self, *error: object) -> None:
        await self._runner.cleanup()

    def add_user(self, identity: str, mail: str, **more: Any) -> None:
        profile = {"email": mail} if mail else {}
        user = {"id": identity, "team_id": TEAM, "locale": "en-GB", "profile": profile}
        self.users[identity] = user | {"is_email_confirmed": True} | more
        self.channels[f"D-{identity}"] = [identity]

    @property
    def connected(self) -> bool:
        return bool(self._sockets)

    async def wait_for(self, condition: Callable[[], Any], seconds: float = 20) -> Any:
        async with asyncio.timeout(seconds), self.changed:
            await self.changed.wait_for(condition)
        return condition()

    def posted(self, channel: str) -> list[Message]:
        """What the app has posted there, in order."""
        return [one for one in self.messages[channel] if one.get("bot_id")]

    # The Web API ------------------------------------------------------------------------------

    async def _call(self, request: web.Request) -> web.StreamResponse:
        method = request.match_info["method"]
        if request.content_type == "application/json":
            given: Mapping[str, Any] = await request.json()
        else:
            given = dict(await request.post())
        self.calls.append(method)
        fault = self.faults(method)
        if fault == "429":
            limited = {"ok": False, "error": "ratelimited"}
            return web.json_response(limited, status=429, headers={"Retry-After": "1"})
        if fault == "500":
            return web.Response(status=500, text="oops")
        if fault == "expired":
            return web.json_response({"ok": False, "error": "token_expired"})
        if fault == "dropped":
            return self._hang_up(request)
        expected = APP_TOKEN if method == "apps.connections.open" else TOKEN
        if request.headers.get("Authorization") != f"Bearer {expected}":
            return web.json_response({"ok": False, "error": "invalid_auth"})
        handle = getattr(self, f"_{method.replace('.', '_')}")
        reply = handle(given)
        async with self.changed:
            self.changed.notify_all()
        return self._hang_up(request) if fault == "lost" else web.json_response(reply)

    def _hang_up(self, request: web.Request) -> web.StreamResponse:
        if request.transport is not None:
            request.transport.abort()
        return web.Response()

    def _users_info(self, given: Mapping[str, Any]) -> dict[str, Any]:
        user = self.users.get(given["user"])
        return {"ok": True, "user": user} if user else {"ok": False, "error": "user_not_found"}

    def _conversations_members(self, given: Mapping[str, Any]) -> dict[str, Any]:
        members = self.channels.get(given["channel"])
        if members is None:
            return {"ok": False, "error": "channel_not_found"}
        at = int(given.get("cursor") or 0)
        cursor = str(at + 2) if at + 2 < len(members) else ""
        page = {"members": members[at : at + 2], "response_metadata": {"next_cursor": cursor}}
        return {"ok": True} | page

    def _conversations_open(self, given: Mapping[str, Any]) -> dict[str, Any]:
        return {"ok": True, "channel": {"id": f"D-{given['users']}"}}

    def _conversations_history(self, given: Mapping[str, Any]) -> dict[str, Any]:
        top = [one for one in self.messages[given["channel"]] if not one.get("thread_ts")]
        return self._page(list(reversed(top)), given)

    def _conversations_replies(self, given: Mapping[str, Any]) -> dict[str, Any]:
        root = given["ts"]
        thread = [
            one
            for one in self.messages[given["channel"]]
            if root in (one["ts"], one.get("thread_ts"))
        ]
        return self._page(thread, given)

    def _page(self, listed: list[Message], given: Mapping[str, Any]) -> dict[str, Any]:
        oldest = float(given.get("oldest", 0))
        listed = [one for one in listed if float(one["ts"]) > oldest]
        if given.get("include_all_metadata") != "true":
            listed = [{k: v for k, v in one.items() if k != "metadata"} for one in listed]
        at = int(given.get("cursor") or 0)
        cursor = str(at + 3) if at + 3 < len(listed) else ""
        return {
            "ok": True,
            "messages": listed[at : at + 3],
            "response_metadata": {"next_cursor": cursor},
        }

    def _chat_postMessage(self, given: Mapping[str, Any]) -> dict[str, Any]:  # noqa: N802
        if given["channel"] not in self.channels:
            return {"ok": False, "error": "channel_not_found"}
        wrong = wrong_blocks(given.get("blocks", []))
        if wrong:
            return {"ok": False, "error": "invalid_blocks", "detail": wrong}
        message = dict(given) | {"ts": self.new_ts(), "bot_id": "B1"}
        self.messages[given["channel"]].append(message)
        return {"ok": True, "ts": message["ts"], "channel": given["channel"], "message": message}

    def _chat_postEphemeral(self, given: Mapping[str, Any]) -> dict[str, Any]:  # noqa: N802
        if given["user"] not in self.channels[given["channel"]]:
            return {"ok": False, "error": "user_not_in_channel"}
        wrong = wrong_blocks(given.get("blocks", []))
        assert not wrong, wrong
        message = dict(given) | {"message_ts": self.new_ts()}
        self.ephemeral.append(message)
        return {"ok": True, "message_ts": message["message_ts"]}

    def _views_publish(self, given: Mapping[str, Any]) -> dict[str, Any]:
        self.views.append((given["user_id"], given["view"]))
        return {"ok": True}

    def _views_open(self, given: Mapping[str, Any]) -> dict[str, Any]:
        self.views.append((given["trigger_id"], given["view"]))
        return {"ok": True}

    def _apps_connections_open(self, given: Mapping[str, Any]) -> dict[str, Any]:
        return {"ok": True, "url": f"{self.url.replace('http', 'ws')}link"}

    # Socket Mode ------------------------------------------------------------------------------

    async def _link(self, request: web.Request) -> web.WebSocketResponse:
        socket = web.WebSocketResponse()
        await socket.prepare(request)
        await socket.send_json({"type": "hello", "num_connections": 1})
        self._sockets.add(socket)
        for envelope in list(self.unacknowledged.values()):
            envelope["retry_attempt"] = envelope.get("retry_attempt", 0) + 1
            await socket.send_json(envelope)
        async with self.changed:
            self.changed.notify_all()
        async for came in socket:
            if came.type == WSMsgType.TEXT:
                self.unacknowledged.pop(json.loads(came.data)["envelope_id"], None)
                async with self.changed:
                    self.changed.notify_all()
        self._sockets.discard(socket)
        return socket

    async def send_envelope(self, payload: Mapping[str, Any], kind: str = "events_api") -> None:
        identity = f"e{next(NUMBERS)}"
        envelope = {"type": kind, "envelope_id": identity, "payload": payload}
        self.unacknowledged[identity] = envelope
        for socket in self._sockets:
            await socket.send_json(envelope)

    # What people do ---------------------------------------------------------------------------

    def new_ts(self) -> str:
        return f"{time.time():.0f}.{next(NUMBERS):06d}"

    def message(
        self, user: str, text: str, channel: str = "", *, thread: str = "", **more: Any
    ) -> dict[str, Any]:
        """Let somebody write; the event that tells us of it."""
        where = channel or f"D-{user}"
        event: dict[str, Any] = {"type": "message", "channel_type": "im"}
        if channel:
            event = {"type": "app_mention"}
            text = f"<@UBOT> {text}"
        ts = self.new_ts()
        event |= {"user": user, "text": text, "channel": where, "ts": ts, "event_ts": ts}
        if thread:
            event["thread_ts"] = thread
        self.messages[where].append(
            {"user": user, "text": text, "ts": ts} | ({"thread_ts": thread} if thread else {})
        )
        return self.event(event | more)

    def event(self, event: Mapping[str, Any]) -> dict[str, Any]:
        identity = f"Ev{next(NUMBERS)}"
        return {"type": "event_callback", "team_id": TEAM, "event_id": identity, "event": event}

    def click(self, user: str, message: Message, title: str) -> dict[str, Any]:
        channel = message["channel"]
        container = {"type": "message", "message_ts": message.get("ts") or message["message_ts"]}
        container |= {"channel_id": channel, "is_ephemeral": "message_ts" in message}
        if message.get("thread_ts"):
            container["thread_ts"] = message["thread_ts"]
        action: Message = buttons(message)[title] | {"action_ts": self.new_ts()}
        return {
            "type": "block_actions",
            "user": {"id": user, "team_id": TEAM},
            "team": {"id": TEAM},
            "container": container,
            "trigger_id": f"tr{next(NUMBERS)}",
            "actions": [action],
        }

    def submit(self, user: str, view: Mapping[str, Any], comment: str) -> dict[str, Any]:
        values = {"comment": {"comment": {"type": "plain_text_input", "value": comment}}}
        return {
            "type": "view_submission",
            "user": {"id": user, "team_id": TEAM},
            "team": {"id": TEAM},
            "trigger_id": f"tr{next(NUMBERS)}",
            "view": dict(view) | {"state": {"values": values}},
        }

    async def send(
        self,
        client: httpx.AsyncClient,
        payload: Mapping[str, Any],
        *,
        attempt: int = 0,
        **headers: str,
    ) -> httpx.Response:
        """Post a signed request as Slack does."""
        body, kind = json.dumps(payload), "application/json"
        if payload["type"] in {"block_actions", "view_submission"}:
            body = str(httpx.QueryParams({"payload": body}))
            kind = "application/x-www-form-urlencoded"
        sent = signed(body) | {"content-type": kind} | headers
        if attempt:
            sent |= {"x-slack-retry-num": str(attempt), "x-slack-retry-reason": "http_timeout"}
        return await client.post("/api/slack", content=body, headers=sent)


def signed(body: str, *, secret: str = SECRET, age: float = 0) -> dict[str, str]:
    at = str(int(time.time() - age))
    digest = hmac.new(secret.encode(), f"v0:{at}:{body}".encode(), hashlib.sha256).hexdigest()
    return {"x-slack-request-timestamp": at, "x-slack-signature": f"v0={digest}"}


def texts(message: Message) -> str:
    """Everything that is read on a message."""
    if not message.get("blocks"):
        return str(message["text"])
    pieces: list[str] = []
    for block in message["blocks"]:
        pieces += [part["text"] for part in block.get("elements", []) if part["type"] == "mrkdwn"]
        if "text" in block:
            pieces.append(block["text"]["text"])
    return "\n".join(pieces)


def buttons(message: Message) -> dict[str, dict[str, Any]]:
    actions = [block for block in message.get("blocks", []) if block["type"] == "actions"]
    return {one["text"]["text"]: one for block in actions for one in block["elements"]}


def wrong_blocks(blocks: list[dict[str, Any]]) -> str:
    """Why Slack would refuse blocks; empty where it takes them."""
    if len(blocks) > 50:
        return "more than 50 blocks"
    for block in blocks:
        if block["type"] == "section" and not 1 <= len(block["text"]["text"]) <= 3000:
            return "a section has 1 to 3000 characters"
        if block["type"] == "actions":
            names = [one["action_id"] for one in block["elements"]]
            if len(set(names)) < len(names) or not 1 <= len(names) <= 25:
                return "actions are up to 25 with ids of their own"
            if any(
                len(one["text"]["text"]) > 75 or len(one["value"]) > 2000
                for one in block["elements"]
            ):
                return "a button has at most 75 characters"
    return ""
