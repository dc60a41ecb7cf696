"""Permissions: decide who may see which passage, before anything is ranked."""

import json
from collections.abc import Mapping, Sequence
from datetime import date
from hashlib import sha256

from ombud.types import Audience, Chunk, Document, Person, Record, Status


class Filter(Record):
    """Everything that hides a chunk. A filter is built by our code, never parsed from a request."""

    countries: tuple[str, ...] | None = ()
    """Country scopes searched besides the global one; None = every country."""
    reader: Person | None = Person()
    """The person whose permissions apply; None = the operator, who may read everything."""
    as_of: date | None = None
    """Day on which documents must be in force; None = any day."""
    status: tuple[Status, ...] = ("published",)
    sources: tuple[str, ...] = ()
    """Names of the sources searched; empty = all."""


def may_read(audience: Audience, person: Person | None) -> bool:
    """Tell whether a person is in an audience: every key must match, each by any of its values. A
    person without the attribute does not match."""
    if person is None:
        return True
    has: dict[str, set[str | None]] = {
        "roles": set(person.roles),
        "grades": {person.grade},
        "groups": set(person.groups),
        "contracts": {person.contract},
    }
    return all(has.get(key, set()) & set(wanted) for key, wanted in audience.items())


def in_scope(countries: Sequence[str], where: Filter) -> bool:
    return where.countries is None or not countries or bool(set(countries) & set(where.countries))


def is_open_to(countries: Sequence[str], audience: Audience, where: Filter) -> bool:
    """Tell whether the filter's reader may see what is for these countries and this audience."""
    return in_scope(countries, where) and may_read(audience, where.reader)


def is_visible(item: Chunk | Document, where: Filter) -> bool:
    """Tell whether a filter shows a loaded chunk or document; its sources are not checked."""
    if not is_open_to(item.countries, item.audience, where):
        return False
    return item.status in where.status and is_in_force(item, where.as_of)


def is_in_force(item: Chunk | Document, day: date | None) -> bool:
    if day is None:
        return True
    if item.effective_from and day < item.effective_from:
        return False
    return not item.effective_to or day <= item.effective_to


def reader_key(
    countries: Sequence[str], audience: Mapping[str, Sequence[str]], language: str
) -> tuple[str, str]:
    """Return a key shared by all chunks with the same readers, and its JSON; engines filter by the
    key."""
    rule = {
        "countries": sorted(countries),
        "audience": {k: sorted(v) for k, v in sorted(audience.items())},
        "language": language,
    }
    text = json.dumps(rule, sort_keys=True, ensure_ascii=False)
    return sha256(text.encode()).hexdigest()[:16], text
