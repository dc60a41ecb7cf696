"""Whom to ask about a topic in a country."""

import tomllib
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from ombud.errors import BadSetting
from ombud.text import analyse
from ombud.types import Contact, Hit

GENERAL = "general"
"""The topic of the contact that serves where no better one is known."""


class Contacts:
    def __init__(self, contacts: Sequence[Contact] = ()) -> None:
        self._contacts = list(contacts)

    def find(self, topic: str, country: str | None) -> tuple[Contact, ...]:
        """Return the best contact: for the topic in this country, then anywhere, then the country's
        general one."""
        return self.named(topic, country) or self.named(GENERAL, country)

    def named(self, topic: str, country: str | None) -> tuple[Contact, ...]:
        """Return the contacts of exactly this topic, in this country or else anywhere."""
        for where in (country, None):
            matching = self._of(topic, where)
            if matching:
                return tuple(matching)
        return ()

    def of_matter(self, topic: str, country: str | None, *, anonymous: bool) -> tuple[Contact, ...]:
        """Return the contacts of a sensitive matter, those that take anonymous reports first if
        wanted."""
        unknown = self.anonymous(country) if anonymous else ()
        return tuple(dict.fromkeys((*unknown, *self.find(topic, country))))

    def anonymous(self, country: str | None) -> tuple[Contact, ...]:
        """Return the contacts that take anonymous reports, in this country and anywhere."""
        matching: list[Contact] = []
        for contact in self._contacts:
            if contact.anonymous and contact.country in (country, None):
                matching.append(contact)
        return tuple(matching)

    def _of(self, topic: str, country: str | None) -> list[Contact]:
        if not topic:
            return []
        matching: list[Contact] = []
        for contact in self._contacts:
            if contact.topic == topic and contact.country == country:
                matching.append(contact)
        return matching


def topic_of(hits: Sequence[Hit]) -> str:
    """Return the topic of most of the evidence, higher ranks counting more."""
    weights: Counter[str] = Counter()
    for rank, hit in enumerate(hits, start=1):
        if hit.chunk.topic:
            weights[hit.chunk.topic] += 100 // rank
    if not weights:
        return ""
    (topic, _), *_ = weights.most_common(1)
    return topic


def hits_of_named_topic(hits: Sequence[Hit], text: str) -> Sequence[Hit]:
    """Return the hits whose topic a text names."""
    words = set(analyse(text))
    return [hit for hit in hits if words.intersection(analyse(hit.chunk.topic))]


def most_alike(hits: Sequence[Hit]) -> Sequence[Hit]:
    """Return the hits of the commonest topic; none if no two hits share one."""
    if not hits:
        return ()
    of_topic: dict[str, list[Hit]] = {}
    for hit in hits:
        of_topic.setdefault(hit.chunk.topic, []).append(hit)
    most = max(of_topic.values(), key=len)
    return most if len(most) > 1 else ()


def read_contacts(path: Path) -> Contacts:
    """Read the [[contact]] tables of a file, which may be missing."""
    if not path.is_file():
        return Contacts()
    try:
        rows = tomllib.loads(path.read_text(encoding="utf-8")).get("contact", [])
        if not isinstance(rows, list):
            raise BadSetting(
                f"{path}: contact is no list of tables.",
                hint="Write [[contact]], in double brackets.",
            )
        return Contacts(list(map(_contact, rows)))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as wrong:
        raise BadSetting(
            f"{path} cannot be read: {wrong}.", hint="It is a TOML file of [[contact]] tables."
        ) from wrong
    except ValidationError as wrong:
        first = wrong.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise BadSetting(
            f"{path}: {where}: {first['msg'].lower()}.",
            hint="Keys: topic, name, mail, phone, country, anonymous.",
        ) from wrong


def _contact(row: Any) -> Contact:
    contact = Contact.model_validate(row)
    country = (contact.country or "").upper()
    return contact.model_copy(update={"country": country or None})
