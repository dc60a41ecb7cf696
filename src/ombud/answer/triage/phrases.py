"""Fixed phrases of a message: greetings, anonymity, own circumstances, own figures, a death."""

import re
import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Literal, NamedTuple

from ombud.text import Phrases, TermSearch, fold, plain_wording, split_words

PleasantryKind = Literal["greeting", "thanks", "farewell", "about"]
STRONGEST: Sequence[PleasantryKind] = ("about", "farewell", "greeting", "thanks")
"""Of several in one message the first of these is answered."""
LONGEST_PLEASANTRY = 90
"""Characters."""
MOST_READ = 4000
READ_AT_END = 1000
"""Characters that are read of a long message: people say what they want first or last."""
_OWN = re.compile(
    r"\b(?:i|i'm|im|i've|ive|my|me|mine|we|our|ich|mein\w*|wir|je|j'ai|mon|ma|mes|yo|mi|mis"
    r"|estoy)\b"
)


class Pleasantry(NamedTuple):
    kind: PleasantryKind
    language: str


class OwnRecord(NamedTuple):
    """A figure of the asker's own, which no document holds."""

    topic: str
    """Under which contacts.toml may name what shows it, such as `own-leave`."""


def read_message(text: str) -> str:
    """Return the part of a message that is read, in plain small letters."""
    if len(text) > MOST_READ:
        text = f"{text[: MOST_READ - READ_AT_END]} … {text[-READ_AT_END:]}"
    return plain_wording(" ".join(text.split()))


def pleasantry_of(text: str) -> Pleasantry | None:
    """Return the kind of a message that is nothing but greeting, thanks, farewell and the like."""
    if len(text) > LONGEST_PLEASANTRY:
        return None
    words = split_words(fold(text))
    for language, phrases in _pleasantries().items():
        kinds = _kinds_if_complete(words, phrases)
        for kind in STRONGEST:
            if kind in kinds:
                return Pleasantry(kind, language)
    return None


def wants_anonymity(text: str) -> bool:
    """Tell whether somebody does not want to be named."""
    return bool(_terms("remarks")["anonymous"].search(read_message(text)))


def tells_of_a_death(text: str) -> bool:
    """Tell whether somebody close to the asker has died."""
    message = read_message(text)
    return bool(_OWN.search(message) and _terms("remarks")["condolence"].search(message))


def own_record(text: str) -> OwnRecord | None:
    """Return the figure of their own that somebody asks for."""
    message = read_message(text)
    for record, terms in _records().items():
        if terms.search(message):
            return record
    return None


def own_circumstances(text: str) -> frozenset[str]:
    """Return kinds of circumstances of the asker's own, such as {"contract", "family"}.

    Rules for one circumstance are written down; what holds where several meet often is not."""
    message = read_message(text)
    if not _OWN.search(message):
        return frozenset()
    kinds = _terms("circumstances").items()
    return frozenset(kind for kind, terms in kinds if terms.search(message))


def _kinds_if_complete(words: Sequence[str], phrases: Phrases[str]) -> set[str]:
    """Return the kinds of the phrases that the words consist of; none if another word is left."""
    kinds: set[str] = set()
    place = 0
    while place < len(words):
        length, kind = next(phrases.at(words, place), (0, ""))
        if not length:
            return set()
        kinds.add(kind)
        place += length
    return kinds


@cache
def _pleasantries() -> Mapping[str, Phrases[str]]:
    tables: dict[str, Phrases[str]] = {}
    for language, kinds in _content()["pleasantries"].items():
        rows = [(fold(phrase), kind) for kind, phrases in kinds.items() for phrase in phrases]
        tables[language] = Phrases(rows)
    return tables


@cache
def _records() -> Mapping[OwnRecord, TermSearch]:
    rows = _content()["record"]
    return {OwnRecord(row["topic"]): TermSearch(row["terms"]) for row in rows}


@cache
def _terms(table: str) -> Mapping[str, TermSearch]:
    return {kind: TermSearch(terms) for kind, terms in _content()[table].items()}


@cache
def _content() -> Mapping[str, Any]:
    path = Path(__file__).with_suffix(".toml")
    return tomllib.loads(path.read_text(encoding="utf-8"))
