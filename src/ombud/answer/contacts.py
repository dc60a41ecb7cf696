"""Whom to ask about a topic in a country."""

import tomllib
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from pydantic import ValidationError

from ombud.errors import BadSetting
from ombud.types import Contact, Hit

GENERAL = "general"
"""The topic of the contact that serves where no better one is known."""


class Contacts:
    def __init__(self, contacts: Sequence[Contact] = ()) -> None:
        self._contacts = list(contacts)

    def find(self, topic: str, country: str | None) -> tuple[Contact, ...]:
        """The best contact: this topic in this country, then anywhere, then the general one of the
        country."""
        return self.named(topic, country) or self.named(GENERAL, country)

    def named(self, topic: str, country: str | None) -> tuple[Contact, ...]:
        """Of exactly this topic: in this country, else anywhere."""
        for where in (country, None):
            found = [c for c in self._contacts if topic and c.topic == topic and c.country == where]
            if found:
                return tuple(found)
        return ()


def topic_of(hits: Sequence[Hit]) -> str:
    """The topic of most of the evidence, nearer the top counting more."""
    weight: Counter[str] = Counter()
    for rank, hit in enumerate(hits, start=1):
        if hit.chunk.topic:
            weight[hit.chunk.topic] += 100 // rank
    return weight.most_common(1)[0][0] if weight else ""


def most_alike(hits: Sequence[Hit]) -> Sequence[Hit]:
    """Those of the topic that at least two share; none, where each is of another, for then none of
    them is meant."""
    topic, count = Counter(hit.chunk.topic for hit in hits).most_common(1)[0] if hits else ("", 0)
    return [hit for hit in hits if hit.chunk.topic == topic] if count > 1 else ()


def read_contacts(path: Path) -> Contacts:
    """[[contact]] tables with topic, name, mail, phone, country; a missing file is an empty
    list."""
    if not path.is_file():
        return Contacts()
    try:
        rows = tomllib.loads(path.read_text(encoding="utf-8")).get("contact", [])
        if not isinstance(rows, list):
            raise BadSetting(
                f"{path}: contact is no list of tables.",
                hint="Write [[contact]], in double brackets.",
            )
        found = [Contact.model_validate(row) for row in rows]
        return Contacts(
            [c.model_copy(update={"country": (c.country or "").upper() or None}) for c in found]
        )
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as wrong:
        raise BadSetting(
            f"{path} cannot be read: {wrong}.", hint="It is a TOML file of [[contact]] tables."
        ) from wrong
    except ValidationError as wrong:
        first = wrong.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise BadSetting(
            f"{path}: {where}: {first['msg'].lower()}.",
            hint="Keys: topic, name, mail, phone, country.",
        ) from wrong
