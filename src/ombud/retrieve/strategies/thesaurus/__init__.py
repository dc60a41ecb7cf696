"""How people say it -> how policies write it. One file a language, written from general knowledge
of the field."""

import re
from functools import lru_cache
from pathlib import Path

from ombud.text import plain_wording, term_pattern


def policy_words(text: str, language: str = "en") -> list[str]:
    """Words that policies use for what `text` speaks of; empty where the language has no list."""
    asked = plain_wording(text)
    return [words for said, words in _entries(language) if said.search(asked)]


@lru_cache
def _entries(language: str) -> tuple[tuple[re.Pattern[str], str], ...]:
    path = Path(__file__).parent / f"{language}.txt"
    if not path.is_file():
        return ()
    lines = path.read_text(encoding="utf-8").splitlines()
    pairs = (line.split(":", 1) for line in lines if ":" in line and not line.startswith("#"))
    return tuple(
        (term_pattern(term.strip() for term in said.split(",")), words.strip())
        for said, words in pairs
    )
