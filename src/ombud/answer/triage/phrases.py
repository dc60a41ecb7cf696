"""Fixed phrases of a message: greetings, anonymity, own circumstances, own figures, a death."""

import re
import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Literal, NamedTuple

from ombud.text import TermSearch, fold, plain_wording

PleasantryKind = Literal["greeting", "thanks", "farewell", "about"]
STRONGEST: Sequence[PleasantryKind] = ("about", "farewell", "greeting", "thanks")
"""Of several in one message the first of these is answered."""
LONGEST_PLEASANTRY = 90
"""Characters."""
READ_AT_START = 3000
READ_AT_END = 1000
"""Characters that are read of a long message: people say what they want first or last."""
_BETWEEN_WORDS = re.compile(r"[^\w'-]+")
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
    name: str
    """As the answer calls it, such as `your own leave balance`."""


def read_message(text: str) -> str:
    """Return the part of a message that is read, in plain small letters."""
    if len(text) > READ_AT_START + READ_AT_END:
        text = f"{text[:READ_AT_START]} … {text[-READ_AT_END:]}"
    return plain_wording(" ".join(text.split()))


def pleasantry_of(text: str) -> Pleasantry | None:
    """Return what a message says beside nothing else: a greeting, thanks, a farewell."""
    if len(text) > LONGEST_PLEASANTRY:
        return None
    words = " ".join(_BETWEEN_WORDS.sub(" ", fold(text.replace("’", "'"))).split())
    for language, pattern in _pleasantries().items():
        if not pattern.whole.fullmatch(words):
            continue
        for kind in STRONGEST:
            if pattern.kinds[kind].search(words):
                return Pleasantry(kind, language)
    return None


def wants_anonymity(text: str) -> bool:
    return bool(_terms("anonymous").search(read_message(text)))


def tells_of_a_death(text: str) -> bool:
    """Tell whether somebody close to the asker has died."""
    message = read_message(text)
    return bool(_OWN.search(message) and _terms("condolence").search(message))


def own_record(text: str) -> OwnRecord | None:
    """Return the figure of their own that somebody asks for."""
    message = read_message(text)
    for record, pattern in _records():
        if pattern.search(message):
            return record
    return None


def own_circumstances(text: str) -> frozenset[str]:
    """Return kinds of circumstances of the asker's own, such as {"contract", "family"}.

    Rules for one circumstance are written down; what holds where several meet often is not."""
    message = read_message(text)
    if not _OWN.search(message):
        return frozenset()
    return frozenset(kind for kind, terms in _circumstances().items() if terms.search(message))


class _Pleasantries(NamedTuple):
    whole: re.Pattern[str]
    """Matches a message of nothing but phrases and fillers."""
    kinds: Mapping[PleasantryKind, re.Pattern[str]]


@cache
def _pleasantries() -> dict[str, _Pleasantries]:
    patterns: dict[str, _Pleasantries] = {}
    for language, phrases in _content()["pleasantries"].items():
        every = [phrase for of_kind in phrases.values() for phrase in of_kind]
        kinds: dict[PleasantryKind, re.Pattern[str]] = {}
        for kind in STRONGEST:
            kinds[kind] = re.compile(rf"(?:^| ){_any_of(phrases[kind])}(?: |$)")
        whole = re.compile(rf"(?:{_any_of(every)}(?: |$))+")
        patterns[language] = _Pleasantries(whole, kinds)
    return patterns


def _any_of(phrases: Sequence[str]) -> str:
    """Return a pattern of alternatives, the longest first, so that none hides another."""
    folded = sorted(map(fold, phrases), key=len, reverse=True)
    return f"(?:{'|'.join(map(re.escape, folded))})"


@cache
def _records() -> tuple[tuple[OwnRecord, TermSearch], ...]:
    records: list[tuple[OwnRecord, TermSearch]] = []
    for row in _content()["record"]:
        records.append((OwnRecord(row["topic"], row["name"]), TermSearch(row["terms"])))
    return tuple(records)


@cache
def _circumstances() -> Mapping[str, TermSearch]:
    return {kind: TermSearch(terms) for kind, terms in _content()["circumstances"].items()}


@cache
def _terms(name: str) -> TermSearch:
    return TermSearch(_content()[name])


@cache
def _content() -> Mapping[str, Any]:
    path = Path(__file__).with_suffix(".toml")
    return tomllib.loads(path.read_text(encoding="utf-8"))
