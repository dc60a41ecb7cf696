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
CONTRACTED = (("can't", "can not"), ("won't", "will not"), ("n't", " not"), ("'re", " are"), ("'ve", " have"),
              ("'ll", " will"), ("'m", " am"), ("'d", " would"))  # fmt: skip
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
    return re.compile(
        entry if isinstance(entry, str) else rf"\b(?:{'|'.join(entry)})\b", re.IGNORECASE
    )


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
    return [
        part
        for word in WORD.findall(POSSESSED.sub(" 's", text))
        for part in spelling.get(word, word).split()
    ]


def question_sentences(text: str) -> list[str]:
    return [part for part in SENTENCE.split(tidy(text).strip()) if any(c.isalnum() for c in part)]


def asking(text: str) -> list[str]:
    """The sentences that ask; the last one where none does.

    People tell a story first: how long it is says nothing of how many passages its question needs.
    Where a sentence narrows what is asked ("the only thing I can't find is"), what stands before it
    is story too."""
    told = question_sentences(text)
    asks, declined, narrowed = (
        pattern("reading", name) for name in ("asking", "declined", "narrowed")
    )
    found = [
        s for s in told if asks.search(s) and (s.rstrip().endswith("?") or not declined.search(s))
    ]
    if len(found) > 1:
        found = found[max((n for n, s in enumerate(found) if narrowed.search(s)), default=0) :]
    return found or told[-1:]


def shape(found: list[str]) -> list[str]:
    """Words to how they are put: function words stay, numbers are 9, runs of other words X with
    what they end in."""
    kept, shaped = _function_words(), list[str]()
    for word in found:
        form = word if word in kept or not word[0].isalnum() else _form(word)
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
    return "Xs" if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else "X"


@cache
def _function_words() -> frozenset[str]:
    return frozenset(cues()["reading"]["function"].split())
