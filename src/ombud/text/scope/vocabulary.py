"""The words of `scope.toml`."""

import re
import tomllib
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from ombud.text.wording import term_pattern

GENERIC_WEIGHT = 0.33
"""Weight of a word that most sentences may have."""


@cache
def scope_words() -> dict[str, Any]:
    path = Path(__file__).with_name("scope.toml")
    return tomllib.loads(path.read_text(encoding="utf-8"))


@cache
def _quantity_words() -> re.Pattern[str]:
    return term_pattern(scope_words()["silent"])


@cache
def _generic_words() -> re.Pattern[str]:
    return term_pattern(scope_words()["generic"])


@lru_cache(maxsize=20_000)
def word_weight(word: str) -> float:
    """Return 0 for a word that says how much, `GENERIC_WEIGHT` for one that says little, else 1."""
    if _quantity_words().fullmatch(word):
        return 0.0
    return GENERIC_WEIGHT if _generic_words().fullmatch(word) else 1.0
