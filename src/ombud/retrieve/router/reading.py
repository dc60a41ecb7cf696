"""A question as the router reads it: words, sentences, the part that asks, and its shape without
its subject."""

import re
import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

WORD = re.compile(
    r"[^\W\d_]+(?:'[^\W\d_]+)?|\d+(?:[.,]\d+)*|[?:,;()=/&%\"]|[-–—](?=\s)|[.!]+(?=\s|$)",
)
CONTRACTED = (
    ("can't", "can not"),
    ("won't", "will not"),
    ("n't", " not"),
    ("'re", " are"),
    ("'ve", " have"),
    ("'ll", " will"),
    ("'m", " am"),
    ("'d", " would"),
)
IS = re.compile(r"\b(what|who|how|where|when)'s\b")
POSSESSED = re.compile(r"'s\b")
SENTENCE = re.compile(r"(?<=[.!?])[\"')]*\s+|\n+")
LONGEST = 4000
"""Characters that are read; a pasted contract is not a question."""


@cache
def cues() -> Mapping[str, Any]:
    """The patterns and word lists of cues.toml."""
    with Path(__file__).with_name("cues.toml").open("rb") as file:
        return tomllib.load(file)


@cache
def pattern(group: str, name: str) -> re.Pattern[str]:
    """One entry of cues.toml; a list stands between word boundaries."""
    entry = cues()[group][name]
    if not isinstance(entry, str):
        entry = rf"\b(?:{'|'.join(entry)})\b"
    return re.compile(entry, re.IGNORECASE)


def tidy(text: str) -> str:
    """As it is read everywhere: plain apostrophes, lower case, no longer than `LONGEST`."""
    return text[:LONGEST].replace("’", "'").replace("‘", "'").lower()


def question_words(text: str) -> list[str]:
    """Words, numbers and the marks that part clauses, contractions and chat spellings written
    out."""
    text = IS.sub(r"\1 is", tidy(text))
    for short, full in CONTRACTED:
        text = text.replace(short, full)
    spelling: Mapping[str, str] = cues()["reading"]["spelling"]
    words: list[str] = []
    for word in WORD.findall(POSSESSED.sub(" 's", text)):
        words += spelling.get(word, word).split()
    return words


def question_sentences(text: str) -> list[str]:
    parts = SENTENCE.split(tidy(text).strip())
    return [part for part in parts if any(map(str.isalnum, part))]


def asking(text: str) -> list[str]:
    """The sentences that ask; the last one where none does.

    People tell a story first: how long it is says nothing of how many passages its question needs.
    Where a sentence narrows what is asked ("the only thing I can't find is"), what stands before it
    is story too."""
    sentences = question_sentences(text)
    asks = [sentence for sentence in sentences if _asks(sentence)]
    narrowed = pattern("reading", "narrowed")
    start = 0
    for place, sentence in enumerate(asks):
        if narrowed.search(sentence):
            start = place
    return asks[start:] or sentences[-1:]


def _asks(sentence: str) -> bool:
    if not pattern("reading", "asking").search(sentence):
        return False
    if sentence.rstrip().endswith("?"):
        return True
    return not pattern("reading", "declined").search(sentence)


def shape(words: list[str]) -> list[str]:
    """Words to how they are put: function words stay, numbers are 9, runs of other words X with
    what they end in."""
    shaped: list[str] = []
    for word in words:
        is_kept = word in _function_words() or not word[0].isalnum()
        form = word if is_kept else _form(word)
        if shaped and shaped[-1] == "X" and form in ("X", "Xs"):
            shaped[-1] = form
        else:
            shaped.append(form)
    return shaped


def _form(word: str) -> str:
    if word[0].isdigit():
        return "9"
    if len(word) > 4 and word.endswith("ing"):
        return "Xing"
    if len(word) > 3 and word.endswith("ed"):
        return "Xed"
    is_plural = len(word) > 3 and word.endswith("s") and not word.endswith("ss")
    return "Xs" if is_plural else "X"


@cache
def _function_words() -> frozenset[str]:
    return frozenset(cues()["reading"]["function"].split())
