"""Bringing what is said to people who write in another channel than our own pages: an advisor's
words, and how their hand-over stands. One process of all does it for a channel."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, NamedTuple

from ombud.app.workspace import Workspace
from ombud.errors import Busy, NotFound, OmbudError
from ombud.handoff import wait_before
from ombud.store import Lease, acquire_free, append_events, list_sessions, read_events, read_session
from ombud.types import (
    LOST,
    Ended,
    Event,
    Joined,
    Left,
    NewEvent,
    OutOfHours,
    Relayed,
    Said,
    Session,
    Transferred,
    Unclaimed,
)

logger = logging.getLogger(__name__)
EVERY = 0.5
"""Seconds between two looks."""
Send = Callable[[str, str], Awaitable[None]]
"""Address and text -> sent. Raises OmbudError where it may go later, Gone where it never will."""


class Gone(OmbudError):
    """Nobody is reached there any more."""


class _Retry(NamedTuple):
    tries: int
    at: float


class Relay:
    """Sends what people in a channel are to be told, in order, and again until it has arrived."""

    def __init__(self, workspace: Workspace, channel: str, send: Send) -> None:
        self._workspace = workspace
        self._channel = channel
        self._send = send
        self._seen: set[str] = set()
        self._retries: dict[str, _Retry] = {}

    async def run(self) -> None:
        """Until cancelled; the lease is given back then."""
        leases: list[Lease] = []
        try:
            while True:
                leases = await self._turn(leases)
                await asyncio.sleep(EVERY)
        finally:
            for lease in leases:
                lease.release()

    async def _turn(self, leases: list[Lease]) -> list[Lease]:
        store = self._workspace.store
        try:
            if not leases:
                leases = await asyncio.to_thread(
                    acquire_free, store, [f"channel/{self._channel}"], 1
                )
                self._seen = {one.id for one in await self._sessions("returned")}
            for lease in leases:
                await asyncio.to_thread(lease.check)
                await self.look()
        except Busy:
            return []
        except OmbudError as failed:  # such as a database that restarts
            logger.warning("Nothing can be brought to %s: %s", self._channel, failed)
        return leases

    async def look(self) -> None:
        """One look at everybody who waits for a person or speaks with one, or did at the last
        look: how it ended is told too."""
        waiting = {one.id for one in await self._sessions("queued", "live")}
        for identity in sorted(waiting | self._seen | set(self._retries)):
            retry = self._retries.get(identity)
            if retry is None or retry.at <= asyncio.get_running_loop().time():
                await self._bring(identity, retry)
        self._seen = waiting

    async def _sessions(self, *states: str) -> list[Session]:
        found = await asyncio.to_thread(list_sessions, self._workspace.store, states)
        return [one for one in found if one.channel == self._channel]

    async def _bring(self, identity: str, retry: _Retry | None) -> None:
        try:
            await self._bring_all(identity)
            self._retries.pop(identity, None)
        except Gone as gone:  # they can read it on our own page
            logger.warning("Somebody is no longer reached in %s: %s", self._channel, gone)
            await asyncio.to_thread(_keep, self._workspace, identity, None)
            self._retries.pop(identity, None)
        except NotFound:  # erased meanwhile
            self._retries.pop(identity, None)
        except OmbudError as failed:
            tries = retry.tries + 1 if retry else 0
            at = asyncio.get_running_loop().time() + wait_before(tries)
            self._retries[identity] = _Retry(tries, at)
            logger.warning("A message waits for %s: %s", self._channel, failed)

    async def _bring_all(self, identity: str) -> None:
        store = self._workspace.store
        stands = await asyncio.to_thread(read_session, store, identity)
        if not stands.address:
            return
        for event in await asyncio.to_thread(read_events, store, identity, stands.relayed):
            text = told(event)
            if not text:
                continue
            await self._send(stands.address, text)
            await asyncio.to_thread(_keep, self._workspace, identity, event.place)


def _keep(workspace: Workspace, conversation_id: str, place: int | None) -> None:
    """None = everything up to now."""

    def decide(stands: Session) -> list[NewEvent]:
        relayed = Relayed(place=stands.last if place is None else place)
        return [NewEvent(by="system", what=relayed)]

    append_events(workspace.store, conversation_id, decide)


def told(event: Event) -> str:
    """What the employee is told of it; empty where it is none of their business, or their own."""
    if event.what is None:
        return ""
    tell = _TOLD.get(type(event.what))
    return tell(event, event.what) if tell else ""


def _said(event: Event, what: Said) -> str:
    if event.by not in {"advisor", "desk", "system"}:
        return ""
    return f"{what.name}: {event.text}" if what.name else event.text


def _joined(event: Event, what: Joined) -> str:
    del event
    return f"{what.name or 'An advisor'} has joined and reads what you have written."


def _left(event: Event, what: Left) -> str:
    del event
    return f"{what.name or 'The advisor'} has left; somebody else will take over."


def _ended(event: Event, what: Ended) -> str:
    if event.by == "user":
        return ""
    if event.by == "desk" and what.reason == LOST:
        return (
            "The connection to the person was lost. You can ask for a person again: they will read "
            "everything that was written here."
        )
    return "The conversation with a person has ended. You can ask me again."


def _closed(event: Event, what: OutOfHours) -> str:
    del event
    if what.opens is None:
        return "Nobody is at the desk now. Your message waits for them."
    return (
        f"Nobody is at the desk now. They are back on {what.opens:%A, %d %B, at %H:%M}; your "
        "message waits for them."
    )


def _unclaimed(event: Event, what: Unclaimed) -> str:
    del event
    said = f"Nobody has taken over in {what.minutes} minutes. You stay in the queue."
    return f"{said} Meanwhile: {what.contact}" if what.contact else said


def _passed_on(event: Event, what: Transferred) -> str:
    del event, what
    return "You are passed on to somebody who can help you better."


_TOLD: Mapping[type, Callable[[Event, Any], str]] = {
    Said: _said,
    Joined: _joined,
    Left: _left,
    Ended: _ended,
    OutOfHours: _closed,
    Unclaimed: _unclaimed,
    Transferred: _passed_on,
}
