"""Questions for one's own figures: the policy can be quoted, the figure itself is in a system that
is not read here."""

import tomllib
from functools import cache
from pathlib import Path
from typing import NamedTuple

from ombud.answer.triage.features import read_message
from ombud.text import TermSearch


class OwnRecord(NamedTuple):
    topic: str
    """Under which contacts.toml may name what shows it, such as `own-leave`."""
    name: str
    """As the answer calls it, such as `your own leave balance`."""


def own_record(text: str) -> OwnRecord | None:
    """What personal figure a message asks for; None where it asks for none."""
    message = read_message(text)
    for record, pattern in _records():
        if pattern.search(message):
            return record
    return None


@cache
def _records() -> tuple[tuple[OwnRecord, TermSearch], ...]:
    text = Path(__file__).with_name("owning.toml").read_text(encoding="utf-8")
    records: list[tuple[OwnRecord, TermSearch]] = []
    for row in tomllib.loads(text)["record"]:
        record = OwnRecord(row["topic"], row["name"])
        records.append((record, TermSearch(row["terms"])))
    return tuple(records)
