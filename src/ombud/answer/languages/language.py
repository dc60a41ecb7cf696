"""Which language a question is in, and what is said where the answer cannot be in it."""

import re
import tomllib
from collections.abc import Collection
from functools import cache
from pathlib import Path
from typing import Literal

from ombud.messages import find_message, message
from ombud.text import detect_language, fold, term_pattern

SURE = 40
"""Letters of a question from which its language is believed; of 388 English questions 1 is then
taken for another."""


def question_language(text: str) -> str:
    """Return the ISO 639-1 code of a question's language; empty if it is too short to tell."""
    letters = sum(character.isalpha() for character in text)
    return detect_language(text, "") if letters >= SURE else ""


def written_in(text: str, otherwise: str) -> str:
    """Return the language of an answer, or `otherwise` if it is too short to tell."""
    return detect_language(text, otherwise)


def name_of(code: str) -> str:
    """Return the language's English name for a prompt, such as `German`."""
    return _languages().get(code, {}).get("name", code)


def apology(kind: Literal["quoted", "written"], language: str, answered: Collection[str]) -> str:
    """Return one sentence that apologises for the language of an answer; empty if none is needed.

    answered: languages of the answer."""
    if not language or not answered or language in answered:
        return ""
    if kind == "quoted":
        return find_message("answer.quoted", language) or message("answer.quoted_elsewhere")
    return find_message("answer.written", language) or message("answer.written_elsewhere")


@cache
def elsewhere_pattern(language: str) -> re.Pattern[str]:
    """Return a pattern of words, in folded text, of subjects other than policies."""
    terms = fold(_languages().get(language, {}).get("elsewhere", "")).split(",")
    return term_pattern(filter(None, map(str.strip, terms)))


@cache
def _languages() -> dict[str, dict[str, str]]:
    path = Path(__file__).with_name("languages.toml")
    return tomllib.loads(path.read_text(encoding="utf-8"))
