"""Text to index terms: the same on the way in and on the way out.

Words are lower-cased, stripped of accents, freed of stop words and stemmed by their language's
Snowball rules; Chinese, Japanese and Korean runs become overlapping pairs of characters."""

import re
import unicodedata
from functools import lru_cache
from itertools import pairwise
from pathlib import Path

import Stemmer

from ombud.text.phrases import split_words

STEMMERS = {
    "da": "danish",
    "de": "german",
    "en": "english",
    "es": "spanish",
    "fi": "finnish",
    "fr": "french",
    "it": "italian",
    "nl": "dutch",
    "no": "norwegian",
    "pt": "portuguese",
    "sv": "swedish",
}
CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uac00-\ud7af"
WORD = re.compile(rf"[{CJK}]+|[^\W_{CJK}]+(?:[.'’&/-](?=[^\W_{CJK}])[^\W_{CJK}]+)*")
_ACCENTS = re.compile("[\u0300-\u036f]+")
_IDEOGRAPH = re.compile(f"[{CJK}]")
_WHOLE = re.compile(r"[&/]|\d")
"""What makes a word of several parts one to a reader."""
LONGEST_WHOLE = 12
"""Characters of such a word."""
LONGEST = 39
"""Bytes of UTF-8; the full-text index drops longer terms."""


def analyse(text: str, language: str = "en") -> list[str]:
    """Return the terms of `text` in reading order, with repetitions."""
    terms: list[str] = []
    for match in WORD.finditer(fold(text)):
        word = match.group()
        if word[0] >= "\u3040" and _IDEOGRAPH.match(word):
            terms += _pairs(word)
        else:
            terms += _terms(word, language)
    return terms


def count_cjk(text: str) -> int:
    """Return how many characters are Chinese, Japanese or Korean."""
    return len(_IDEOGRAPH.findall(text))


def _pairs(run: str) -> list[str]:
    """Return overlapping pairs of characters, or a single character."""
    if len(run) == 1:
        return [run]
    neighbours = pairwise(run)
    return list(map("".join, neighbours))


@lru_cache(maxsize=100_000)
def _terms(word: str, language: str) -> tuple[str, ...]:
    # "401(k)", "on-call" and "13.5" are one word to a reader: keep the parts, and the whole where
    # it is short.
    parts = split_words(word)
    stop_words = _stop_words(language)
    terms = [_stem(part, language) for part in parts if part not in stop_words]
    if len(parts) > 1 and len(word) <= LONGEST_WHOLE and _WHOLE.search(word):
        terms.append(word.replace("'", "").replace("’", ""))
    return tuple(term.encode()[:LONGEST].decode(errors="ignore") for term in terms)


@lru_cache(maxsize=100_000)
def _stem(word: str, language: str) -> str:
    if not word.isalpha() or language not in STEMMERS:
        return word
    return str(_stemmer(language).stemWord(word))


def fold(text: str) -> str:
    """Return lower case without accents."""
    if text.isascii():
        return text.lower()
    decomposed = unicodedata.normalize("NFKD", text).lower().replace("ß", "ss")
    return unicodedata.normalize("NFC", _ACCENTS.sub("", decomposed))


@lru_cache
def _stemmer(language: str) -> Stemmer.Stemmer:
    return Stemmer.Stemmer(STEMMERS[language])


@lru_cache
def _stop_words(language: str) -> frozenset[str]:
    path = Path(__file__).parent / "stopwords" / f"{language}.txt"
    if not path.is_file():
        return frozenset()
    return frozenset(fold(path.read_text(encoding="utf-8")).split())
