"""Public helplines by country, for somebody who may come to harm."""

import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

from ombud.answer.triage.sensitive import Matter

VIOLENT = frozenset({"violence", "domestic abuse", "sexual harassment"})
"""Matters whose helplines are those for violence."""


class Helplines(NamedTuple):
    emergency: str
    """Number to call first."""
    lines: tuple[str, ...]
    """Name and number of who listens."""


def helplines_for(country: str | None, matter: Matter) -> Helplines | None:
    """Return the public numbers of a country; None for one that none are shipped for."""
    row = _table().get(country or "")
    if row is None:
        return None
    kind = "violence" if matter.name in VIOLENT else "despair"
    return Helplines(emergency=row["emergency"], lines=tuple(row[kind]))


@cache
def _table() -> Mapping[str, Mapping[str, str]]:
    path = Path(__file__).with_suffix(".toml")
    return tomllib.loads(path.read_text(encoding="utf-8"))
