"""Who may see which passage: decided here, before anything is ranked."""

import json
from collections.abc import Mapping, Sequence
from datetime import date
from hashlib import sha256

from ombud.types import Audience, Chunk, Document, Person, Record, Status


class Filter(Record):
    """Everything that hides a chunk. Never a string from outside."""

    countries: tuple[str, ...] | None = ()
    """Country scopes searched beside the global one; None = every country."""
    reader: Person | None = Person()
    """Whose permissions count; None = the operator, who may read all."""
    as_of: date | None = None
    """Only what is in force that day; None = any day."""
    status: tuple[Status, ...] = ("published",)
    sources: tuple[str, ...] = ()
    """Only these; empty = all."""


def may_read(audience: Audience, person: Person | None) -> bool:
    """Inside a key any value is enough, between keys all are needed; a missing attribute is no
    access."""
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
    """Whether what is written for these countries and readers is for those of the filter."""
    return in_scope(countries, where) and may_read(audience, where.reader)


def is_visible(item: Chunk | Document, where: Filter) -> bool:
    """The same rule for a chunk or document already in hand; sources are not looked at."""
    if not is_open_to(item.countries, item.audience, where):
        return False
    return item.status in where.status and _is_in_force(item, where.as_of)


def _is_in_force(item: Chunk | Document, day: date | None) -> bool:
    if day is None:
        return True
    if item.effective_from and day < item.effective_from:
        return False
    return not item.effective_to or day <= item.effective_to


def reader_key(
    countries: Sequence[str], audience: Mapping[str, Sequence[str]], language: str
) -> tuple[str, str]:
    """(key, its JSON) of all chunks that the same people may read; the key is what the engine
    filters by."""
    rule = {
        "countries": sorted(countries),
        "audience": {k: sorted(v) for k, v in sorted(audience.items())},
        "language": language,
    }
    text = json.dumps(rule, sort_keys=True, ensure_ascii=False)
    return sha256(text.encode()).hexdigest()[:16], text
