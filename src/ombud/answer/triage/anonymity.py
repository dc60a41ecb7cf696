"""Who tells something and wants to stay unknown."""

import tomllib
from functools import cache
from pathlib import Path

from ombud.answer.triage.features import read_message
from ombud.text import TermSearch


def wants_anonymity(text: str) -> bool:
    return bool(_terms().search(read_message(text)))


@cache
def _terms() -> TermSearch:
    path = Path(__file__).with_name("anonymous.toml")
    return TermSearch(tomllib.loads(path.read_text(encoding="utf-8"))["terms"])
