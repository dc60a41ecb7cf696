"""A person takes over: what a conversation is, and what is said to and by an advisor."""

from datetime import datetime
from typing import Literal

from ombud.types.asking import Message, Person
from ombud.types.records import Record

SessionState = Literal["bot", "queued", "live", "returned", "closed"]

HandoffReason = Literal["asked", "sensitive", "denied", "unsure", "complex", "policy"]
"""asked: for a person; sensitive: by triage; denied: again and again without an answer; unsure: the
confidence is low; complex: several personal conditions that the documents do not settle; policy: a
rule of the settings."""


class Ticket(Record):
    """A hand-over as its desk is told of it."""

    id: str
    """UUID version 4 in lower case, ours: with it a desk knows a second try for the first."""
    conversation_id: str
    desk: str
    reason: HandoffReason
    topic: str = ""
    asker: Person = Person()
    history: tuple[Message, ...] = ()
    """All that was said before, oldest first."""


class Session(Record):
    """A conversation as it stands: the projection of its events."""

    id: str
    asker: Person
    state: SessionState = "bot"
    reason: HandoffReason | None = None
    ticket_id: str = ""
    desk: str = ""
    topic: str = ""
    advisor: str = ""
    """Name of who has joined; empty where nobody has."""
    advisor_id: str = ""
    since: datetime | None = None
    """When it was last handed over."""
    position: int | None = None
    """Place in the queue, from 1; None where it is not known."""
    wait_seconds: float | None = None
    wanted: str = ""
    """Id of the advisor to whom it was transferred; empty = whoever takes it."""
    has_warned: bool = False
    """Whether it was said that nobody has taken it yet."""
    has_notified: bool = False
    """Whether advisors who are away were told."""
    answering: str = ""
    """Name of the lease of who is writing an answer; empty where nobody is."""
    answering_fence: int = 0
    last: int = 0
    """Place of the last event."""
