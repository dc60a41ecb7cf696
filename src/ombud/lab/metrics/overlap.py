"""Likeness of two texts by their words and characters; every value is 0-1."""

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from functools import lru_cache

from ombud.text import digits_in

_ARTICLES = frozenset({"a", "an", "the"})
_WORDS = re.compile(r"\w+")
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
    """Words as SQuAD compares them: lower case, no punctuation, no English articles (Rajpurkar et
    al. 2016).

    Punctuation and symbols of every script go, not only ASCII; a table's pipe parts words. Letters
    of scripts written without spaces count as one word each."""
    bare = unicodedata.normalize("NFKC", text).lower().translate(_BARE)
    spaced = _UNSPACED.sub(r" \1 ", bare)
    return tuple(word for word in spaced.split() if word not in _ARTICLES)


@lru_cache(maxsize=4096)
def words(text: str) -> tuple[str, ...]:
    """Lower-case runs of letters and digits, for ROUGE; no stemming."""
    return tuple(_WORDS.findall(_UNSPACED.sub(r" \1 ", text.lower())))


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
    """F1 of the longest common subsequence of words (Lin 2004, beta = 1, as the rouge_score
    package)."""
    a = words(candidate)
    b = words(reference)
    if not a and not b:
        return 1.0
    return 2 * common_subsequence(a, b) / (len(a) + len(b))


def common_subsequence(first: Sequence[Hashable], second: Sequence[Hashable]) -> int:
    """Length of the longest common subsequence, bit-parallel (Hyyrö 2004): one word operation a
    row."""
    places: dict[Hashable, int] = {}
    for position, item in enumerate(first):
        places[item] = places.get(item, 0) | 1 << position
    full = (1 << len(first)) - 1
    rows = full
    for item in second:
        matched = rows & places.get(item, 0)
        rows = ((rows + matched) | (rows - matched)) & full
    return len(first) - rows.bit_count()


def chrf(candidate: str, reference: str, beta: float = 2) -> float:
    """chrF: F-score of character n-grams, n = 1-6, white space left out (Popović 2015); sacrebleu's
    beta is 2.

    Orders that one text is too short for do not count, as in sacrebleu without smoothing.
    """
    a = "".join(candidate.split())
    b = "".join(reference.split())
    if not a or not b:
        return float(a == b)
    precision = recall = 0.0
    orders = min(6, len(a), len(b))
    for size in range(1, orders + 1):
        grams_a = Counter(_grams(a, size))
        grams_b = Counter(_grams(b, size))
        same = (grams_a & grams_b).total()
        precision += same / grams_a.total() / orders
        recall += same / grams_b.total() / orders
    if not precision or not recall:
        return 0.0
    weight = beta**2
    total = weight * precision + recall
    return (1 + weight) * precision * recall / total


def numbers(text: str) -> frozenset[str]:
    """Distinct numbers of a text, spelt alike: `1,000`, `1.000` and `1 000` are 1000, `2.50` and
    `2,5` are 2.5.

    A separator before exactly three digits groups thousands; number words are not read.
    """
    return frozenset(digits_in(text))


def _grams(text: str, size: int) -> Iterator[str]:
    for start in range(len(text) - size + 1):
        yield text[start : start + size]


TEXT_METRICS: Mapping[str, Callable[[str, str], float]] = {
    "token_f1": token_f1,
    "rouge_l": rouge_l,
    "chrf": chrf,
    "exact_match": exact_match,
}
"""Name -> how much an answer, which comes first, has of a reference."""
