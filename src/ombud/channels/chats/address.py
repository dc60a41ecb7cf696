"""Names the place in a chat where a conversation goes on, and what is posted there."""

from datetime import datetime
from typing import NamedTuple, Protocol

from pydantic import ValidationError

from ombud.types import Answer, Person, Record, Session


class Address(Record):
    """A place in a chat, stored as the address of a conversation."""

    channel: str = ""
    """Id of the direct chat or of the channel."""
    thread: str = ""
    """Id of the message below which it goes on; empty = not in a thread."""
    user: str = ""
    """Id of the person there."""
    is_group: bool = False
    """More people than the asker read it."""
    private: str = ""
    """Why only the person is shown it: a `Reason`, or `reply`; empty = everybody is."""
    reference: str = ""
    """What else the platform needs to reach it, as JSON."""

    @classmethod
    def of(cls, session: Session) -> "Address":
        """Parse the address of a conversation; one stored before others were possible is only a
        reference."""
        try:
            return cls.model_validate_json(session.address)
        except ValidationError:
            return cls(reference=session.address)

    @property
    def is_shared(self) -> bool:
        """True where what is posted is read by everybody in a group."""
        return self.is_group and not self.private


class Post(NamedTuple):
    """A message to bring to an employee."""

    session: Session
    address: Address
    key: str
    """Id of the event, the same at each attempt."""
    at: datetime
    """Time of the event."""
    text: str
    answer: Answer | None = None
    """Shown as a card in place of the text."""
    asks_for_person: bool = False
    """The text says that the employee is in the queue."""
    may_repeat: bool = False
    """An earlier attempt may have arrived."""


class Platform(Protocol):
    """A platform on which people write to us."""

    name: str

    async def deliver(self, post: Post) -> None:
        """Post a message. Raises Undelivered if a later attempt may succeed, Gone if not."""
        ...

    async def members(self, address: Address) -> list[Person]:
        """Return everybody who reads a group. Raises Undisclosed if somebody is not known."""
        ...

    async def direct(self, address: Address) -> Address:
        """Return the direct chat with the person of an address."""
        ...
