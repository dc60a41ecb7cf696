"""The interface of ticket systems, and the records that adapters exchange with a line."""

from collections.abc import Mapping
from typing import NamedTuple, Protocol

from ombud.handoff.desks.desk import DeskLink
from ombud.settings import TicketSettings


class NewTicket(NamedTuple):
    """A request before the system has it."""

    id: str
    """Id of the handoff, by which the system's ticket is found again."""
    subject: str
    description: str


class RemoteTicket(NamedTuple):
    """A ticket as its system names it."""

    id: str
    number: str
    """Number that people see, such as HRC0001234."""
    url: str
    """Address of the ticket for the employee."""


class TicketComment(NamedTuple):
    """A comment that the employee may see; internal notes are never read."""

    id: str
    text: str
    author: str = ""
    message_id: str = ""
    """Id of the message, if it is one of ours."""
    links: tuple[DeskLink, ...] = ()


class TicketState(NamedTuple):
    """A ticket and everything written there."""

    is_closed: bool
    comments: tuple[TicketComment, ...]
    """Oldest first."""


class TicketSystem(Protocol):
    """A service that keeps tickets. Errors are those of `Line`; Missing if a ticket is gone."""

    longest_comment: int

    def __init__(self, settings: TicketSettings) -> None: ...

    async def find(self, handoff_id: str) -> RemoteTicket | None:
        """Find the ticket of a handoff, the oldest if there are several."""
        ...

    async def create(self, new: NewTicket) -> RemoteTicket: ...

    async def comment(self, ticket_id: str, message_id: str, text: str) -> None:
        """Add a comment that employee and agents see, and from which `read` knows the message."""
        ...

    async def read(self, ticket_id: str) -> TicketState:
        """Read the state first and the comments after it, so that a closed ticket is complete."""
        ...

    async def check(self) -> str:
        """Describe the place where tickets are made. Raises HandoffError if it cannot be used."""
        ...

    @staticmethod
    def announced_ticket(headers: Mapping[str, str], body: bytes, key: bytes) -> str:
        """Verify a webhook and return the id of its ticket; empty if it concerns none. Raises
        NotSignedIn for a wrong signature, NotFound if the system sends no signed webhooks."""
        ...

    async def close(self) -> None: ...
