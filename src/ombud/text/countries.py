"""Which countries a text names: "in France", "the French office", "UK", "Deutschland"; not "tell
us" or "polish"."""

import re
import tomllib
import unicodedata
from collections.abc import Collection
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal, NamedTuple

from ombud.text.phrases import WORD, Phrases

_DOTTED = re.compile(r"\b(?:[A-Za-z]{1,2}\.){2,}")
_GOING = re.compile(
    r"\b(?:mov|relocat|travel|transfer|fly|flying|flight|trip|go|going|gone|visit|post|second|assign|work|remote|home)\w*\s"
    r"(?:\w+\s){0,2}(?:to|from)\s(?:the\s)?$",
    re.IGNORECASE,
)
_HAVE = re.compile(
    r"\s*(?:[?.,;!]|$|(?:get|have|has|do|are|can|may|must|take|also|all|had|work)\b)", re.IGNORECASE
)
_LOOK_BACK = 60
_NEAR = 2
"""Words between an adjective and its noun: "French parental leave rules"."""

_Kind = Literal["name", "guarded", "adjective", "after", "people", "other"]


class _Entry(NamedTuple):
    kind: _Kind
    code: str


class _Token(NamedTuple):
    word: str
    """Folded: lower case without accents."""
    start: int
    end: int


def named_countries(text: str, known: Collection[str] | None = None) -> tuple[str, ...]:
    """ISO 3166 alpha-2 codes of the countries that `text` names, in its order; only those in
    `known` when given.

    By name, and by adjective where it is of a workplace or a rule. Where a name is also a word or a
    person's, and nothing says that the country is meant, it is not found."""
    text = _DOTTED.sub(lambda m: m.group().replace(".", "").ljust(len(m.group())), text)
    tokens = [_Token(m.group(), m.start(), m.end()) for m in WORD.finditer(_fold(text))]
    words = [token.word for token in tokens]
    found: dict[str, None] = {}
    at = 0
    while at < len(tokens):
        for length, entry in _entries().at(words, at):
            if _is_whole(tokens[at : at + length], text) and _is_meant(
                entry, tokens, at, at + length, text
            ):
                if entry.kind != "other" and (known is None or entry.code in known):
                    found[entry.code] = None
                at += length - 1
                break
        at += 1
    return tuple(found)


def country_names(codes: Collection[str]) -> list[str]:
    """All names, adjectives and peoples of these countries, in small letters without accents."""
    return [name.rstrip("*") for name, entry in _names() if entry.code in codes]


def _is_whole(tokens: list[_Token], text: str) -> bool:
    """Whether nothing but a blank, a hyphen or an apostrophe stands between the words."""
    return all(text[a.end : b.start] in (" ", "-", "'", "’") for a, b in pairwise(tokens))


def _is_meant(entry: _Entry, tokens: list[_Token], at: int, end: int, text: str) -> bool:
    written = text[tokens[at].start : tokens[end - 1].end]
    if entry.kind == "other":
        return True
    if written.lower() == "us":
        return _is_us(written, tokens, at, end, text)
    if entry.kind == "name":
        # "the States" with a capital, "the states" are any.
        return written.lower() != "the states" or "States" in written
    if entry.kind == "people":
        return end - at == 1 or (
            written[-1:].islower() and bool(_HAVE.match(text[tokens[end - 1].end :]))
        )
    if entry.kind == "after":
        return at > 0 and bool(_work().behind.fullmatch(tokens[at - 1].word))
    if not _is_capital(written, text):
        return False
    if entry.kind == "guarded":
        owner = re.match(r"['’]s\b", text[tokens[end - 1].end :])
        return not owner and (_after_place(tokens, at, text) or _before_work(tokens, end, text))
    return _before_work(tokens, end, text)


def _is_us(written: str, tokens: list[_Token], at: int, end: int, text: str) -> bool:
    """The pronoun is in small letters, or everything is in capitals; "the us" is the country in
    any."""
    the = at > 0 and tokens[at - 1].word == "the"
    around = text[max(0, tokens[at].start - _LOOK_BACK) : tokens[at].end + _LOOK_BACK]
    shouting = sum(c.isupper() for c in around) > sum(c.islower() for c in around)
    if written == "US" and not shouting:
        return True
    places = (*_listed()["at"], "to", "from", "for")
    in_the = the and at > 1 and tokens[at - 2].word in places
    return in_the or (the and _before_work(tokens, end, text))


def _is_capital(written: str, text: str) -> bool:
    """Whether a name is written as one, or nothing in the text is; German adjectives are small."""
    small = not any(c.isupper() for c in text.replace("I", ""))
    return small or written[:1].isupper() or _fold(written) not in _english()


def _after_place(tokens: list[_Token], at: int, text: str) -> bool:
    before = at - 1 - (at > 0 and tokens[at - 1].word in _listed()["articles"])
    if before < 0:
        return False
    return tokens[before].word in _listed()["at"] or bool(
        _GOING.search(text[max(0, tokens[at].start - _LOOK_BACK) : tokens[at].start])
    )


def _before_work(tokens: list[_Token], end: int, text: str) -> bool:
    """Whether a word of the workplace follows, with at most two others between."""
    words = _work()
    for index in range(end, min(end + _NEAR + 1, len(tokens))):
        between = text[tokens[index - 1].end : tokens[index].start]
        if (
            between.strip(" -–'’")
            or tokens[index].word in _listed()["breaks"]
            or words.other.fullmatch(tokens[index].word)
        ):
            return False
        if words.ahead.fullmatch(tokens[index].word):
            return True
    return False


def _fold(text: str) -> str:
    """Lower case without accents, of the same length."""
    return text.translate(_PLAIN).lower()


_PLAIN = {n: unicodedata.normalize("NFKD", chr(n))[0] for n in range(0xC0, 0x180)} | {
    ord("ß"): "s",
    ord("ẞ"): "S",
}
"""Accented Latin letters without their accents."""


@lru_cache
def _listed() -> dict[str, Any]:
    return tomllib.loads(Path(__file__).with_name("countries.toml").read_text(encoding="utf-8"))


@lru_cache
def _names() -> list[tuple[str, _Entry]]:
    kinds: tuple[tuple[str, _Kind], ...] = (
        ("names", "name"), ("people", "people"), ("guarded", "guarded"), ("adjectives", "adjective"),
        ("after", "after"),
    )  # fmt: skip
    made = [(_fold(name), _Entry("other", "")) for name in _listed()["others"]]
    for code, names in _listed()["country"].items():
        made += [
            (_fold(name), _Entry(kind, code)) for key, kind in kinds for name in names.get(key, ())
        ]
    return made


@lru_cache
def _entries() -> Phrases[_Entry]:
    return Phrases(_names())


@lru_cache
def _english() -> frozenset[str]:
    """Names and adjectives that English writes with a capital."""
    listed = [
        names.get(key, ())
        for names in _listed()["country"].values()
        for key in ("guarded", "adjectives")
    ]
    return frozenset(_fold(name) for names in listed for name in names if name[:1].isupper())


class _Work(NamedTuple):
    ahead: re.Pattern[str]
    behind: re.Pattern[str]
    other: re.Pattern[str]


@lru_cache
def _work() -> _Work:
    return _Work(*(_pattern(_listed()[key]) for key in ("work", "work_before", "not_work")))


def _pattern(words: list[str]) -> re.Pattern[str]:
    return re.compile(
        "|".join(re.escape(w.rstrip("*")) + (r"\w*" if w.endswith("*") else "") for w in words)
    )
