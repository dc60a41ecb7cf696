"""Decides what may be read out in a group: only what everybody in it may read."""

from collections.abc import Sequence
from typing import Literal

from ombud.app import Workspace, callers
from ombud.errors import OmbudError
from ombud.messages import message
from ombud.types import Account, Person

Reason = Literal["reading", "members", "strangers"]
"""Why an answer is shown to the asker alone."""


class Undisclosed(OmbudError):
    """It is not certain who reads a group, so nothing may be read out there."""

    def __init__(self, reason: Reason) -> None:
        super().__init__(message(f"channels.only_you_{reason}"))
        self.reason = reason


def shared_reader(people: Sequence[Person], asker: Person) -> Person:
    """Return a reader with only those attributes that all people share, so that whatever it may
    read, each of them may. It is answered in the asker's language."""
    everybody = [asker, *people]

    def shared(name: str) -> str | None:
        values = {getattr(one, name) for one in everybody}
        return values.pop() if len(values) == 1 else None

    def in_all(name: str) -> tuple[str, ...]:
        sets = [set(getattr(one, name)) for one in everybody]
        return tuple(sorted(set.intersection(*sets)))

    facts = {name: shared(name) for name in ("country", "grade", "contract")}
    return asker.model_copy(update=facts | {"roles": in_all("roles"), "groups": in_all("groups")})


def reader_of(account: Account | None) -> Person | None:
    """Return the person of an account that was just read; None if they may not ask here."""
    return account.person if account and callers.may_ask(account) else None


def current_asker(workspace: Workspace, asker: Person) -> Person | None:
    """Return who asked with today's facts; None if they may no longer ask."""
    if workspace.settings.identity.kind == "none":
        return asker
    person = reader_of(callers.active_account(workspace, asker.id))
    return person and person.model_copy(update={"language": asker.language})
