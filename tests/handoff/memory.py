"""What a line remembers, kept as JSON, as the store does it."""

import json
from collections.abc import Mapping
from uuid import uuid4

from ombud.handoff.desks.desk import DeskEvent
from ombud.types import Person, Ticket


class Memory:
    """Survives whatever reads from it, as a row of the store does."""

    def __init__(self) -> None:
        self._row = "{}"
        self.cursor = ""

    @property
    def values(self) -> Mapping[str, str]:
        values: dict[str, str] = json.loads(self._row)
        return values

    async def save(self, values: Mapping[str, str]) -> None:
        self._row = json.dumps({**self.values, **values})

    def keep(self, event: DeskEvent) -> None:
        """As delivery does once an event is in the log."""
        self.cursor = event.cursor or self.cursor


def new_ticket(desk: str = "matrix") -> Ticket:
    return Ticket(
        id=str(uuid4()),
        conversation_id=str(uuid4()),
        desk=desk,
        reason="sensitive",
        topic="parental leave",
        asker=Person(id="ada", country="GB"),
    )
