"""Whether a claim says hardly anything in words of its own, so that nobody has to be asked whether
its passage bears it out."""

import re
from collections.abc import Sequence
from functools import lru_cache

from ombud.answer.proof.aligning import Alignment, Assertion, split_assertions
from ombud.text import Sentence, canonical_terms, content_terms, free_words

CLOSEST = 0.6
"""Share of the best one's score from which an assertion is looked at, and how many at most."""
MOST_LOOKED_AT = 4
OWN_WORDS = 1
"""Words that a claim may have beside its passage where it says again nearly all of that."""
SAID_AGAIN = 0.7
"""Share of the passage's words from which nearly all is said again."""
SAYING_NOTHING = frozenset({"also", "too", "a", "an", "the"})
_WORD = re.compile(r"[\w'@.$£€%-]*\w")


def is_restated(claim: Sequence[Sentence], alignment: Alignment, language: str) -> bool:
    """Whether each statement of the claim has its words from one sentence of the passages. English
    only: elsewhere nothing is sure to be."""
    if language[:2] != "en":
        return False
    statements = [part for sentence in claim for part in split_assertions(sentence, language)]
    return bool(statements) and all(_has_its_words(part, alignment) for part in statements)


def not_word_for_word(
    claim: Sequence[Sentence], evidence: Sequence[Sentence], language: str
) -> list[Sentence]:
    """The sentences of the claim that are no sentence of the passages, word for word and in order;
    articles and "also" aside, which say nothing by themselves. English only: elsewhere all."""
    if language[:2] != "en":
        return list(claim)
    stated = {_in_order(sentence.text) for sentence in evidence}
    return [sentence for sentence in claim if _in_order(sentence.text) not in stated]


def _has_its_words(claim: Assertion, alignment: Alignment) -> bool:
    said = _words(claim.text)
    for one in alignment.closest(claim, CLOSEST)[:MOST_LOOKED_AT]:
        own = len(said - _words(one.text_with_above))
        stated = _words(one.assertion.text)
        again = len(stated & said) / len(stated) if stated else 0.0
        if own == 0 or (own <= OWN_WORDS and again >= SAID_AGAIN):
            return True
    return False


@lru_cache(maxsize=8192)
def _words(text: str) -> frozenset[str]:
    """All but the free ones, denials and modal verbs among them, as their first synonyms."""
    free = free_words()
    found = (word.strip(".'-") for word in _plain_words(text))
    return frozenset(_canonical(word) for word in found if word and word not in free)


@lru_cache(maxsize=8192)
def _in_order(text: str) -> tuple[str, ...]:
    return tuple(word for word in _plain_words(text) if word not in SAYING_NOTHING)


def _plain_words(text: str) -> list[str]:
    """In small letters and in order, without marks of how they look."""
    plain = text.lower().replace("’", "'").replace("**", "").replace("`", "")
    return _WORD.findall(plain)


@lru_cache(maxsize=20_000)
def _canonical(word: str) -> str:
    return min(canonical_terms(content_terms(word, "en")), default=word)
