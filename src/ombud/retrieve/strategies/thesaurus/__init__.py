"""How people say it -> how policies write it. One file a language, written from general knowledge
of the field."""

import re
from functools import lru_cache
from pathlib import Path

from ombud.text import plain_wording, term_pattern


def policy_words(text: str, language: str = "en") -> list[str]:
    """Words that policies use for what `text` speaks of; empty where the language has no list."""
    asked = plain_wording(text)
    policy: list[str] = []
    for everyday, words in _entries(language):
        if everyday.search(asked):
            policy.append(words)
    return policy


@lru_cache
def _entries(language: str) -> tuple[tuple[re.Pattern[str], str], ...]:
    path = Path(__file__).parent / f"{language}.txt"
    if not path.is_file():
        return ()
    entries: list[tuple[re.Pattern[str], str]] = []
    for line in path.read_text(encoding="utf-8").splitlines():
        everyday, colon, words = line.partition(":")
        if colon and not line.startswith("#"):
            terms = map(str.strip, everyday.split(","))
            entries.append((term_pattern(terms), words.strip()))
    return tuple(entries)
