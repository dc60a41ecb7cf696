"""What happens in a room from a cursor on: all of it, in order, waiting for more."""

import json
from collections.abc import AsyncGenerator, AsyncIterator, Iterator

from ombud.handoff.desks.desk import DeskEvent
from ombud_matrix.homeserver import (
    ContextPage,
    HistoryPage,
    Homeserver,
    Refused,
    RoomEntry,
    SyncedRoom,
    SyncPage,
)
from ombud_matrix.rooms import members_of
from ombud_matrix.timeline import RoomReader, our_id

POLL_SECONDS = 30
"""How long a homeserver holds its reply back while nothing happens."""
PAGE = 100
"""Entries of a room that are asked for at once."""
CONTEXT = 20
"""Messages of ours around one that was read."""


class RoomFeed:
    def __init__(self, server: Homeserver, room: str, since: str) -> None:
        self._server = server
        self._room = room
        self._since = since

    async def events(self) -> AsyncGenerator[DeskEvent, None]:
        """Without end. The last entry of each reply moves the cursor; those before it are read
        again where it was not kept. Errors: as `Homeserver.ask`."""
        account = await self._server.account()
        reader = RoomReader(account)
        if self._since:
            reader.seat(await members_of(self._server, self._room, at=self._since))
        while True:
            page = await self._sync()
            synced = page.rooms.join.get(self._room) or page.rooms.leave.get(self._room)
            if synced is not None:
                for event in await self._told(synced, page.next_batch, reader):
                    yield event
            self._since = page.next_batch

    async def _told(self, synced: SyncedRoom, cursor: str, reader: RoomReader) -> list[DeskEvent]:
        told: list[DeskEvent] = []
        async for entry in self._entries(synced, cursor):
            told.extend(reader.read(entry))
        told = list(_with_cursor(told, cursor))
        for passing in synced.ephemeral.events:
            for event_id in reader.unplaced(passing):
                reader.place(event_id, await self._read_up_to(event_id, reader.account))
            told.extend(reader.passing(passing))
        return told

    async def _entries(self, synced: SyncedRoom, until: str) -> AsyncIterator[RoomEntry]:
        """Of the timeline, with those that the reply left out."""
        if not synced.timeline.limited and self._since:
            for entry in synced.timeline.events:
                yield entry
            return
        begin = self._since
        while True:
            query = {"dir": "f", "to": until, "limit": str(PAGE)}
            if begin:
                query["from"] = begin
            path = ("rooms", self._room, "messages")
            page = await self._server.ask("GET", path, HistoryPage, query=query)
            for entry in page.chunk:
                yield entry
            if not page.end or not page.chunk:
                return
            begin = page.end

    async def _sync(self) -> SyncPage:
        """What is new in this room; waits for it where something was had before."""
        only_here = {
            "presence": {"types": []},
            "account_data": {"types": []},
            "room": {
                "rooms": [self._room],
                "include_leave": not self._since,
                "account_data": {"types": []},
                "state": {"types": []},
                "ephemeral": {"types": ["m.typing", "m.receipt"]},
                "timeline": {"limit": PAGE},
            },
        }
        wait = POLL_SECONDS if self._since else 0
        query = {
            "filter": json.dumps(only_here),
            "set_presence": "offline",
            "timeout": str(wait * 1000),
        }
        if self._since:
            query["since"] = self._since
        return await self._server.ask("GET", ("sync",), SyncPage, query=query, wait=wait)

    async def _read_up_to(self, event_id: str, account: str) -> str:
        """Our id of the last message of ours up to an entry; empty where there is none."""
        wanted = {"senders": [account], "types": ["m.room.message"]}
        query = {"limit": str(CONTEXT), "filter": json.dumps(wanted)}
        path = ("rooms", self._room, "context", event_id)
        try:
            page = await self._server.ask("GET", path, ContextPage, query=query)
        except Refused:
            return ""
        for entry in (page.event, *page.events_before):
            if entry.sender == account and our_id(entry):
                return our_id(entry)
        return ""


def _with_cursor(told: list[DeskEvent], cursor: str) -> Iterator[DeskEvent]:
    """The last moves the cursor: with it, all before are kept."""
    for place, event in enumerate(told, start=1):
        if place == len(told):
            yield event.model_copy(update={"cursor": cursor})
        else:
            yield event
