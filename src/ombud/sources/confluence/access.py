"""Who may read a page of Confluence: its read restrictions and those of everything above it, as an
audience.

A level without restrictions lets everybody through; a restricted level only those it names; a
reader must pass every level (Atlassian, "Page restrictions": view restrictions are inherited).
Three things make an audience narrower here than the page is there, never wider:

* An audience is any-of inside `groups`. Of two restricted levels only those named by both count,
  for "member of this group and of that one" cannot be said, and nobody's memberships are looked up.
* People named one by one are groups called `confluence-user:ACCOUNT ID`, which a person has only
  when the identity provider says so.
* What cannot be read is readable by nobody.

Permissions of whole spaces are not looked at: not every account may read them by the API. What
everybody in ombud may not read belongs to a source of its own with `audience`, or to spaces that
this account cannot see."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ombud.errors import SourceError
from ombud.sources.access import NotShown, Principal
from ombud.sources.json_values import as_object
from ombud.types import Audience

USER = "confluence-user:"
NOBODY: Audience = {"groups": ("confluence-nobody",)}
"""Groups of the house's own: a Confluence group of such a name is passed over."""
_RESERVED = (USER, *NOBODY["groups"])
MOST_NAMES = 20_000
"""People and groups of one restriction."""


Readers = frozenset[Principal] | None
"""None = everybody."""
Ask = Callable[[str, int], Any]
"""(content id, how many names to leave out) -> answer of `restriction/byOperation/read`; raises
NotShown."""


class Restrictions:
    """Direct read restrictions, each asked for once. Several threads may share one."""

    def __init__(self, ask: Ask) -> None:
        self._ask = ask
        self._known: dict[str, Readers] = {}

    def readers(self, levels: Iterable[str]) -> Readers:
        """levels: ids of a page and of everything above it. Raises NotShown, SourceError."""
        left: Readers = None
        for level in levels:
            if level not in self._known:
                self._known[level] = self._direct(level)
            here = self._known[level]
            if here is None:
                continue
            left = here if left is None else left & here
        return left

    def _direct(self, level: str) -> Readers:
        named: set[Principal] = set()
        start = 0
        while start < MOST_NAMES:
            names, step = _names(self._ask(level, start))
            if not names - named:  # also a server that gives its first names for ever
                return frozenset(named) if named else None
            named |= names
            if not step:
                return frozenset(named)
            start += step
        raise SourceError(
            f"The read restrictions of {level} name more than {MOST_NAMES}.",
            hint="Use a group there.",
        )


def audience(readers: Readers, groups: Mapping[str, str]) -> Audience:
    """groups: name or id there -> name here. Applied after levels were intersected: two groups
    there may be one here, and members of one are not members of both."""
    if readers is None:
        return {}
    names: set[str] = set()
    for who in readers:
        if who.kind == "user":
            names.add(f"{USER}{who.id}")
        elif not who.name.startswith(_RESERVED):
            names.add(_group_here(who, groups))
    return {"groups": tuple(sorted(names))} if names else NOBODY


def _group_here(group: Principal, groups: Mapping[str, str]) -> str:
    for key in (group.name, group.id):
        if groups.get(key):
            return groups[key]
    return group.name or group.id


def _names(answer: Any) -> tuple[set[Principal], int]:
    """(those named, names to leave out to get the next ones; 0 = these are all).

    Fails closed: an answer that lacks one of the two lists says nothing, it does not say "no
    restriction"."""
    lists = as_object(as_object(answer).get("restrictions"))
    named: set[Principal] = set()
    step = 0
    for kind in ("user", "group"):
        part = as_object(lists.get(kind))
        rows = part.get("results")
        if not isinstance(rows, list):
            raise NotShown("its read restrictions came without users or groups")
        named.update(_principal(kind, as_object(row)) for row in rows)
        if _goes_on(part, len(rows)):
            step = max(step, len(rows))
    return named, step


def _goes_on(part: Mapping[str, Any], rows: int) -> bool:
    """Whether there may be more than these rows."""
    if not rows:
        return False
    limit = part.get("limit")
    is_full = isinstance(limit, int) and 0 < limit <= rows
    return is_full or bool(as_object(part.get("_links")).get("next"))


def _principal(kind: str, row: Mapping[str, Any]) -> Principal:
    for key in _IDENTITIES[kind]:
        if row.get(key):
            name = str(row.get("name") or "")
            return Principal(
                kind=kind,
                id=str(row[key]),
                name=name if kind == "group" else "",
            )
    raise NotShown(f"its read restrictions name a {kind} without a name")


_IDENTITIES = {
    "group": ("id", "name"),
    "user": ("accountId", "userKey", "username"),
}
"""Kind of principal -> where its id stands, best first."""
