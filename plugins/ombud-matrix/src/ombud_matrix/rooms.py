"""The room of a ticket: made once, found by its alias, and who is asked into it."""

from ombud.errors import HandoffError, Undelivered
from ombud.handoff.desks.wire import NoReply
from ombud.types import Ticket
from ombud_matrix.homeserver import (
    Homeserver,
    MemberList,
    Refused,
    RoomEntry,
    RoomId,
)

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
ABSENT = {"M_NOT_FOUND", "M_FORBIDDEN"}
"""How a homeserver says that something is not there, or not for us."""


class TicketRoom:
    def __init__(self, server: Homeserver, ticket: Ticket) -> None:
        self._server = server
        self._ticket = ticket

    async def make(self) -> str:
        """The room, new or from an earlier try. Raises HandoffError where it cannot be ours, or
        would be encrypted."""
        for suffix in ALIASES:
            try:
                room = await self._create(self._alias(suffix))
            except Refused as refused:
                if refused.code != "M_ROOM_IN_USE":
                    raise
                room = await self._own_room(self._alias(suffix))
            if room:
                await self._check_readable(room)
                return room
        raise HandoffError(
            "The Matrix rooms of this conversation belong to somebody else.",
            hint="Was handoff.matrix.token_env changed to another account?",
        )

    async def find(self) -> str:
        """The room as an earlier try made it; empty where there is none."""
        for suffix in ALIASES:
            room = await self._own_room(self._alias(suffix))
            if room:
                return room
        return ""

    async def invite(self, room: str, advisors: tuple[str, ...]) -> None:
        """Ask in who was not asked yet. Whoever left stays away. It is enough when one can come:
        one advisor's server that is down, or a name spelt wrong, keeps no other away."""
        known = {member.state_key for member in await members_of(self._server, room)}
        refusals: list[HandoffError] = []
        for advisor in advisors:
            if advisor in known:
                continue
            try:
                path = ("rooms", room, "invite")
                await self._server.ask("POST", path, NoReply, body={"user_id": advisor})
            except HandoffError as failed:
                if isinstance(failed, Undelivered) and failed.retry_after is not None:
                    raise
                refusals.append(failed)
            else:
                known.add(advisor)
        if refusals and known.isdisjoint(advisors):
            raise refusals[0]

    async def _create(self, alias: str) -> str:
        ticket = self._ticket
        country = ticket.asker.country or ""
        titles = (ticket.topic or "Conversation", country)
        told = {
            "Reason": REASONS.get(ticket.reason, ticket.reason),
            "Topic": ticket.topic,
            "Country": country,
        }
        body = {
            "preset": "private_chat",
            "visibility": "private",
            "room_alias_name": alias,
            "name": ", ".join(title for title in titles if title),
            "topic": "; ".join(f"{what}: {value}" for what, value in told.items() if value),
        }
        created = await self._server.ask("POST", ("createRoom",), RoomId, body=body)
        return created.room_id

    async def _own_room(self, alias: str) -> str:
        """The room of an alias; empty where there is none, or none that we are in."""
        account = await self._server.account()
        full_alias = f"#{alias}:{account.partition(':')[2]}"
        try:
            found = await self._server.ask("GET", ("directory", "room", full_alias), RoomId)
            await self._server.ask("GET", ("rooms", found.room_id, "joined_members"), NoReply)
        except Refused as refused:
            if refused.code not in ABSENT:
                raise
            return ""
        return found.room_id

    async def _check_readable(self, room: str) -> None:
        """Some homeservers encrypt every new room; advisors would write what we cannot read."""
        try:
            path = ("rooms", room, "state", "m.room.encryption")
            await self._server.ask("GET", path, NoReply)
        except Refused as refused:
            if refused.code not in ABSENT:
                raise
            return
        raise HandoffError(
            "The Matrix homeserver encrypts every room, and ombud has no keys.",
            hint="Set encryption_enabled_by_default_for_room_type to off there.",
        )

    def _alias(self, suffix: str) -> str:
        return f"ombud-{self._ticket.id}{suffix}"


async def members_of(server: Homeserver, room: str, at: str = "") -> list[RoomEntry]:
    """Everybody who is, was or is asked to be in the room; `at`: as it was at that cursor."""
    query = {"at": at} if at else None
    listed = await server.ask("GET", ("rooms", room, "members"), MemberList, query=query)
    return listed.chunk
