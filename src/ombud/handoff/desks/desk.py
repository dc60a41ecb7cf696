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
"""notice: words of the desk's own, such as an automatic reply; position: place in the queue, or the
seconds to wait; waiting: in the queue, no place known; echo: a message of ours stands at the desk;
failed: the desk cannot route it to anybody."""


class DeskLink(Record):
    """A file or a page that was sent, as the desk names it."""

    kind: Literal["file", "link", "other"] = "file"
    """other: something that cannot be shown."""
    name: str = ""
    url: str = ""


class DeskEvent(Record):
    """Something that happened at a desk."""

    kind: DeskEventKind
    entry_id: str = ""
    """Of the desk, the same for ever; empty for what is no entry, such as typing. Of an echo: the
    id that we sent."""
    text: str = ""
    """Of a message or a notice; of `ended` and `failed`, why."""
    name: str = ""
    """Of the advisor, as people are shown it."""
    links: tuple[DeskLink, ...] = ()
    """Of a message or a notice, beside its text or in place of it."""
    position: int | None = None
    seconds: float | None = None
    is_typing: bool = False
    cursor: str = ""
    """Where to go on once this event is kept; empty where it moves nothing."""


class Outgoing(Record):
    """What an employee, or the bot for them, says to a desk."""

    id: str
    """UUID of the sender, the idempotency key from end to end."""
    kind: Literal["message", "typing", "read"] = "message"
    text: str = ""
    is_typing: bool = False
    """Of kind `typing`: whether somebody began or stopped."""
    entry_id: str = ""
    """Of kind `read`: the desk's entry that was read."""


class LineMemory(Protocol):
    """What a line must know after a restart, such as a token; kept in the store as JSON."""

    @property
    def values(self) -> Mapping[str, str]: ...

    @property
    def cursor(self) -> str:
        """Of the last event that was kept; empty at the beginning."""
        ...

    async def save(self, values: Mapping[str, str]) -> None:
        """Keep these beside what is there already, before anything else is done with them."""
        ...


class Line(Protocol):
    """One conversation at a desk.

    Errors: Undelivered for what may be better in a moment (with `retry_after` where the desk says
    when), ConversationLost where the desk no longer lets us into this conversation, HandoffError
    for anything else that will not be better.
    """

    async def open(self) -> None:
        """Have the conversation at the desk, with reason, topic and country as it routes by."""
        ...

    async def send(self, outgoing: Outgoing) -> None:
        """Returns when the desk has it for certain. Messages are sent one after another."""
        ...

    def events(self) -> AsyncIterator[DeskEvent]:
        """What happens there, from `LineMemory.cursor` on, in order. Ends after `ended`; raises
        Undelivered where the connection breaks, and is then asked again."""
        ...

    async def close(self) -> None:
        """The employee has left, or the hand-over was taken back. Once closed, again is nothing."""
        ...


class Desk(Protocol):
    longest_message: int
    """Characters that one message may have; longer ones come in numbered parts."""

    def line(self, ticket: Ticket, memory: LineMemory) -> Line:
        """The line of a ticket, new or from before; nothing is asked yet."""
        ...

    async def close(self) -> None:
        """Let connections go."""
        ...


Sleep = Callable[[float], Awaitable[None]]
"""How a desk waits, in seconds: asyncio.sleep, or a test's clock."""
