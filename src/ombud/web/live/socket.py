"""`/live`: the one WebSocket of a tab. It notifies; what counts is in the store.

A client names the conversations it shows and the place up to which it knows them, and is told what
follows, in order. It may be told something twice after a reconnection, and leaves nothing out."""

import asyncio
import json
import logging
import time
from collections import OrderedDict
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any

from fastapi import APIRouter, WebSocket
from starlette.websockets import WebSocketDisconnect, WebSocketState

from ombud.app import advising, conversing
from ombud.channels import CpuBudget
from ombud.errors import BadRequest, NotFound, OmbudError
from ombud.handoff import Delivery
from ombud.settings import AdvisorSettings
from ombud.store import TypingSignal, signal_typing
from ombud.types import Session
from ombud.web.api import payer_of
from ombud.web.live.advisor import advisor_at, board_of
from ombud.web.live.hub import Hub
from ombud.web.live.secrets import key_of
from ombud.web.live.shapes import Json, event_json, session_json

logger = logging.getLogger(__name__)
router = APIRouter()

MOST_WATCHED = 50
"""Conversations that one socket may show at once."""
PRESENCE_SECONDS = 20.0
"""How often an advisor's open page says that somebody is there."""
TYPING_SECONDS = 2.0
"""The same `typing` again within this time is not told on."""


@router.websocket("/live")
async def live(websocket: WebSocket) -> None:
    """Send events of conversations as they happen."""
    hub: Hub = websocket.app.state.hub
    await websocket.accept()
    budget: CpuBudget = websocket.app.state.places.budget
    payer = payer_of(websocket)
    socket = _LiveSocket(websocket, hub, websocket.app.state.delivery)
    hub.add(socket)
    telling = asyncio.create_task(socket.tell())
    try:
        with suppress(WebSocketDisconnect), budget.charging(payer):
            await socket.listen(partial(budget.check, payer))
    finally:
        hub.remove(socket)
        telling.cancel()


class _LiveSocket:
    """The connection of one tab. Pending news are a set of names, so that a slow client costs no
    memory."""

    def __init__(self, websocket: WebSocket, hub: Hub, delivery: Delivery | None) -> None:
        self.is_desk = False
        self._websocket = websocket
        self._hub = hub
        self._delivery = delivery
        self._workspace = hub.workspace
        self._secret = key_of(websocket)
        self._places: dict[str, int] = {}
        self._sessions: dict[str, Session] = {}
        self._changed: OrderedDict[str, None] = OrderedDict()
        self._typing: dict[tuple[str, str], TypingSignal] = {}
        self._queue_moved = False
        self._woken = asyncio.Event()
        self._typed: dict[str, tuple[bool, float]] = {}

    # What the hub tells ------------------------------------------------------------------------

    def watches(self, conversation_id: str) -> bool:
        return conversation_id in self._places

    def tell_changed(self, conversation_id: str) -> None:
        self._changed[conversation_id] = None
        self._woken.set()

    def tell_queue(self) -> None:
        self._queue_moved = True
        self._woken.set()

    def tell_typing(self, signal: TypingSignal) -> None:
        own = "advisor" if self.is_desk else "user"
        if signal.by != own:
            self._typing[signal.conversation_id, signal.by] = signal
            self._woken.set()

    # What is sent ------------------------------------------------------------------------------

    async def tell(self) -> None:
        """Send what there is to tell, until cancelled or the client has gone."""
        with suppress(WebSocketDisconnect, RuntimeError):
            while True:
                with suppress(TimeoutError):
                    async with asyncio.timeout(PRESENCE_SECONDS):
                        await self._woken.wait()
                self._woken.clear()
                try:
                    await self.tell_all()
                except OmbudError as failed:  # such as a database that restarts
                    logger.warning("A tab could not be told: %s", failed)
                    await asyncio.sleep(1.0)
                    self._woken.set()

    async def tell_all(self) -> None:
        while self._changed:
            conversation_id = next(iter(self._changed))
            await self.tell_events(conversation_id)
        while self._typing:
            (conversation_id, by), signal = self._typing.popitem()
            typing = {"name": signal.name, "by": by, "on": signal.is_typing}
            await self.send({"conversation": conversation_id, "typing": typing})
        if self.is_desk:
            advisor = self._advisor()
            if advisor is not None:
                await self._hub.thread(advising.is_here, self._workspace, advisor)
        if self._queue_moved:
            self._queue_moved = False
            try:
                board = await self._hub.thread(board_of, self._workspace, self._advisor())
            except OmbudError:
                self._queue_moved = True
                raise
            await self.send({"desk": board})

    async def tell_events(self, conversation_id: str) -> None:
        place = self._places.get(conversation_id)
        if place is None:
            self._changed.pop(conversation_id, None)
            return
        # Taken off before it is read: what happens while it is read is told with the next look.
        self._changed.pop(conversation_id, None)
        try:
            news, last = await self._hub.thread(self.news, conversation_id, place)
        except NotFound:  # erased meanwhile
            self._places.pop(conversation_id, None)
            return
        except OmbudError:
            self._changed[conversation_id] = None
            raise
        if self._places.get(conversation_id) == place:
            self._places[conversation_id] = max(place, last)
        await self.send(news)

    def news(self, conversation_id: str, place: int) -> tuple[Json, int]:
        if self.is_desk:
            stands, events = advising.events_for_desk(
                self._workspace, conversation_id, self._advisor(), place
            )
        else:
            stands, events = conversing.events_after(self._workspace, conversation_id, place)
        self._sessions[conversation_id] = stands
        session = advising.with_place(self._workspace, stands, self._hub.places or None)
        happened = [
            event_json(self._workspace, event, for_advisor=self.is_desk) for event in events
        ]
        message = {
            "conversation": conversation_id,
            "session": session_json(session, for_advisor=self.is_desk),
            "events": happened,
        }
        return message, events[-1].place if events else place

    async def send(self, message: Json) -> None:
        if self._websocket.application_state == WebSocketState.CONNECTED:
            await self._websocket.send_text(json.dumps(message, ensure_ascii=False))

    # What the client says ----------------------------------------------------------------------

    async def listen(self, check_budget: Callable[[], None]) -> None:
        """Act on the client's messages until it disconnects."""
        while True:
            received = await self._websocket.receive()
            if received["type"] == "websocket.disconnect":
                return
            try:
                check_budget()
                await self.hear(_read(received.get("text") or ""))
            except OmbudError as failed:
                error = {"detail": str(failed), "hint": failed.hint}
                await self.send({"error": error})

    async def hear(self, message: Json) -> None:
        if "watch" in message:
            await self.watch(str(message["watch"]), _number(message.get("after", 0)))
        elif "unwatch" in message:
            self._places.pop(str(message["unwatch"]), None)
        elif "typing" in message:
            await self.forward_typing(str(message["typing"]), on=bool(message.get("on")))
        elif "desk" in message:
            await self.sit_down(on=bool(message["desk"]))
        elif "ping" in message:
            await self.send({"pong": 1})

    async def watch(self, conversation_id: str, after: int) -> None:
        if len(self._places) >= MOST_WATCHED and conversation_id not in self._places:
            raise BadRequest(f"One page may show {MOST_WATCHED} conversations.")
        await self._hub.thread(self._check, conversation_id)
        self._places[conversation_id] = after
        self.tell_changed(conversation_id)

    def _check(self, conversation_id: str) -> None:
        """Raise NotFound for what this tab may not see."""
        if not self.is_desk:
            conversing.check_owner(self._workspace, conversation_id, self._secret)
            return
        advising.events_for_desk(self._workspace, conversation_id, self._advisor(), 2**31 - 1)

    async def forward_typing(self, conversation_id: str, *, on: bool) -> None:
        now = time.monotonic()
        if conversation_id not in self._places or self._typed.get(conversation_id) == (on, now):
            return
        before, at = self._typed.get(conversation_id, (not on, 0.0))
        if before == on and now - at < TYPING_SECONDS:
            return
        stands = self._sessions.get(conversation_id)
        if stands is None or not stands.is_handed_over:
            return
        self._typed[conversation_id] = (on, now)
        advisor = self._advisor() if self.is_desk else None
        by, name = ("advisor", advisor.name) if advisor else ("user", "")
        store = self._workspace.store
        signalled = partial(signal_typing, store, conversation_id, by, name, on=on)
        await self._hub.thread(signalled)
        if self._delivery is not None and by == "user":
            await self._delivery.tell_typing(stands.ticket_id, on)

    async def sit_down(self, *, on: bool) -> None:
        was_desk = self.is_desk
        self.is_desk = on and self._advisor() is not None
        if self.is_desk != was_desk:  # what it may watch was checked for the other side
            self._places.clear()
        if self.is_desk:
            self.tell_queue()

    def _advisor(self) -> AdvisorSettings | None:
        return advisor_at(self._workspace, self._websocket)


def _read(text: str) -> Json:
    try:
        message = json.loads(text)
    except ValueError:
        message = None
    if not isinstance(message, dict):
        raise BadRequest("A message is a JSON object.", hint='Such as {"watch": "…", "after": 0}.')
    return message


def _number(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 2**31:
        raise BadRequest("`after` is the place of an event.")
    return value
