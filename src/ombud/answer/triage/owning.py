"""Questions for one's own figures: the policy can be quoted, the figure itself is in a system that
is not read here."""

import re
import tomllib
from functools import cache
from pathlib import Path
from typing import NamedTuple

from ombud.answer.triage.features import read_message
from ombud.text import term_pattern


class Record(NamedTuple):
    topic: str
    """Under which contacts.toml may name what shows it, such as `own-leave`."""
    name: str
    """As the answer calls it, such as `your own leave balance`."""


def own_record(text: str) -> Record | None:
    """What personal figure a message asks for; None where it asks for none."""
    said = read_message(text)
    return next((record for record, pattern in _records() if pattern.search(said)), None)


@cache
def _records() -> tuple[tuple[Record, re.Pattern[str]], ...]:
    rows = tomllib.loads(Path(__file__).with_name("owning.toml").read_text(encoding="utf-8"))[
        "record"
    ]
    return tuple((Record(row["topic"], row["name"]), term_pattern(row["terms"])) for row in rows)
