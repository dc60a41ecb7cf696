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
from ombud.text import TermSearch, plain_wording

HEAD = 3000
TAIL = 1000
"""Characters that are read of a long message: its beginning and its end, where people say what they
want."""
MOST = 3
"""A group counts no more often than this."""
LIVED = (
    "cruelty",
    "touch",
    "identity",
    "body",
    "mind",
    "despair",
    "substance",
    "violence",
    "home",
    "loss",
    "wrong",
    "payback",
    "dispute",
    "status",
)
OF_THE_HOUSE = ("leave", "money", "work", "conduct")
STRANGE = ("elsewhere", "errand", "private", "world")
LATIN = 0x24F
"""Last letter of the extended Latin alphabets."""
WORD = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)?")
TOKEN = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)?|\d+|[?!:/]")
SENTENCE_END = re.compile(r"[.!?]+(?:\s|$)")
SINGLE_WORDS = "aiàyoe"
"""Letters that are words."""
VOWELS = frozenset("aeiouyäöüáéíóúàèùâêîôûåøæœ")
ENCODED = re.compile(
    r"\b(?:[0-9a-f]{2}\s){4,}|[A-Za-z0-9+/]{16,}={1,2}|\b(?:\w\s){6,}|\b[a-z]*(?:\d[a-z]+){2,}\d*\b"
)
MARKUP = re.compile(
    r"</?\w+>|\[/?\w+\]|###|<!--|<\||\{\"|\"\"\"|\*;|\bassistant\s*:|\bsystem\s*:", re.IGNORECASE
)


def read_message(text: str) -> str:
    """The part that is looked at: all of it, unless it is very long."""
    if len(text) > HEAD + TAIL:
        text = f"{text[:HEAD]} … {text[-TAIL:]}"
    return plain_wording(" ".join(text.split()))


def values(text: str) -> tuple[float, ...]:
    """The values alone, always in the same order; training reads each text many times."""
    return _values(read_message(text))


def triage_features(text: str) -> dict[str, float]:
    """Feature -> value, always the same names in the same order; an empty text has zeros."""
    message = read_message(text)
    groups = _groups(message)
    features = {
        **groups,
        **_terms(message),
        **_lived(groups),
        **_subjects(groups),
        "markup": min(len(MARKUP.findall(message)), MOST),
        "encoded": bool(ENCODED.search(message)),
        **_form(message),
    }
    return {name: float(value) for name, value in features.items()}


def _terms(message: str) -> dict[str, float]:
    matter = read_sensitive().find(message)
    return {
        "term": matter is not None,
        "danger term": matter is not None and matter.danger,
    }


def _lived(groups: Mapping[str, float]) -> dict[str, float]:
    """Whether something that people live through is told, asked about, or a matter of papers."""
    lived = sum(groups[name] > 0 for name in LIVED)
    is_told = groups["told"] > 0
    is_asked = groups["asking"] > 0
    in_papers = groups["paperwork"] > 0
    return {
        "lived": min(lived, 4),
        "lived and told": lived > 0 and is_told,
        "lived and of me": lived > 0 and groups["of_me"] > 0,
        "lived, not asked": lived > 0 and not is_asked and not in_papers,
        "lived in papers": lived > 0 and in_papers,
        "told, not asked": is_told and not is_asked,
    }


def _subjects(groups: Mapping[str, float]) -> dict[str, float]:
    """What is spoken of: the house, or what is strange to it."""
    house = sum(groups[name] for name in OF_THE_HOUSE)
    strange = sum(groups[name] for name in STRANGE)
    return {
        "nothing of the house": not house,
        "house": log1p(house),
        "strange": log1p(strange),
        "strange, not the house": strange > 0 and not house,
    }


def _groups(message: str) -> dict[str, float]:
    """Group of cues.toml -> how often a message has a word or mark of it, at most MOST times."""
    counts: dict[str, float] = {}
    for name, pattern in _patterns().items():
        count = len(pattern.findall(message))
        counts[name] = float(min(count, MOST))
    for name, marks in cues().get("marks", {}).items():
        marked = sum(mark in message for mark in marks)
        counts[name] = min(MOST, counts[name] + marked)
    return counts


@lru_cache(maxsize=8192)
def _values(message: str) -> tuple[float, ...]:
    return tuple(triage_features(message).values())


def unread(text: str) -> bool:
    """Whether most letters are of a script that no message of the training set has."""
    letter_count = beyond_latin = 0
    for character in filter(str.isalpha, text[: HEAD + TAIL]):
        letter_count += 1
        beyond_latin += ord(character) > LATIN
    return 2 * beyond_latin > letter_count


def words(message: str) -> list[str]:
    return linear.ngrams(TOKEN.findall(message), 2)


def letters(message: str) -> list[str]:
    """Runs of three and four characters inside words, the edges of a word marked."""
    runs: list[str] = []
    for word in WORD.findall(message):
        edged = f" {word} "
        for length in (3, 4):
            for start in range(len(edged) - length + 1):
                runs.append(edged[start : start + length])
    return runs


TRIAGE_READING = linear.FeatureReading(
    part=read_message,
    surface=values,
    terms={"words": words, "letters": letters},
    trainer="research.training.triage",
)


@cache
def cues() -> Mapping[str, Any]:
    """The groups of cues.toml."""
    with Path(__file__).with_name("cues.toml").open("rb") as file:
        return tomllib.load(file)


def _form(message: str) -> dict[str, float]:
    """How it is written: the share of letters, vowels and known words, lengths, repetition."""
    spoken = WORD.findall(message)
    lengths = list(map(len, spoken))
    letter_count = sum(lengths)
    sentences = len(SENTENCE_END.findall(message))
    vowels = sum(character in VOWELS for character in message)
    single = everyday = function_words = 0
    for word in spoken:
        single += len(word) == 1 and word not in SINGLE_WORDS
        everyday += word in _everyday()
        function_words += word in _function()
    return {
        "nothing": not spoken,
        "words": log1p(len(spoken)),
        "few words": 0 < len(spoken) <= 2,
        "sentences": min(sentences, 5),
        "asks": "?" in message,
        "letters": letter_count / max(1, len(message)),
        "vowels": vowels / max(1, letter_count),
        "longest word": min(max(lengths, default=0), 30) / 10,
        "single letters": single / max(1, len(spoken)),
        "consonants": any(map(_has_no_vowel, spoken)),
        "repeated": 1 - len(set(spoken)) / max(1, len(spoken)),
        "everyday": everyday / max(1, len(spoken)),
        "only function words": bool(spoken) and function_words == len(spoken),
        "other script": ord(max("".join(spoken), default=" ")) > LATIN,
    }


def _has_no_vowel(word: str) -> bool:
    return len(word) > 3 and word.isascii() and VOWELS.isdisjoint(word)


@cache
def _patterns() -> Mapping[str, TermSearch]:
    return {name: TermSearch(_listed(name)) for name in cues()["cue"]}


def _listed(name: str) -> Sequence[str]:
    words_of_group: list[str] = cues()["cue"][name]
    return words_of_group


@cache
def _everyday() -> frozenset[str]:
    """Words that ordinary English messages are made of; a typo or a made-up word is none."""
    return frozenset(cues()["words"]["everyday"].split()) | _function()


@cache
def _function() -> frozenset[str]:
    return frozenset(cues()["words"]["function"].split())
