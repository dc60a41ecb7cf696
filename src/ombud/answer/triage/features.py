"""What a message looks like, in numbers: which groups of words it has, how it is told, whether it
is words at all."""

import re
import tomllib
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from math import log1p
from pathlib import Path
from typing import Any

from ombud.answer.triage.sensitive import read_sensitive
from ombud.models import linear
from ombud.text import plain_wording, term_pattern

HEAD, TAIL = 3000, 1000
"""Characters that are read of a long message: its beginning and its end, where people say what they
want."""
MOST = 3
"""A group counts no more often than this."""
LIVED = ("cruelty", "touch", "identity", "body", "mind", "despair", "substance", "violence", "home", "loss", "wrong",
         "payback", "dispute", "status")  # fmt: skip
OF_THE_HOUSE = ("leave", "money", "work", "conduct")
STRANGE = ("elsewhere", "errand", "private", "world")
LATIN = 0x24F
"""Last letter of the extended Latin alphabets."""
WORD = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)?")
TOKEN = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)?|\d+|[?!:/]")
VOWELS = frozenset("aeiouyäöüáéíóúàèùâêîôûåøæœ")
ENCODED = re.compile(
    r"\b(?:[0-9a-f]{2}\s){4,}|[A-Za-z0-9+/]{16,}={1,2}|\b(?:\w\s){6,}|\b[a-z]*(?:\d[a-z]+){2,}\d*\b"
)
MARKUP = re.compile(
    r"</?\w+>|\[/?\w+\]|###|<!--|<\||\{\"|\"\"\"|\*;|\bassistant\s*:|\bsystem\s*:", re.IGNORECASE
)


def read_message(text: str) -> str:
    """The part that is looked at: all of it, unless it is very long."""
    said = text if len(text) <= HEAD + TAIL else f"{text[:HEAD]} … {text[-TAIL:]}"
    return plain_wording(" ".join(said.split()))


def values(text: str) -> tuple[float, ...]:
    """The values alone, always in the same order; training reads each text many times."""
    return _values(read_message(text))


def triage_features(text: str) -> dict[str, float]:
    """Feature -> value, always the same names in the same order; an empty text has zeros."""
    said = read_message(text)
    found = {
        name: float(min(len(pattern.findall(said)), MOST)) for name, pattern in _patterns().items()
    }
    for name, marks in cues().get("marks", {}).items():
        found[name] = min(MOST, found[name] + sum(mark in said for mark in marks))
    matter, told = _shipped().find(said), found["told"] > 0
    lived = sum(found[name] > 0 for name in LIVED)
    house = sum(found[name] for name in OF_THE_HOUSE)
    strange = sum(found[name] for name in STRANGE)
    found |= {
        "term": float(matter is not None),
        "danger term": float(matter is not None and matter.danger),
        "lived": float(min(lived, 4)),
        "lived and told": float(lived > 0 and told),
        "lived and of me": float(lived > 0 and found["of_me"] > 0),
        "lived, not asked": float(lived > 0 and not found["asking"] and not found["paperwork"]),
        "lived in papers": float(lived > 0 and found["paperwork"] > 0),
        "told, not asked": float(told and not found["asking"]),
        "nothing of the house": float(not house),
        "house": float(log1p(house)),
        "strange": float(log1p(strange)),
        "strange, not the house": float(strange > 0 and not house),
        "markup": float(min(len(MARKUP.findall(said)), MOST)),
        "encoded": float(bool(ENCODED.search(said))),
    }
    return found | _form(said)


@lru_cache(maxsize=8192)
def _values(said: str) -> tuple[float, ...]:
    return tuple(triage_features(said).values())


def unread(text: str) -> bool:
    """Whether most letters are of a script that no message of the training set has."""
    letters_ = [c for c in text[: HEAD + TAIL] if c.isalpha()]
    return 2 * sum(ord(c) > LATIN for c in letters_) > len(letters_)


def words(said: str) -> list[str]:
    return linear.ngrams(TOKEN.findall(said), 2)


def letters(said: str) -> list[str]:
    """Runs of three and four characters inside words, the edges of a word marked."""
    edged = [f" {word} " for word in WORD.findall(said)]
    return [word[at : at + n] for word in edged for n in (3, 4) for at in range(len(word) - n + 1)]


TRIAGE_READING = linear.FeatureReading(
    part=read_message,
    surface=values,
    terms={"words": words, "letters": letters},
    trainer="train-triage",
)


@cache
def cues() -> Mapping[str, Any]:
    """The groups of cues.toml."""
    with Path(__file__).with_name("cues.toml").open("rb") as file:
        return tomllib.load(file)


def _form(said: str) -> dict[str, float]:
    """How it is written: the share of letters, vowels and known words, lengths, repetition."""
    found = WORD.findall(said)
    letters_ = sum(map(len, found))
    known = _everyday()
    spoken = max(1, len(found))
    return {
        "nothing": float(not found),
        "words": log1p(len(found)),
        "few words": float(0 < len(found) <= 2),
        "sentences": float(min(len(re.findall(r"[.!?]+(?:\s|$)", said)), 5)),
        "asks": float("?" in said),
        "letters": letters_ / max(1, len(said)),
        "vowels": sum(c in VOWELS for c in said) / max(1, letters_),
        "longest word": min(max(map(len, found), default=0), 30) / 10,
        "single letters": sum(len(word) == 1 and word not in "aiàyoe" for word in found) / spoken,
        "consonants": float(
            any(not VOWELS & set(word) and len(word) > 3 and word.isascii() for word in found)
        ),
        "repeated": 1 - len(set(found)) / spoken,
        "everyday": sum(word in known for word in found) / spoken,
        "only function words": float(bool(found) and all(word in _function() for word in found)),
        "other script": float(any(ord(c) > LATIN for c in "".join(found))),
    }


@cache
def _patterns() -> Mapping[str, re.Pattern[str]]:
    return {name: term_pattern(_listed(name)) for name in cues()["cue"]}


def _listed(name: str) -> Sequence[str]:
    found: list[str] = cues()["cue"][name]
    return found


@cache
def _everyday() -> frozenset[str]:
    """Words that ordinary English messages are made of; a typo or a made-up word is none."""
    return frozenset(cues()["words"]["everyday"].split()) | _function()


@cache
def _function() -> frozenset[str]:
    return frozenset(cues()["words"]["function"].split())


@cache
def _shipped() -> Any:
    return read_sensitive()
