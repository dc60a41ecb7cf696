"""Which language a question is in, and what is said where the answer cannot be in it."""

import tomllib
from collections.abc import Collection
from functools import cache
from pathlib import Path
from typing import Literal

from ombud.text import detect_language

SURE = 40
"""Letters of a question from which its language is believed; of 388 English questions 1 is then
taken for another."""


def asked_in(text: str) -> str:
    """ISO 639-1 code of a question's language; empty where it is too short to tell."""
    return detect_language(text, "") if sum(c.isalpha() for c in text) >= SURE else ""


def written_in(text: str, otherwise: str) -> str:
    """Of an answer; `otherwise` where it is too short to tell."""
    return detect_language(text, otherwise)


def name_of(code: str) -> str:
    """As a model is told, such as `German`."""
    return _said().get(code, {}).get("name", code)


def apology(kind: Literal["quoted", "written"], asked: str, said: Collection[str]) -> str:
    """One sentence in the language of the question, else in English; empty where the answer is in
    it, or nobody knows.

    said: languages of the answer.
    """
    if not asked or not said or asked in said:
        return ""
    return _said().get(asked, {}).get(kind) or _others(kind)


def _others(kind: str) -> str:
    return _said()["en"][kind].replace("not in English", "not in the language of your question")


@cache
def _said() -> dict[str, dict[str, str]]:
    return tomllib.loads((Path(__file__).parent / "languages.toml").read_text(encoding="utf-8"))
