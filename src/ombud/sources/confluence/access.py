"""The audience of a Confluence page: its read restrictions and those of everything above it.

A level without restrictions is open to everybody, a restricted level only to those it names, and a
reader must pass every level (Atlassian, "Page restrictions": view restrictions are inherited).
Three rules make an audience narrower here than in Confluence, never wider:

* An audience matches any value of `groups`. Of two restricted levels only those named by both
  remain, as "member of this group and of that one" cannot be expressed and memberships are not
  looked up.
* People named individually are groups called `confluence-user:ACCOUNT ID`, which a person has only
  if the identity provider says so.
* A page whose restrictions cannot be read is readable by nobody.

Permissions of whole spaces are not read, as not every account may read them by the API. Content
that not everybody in ombud may read belongs to a source of its own with `audience`, or to spaces
that this account cannot see."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ombud.errors import SourceError
from ombud.sources.access import NotShown, Principal
from ombud.sources.json_values import as_object
from ombud.types import Audience

USER = "confluence-user:"
NOBODY: Audience = {"groups": ("confluence-nobody",)}
_RESERVED = (USER, *NOBODY["groups"])
"""Group names with a meaning here: a Confluence group with such a name is ignored."""
MOST_NAMES = 20_000
"""People and groups of one restriction."""
Readers = frozenset[Principal] | None
"""None = everybody."""
Ask = Callable[[str, int], Any]
"""(content id, number of names to skip) -> answer of `restriction/byOperation/read`; raises
NotShown."""


class Restrictions:
    """Read restrictions by content id, each requested once. Several threads may share one."""

    def __init__(self, ask: Ask) -> None:
        self._ask = ask
        self._direct_readers: dict[str, Readers] = {}

    def readers(self, levels: Iterable[str]) -> Readers:
        """Intersect the restrictions of levels: ids of a page and of everything above it. Raises
        NotShown, SourceError."""
        readers: Readers = None
        for level in levels:
            if level not in self._direct_readers:
                self._direct_readers[level] = self._direct(level)
            here = self._direct_readers[level]
            if here is None:
                continue
            readers = here if readers is None else readers & here
        return readers

    def _direct(self, level: str) -> Readers:
        named: set[Principal] = set()
        start = 0
        while start < MOST_NAMES:
            names, step = read_names(self._ask(level, start))
            if not names - named:  # also a server that repeats its first names for ever
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
    """Make the audience of the readers. groups: name or id in Confluence -> name here.

    Names are mapped after levels are intersected: two groups there may be one here, and members of
    one are not members of both."""
    if readers is None:
        return {}
    names: set[str] = set()
    for who in readers:
        if who.kind == "user":
            names.add(f"{USER}{who.id}")
        elif not who.name.startswith(_RESERVED):
            names.add(map_group(who, groups))
    return {"groups": tuple(sorted(names))} if names else NOBODY


def map_group(group: Principal, groups: Mapping[str, str]) -> str:
    for key in (group.name, group.id):
        if groups.get(key):
            return groups[key]
    return group.name or group.id


def read_names(answer: Any) -> tuple[set[Principal], int]:
    """Return the principals of an answer, and how many names to skip for the next part; 0 if it is
    the last.

    It fails closed: an answer without one of the two lists does not mean "no restriction"."""
    lists = as_object(as_object(answer).get("restrictions"))
    named: set[Principal] = set()
    step = 0
    for kind in ("user", "group"):
        part = as_object(lists.get(kind))
        rows = part.get("results")
        if not isinstance(rows, list):
            raise NotShown("its read restrictions came without users or groups")
        named.update(read_principal(kind, as_object(row)) for row in rows)
        limit = part.get("limit")
        is_full = isinstance(limit, int) and 0 < limit <= len(rows)
        if is_full or as_object(part.get("_links")).get("next"):
            step = max(step, len(rows))
    return named, step


def read_principal(kind: str, row: Mapping[str, Any]) -> Principal:
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
"""Kind of principal -> keys of its id, best first."""
