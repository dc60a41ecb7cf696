"""Which countries a text names: "in France", "the French office", "UK", "Deutschland"; not "tell
us" or "polish"."""

import re
import tomllib
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal, NamedTuple

from ombud.text.phrases import WORD, Phrases

_DOTTED = re.compile(r"\b(?:[A-Za-z]{1,2}\.){2,}")
_GOING = re.compile(
    r"\b(?:mov|relocat|travel|transfer|fly|flying|flight|trip|go|going|gone|visit|post|second"
    r"|assign|work|remote|home)\w*\s"
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


class _Mention(NamedTuple):
    """A name where it stands in a text."""

    entry: _Entry
    text: str
    tokens: list[_Token]
    """Of the whole text."""
    first: int
    """Place of its first token."""
    end: int
    """Place of the token behind it."""

    @property
    def written(self) -> str:
        start = self.tokens[self.first].start
        end = self.tokens[self.end - 1].end
        return self.text[start:end]

    @property
    def before(self) -> str:
        end = self.tokens[self.first].start
        start = max(0, end - _LOOK_BACK)
        return self.text[start:end]

    @property
    def after(self) -> str:
        last = self.tokens[self.end - 1]
        return self.text[last.end :]

    def word_before(self, distance: int = 1) -> str:
        """Empty at the beginning of the text."""
        place = self.first - distance
        return self.tokens[place].word if place >= 0 else ""


def named_countries(text: str, known: Collection[str] | None = None) -> tuple[str, ...]:
    """ISO 3166 alpha-2 codes of the countries that `text` names, in its order; only those in
    `known` when given.

    By name, and by adjective where it is of a workplace or a rule. Where a name is also a word or a
    person's, and nothing says that the country is meant, it is not found."""
    text = _DOTTED.sub(_without_dots, text)
    tokens = list(_tokens(text))
    words = [token.word for token in tokens]
    codes: dict[str, None] = {}
    place = 0
    while place < len(tokens):
        mention = _mention_at(place, words, tokens, text)
        if mention is None:
            place += 1
            continue
        place = mention.end
        kind, code = mention.entry
        if kind == "other":
            continue
        if known is None or code in known:
            codes[code] = None
    return tuple(codes)


def _tokens(text: str) -> Iterator[_Token]:
    for match in WORD.finditer(fold_name(text)):
        start, end = match.span()
        yield _Token(match[0], start, end)


def _without_dots(match: re.Match[str]) -> str:
    """Of the same length."""
    return match.group().replace(".", "").ljust(len(match.group()))


def _mention_at(place: int, words: list[str], tokens: list[_Token], text: str) -> _Mention | None:
    for length, entry in _entries().at(words, place):
        end = place + length
        if not _is_whole(tokens[place:end], text):
            continue
        mention = _Mention(
            entry=entry,
            text=text,
            tokens=tokens,
            first=place,
            end=end,
        )
        if _is_meant(mention):
            return mention
    return None


def country_names(codes: Collection[str]) -> list[str]:
    """All names, adjectives and peoples of these countries, in small letters without accents."""
    names = _names_by_code()
    return [name for code in codes for name in names.get(code, ())]


def called_countries() -> dict[str, str]:
    """What countries are called in all our languages, folded, but for adjectives -> code."""
    return {name: entry.code for name, entry in _names() if entry.kind in ("name", "guarded")}


def _is_whole(tokens: list[_Token], text: str) -> bool:
    """Whether nothing but a blank, a hyphen or an apostrophe stands between the words."""
    for token, following in pairwise(tokens):
        between = text[token.end : following.start]
        if between not in (" ", "-", "'", "’"):
            return False
    return True


def _is_meant(mention: _Mention) -> bool:
    kind = mention.entry.kind
    if kind != "other" and mention.written.lower() == "us":
        return _is_us(mention)
    is_meant = _MEANT[kind]
    return is_meant(mention)


def _is_name(mention: _Mention) -> bool:
    """ "The States" with a capital; "the states" are any."""
    return mention.written.lower() != "the states" or "States" in mention.written


def _are_people(mention: _Mention) -> bool:
    if mention.end - mention.first == 1:
        return True
    return mention.written[-1:].islower() and bool(_HAVE.match(mention.after))


def _stands_behind_work(mention: _Mention) -> bool:
    return bool(_work().behind.fullmatch(mention.word_before()))


def _is_guarded_name(mention: _Mention) -> bool:
    """Of a name that is a person's or a word, too."""
    if not _is_capital(mention) or re.match(r"['’]s\b", mention.after):
        return False
    return _after_place(mention) or _before_work(mention)


def _is_adjective(mention: _Mention) -> bool:
    return _is_capital(mention) and _before_work(mention)


_MEANT: dict[_Kind, Callable[[_Mention], bool]] = {
    "other": lambda mention: True,
    "name": _is_name,
    "people": _are_people,
    "after": _stands_behind_work,
    "guarded": _is_guarded_name,
    "adjective": _is_adjective,
}


def _is_us(mention: _Mention) -> bool:
    """The pronoun is in small letters, or everything is in capitals; "the us" is the country in
    any."""
    if mention.written == "US" and not _is_shouting(mention):
        return True
    if mention.word_before() != "the":
        return False
    places = (*_listed()["at"], "to", "from", "for")
    if mention.word_before(2) in places:
        return True
    return _before_work(mention)


def _is_shouting(mention: _Mention) -> bool:
    """Whether most letters around are capitals."""
    around = mention.before + mention.written + mention.after[:_LOOK_BACK]
    capitals = sum(map(str.isupper, around))
    small = sum(map(str.islower, around))
    return capitals > small


def _is_capital(mention: _Mention) -> bool:
    """Whether a name is written as one, or nothing in the text is; German adjectives are small."""
    others = mention.text.replace("I", "")
    if not any(map(str.isupper, others)):
        return True
    if mention.written[:1].isupper():
        return True
    return fold_name(mention.written) not in _english()


def _after_place(mention: _Mention) -> bool:
    word = mention.word_before()
    if word in _listed()["articles"]:
        word = mention.word_before(2)
    if not word:
        return False
    return word in _listed()["at"] or bool(_GOING.search(mention.before))


def _before_work(mention: _Mention) -> bool:
    """Whether a word of the workplace follows, with at most two others between."""
    words = _work()
    end_before = mention.tokens[mention.end - 1].end
    for token in mention.tokens[mention.end : mention.end + _NEAR + 1]:
        between = mention.text[end_before : token.start]
        if between.strip(" -–'’") or token.word in _listed()["breaks"]:
            return False
        if words.other.fullmatch(token.word):
            return False
        if words.ahead.fullmatch(token.word):
            return True
        end_before = token.end
    return False


def fold_name(text: str) -> str:
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
    kinds: dict[str, _Kind] = {
        "names": "name",
        "people": "people",
        "guarded": "guarded",
        "adjectives": "adjective",
        "after": "after",
    }
    names = [(fold_name(name), _Entry("other", "")) for name in _listed()["others"]]
    for code, by_key in _listed()["country"].items():
        for key, kind in kinds.items():
            entry = _Entry(kind, code)
            names += [(fold_name(name), entry) for name in by_key.get(key, ())]
    return names


@lru_cache
def _names_by_code() -> dict[str, list[str]]:
    by_code: dict[str, list[str]] = defaultdict(list)
    for name, entry in _names():
        by_code[entry.code].append(name.rstrip("*"))
    return dict(by_code)


@lru_cache
def _entries() -> Phrases[_Entry]:
    return Phrases(_names())


@lru_cache
def _english() -> frozenset[str]:
    """Names and adjectives that English writes with a capital."""
    names: list[str] = []
    for by_key in _listed()["country"].values():
        names += by_key.get("guarded", ())
        names += by_key.get("adjectives", ())
    english: set[str] = set()
    for name in names:
        if name[:1].isupper():
            english.add(fold_name(name))
    return frozenset(english)


class _WorkWords(NamedTuple):
    ahead: re.Pattern[str]
    behind: re.Pattern[str]
    other: re.Pattern[str]


@lru_cache
def _work() -> _WorkWords:
    return _WorkWords(
        ahead=_pattern(_listed()["work"]),
        behind=_pattern(_listed()["work_before"]),
        other=_pattern(_listed()["not_work"]),
    )


def _pattern(words: list[str]) -> re.Pattern[str]:
    alternatives: list[str] = []
    for word in words:
        ending = r"\w*" if word.endswith("*") else ""
        alternatives.append(re.escape(word.rstrip("*")) + ending)
    return re.compile("|".join(alternatives))
