"""Likeness of two texts by their words and characters; every value is 0-1."""

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Mapping
from functools import cache, lru_cache
from typing import Any

from rapidfuzz.distance import LCSseq

from ombud.lab.extra import lab_library
from ombud.text import digits_in, word_runs

_ARTICLES = frozenset({"a", "an", "the"})
_UNSPACED = re.compile(r"([\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff])")


class _Bare(dict[int, int | None]):
    """A table for str.translate that fills itself: without punctuation and symbols, but with the
    fraction slash."""

    def __missing__(self, code: int) -> int | None:
        gone = unicodedata.category(chr(code))[0] in "PS" and chr(code) != "⁄"
        self[code] = None if gone else code
        return self[code]


_BARE = _Bare({ord("|"): ord(" ")})


@lru_cache(maxsize=4096)
def answer_tokens(text: str) -> tuple[str, ...]:
    """Split into words as SQuAD compares them: lower case, no punctuation, no English articles
    (Rajpurkar et al. 2016).

    Punctuation and symbols of every script go, not only ASCII; a table's pipe parts words. Letters
    of scripts written without spaces count as one word each."""
    bare = unicodedata.normalize("NFKC", text).lower().translate(_BARE)
    spaced = _UNSPACED.sub(r" \1 ", bare)
    return tuple(word for word in spaced.split() if word not in _ARTICLES)


@lru_cache(maxsize=4096)
def words(text: str) -> tuple[str, ...]:
    """Lower-case runs of letters and digits, for ROUGE; no stemming."""
    return tuple(word_runs(_UNSPACED.sub(r" \1 ", text.lower())))


def token_f1(first: str, second: str) -> float:
    """Harmonic mean of precision and recall over shared words, as SQuAD computes it; two empty
    texts are equal."""
    a = answer_tokens(first)
    b = answer_tokens(second)
    if not a or not b:
        return float(a == b)
    return 2 * (Counter(a) & Counter(b)).total() / (len(a) + len(b))


def exact_match(first: str, second: str) -> float:
    """1 if the words of `answer_tokens` are the same in the same order, else 0."""
    return float(answer_tokens(first) == answer_tokens(second))


def rouge_l(candidate: str, reference: str) -> float:
    """F1 of the longest common subsequence of words (Lin 2004, beta = 1).

    The values are those of the rouge-score package with these words; rapidfuzz finds the
    subsequence a hundred times as fast, and without nltk."""
    a = words(candidate)
    b = words(reference)
    if not a and not b:
        return 1.0
    return 2 * LCSseq.similarity(a, b) / (len(a) + len(b))


def chrf(candidate: str, reference: str) -> float:
    """chrF2 of sacrebleu, without smoothing: character n-grams, n = 1-6, white space left out
    (Popović 2015)."""
    if not candidate.strip() or not reference.strip():
        return float(candidate.split() == reference.split())
    return float(_chrf().sentence_score(candidate, [reference]).score) / 100


@cache
def _chrf() -> Any:
    return lab_library("sacrebleu.metrics").CHRF()


def numbers(text: str) -> frozenset[str]:
    """Collect the distinct numbers of a text in one spelling: `1,000`, `1.000` and `1 000` are
    1000, `2.50` and `2,5` are 2.5.

    A separator before exactly three digits groups thousands; number words are not read.
    """
    return frozenset(digits_in(text))


TEXT_METRICS: Mapping[str, Callable[[str, str], float]] = {
    "token_f1": token_f1,
    "rouge_l": rouge_l,
    "chrf": chrf,
    "exact_match": exact_match,
}
"""Name -> how much an answer, which comes first, has of a reference."""
