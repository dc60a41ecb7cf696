"""Which countries a text names: "in France", "the French office", "UK", "Deutschland"; not "tell
us" or "polish". And the country that somebody has written into a field."""

import re
import tomllib
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping
from difflib import get_close_matches
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal, NamedTuple

from babel import Locale

from ombud.errors import BadRequest
from ombud.messages import country_name, message
from ombud.text.phrases import WORD, Phrases

LANGUAGES = ("en", "de", "fr", "es")
NO_COUNTRIES = (
    "AC", "CP", "CQ", "DG", "EA", "EU", "EZ", "IC", "QO", "TA", "UN", "XA", "XB", "ZZ",
)  # fmt: skip
"""Codes of two letters that CLDR has names for and ISO 3166 no countries."""
WRONG_CODES = {"UK": "GB", "EL": "GR"}
"""Codes that are written for countries and stand for none in ISO 3166."""
_ALIKE = 0.75
"""How much of a name must be the same to be proposed for one that is not known."""

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
WHOLE_NAMES = ("name", "guarded")


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
        """Return the word before; empty at the beginning of the text."""
        place = self.first - distance
        return self.tokens[place].word if place >= 0 else ""


def named_countries(text: str, among: Collection[str] | None = None) -> tuple[str, ...]:
    """Return the ISO 3166 alpha-2 codes of the countries that `text` names, in order, limited to
    `among` if given.

    An adjective counts if it belongs to a workplace or rule. A name that is also a word or a
    person's counts only if something shows that the country is meant."""
    text = _DOTTED.sub(without_dots, text)
    tokens = [_Token(word[0], *word.span()) for word in WORD.finditer(fold_name(text))]
    words = [token.word for token in tokens]
    codes: dict[str, None] = {}
    place = 0
    while place < len(tokens):
        mention = mention_at(place, words, tokens, text)
        if mention is None:
            place += 1
            continue
        place = mention.end
        kind, code = mention.entry
        if kind == "other":
            continue
        if among is None or code in among:
            codes[code] = None
    return tuple(codes)


def without_dots(match: re.Match[str]) -> str:
    """Remove dots without changing the length."""
    return match.group().replace(".", "").ljust(len(match.group()))


def mention_at(place: int, words: list[str], tokens: list[_Token], text: str) -> _Mention | None:
    for length, entry in _entries().at(words, place):
        end = place + length
        if not is_whole(tokens[place:end], text):
            continue
        mention = _Mention(
            entry=entry,
            text=text,
            tokens=tokens,
            first=place,
            end=end,
        )
        if _means_country(mention):
            return mention
    return None


def country_names(codes: Collection[str]) -> list[str]:
    """Return all names, adjectives and peoples of these countries, in small letters without
    accents."""
    names = names_by_code()
    return [name for code in codes for name in names.get(code, ())]


@lru_cache
def country_list() -> Mapping[str, str]:
    """Return the English name by ISO 3166 alpha-2 code, sorted by name."""
    names: dict[str, str] = {}
    for code, name in Locale("en").territories.items():
        if len(code) == len("GB") and code not in NO_COUNTRIES:
            names[code] = _listed()["country"].get(code, {}).get("shown", name)
    return dict(sorted(names.items(), key=lambda pair: fold_name(pair[1])))


def read_country(written: str) -> str:
    """Return the code for a code or a whole name; empty for nothing. Raises BadRequest for anything
    else and never guesses."""
    plain = " ".join(written.split())
    code = plain.upper()
    code = WRONG_CODES.get(code, code)
    if not code or code in country_list():
        return code
    codes = by_name()
    name = spelt_out(plain)
    if name in codes:
        return codes[name]
    near = get_close_matches(name[:60], codes, n=1, cutoff=_ALIKE)
    hint = message("admin.error_country_hint")
    if near:
        guess = message("admin.error_country_guess", name=country_name(codes[near[0]]))
        hint = f"{guess} {hint}"
    raise BadRequest(message("admin.error_country", text=plain[:40]), hint=hint)


@lru_cache
def by_name() -> dict[str, str]:
    """Map whole names in all our languages, adjectives left out, to codes."""
    codes = dict[str, str]()
    for locale in map(Locale, LANGUAGES):
        codes |= {spelt_out(locale.territories[code]): code for code in country_list()}
    codes |= {spelt_out(name): entry.code for name, entry in _names() if entry.kind in WHOLE_NAMES}
    return codes | {spelt_out(name): code for code, name in country_list().items()}


def spelt_out(name: str) -> str:
    return fold_name(name).replace("&", "and").replace("st. ", "saint ")


def is_whole(tokens: list[_Token], text: str) -> bool:
    """Tell whether only a blank, hyphen or apostrophe separates the words."""
    for token, following in pairwise(tokens):
        between = text[token.end : following.start]
        if between not in (" ", "-", "'", "’"):
            return False
    return True


def _means_country(mention: _Mention) -> bool:
    kind = mention.entry.kind
    if kind != "other" and mention.written.lower() == "us":
        return is_us(mention)
    means_country = _CHECKS[kind]
    return means_country(mention)


def is_name(mention: _Mention) -> bool:
    """Tell "The States" with a capital from "the states"."""
    return mention.written.lower() != "the states" or "States" in mention.written


def are_people(mention: _Mention) -> bool:
    if mention.end - mention.first == 1:
        return True
    return mention.written[-1:].islower() and bool(_HAVE.match(mention.after))


def stands_behind_work(mention: _Mention) -> bool:
    return bool(_work().behind.fullmatch(mention.word_before()))


def is_guarded_name(mention: _Mention) -> bool:
    """Tell whether a name that is also a person's or a word means the country."""
    if not is_capital(mention) or re.match(r"['’]s\b", mention.after):
        return False
    return after_place(mention) or before_work(mention)


def is_adjective(mention: _Mention) -> bool:
    return is_capital(mention) and before_work(mention)


_CHECKS: dict[_Kind, Callable[[_Mention], bool]] = {
    "other": lambda mention: True,
    "name": is_name,
    "people": are_people,
    "after": stands_behind_work,
    "guarded": is_guarded_name,
    "adjective": is_adjective,
}


def is_us(mention: _Mention) -> bool:
    """Tell the country from the pronoun, which is in small letters; "the us" is the country, and
    text all in capitals decides nothing."""
    if mention.written == "US" and not is_shouting(mention):
        return True
    if mention.word_before() != "the":
        return False
    places = (*_listed()["at"], "to", "from", "for")
    if mention.word_before(2) in places:
        return True
    return before_work(mention)


def is_shouting(mention: _Mention) -> bool:
    """Tell whether most letters around are capitals."""
    around = mention.before + mention.written + mention.after[:_LOOK_BACK]
    capitals = sum(map(str.isupper, around))
    small = sum(map(str.islower, around))
    return capitals > small


def is_capital(mention: _Mention) -> bool:
    """Tell whether a name is capitalised, or nothing in the text is; German adjectives are not."""
    others = mention.text.replace("I", "")
    if not any(map(str.isupper, others)):
        return True
    if mention.written[:1].isupper():
        return True
    return fold_name(mention.written) not in _english()


def after_place(mention: _Mention) -> bool:
    word = mention.word_before()
    if word in _listed()["articles"]:
        word = mention.word_before(2)
    if not word:
        return False
    return word in _listed()["at"] or bool(_GOING.search(mention.before))


def before_work(mention: _Mention) -> bool:
    """Tell whether a word of the workplace follows within three words."""
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
    """Return lower case without accents, of the same length."""
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
    locales = list(map(Locale, LANGUAGES))
    for code, by_key in _listed()["country"].items():
        guarded = by_key.get("guarded", ())
        territories = [locale.territories[code] for locale in locales]
        names += [(fold_name(n), _Entry("name", code)) for n in territories if n not in guarded]
        for key, kind in kinds.items():
            entry = _Entry(kind, code)
            names += [(fold_name(name), entry) for name in by_key.get(key, ())]
    return names


@lru_cache
def names_by_code() -> dict[str, list[str]]:
    by_code: dict[str, list[str]] = defaultdict(list)
    for name, entry in _names():
        by_code[entry.code].append(name.rstrip("*"))
    return dict(by_code)


@lru_cache
def _entries() -> Phrases[_Entry]:
    return Phrases(_names())


@lru_cache
def _english() -> frozenset[str]:
    """Return the names and adjectives that English capitalises."""
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
