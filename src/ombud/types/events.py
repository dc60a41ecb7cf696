"""What happens in a conversation, as it is kept: one record a kind, in one order for everybody."""

from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field

from ombud.types.answers import Action, Outcome
from ombud.types.asking import Role
from ombud.types.people import HandoffReason
from ombud.types.records import Record

Party = Literal["user", "assistant", "advisor", "desk", "system"]
"""Whose doing an event is. desk: the system in which the advisor works."""


class SharedLink(Record):
    """A file or a page that an advisor sent."""

    note: str
    """A sentence that says so, in the employee's language."""
    url: str = ""
    """http or https only; empty where it cannot be opened."""


class Said(Record):
    """A message of the employee or of an advisor, or a notice of the system."""

    kind: Literal["message"] = "message"
    text: str
    name: str = ""
    """Of the advisor, as people are shown it."""
    links: tuple[SharedLink, ...] = ()
    via: str = ""
    """Channel in which the employee wrote it; empty for our own pages."""

    @property
    def full_text(self) -> str:
        """The words and everything sent with them, as plain text."""
        notes = [f"{link.note} {link.url}".strip() for link in self.links]
        return "\n".join(filter(None, [self.text, *notes]))


class Answering(Record):
    """The bot has begun to answer the employee's last message."""

    kind: Literal["answering"] = "answering"
    owner: str
    """Name of the lease under which it works: who loses it has been interrupted."""
    fence: int


class Interrupted(Record):
    """The process that was answering has stopped. The message may be asked again."""

    kind: Literal["interrupted"] = "interrupted"


class Answered(Record):
    kind: Literal["answer"] = "answer"
    text: str
    answer_id: str = ""
    """Empty for one from before conversations were kept as events."""
    outcome: Outcome | None = None
    action: Action | None = None


class HandedOver(Record):
    kind: Literal["handoff"] = "handoff"
    ticket_id: str
    desk: str
    reason: HandoffReason
    topic: str = ""
    consent: bool | None = None
    """For a ticket: whether the employee agreed that it contains this conversation. None at a desk
    with advisors, who always read it."""


class Queued(Record):
    """The conversation's place in the queue and expected wait, as the desk reports them; both None:
    it waits."""

    kind: Literal["queued"] = "queued"
    position: int | None = None
    seconds: float | None = None


class Joined(Record):
    kind: Literal["joined"] = "joined"
    name: str
    advisor_id: str = ""


class Left(Record):
    """An advisor has gone and another may come."""

    kind: Literal["left"] = "left"
    name: str = ""


class Transferred(Record):
    kind: Literal["transferred"] = "transferred"
    topic: str = ""
    """Of the team; empty where it goes to one person."""
    advisor_id: str = ""
    note: str = ""
    """For advisors only."""


LOST = "lost"


class Ended(Record):
    """The advisor's part is over and the bot is back."""

    kind: Literal["ended"] = "ended"
    reason: str = ""
    """LOST where the desk no longer lets us into the conversation."""
    note: str = ""
    """For advisors only."""


class Closed(Record):
    """Nothing more is said in this conversation."""

    kind: Literal["closed"] = "closed"


class Noted(Record):
    """A private note of an advisor, also after the end, or tags and a priority for the
    conversation. The employee never sees it."""

    kind: Literal["note"] = "note"
    text: str = ""
    tags: tuple[str, ...] | None = None
    """All that it has from here on; None = as before."""
    urgent: bool | None = None
    name: str = ""
    advisor_id: str = ""


class Snoozed(Record):
    """An advisor puts their conversation away until a time, or until the employee writes. Only
    advisors see it."""

    kind: Literal["snooze"] = "snooze"
    until: datetime | None = None
    """None = it is back."""
    name: str = ""


class Rated(Record):
    """A rating by the employee of a conversation with a person that has ended."""

    kind: Literal["rating"] = "rating"
    score: int | None = Field(None, ge=1, le=5)
    """5 is best; None = they would rather not say."""
    comment: str = ""


class Seen(Record):
    """Everything up to a place was read."""

    kind: Literal["read"] = "read"
    place: int


class Unclaimed(Record):
    """Nobody took it in time; a contact is named instead, and it goes on waiting."""

    kind: Literal["unclaimed"] = "unclaimed"
    minutes: int
    contact: str = ""


class Notified(Record):
    """Advisors who were away were told that somebody waits."""

    kind: Literal["notified"] = "notified"


class OutOfHours(Record):
    kind: Literal["out_of_hours"] = "out_of_hours"
    opens: datetime | None = None
    """When advisors are there again; None where that is not known."""


class Delivered(Record):
    """A message had to wait for the desk, has reached it or was dropped."""

    kind: Literal["delivery"] = "delivery"
    event_id: str
    state: Literal["parked", "delivered", "dropped"]
    """dropped: it never got there, because the desk lost the conversation."""


class Reached(Record):
    """The employee writes in another channel than our own pages: what is said to them goes there
    too."""

    kind: Literal["reached"] = "reached"
    channel: str
    address: str
    """Where to, as the channel itself writes it."""


class Relayed(Record):
    """Everything up to a place was brought to that channel."""

    kind: Literal["relayed"] = "relayed"
    place: int


Happening = Annotated[
    Said
    | Answering
    | Interrupted
    | Answered
    | HandedOver
    | Queued
    | Joined
    | Left
    | Transferred
    | Ended
    | Closed
    | Noted
    | Rated
    | Snoozed
    | Seen
    | Unclaimed
    | Notified
    | OutOfHours
    | Delivered
    | Reached
    | Relayed,
    Field(discriminator="kind"),
]


class NewEvent(Record):
    """An event before it has its place."""

    by: Party
    what: Happening
    key: str = ""
    """UUID of the sender: the same once more is the same event. Empty where nobody sends again."""


class Event(Record):
    id: str
    conversation_id: str
    place: int
    """1, 2, 3… in its conversation, without a gap."""
    by: Party
    what: Happening | None
    """None where it was erased."""
    key: str = ""
    at: datetime

    @property
    def role(self) -> Role | None:
        """Return the role of a message in the history; None for any other event."""
        if isinstance(self.what, Answered):
            return "assistant"
        if isinstance(self.what, Said) and self.by in {"user", "advisor"}:
            return "user" if self.by == "user" else "advisor"
        return None

    @property
    def text(self) -> str:
        """Return the text of a message or an answer; empty for any other event."""
        if isinstance(self.what, Said):
            return self.what.full_text
        return self.what.text if isinstance(self.what, Answered) else ""
