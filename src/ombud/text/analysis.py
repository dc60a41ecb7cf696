"""Text to index terms: the same on the way in and on the way out.

Words are lower-cased, stripped of accents, freed of stop words and stemmed by their language's
Snowball rules; Chinese, Japanese and Korean runs become overlapping pairs of characters."""

import re
import unicodedata
from functools import lru_cache
from pathlib import Path

import Stemmer

STEMMERS = {
    "da": "danish", "de": "german", "en": "english", "es": "spanish", "fi": "finnish", "fr": "french",
    "it": "italian", "nl": "dutch", "no": "norwegian", "pt": "portuguese", "sv": "swedish",
}  # fmt: skip
CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uac00-\ud7af"
WORD = re.compile(rf"[{CJK}]+|[^\W_{CJK}]+(?:[.'’&/-](?=[^\W_{CJK}])[^\W_{CJK}]+)*")
PART = re.compile(r"[^\W_]+")
LONGEST = 39
"""Bytes of UTF-8; the full-text index drops longer terms."""


def analyse(text: str, language: str = "en") -> list[str]:
    """Terms of `text` in reading order, repetitions kept."""
    terms: list[str] = []
    for match in WORD.finditer(_fold(text)):
        word = match.group()
        if word[0] >= "\u3040" and re.match(f"[{CJK}]", word):
            terms += [word] if len(word) == 1 else [word[i : i + 2] for i in range(len(word) - 1)]
            continue
        terms += _terms(word, language)
    return terms


def _terms(word: str, language: str) -> list[str]:
    # "401(k)", "on-call" and "13.5" are one word to a reader: keep the parts, and the whole where
    # it is short.
    parts = PART.findall(word)
    kept = [_stem(p, language) for p in parts if p not in _stop_words(language)]
    if len(parts) > 1 and len(word) <= 12 and any(c.isdigit() or c in "&/" for c in word):
        kept.append(re.sub(r"['’]", "", word))
    return [term.encode()[:LONGEST].decode(errors="ignore") for term in kept]


@lru_cache(maxsize=100_000)
def _stem(word: str, language: str) -> str:
    if not word.isalpha() or language not in STEMMERS:
        return word
    return str(_stemmer(language).stemWord(word))


def _fold(text: str) -> str:
    if text.isascii():
        return text.lower()
    decomposed = unicodedata.normalize("NFKD", text).lower().replace("ß", "ss")
    kept = (c for c in decomposed if not ("\u0300" <= c <= "\u036f"))
    return unicodedata.normalize("NFC", "".join(kept))


@lru_cache
def _stemmer(language: str) -> Stemmer.Stemmer:
    return Stemmer.Stemmer(STEMMERS[language])


@lru_cache
def _stop_words(language: str) -> frozenset[str]:
    path = Path(__file__).parent / "stopwords" / f"{language}.txt"
    return (
        frozenset(_fold(path.read_text(encoding="utf-8")).split())
        if path.is_file()
        else frozenset()
    )
