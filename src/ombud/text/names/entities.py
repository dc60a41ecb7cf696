"""Names of things in the graph: what is drawn of them, and the key under which two names are one
thing.

A name is cut to its head ("notice" of "notice within 30 days"), freed of case, accents, articles
and plurals. Plurals go by Harman's S stemmer (JASIS 42, 1991), which leaves "employer", "employee"
and "employment" apart; Snowball would not."""

import re
import unicodedata
from collections.abc import Iterator

from ombud.text.analysis import WORD, analyse
from ombud.text.numbers import DIGITS, join_groups

LONGEST = 10
"""Words of a key."""
STEM = "~"
"""Stands before the name of a stem, so that no whole name is taken for one."""
_ARTICLES = (
    "a", "an", "the", "any", "each", "every", "all", "this", "that", "these", "those", "such",
)  # fmt: skip
_OWNERS = (
    "some", "its", "their", "your", "our", "his", "her", "my", "said", "no", "both", "either",
    "another", "other",
)  # fmt: skip
DETERMINERS = frozenset([*_ARTICLES, *_OWNERS])
_LEADING = re.compile(rf"(?:(?:{'|'.join(_ARTICLES)})\s+)+(?=\S)", re.IGNORECASE)
_HEAD_ENDS = re.compile(
    r"\s*[,;:(—]|\s+[-–]\s"
    r"|\s+(?:for|in|on|at|by|with|within|without|before|after|if|when|where|while|unless|that"
    r"|which|who|whom|whose|as|from|until|under|during|between|through|because|since|per|via|upon"
    r"|pursuant|regarding|including|such as|about|against|into|over|so)\b"
)
_QUANTITY = re.compile(
    r"(?:(?:up to|at least|at most|(?:no )?(?:more|less|fewer) than|about|only|a further"
    r"|a (?:min|max)imum of)\s+)?"
    rf"(?:{DIGITS}|one|two|three|four|five|six|seven|eight|nine|ten|twelve|twenty|thirty)\s+"
    r"(?:[a-z]+\s+){0,2}?(?:days?|weeks?|months?|hours?|years?)"
    r"(?:(?:\s+(?:a|per|each|every)\s+[a-z]+)?\s+of\s+(?!the\b)|[’']\s+)",
    re.IGNORECASE,
)
"""How much of a thing: "25 working days of paid annual leave" is paid annual leave."""
_SECTION = re.compile(r"(?:sections?|§§?|articles?)\s*\d+[-:]\d\w*", re.IGNORECASE)
"""A number that is one section's wherever it is written, with or without its code's name behind
it."""
_IES = re.compile(r"(?<![ea])ies$")
_ES = re.compile(r"(?:ch|sh|ss|x)es$")
_S = re.compile(r"(?<![sui])s$")
_NO_PLURAL = frozenset(
    {"bias", "series", "species", "news", "always", "gas", "canvas", "texas", "kansas", "arkansas"}
)
_ALTERNATIVE = re.compile(r"\s+(?:or|and)\s+")


_ALTERNATIVE_WORDS = 3
"""Of the key of each of two things that one name has."""


def display_name(text: str) -> str:
    """Return a name for display: without article and final stop, white space collapsed."""
    words = text.split()
    plain = " ".join(words).strip(" .,;:–—-|")
    opened = plain.count("(")
    closed = plain.count(")")
    if opened < closed and plain.endswith(")"):
        plain = plain[:-1].rstrip()
    leading = _LEADING.match(plain)
    return plain[leading.end() :] if leading else plain


def entity_key(text: str) -> str:
    """Return the key that equal names share: "The Employers" and "any employer" are `employer`.
    Empty only if there is no word."""
    name = display_name(text)
    section = _SECTION.match(name)
    if section:
        return _key(section.group())
    name = join_groups(name)
    quantity = _QUANTITY.match(name)
    if quantity:
        name = name[quantity.end() :]
    cut = _HEAD_ENDS.search(name)
    head = name[: cut.start()] if cut else ""
    return _key(head) or _key(name)


def alternative_keys(text: str) -> list[str]:
    """Return the keys of both parts of "employer or employment agency"; empty for a single name."""
    name = display_name(text)
    cut = _HEAD_ENDS.search(name)
    head = name[: cut.start()] if cut else name
    parts = _ALTERNATIVE.split(head)
    if len(parts) != 2:
        return []
    keys = list(map(_key, parts))
    for key in keys:
        words = key.split()
        if not words or len(words) > _ALTERNATIVE_WORDS:
            return []
    return keys


def entity_stems(text: str, language: str = "en") -> list[str]:
    """Return the distinct stems of a key or question, for lookups by single words."""
    return [STEM + term for term in dict.fromkeys(analyse(text, language))]


def name_words(text: str) -> Iterator[str]:
    """Return the words of a name as its key has them, articles included."""
    for match in WORD.finditer(_folded(text)):
        word = match.group().replace("’", "'")
        yield _singular(re.sub(r"'s?$", "", word))


def _key(name: str) -> str:
    words = [word for word in name_words(name) if word not in DETERMINERS]
    return " ".join(words[:LONGEST])


def _folded(text: str) -> str:
    spelt = re.sub(r"§+\s*", "section ", text)
    decomposed = unicodedata.normalize("NFKD", spelt).casefold()
    letters = [character for character in decomposed if not unicodedata.combining(character)]
    return "".join(letters)


def _singular(word: str) -> str:
    if len(word) < 4 or not word.isalpha() or word in _NO_PLURAL:
        return word
    if _IES.search(word):
        return word.removesuffix("ies") + "y"
    if _ES.search(word):
        return word.removesuffix("es")
    if _S.search(word):
        return word.removesuffix("s")
    return word
