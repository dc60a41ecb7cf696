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
from collections.abc import AsyncGenerator
from contextlib import aclosing, suppress

from pydantic import ValidationError

from ombud.errors import BadSetting, ConversationLost, HandoffError
from ombud.handoff.desks.desk import DeskEvent, LineMemory, Outgoing
from ombud.handoff.desks.wire import NoReply, check_address
from ombud.settings import HandoffSettings, Section
from ombud.types import Ticket
from ombud_matrix.feed import RoomFeed
from ombud_matrix.homeserver import (
    EventId,
    HistoryPage,
    Homeserver,
    Refused,
)
from ombud_matrix.rooms import TicketRoom
from ombud_matrix.timeline import OUR_ID, our_id

ROOM = "room"
"""Key in a line's memory."""
LONGEST_MESSAGE = 8000
"""An event of Matrix has 65,536 bytes at most, and a character up to six in its JSON."""
TYPING_SECONDS = 30
LOOKED_THROUGH = 50
"""Of our last messages. What is in doubt is one message, or the parts of one, and so the last."""
GOODBYE = "The employee has left this conversation."
_USER = re.compile(r"@[^:\s]+:\S+")


class MatrixLine:
    """One room. Lines of the same ticket, here or in another process, share it."""

    def __init__(
        self, server: Homeserver, advisors: tuple[str, ...], ticket: Ticket, memory: LineMemory
    ) -> None:
        self._server = server
        self._advisors = advisors
        self._ticket_id = ticket.id
        self._ticket_room = TicketRoom(server, ticket)
        self._memory = memory
        self._in_doubt = True
        """Whether a message may stand in the room of which we had no reply; nobody knows what a
        process before this one did last."""
        self._standing: set[str] = set()
        """Ids of messages of ours that stand in the room, as far as this line has seen."""
        self._last_heard = ""

    async def open(self) -> None:
        room = self._memory.values.get(ROOM, "")
        if not room:
            room = await self._ticket_room.make()
            await self._memory.save({ROOM: room})
        await self._ticket_room.invite(room, self._advisors)

    async def send(self, outgoing: Outgoing) -> None:
        room = self._room()
        if outgoing.kind == "message":
            await self._say(room, outgoing)
        elif outgoing.kind == "typing":
            await self._type(room, outgoing.is_typing)
        else:
            await self._mark_read(room, outgoing.entry_id or self._last_heard)

    async def events(self) -> AsyncGenerator[DeskEvent, None]:
        room = self._room()
        feed = RoomFeed(self._server, room, self._memory.cursor)
        async with aclosing(feed.events()) as events:
            async for event in events:
                yield event
                if event.kind == "message":
                    self._last_heard = event.entry_id
                if event.kind == "ended":
                    break
        # A room that we stay in makes every poll dearer, and nothing worse.
        with suppress(HandoffError):
            await self._leave(room)

    async def close(self) -> None:
        room = self._memory.values.get(ROOM, "") or await self._ticket_room.find()
        if not room:
            return
        notice = {"msgtype": "m.notice", "body": GOODBYE}
        path = ("rooms", room, "send", "m.room.message", f"close-{self._ticket_id}")
        try:
            await self._server.ask("PUT", path, EventId, body=notice)
            await self._leave(room)
        except Refused as refused:
            if refused.code != "M_FORBIDDEN":
                raise
            # We are not in the room any more: it was closed before.

    def _room(self) -> str:
        room = self._memory.values.get(ROOM, "")
        if not room:
            raise HandoffError("This conversation has no Matrix room yet.", hint="Open it first.")
        return room

    async def _say(self, room: str, outgoing: Outgoing) -> None:
        if self._in_doubt:
            self._standing |= await self._our_last(room)
        if outgoing.id not in self._standing:
            self._in_doubt = True
            content = {"msgtype": "m.text", "body": outgoing.text, OUR_ID: outgoing.id}
            path = ("rooms", room, "send", "m.room.message", outgoing.id)
            try:
                await self._server.ask("PUT", path, EventId, body=content)
            except Refused as refused:
                if refused.code != "M_FORBIDDEN":
                    raise
                raise ConversationLost(str(refused), hint=refused.hint) from refused
            self._standing.add(outgoing.id)
        self._in_doubt = False

    async def _our_last(self, room: str) -> set[str]:
        """Ids of our last messages that stand in the room."""
        account = await self._server.account()
        wanted = {"senders": [account], "types": ["m.room.message"]}
        query = {"dir": "b", "limit": str(LOOKED_THROUGH), "filter": json.dumps(wanted)}
        page = await self._server.ask("GET", ("rooms", room, "messages"), HistoryPage, query=query)
        return set(map(our_id, page.chunk))

    async def _type(self, room: str, is_typing: bool) -> None:
        body: dict[str, object] = {"typing": is_typing}
        if is_typing:
            body["timeout"] = TYPING_SECONDS * 1000
        path = ("rooms", room, "typing", await self._server.account())
        await self._server.ask("PUT", path, NoReply, body=body)

    async def _mark_read(self, room: str, entry_id: str) -> None:
        if entry_id:
            path = ("rooms", room, "receipt", "m.read", entry_id)
            await self._server.ask("POST", path, NoReply, body={})

    async def _leave(self, room: str) -> None:
        await self._server.ask("POST", ("rooms", room, "leave"), NoReply, body={})


class MatrixDesk:
    longest_message = LONGEST_MESSAGE

    def __init__(self, server: Homeserver, advisors: tuple[str, ...]) -> None:
        self._server = server
        self._advisors = advisors

    def line(self, ticket: Ticket, memory: LineMemory) -> MatrixLine:
        return MatrixLine(self._server, self._advisors, ticket, memory)

    async def close(self) -> None:
        await self._server.close()


class MatrixSettings(Section):
    """`[handoff.matrix]`."""

    url: str = ""
    """Homeserver, such as https://matrix.example.org."""
    token_env: str = "MATRIX_TOKEN"  # noqa: S105  # the name of a variable
    """Environment variable with our token."""
    advisors: tuple[str, ...] = ()
    """Matrix users who are invited to each room, such as @ana:example.org."""


def matrix_settings(settings: HandoffSettings) -> MatrixSettings:
    """Raises BadSetting for a key that nobody knows, or a value that cannot be."""
    try:
        return MatrixSettings.model_validate(settings.matrix)
    except ValidationError as wrong:
        first = wrong.errors()[0]
        key = ".".join(map(str, first["loc"]))
        raise BadSetting(
            f"`handoff.matrix.{key}` cannot be used: {first['msg']}.",
            hint=f"The keys are {', '.join(MatrixSettings.model_fields)}.",
        ) from wrong


def open_matrix(settings: HandoffSettings) -> MatrixDesk:
    """Raises BadSetting where the homeserver, the token or the advisors are missing."""
    matrix = matrix_settings(settings)
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
