"""Who people are at ombud, and what a conversation is when a person takes over."""

from datetime import date, datetime
from typing import Literal

from ombud.types.asking import Message, Person
from ombud.types.records import Record

Duty = Literal["employee", "advisor", "policy_owner", "engineer", "admin"]
"""What somebody does here. A person's `roles` are those of the organisation, and say which
documents they may read."""

Right = Literal["ask", "desk", "policy", "lab", "admin"]
"""What a route asks for, and what a token can be limited to."""

SessionState = Literal["bot", "queued", "live", "returned", "closed"]

HandoffReason = Literal["asked", "sensitive", "denied", "unsure", "complex", "policy"]
"""asked: for a person; sensitive: by triage; denied: again and again without an answer; unsure: the
confidence is low; complex: several personal conditions that the documents do not settle; policy: a
rule of the settings."""


class Account(Record):
    """Somebody who can sign in, or whom tokens speak for."""

    id: str
    """UUID, ours; the id of `person` too."""
    name: str
    """To sign in with; of a provider, what it calls them."""
    person: Person = Person()
    duties: tuple[Duty, ...] = ("employee",)
    disabled: bool = False
    has_password: bool = False
    is_from_provider: bool = False


class GroupRule(Record):
    """Roles, audiences and duties that membership of a group adds."""

    id: str
    """As the identity provider's claim or the directory names the group."""
    roles: tuple[str, ...] = ()
    audiences: tuple[str, ...] = ()
    """Groups that documents name as their audience."""
    duties: tuple[Duty, ...] = ()


class ApiToken(Record):
    """A key of a program, without the key itself."""

    id: str
    name: str
    account_id: str
    account: str
    """Name of whom it speaks for."""
    rights: tuple[Right, ...]
    made: str
    """Time in UTC."""
    until: date | None = None
    """Last day on which it counts; None = for ever."""
    last_used: date | None = None


class TicketSource(Record):
    """A document that an answer before the hand-over rests on."""

    title: str
    document_id: str


class Ticket(Record):
    """A hand-over as its desk is told of it."""

    id: str
    """UUID version 4 in lower case, ours: with it a desk knows a second try for the first."""
    conversation_id: str
    desk: str
    reason: HandoffReason
    topic: str = ""
    asker: Person = Person()
    owner: str = ""
    """Digest that stands for whose conversation it is; empty if it is nobody's."""
    history: tuple[Message, ...] = ()
    """All that was said before, oldest first."""
    consent: bool | None = None
    """As in `HandedOver`."""
    sources: tuple[TicketSource, ...] = ()
    """Of the answers before, where the employee agreed to pass them on."""


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
    """When it began to wait, last."""
    handed_over: datetime | None = None
    """When it was last handed over; a transfer does not change it."""
    has_response: bool = False
    """Whether an advisor has written since then."""
    snoozed_until: datetime | None = None
    """Time until which its advisor has put it away."""
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
    channel: str = ""
    """Where the employee writes, when it is not our own page."""
    address: str = ""
    """What reaches them there, as the channel writes it."""
    relayed: int = 0
    """Up to this place they have been told there."""
    tags: tuple[str, ...] = ()
    """Given by advisors, who alone see them and the priority."""
    urgent: bool = False
    may_rate: bool = False
    """Whether the employee is still asked how the conversation with a person was."""
    rating: int | None = None
    """Of the last conversation with a person, 1 to 5."""
    desk_until: int = 0
    """Place of the event that ended the last hand-over; advisors see nothing after it."""

    @property
    def is_handed_over(self) -> bool:
        """True while a person is waited for or there."""
        return self.state in {"queued", "live"}

    @property
    def visible_to_desk(self) -> int:
        """Position of the last event that advisors may see; 0 without a hand-over."""
        return self.last if self.is_handed_over else self.desk_until
