"""What somebody tells of their own circumstances. Rules for one circumstance are written down; what
holds where several meet often is not."""

import re
import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from ombud.answer.triage.features import read_message
from ombud.text import TermSearch

_OWN = re.compile(
    r"\b(?:i|i'm|im|i've|ive|my|me|mine|we|our|ich|mein\w*|wir|je|j'ai|mon|ma|mes|yo|mi|mis"
    r"|estoy)\b"
)


def own_circumstances(text: str) -> frozenset[str]:
    """Kinds of circumstances of the asker that a message names, such as {"contract", "family"}."""
    message = read_message(text)
    if not _OWN.search(message):
        return frozenset()
    return frozenset(kind for kind, terms in _terms().items() if terms.search(message))


@cache
def _terms() -> Mapping[str, TermSearch]:
    path = Path(__file__).with_name("circumstances.toml")
    kinds = tomllib.loads(path.read_text(encoding="utf-8"))
    return {kind: TermSearch(terms) for kind, terms in kinds.items()}
