"""A person takes over."""

from typing import Literal

from ombud.types.asking import Person
from ombud.types.records import Record


class Ticket(Record):
    desk: str
    id: str
    """The advisor system's own id."""


class Session(Record):
    id: str
    asker: Person
    state: Literal["bot", "queued", "live", "returned", "closed"] = "bot"
    reason: str = ""
    ticket: Ticket | None = None
