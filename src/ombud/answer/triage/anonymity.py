"""Who tells something and wants to stay unknown."""

import re
import tomllib
from functools import cache
from pathlib import Path

from ombud.answer.triage.features import read_message
from ombud.text import term_pattern


def wants_anonymity(text: str) -> bool:
    return bool(_terms().search(read_message(text)))


@cache
def _terms() -> re.Pattern[str]:
    path = Path(__file__).with_name("anonymous.toml")
    return term_pattern(tomllib.loads(path.read_text(encoding="utf-8"))["terms"])
