"""A conversation is a room on a Matrix homeserver; advisors are invited and answer in any client.

Rooms are not encrypted: the homeserver is the organisation's own, and ombud holds no device keys.
What keeps each message once:

* The room of a ticket is found by its alias, `#ombud-<ticket id>:server`, however often it is made.
* A message is sent under a transaction id, ours. A homeserver knows a second try for the first only
  for a while, and for the same token, so the message carries our id too; where a try may have
  arrived unnoticed, the room is looked through before the next one.
"""

import json
import os
import re
from collections.abc import AsyncIterator, Iterator
from contextlib import suppress

from ombud.errors import BadSetting, HandoffError, Undelivered
from ombud.handoff.desks.desk import DeskEvent, LineMemory, Outgoing
from ombud.handoff.desks.matrix.homeserver import (
    EventId,
    HistoryPage,
    Homeserver,
    MemberList,
    Nothing,
    Refused,
    RoomEntry,
    RoomId,
    SyncPage,
)
from ombud.handoff.desks.matrix.timeline import OUR_ID, RoomReader
from ombud.handoff.desks.wire import check_address
from ombud.settings import HandoffSettings
from ombud.types import Ticket

ROOM = "room"
"""Key in a line's memory."""
LONGEST_MESSAGE = 8000
"""An event of Matrix has 65,536 bytes at most, and a character up to six in its JSON."""
POLL_SECONDS = 30
"""How long a homeserver holds its reply back while nothing happens."""
TYPING_SECONDS = 30
PAGE = 100
"""Entries of a room that are asked for at once."""
LOOKED_THROUGH = 50
"""Of our last messages. One is sent at a time, so that the one in doubt is the last."""
ALIASES = ("", "-2", "-3")
"""Tried in this order. A homeserver that was stopped while it made a room keeps its alias without
a room, and an alias may lead to a room that is not ours."""
REASONS = {
    "asked": "asked for a person",
    "sensitive": "a sensitive matter",
    "denied": "no answer, repeatedly",
    "unsure": "the answer was not certain",
    "complex": "several personal conditions",
    "policy": "a rule of the organisation",
}
GOODBYE = "The employee has left this conversation."
_USER = re.compile(r"@[^:\s]+:\S+")


class MatrixLine:
    """One room. Lines of the same ticket, here or in another process, share it."""

    def __init__(
        self, server: Homeserver, advisors: tuple[str, ...], ticket: Ticket, memory: LineMemory
    ) -> None:
        self._server = server
        self._advisors = advisors
        self._ticket = ticket
        self._memory = memory
        self._in_doubt = True
        """Whether a message may stand in the room of which we had no reply; nobody knows what a
        process before this one did last."""
        self._standing: set[str] = set()
        """Ids of messages of ours that stand in the room, as far as this line has seen."""

    async def open(self) -> None:
        room = self._memory.values.get(ROOM, "")
        if not room:
            room = await self._make_room()
            await self._memory.save({ROOM: room})
        await self._invite(room)

    async def send(self, outgoing: Outgoing) -> None:
        room = self._room()
        if outgoing.kind == "message":
            await self._say(room, outgoing)
        elif outgoing.kind == "typing":
            await self._type(room, outgoing.is_typing)
        elif outgoing.entry_id:
            path = ("rooms", room, "receipt", "m.read", outgoing.entry_id)
            await self._server.ask("POST", path, Nothing, body={})

    async def events(self) -> AsyncIterator[DeskEvent]:
        room = self._room()
        since = self._memory.cursor
        reader = RoomReader(await self._server.account())
        if since:
            reader.seat(await self._members(room, at=since))
        while True:
            page = await self._sync(room, since)
            told = [event async for event in self._told(room, since, page, reader)]
            for event in _with_cursor(told, page.next_batch):
                yield event
                if event.kind == "ended":
                    await self._leave_behind(room)
                    return
            since = page.next_batch

    async def close(self) -> None:
        room = self._memory.values.get(ROOM, "") or await self._room_of_ticket()
        if not room:
            return
        notice = {"msgtype": "m.notice", "body": GOODBYE}
        path = ("rooms", room, "send", "m.room.message", f"close-{self._ticket.id}")
        try:
            await self._server.ask("PUT", path, EventId, body=notice)
            await self._server.ask("POST", ("rooms", room, "leave"), Nothing, body={})
        except Refused as refused:
            if refused.code != "M_FORBIDDEN":
                raise
            # We are not in the room any more: it was closed before.

    async def _leave_behind(self, room: str) -> None:
        """Rooms that we stay in cost the homeserver with every poll. One in which we stay costs
        nothing else, so that failing to leave is no failure."""
        with suppress(HandoffError):
            await self._server.ask("POST", ("rooms", room, "leave"), Nothing, body={})

    def _room(self) -> str:
        room = self._memory.values.get(ROOM, "")
        if not room:
            raise HandoffError("This conversation has no Matrix room yet.", hint="Open it first.")
        return room

    # The room ------------------------------------------------------------------------------------

    async def _make_room(self) -> str:
        for suffix in ALIASES:
            try:
                return await self._create(self._alias(suffix))
            except Refused as refused:
                if refused.code != "M_ROOM_IN_USE":
                    raise
            room = await self._own_room(self._alias(suffix))
            if room:
                return room
        raise HandoffError(
            "The Matrix rooms of this conversation belong to somebody else.",
            hint="Was handoff.matrix.token_env changed to another account?",
        )

    async def _create(self, alias: str) -> str:
        ticket = self._ticket
        titles = (ticket.topic or "Conversation", ticket.asker.country or "")
        reason = REASONS.get(ticket.reason, ticket.reason)
        topic = [f"Reason: {reason}"]
        if ticket.topic:
            topic.append(f"topic: {ticket.topic}")
        if ticket.asker.country:
            topic.append(f"country: {ticket.asker.country}")
        body = {
            "preset": "private_chat",
            "visibility": "private",
            "room_alias_name": alias,
            "name": ", ".join(title for title in titles if title),
            "topic": "; ".join(topic),
        }
        created = await self._server.ask("POST", ("createRoom",), RoomId, body=body)
        return created.room_id

    async def _room_of_ticket(self) -> str:
        """The room as an earlier try made it; empty where there is none."""
        for suffix in ALIASES:
            room = await self._own_room(self._alias(suffix))
            if room:
                return room
        return ""

    async def _own_room(self, alias: str) -> str:
        """The room of an alias; empty where there is none, or none that we are in."""
        account = await self._server.account()
        full_alias = f"#{alias}:{account.partition(':')[2]}"
        try:
            path: tuple[str, ...] = ("directory", "room", full_alias)
            found = await self._server.ask("GET", path, RoomId)
            path = ("rooms", found.room_id, "joined_members")
            await self._server.ask("GET", path, Nothing)
        except Refused as refused:
            if refused.code not in {"M_NOT_FOUND", "M_FORBIDDEN"}:
                raise
            return ""
        return found.room_id

    def _alias(self, suffix: str) -> str:
        return f"ombud-{self._ticket.id}{suffix}"

    async def _invite(self, room: str) -> None:
        """Ask in who was not asked yet. Whoever left stays away. It is enough when one can come:
        one advisor's server that is down, or a name spelt wrong, keeps no other away."""
        known = {member.state_key for member in await self._members(room)}
        refusals: list[HandoffError] = []
        for advisor in self._advisors:
            if advisor in known:
                continue
            try:
                path = ("rooms", room, "invite")
                await self._server.ask("POST", path, Nothing, body={"user_id": advisor})
            except HandoffError as failed:
                if isinstance(failed, Undelivered) and failed.retry_after is not None:
                    raise
                refusals.append(failed)
            else:
                known.add(advisor)
        if refusals and known.isdisjoint(self._advisors):
            raise refusals[0]

    async def _members(self, room: str, at: str = "") -> list[RoomEntry]:
        query = {"at": at} if at else None
        listed = await self._server.ask("GET", ("rooms", room, "members"), MemberList, query=query)
        return listed.chunk

    # What we say ---------------------------------------------------------------------------------

    async def _say(self, room: str, outgoing: Outgoing) -> None:
        if self._in_doubt:
            self._standing |= await self._our_last(room)
        if outgoing.id not in self._standing:
            self._in_doubt = True
            content = {"msgtype": "m.text", "body": outgoing.text, OUR_ID: outgoing.id}
            path = ("rooms", room, "send", "m.room.message", outgoing.id)
            await self._server.ask("PUT", path, EventId, body=content)
            self._standing.add(outgoing.id)
        self._in_doubt = False

    async def _our_last(self, room: str) -> set[str]:
        """Ids of our last messages that stand in the room."""
        account = await self._server.account()
        wanted = {"senders": [account], "types": ["m.room.message"]}
        query = {"dir": "b", "limit": str(LOOKED_THROUGH), "filter": json.dumps(wanted)}
        page = await self._server.ask("GET", ("rooms", room, "messages"), HistoryPage, query=query)
        return {str(entry.content.get(OUR_ID, "")) for entry in page.chunk}

    async def _type(self, room: str, is_typing: bool) -> None:
        body: dict[str, object] = {"typing": is_typing}
        if is_typing:
            body["timeout"] = TYPING_SECONDS * 1000
        path = ("rooms", room, "typing", await self._server.account())
        await self._server.ask("PUT", path, Nothing, body=body)

    # What happens --------------------------------------------------------------------------------

    async def _sync(self, room: str, since: str) -> SyncPage:
        """What is new in this room; waits for it where `since` is given."""
        only_here = {
            "presence": {"types": []},
            "account_data": {"types": []},
            "room": {
                "rooms": [room],
                "include_leave": not since,
                "account_data": {"types": []},
                "state": {"types": []},
                "ephemeral": {"types": ["m.typing", "m.receipt"]},
                "timeline": {"limit": PAGE},
            },
        }
        wait = POLL_SECONDS if since else 0
        query = {
            "filter": json.dumps(only_here),
            "set_presence": "offline",
            "timeout": str(wait * 1000),
        }
        if since:
            query["since"] = since
        return await self._server.ask("GET", ("sync",), SyncPage, query=query, wait=wait)

    async def _told(
        self, room: str, since: str, page: SyncPage, reader: RoomReader
    ) -> AsyncIterator[DeskEvent]:
        synced = page.rooms.join.get(room) or page.rooms.leave.get(room)
        if synced is None:
            return
        entries = synced.timeline.events
        if synced.timeline.limited or not since:
            entries = [entry async for entry in self._between(room, since, page.next_batch)]
        for entry in entries:
            for event in reader.read(entry):
                yield event
        for entry in synced.ephemeral.events:
            for event in reader.passing(entry):
                yield event

    async def _between(self, room: str, since: str, until: str) -> AsyncIterator[RoomEntry]:
        """All entries from one cursor to another, oldest first; from the room's beginning on where
        `since` is empty."""
        begin = since
        while True:
            query = {"dir": "f", "to": until, "limit": str(PAGE)}
            if begin:
                query["from"] = begin
            path = ("rooms", room, "messages")
            page = await self._server.ask("GET", path, HistoryPage, query=query)
            for entry in page.chunk:
                yield entry
            if not page.end or not page.chunk:
                return
            begin = page.end


def _with_cursor(told: list[DeskEvent], cursor: str) -> Iterator[DeskEvent]:
    """The last event that is an entry moves the cursor: with it, all before are kept."""
    entries = [index for index, event in enumerate(told) if event.entry_id]
    for index, event in enumerate(told):
        if entries and index == entries[-1]:
            yield event.model_copy(update={"cursor": cursor})
        else:
            yield event


class MatrixDesk:
    longest_message = LONGEST_MESSAGE

    def __init__(self, server: Homeserver, advisors: tuple[str, ...]) -> None:
        self._server = server
        self._advisors = advisors

    def line(self, ticket: Ticket, memory: LineMemory) -> MatrixLine:
        return MatrixLine(self._server, self._advisors, ticket, memory)

    async def close(self) -> None:
        await self._server.close()


def open_matrix(settings: HandoffSettings) -> MatrixDesk:
    """Raises BadSetting where the homeserver, the token or the advisors are missing."""
    matrix = settings.matrix
    url = check_address(matrix.url, "handoff.matrix.url", "https://matrix.example.org")
    if not matrix.advisors:
        raise BadSetting(
            "No advisor would be invited to a Matrix room.", hint="Set handoff.matrix.advisors."
        )
    for advisor in matrix.advisors:
        if not _USER.fullmatch(advisor):
            raise BadSetting(
                f"`{advisor}` is no Matrix user.", hint="They are written like @ana:example.org"
            )
    token = os.environ.get(matrix.token_env, "").strip()
    if not token:
        raise BadSetting(
            "There is no token for the Matrix homeserver.",
            hint=f"Set the environment variable {matrix.token_env}.",
        )
    return MatrixDesk(Homeserver(url, token, matrix.token_env), matrix.advisors)
