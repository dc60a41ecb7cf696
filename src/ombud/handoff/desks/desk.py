"""What every desk speaks: four verbs on a line, which is one conversation at that desk.

A desk is where advisors work: our own page, or a system that the organisation has. Delivery calls
it and keeps every guarantee (order, each message once, nothing lost), as long as a desk holds to
these rules:

* `open` and `send` may be called again with the same id, after an error or by another process; the
  second call changes nothing at the desk.
* An entry of the desk has one id for ever, whichever way and however often it is read.
* `events` goes on after the cursor that it is given, and may repeat; it gives no later message
  while an earlier one is missing.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from typing import Literal, Protocol

from ombud.types import Record, Ticket

DeskEventKind = Literal[
    "message",
    "notice",
    "typing",
    "joined",
    "left",
    "position",
    "waiting",
    "read",
    "echo",
    "ended",
    "failed",
]
"""notice: text written by the desk itself, such as an automatic reply; position: place in the
queue, or the seconds to wait; waiting: in the queue, place unknown; echo: a message of ours that
the desk has stored; failed: the desk cannot route it to anybody."""


class DeskLink(Record):
    """A file or web page that an advisor sent, as the desk describes it."""

    kind: Literal["file", "link", "other", "ticket"] = "file"
    """other: something that cannot be shown; ticket: the employee's request at a ticket system."""
    name: str = ""
    url: str = ""


class DeskEvent(Record):
    """Something that happened at a desk."""

    kind: DeskEventKind
    entry_id: str = ""
    """Id of the desk's entry, which never changes; empty for events without an entry, such as
    typing. For an echo, the id that we sent."""
    text: str = ""
    """Text of a message or notice; the reason for `ended` and `failed`."""
    name: str = ""
    """Display name of the advisor."""
    links: tuple[DeskLink, ...] = ()
    """Links of a message or notice, beside its text or in place of it."""
    position: int | None = None
    seconds: float | None = None
    is_typing: bool = False
    cursor: str = ""
    """Cursor to resume from once this event is stored; empty if it does not move."""


class Outgoing(Record):
    """A message or signal that an employee, or the bot for them, sends to a desk."""

    id: str
    """UUID made by the sender; the idempotency key from end to end."""
    kind: Literal["message", "typing", "read", "look"] = "message"
    """look: nothing to send; the desk announced news that `events` should fetch now."""
    text: str = ""
    is_typing: bool = False
    """For kind `typing`: true for started, false for stopped."""
    entry_id: str = ""
    """For kind `read`: the desk's entry that was read."""


class LineMemory(Protocol):
    """State that a line needs after a restart, such as a token; stored as JSON."""

    @property
    def values(self) -> Mapping[str, str]: ...

    @property
    def cursor(self) -> str:
        """Return the cursor of the last stored event; empty at the beginning."""
        ...

    async def save(self, values: Mapping[str, str]) -> None:
        """Merge these values into the stored ones; returns once they are written."""
        ...


class Line(Protocol):
    """A conversation at a desk.

    Errors: Undelivered if a later attempt may succeed (with `retry_after` if the desk says when),
    ConversationLost if the desk no longer lets us into this conversation, HandoffError if trying
    again is useless.
    """

    async def open(self) -> None:
        """Create the conversation at the desk, with the reason, topic and country that it routes
        by."""
        ...

    async def send(self, outgoing: Outgoing) -> None:
        """Send a message; returns once the desk has certainly stored it. Messages are sent one by
        one."""
        ...

    def events(self) -> AsyncIterator[DeskEvent]:
        """Yield the events of the desk from `LineMemory.cursor` on, in order; ends after `ended`.
        Raises Undelivered if the connection breaks; delivery then calls it again."""
        ...

    async def close(self) -> None:
        """Tell the desk that the employee has left or took the handoff back. Closing again does
        nothing."""
        ...


class Desk(Protocol):
    """A system where advisors work; it opens one line for each ticket."""

    longest_message: int
    """Largest number of characters in one message; longer texts are sent in numbered parts."""

    def line(self, ticket: Ticket, memory: LineMemory) -> Line:
        """Return the line of a new or an existing ticket, without contacting the desk yet."""
        ...

    async def close(self) -> None:
        """Close all connections."""
        ...


Sleep = Callable[[float], Awaitable[None]]
"""Waits for some seconds: asyncio.sleep, or the clock of a test."""
