"""The words of `scope.toml`."""

import re
import tomllib
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from ombud.text.wording import term_pattern


@cache
def scope_words() -> dict[str, Any]:
    path = Path(__file__).with_name("scope.toml")
    return tomllib.loads(path.read_text(encoding="utf-8"))


@cache
def _generic_words() -> re.Pattern[str]:
    return term_pattern(scope_words()["generic"])


@lru_cache(maxsize=20_000)
def is_topic_word(word: str) -> bool:
    """Return whether a word says what a sentence is about: neither how much, nor what most
    sentences of a policy may have."""
    return not _generic_words().fullmatch(word)
