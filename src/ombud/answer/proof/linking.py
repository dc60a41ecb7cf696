"""Whether the small words of a claim link what they link in its passage: from whom and to whom,
both or either, if or even if. English only."""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import combinations
from typing import NamedTuple

from ombud.answer.proof.aligning import AlignedAssertion, Alignment, split_assertions
from ombud.text import Sentence, canonical_terms, content_terms, find_conditions

LONGEST_PHRASE = 5
"""Words behind a preposition that may be what it links."""
SHARED = 0.5
"""Share of a condition's words from which "whether or not" speaks of it."""
_PREPOSITION = re.compile(r"\b(?:from|to|by|with|on|under|in|for|against)\b")
_STOP = re.compile(
    r"[,;:.!?()|](?!\w)|\b(?:and|or|but|which|who|that|is|are|was|will|must|may|can|should|has|have"
    r"|from|to|by|with|on|under|in|for|against|of|at|as|if|when|until|unless|approving|including)\b"
)
_BOTH = re.compile(r"\bboth (?P<first>[^,.;:]{2,40}?) and (?P<second>[^,.;:]{2,40})")
_OR = re.compile(r"\bor\b|\w ?/ ?\w")
_AND = re.compile(r"\b(?:and|both|each|plus|as well as)\b")
_WORD = re.compile(r"[\w@.'-]+\w|\w")
_IN_SPITE = re.compile(
    r"\b(?:whether or not|even (?:if|when|though|where|after|once|in the event)"
    r"|regardless of (?:whether|how|what)|no matter (?:whether|if|how|what)|with or without)\b"
    r"(?P<what>[^.;]{3,120})"
    r"|\bwhether\b(?P<split>[^.;,]{3,80})\bor not\b"
)
_CONCEDING = re.compile(r"\b(?:even|whether|regardless|irrespective|no matter|independent\w*)\b")
_CONDITIONAL = frozenset({"if", "when", "once", "unless", "provided", "as", "so", "only", "where"})
"""Marks of conditions that something may be said in spite of."""


def objections(claim: Sequence[Sentence], alignment: Alignment, language: str) -> Iterator[str]:
    if language[:2] != "en":
        return
    for sentence in claim:
        for assertion in split_assertions(sentence, language):
            closest = alignment.closest(assertion)
            if not closest or not closest[0].sure:
                continue
            yield from _exchanged(assertion.text, closest)
            yield from _both_for_either(assertion.text, closest)
            yield from _in_spite(assertion.text, closest)


# From and to --------------------------------------------------------------------------------------


class _Linked(NamedTuple):
    preposition: str
    terms: frozenset[str]
    """Canonical, of what stands behind it."""


def _exchanged(claim: str, closest: Sequence[AlignedAssertion]) -> Iterator[str]:
    for first, second in combinations(_linked(claim), 2):
        if first.preposition == second.preposition or first.terms & second.terms:
            continue
        if all(_is_turned(first, second, one.assertion.whole_text) for one in closest):
            yield f"“{first.preposition}” and “{second.preposition}” are exchanged"


def _is_turned(first: _Linked, second: _Linked, passage: str) -> bool:
    stated = _linked(passage)
    if _says(stated, first) or _says(stated, second):
        return False
    first_turned = _Linked(second.preposition, first.terms)
    return _says(stated, first_turned) and _says(stated, _Linked(first.preposition, second.terms))


def _says(stated: Sequence[_Linked], wanted: _Linked) -> bool:
    return any(
        one.preposition == wanted.preposition and not wanted.terms.isdisjoint(one.terms)
        for one in stated
    )


@lru_cache(maxsize=4096)
def _linked(text: str) -> tuple[_Linked, ...]:
    linked: list[_Linked] = []
    for match in _PREPOSITION.finditer(text):
        phrase = _STOP.split(text[match.end() :], maxsplit=1)[0]
        words = " ".join(phrase.split()[:LONGEST_PHRASE])
        terms = canonical_terms(content_terms(words, "en"))
        if terms:
            linked.append(_Linked(match[0], terms))
    return tuple(linked)


# Both and either ----------------------------------------------------------------------------------


def _both_for_either(claim: str, closest: Sequence[AlignedAssertion]) -> Iterator[str]:
    for match in _BOTH.finditer(claim):
        first = canonical_terms(content_terms(match["first"], "en"))
        second = canonical_terms(content_terms(match["second"].split(" to ")[0], "en"))
        between = [_between(first, second, one.assertion.whole_text) for one in closest]
        if all(_OR.search(text) and not _AND.search(text) for text in between):
            yield "it says “both”, the cited text “or”"


def _between(first: frozenset[str], second: frozenset[str], text: str) -> str:
    """From the first word of the one to the first of the other; empty where either is missing."""
    places: list[tuple[int, int]] = []
    for terms in (first, second):
        for word in _WORD.finditer(text):
            if not terms.isdisjoint(canonical_terms(content_terms(word[0], "en"))):
                places.append(word.span())
                break
    if len(places) < 2:
        return ""
    return text[min(places)[0] : max(places)[1]]


# If and even if -----------------------------------------------------------------------------------


def _in_spite(claim: str, closest: Sequence[AlignedAssertion]) -> Iterator[str]:
    """ "Whether or not you resign" where the passage says "if you resign"."""
    if any(_CONCEDING.search(one.assertion.whole_text) for one in closest):
        return
    for match in _IN_SPITE.finditer(claim):
        terms = canonical_terms(content_terms(match["what"] or match["split"], "en"))
        for one in closest:
            for condition in find_conditions(one.assertion.whole_text):
                shared = len(condition.terms & terms)
                if condition.mark in _CONDITIONAL and shared > SHARED * len(condition.terms):
                    yield f"the cited text makes that a condition: “{condition.text}”"
                    return
