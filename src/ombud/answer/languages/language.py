"""Which language a question is in, and what is said where the answer cannot be in it."""

import re
import tomllib
from collections.abc import Collection
from functools import cache
from pathlib import Path
from typing import Literal

from ombud.text import detect_language, fold, term_pattern

SURE = 40
"""Letters of a question from which its language is believed; of 388 English questions 1 is then
taken for another."""


def asked_in(text: str) -> str:
    """ISO 639-1 code of a question's language; empty where it is too short to tell."""
    letters = sum(character.isalpha() for character in text)
    return detect_language(text, "") if letters >= SURE else ""


def written_in(text: str, otherwise: str) -> str:
    """Of an answer; `otherwise` where it is too short to tell."""
    return detect_language(text, otherwise)


def name_of(code: str) -> str:
    """As a model is told, such as `German`."""
    return _sentences().get(code, {}).get("name", code)


def apology(kind: Literal["quoted", "written"], asked: str, answered: Collection[str]) -> str:
    """One sentence in the language of the question, else in English; empty where the answer is in
    it, or nobody knows.

    answered: languages of the answer.
    """
    if not asked or not answered or asked in answered:
        return ""
    in_language = _sentences().get(asked, {}).get(kind)
    if in_language:
        return in_language
    english = _sentences()["en"][kind]
    return english.replace("not in English", "not in the language of your question")


def sentence(key: str, language: str) -> str:
    """What the assistant says in that language; empty where languages.toml does not say it."""
    return _sentences().get(language, {}).get(key, "")


def in_any_language(*keys: str) -> tuple[str, ...]:
    """The same sentences in all languages that have them."""
    said: list[str] = []
    for key in keys:
        for language in _sentences():
            text = sentence(key, language)
            if text:
                said.append(text)
    return tuple(said)


@cache
def elsewhere_pattern(language: str) -> re.Pattern[str]:
    """Matches, in folded text, a word of what is no question about policies."""
    terms = fold(sentence("elsewhere", language)).split(",")
    return term_pattern(filter(None, map(str.strip, terms)))


@cache
def _sentences() -> dict[str, dict[str, str]]:
    path = Path(__file__).with_name("languages.toml")
    return tomllib.loads(path.read_text(encoding="utf-8"))
