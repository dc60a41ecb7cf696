"""Who asks for a person and for nothing else."""

import re
import tomllib
from functools import cache
from pathlib import Path

from ombud.answer.triage.features import read_message
from ombud.text import TermSearch

LONGEST = 12
"""Words: who says more has a question beside it ("who do I talk to about my pension when …")."""
_ASKS_WHOM = re.compile(r"\b(?:who|whom|whose|wer|wem|wen|qui|quién|chi|wie|quem|kto|kim)\b")
"""A question for a name is answered from the documents and the contacts."""


def wants_person(text: str) -> bool:
    message = read_message(text)
    if len(message.split()) > LONGEST or _ASKS_WHOM.search(message):
        return False
    return bool(_terms().search(message))


@cache
def _terms() -> TermSearch:
    path = Path(__file__).with_name("persons.toml")
    return TermSearch(tomllib.loads(path.read_text(encoding="utf-8"))["terms"])
