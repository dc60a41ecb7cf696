"""Whether a statement of a claim says of the passage's statement the same in the same direction:
nothing denied or undenied, obliged or allowed, turned round, put in the place of something else,
or added. Statement by statement; English only."""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ombud.answer.proof.aligning import AlignedAssertion, Alignment, Assertion, split_assertions
from ombud.text import (
    Sentence,
    canonical_terms,
    content_terms,
    has_synonyms,
    parties_in,
    polarity,
    word_weight,
)

ADDED = 0.2
"""A statement of a claim of which less stands in any statement of the passages is added."""
NEAREST = 0.9
"""Share of the best score of assertions whose denials are compared."""
RARE = 0.7
"""Weight of a word from which it tells two statements apart: it stands in one or two of them."""
OPENING = 6
"""Words in which a statement says what it is about."""
LOOKED_BACK = 45
"""Characters before a word in which a denial reaches it."""
_NEGATOR = re.compile(
    r"\b(?:not|no|never|none|nobody|nothing|neither|nor|cannot|without|\w+n't|unable)\b(?! only\b)"
)
_CONDITION = re.compile(r"\b(?:if|when|unless|where|who)\b[^,;]*")
_NOBODY = re.compile(r"^\W*(?:(?:and|but|or) )?(?:no|nobody|none|neither|never)\b")
_BOUNDARY = re.compile(r"[,;.:|]| but ")
_WORD = re.compile(r"[a-z][\w'-]*")


def objections(
    claim: Sequence[Sentence], alignment: Alignment, asked: frozenset[str], language: str
) -> Iterator[str]:
    """asked: terms of the question."""
    if language[:2] != "en":
        return
    told: frozenset[str] = canonical_terms(asked)
    for sentence in claim:
        for assertion in split_assertions(sentence, language):
            closest = alignment.closest(assertion)
            yield from _added(assertion, closest, alignment, told)
            if not closest or not closest[0].sure:
                continue
            nearest = alignment.closest(assertion, NEAREST)
            yield from _denial_lost(assertion, nearest)
            yield from _denial_added(assertion, nearest, alignment)
            yield from _duty_turned(assertion, closest)
            yield from _turned(assertion, closest)
            yield from _put_in_place(assertion, closest, alignment, told)


# Denials ------------------------------------------------------------------------------------------


def _denial_lost(claim: Assertion, closest: Sequence[AlignedAssertion]) -> Iterator[str]:
    lost: set[str] = set()
    for one in closest:
        affirmed = _affirmed(claim, one.assertion)
        if not affirmed:
            return
        lost |= affirmed
    yield f"the cited text denies “{min(lost)}”, it does not"


def _affirmed(claim: Assertion, passage: Assertion) -> set[str]:
    """Words that the passage denies and the claim does not."""
    if _count(claim.text) >= _count(passage.text):
        return set()
    return {word for word in _denied_words(passage.text) if _affirms(claim.text, word)}


def _denial_added(
    claim: Assertion, closest: Sequence[AlignedAssertion], alignment: Alignment
) -> Iterator[str]:
    if polarity.names_exception(claim.text) or polarity.turns(claim.text):
        return
    words = _denied_words(claim.text)
    denied: set[str] = set()
    for one in closest:
        here = {word for word in words if _stem(word) and _stem(word) <= one.assertion.terms}
        if not here or _denies_at_all(alignment.text_behind(one)):
            return
        denied |= here
    yield f"it denies “{min(denied)}”, the cited text does not"


def _denies_at_all(text: str) -> bool:
    return bool(_NEGATOR.search(text) or polarity.turns(text))


def _count(text: str) -> int:
    """Denials, but for those of a condition."""
    plain = polarity.without_comparisons(_CONDITION.sub(" ", text))
    return len(_NEGATOR.findall(plain))


def _denied_words(text: str) -> set[str]:
    """The first word with a meaning behind each denial."""
    words: set[str] = set()
    plain = polarity.without_comparisons(text)
    for match in _NEGATOR.finditer(plain):
        following = _BOUNDARY.split(plain[match.end() : match.end() + LOOKED_BACK])[0]
        word = next(filter(_stem, _WORD.findall(following)), "")
        if word:
            words.add(word)
    return words


def _affirms(text: str, word: str) -> bool:
    """Whether the text has the word and no denial reaches it."""
    if polarity.turns(text):
        return False
    stem = _stem(word)
    affirmed = False
    for match in _WORD.finditer(text):
        if _stem(match[0]) != stem:
            continue
        before = text[max(0, match.start() - LOOKED_BACK) : match.start()]
        if _NEGATOR.search(_BOUNDARY.split(before)[-1]):
            return False
        affirmed = True
    return affirmed


def _stem(word: str) -> frozenset[str]:
    return canonical_terms(content_terms(word, "en"))


# Duties -------------------------------------------------------------------------------------------


def _duty_turned(claim: Assertion, closest: Sequence[AlignedAssertion]) -> Iterator[str]:
    for duty in _duties(claim.text):
        against = [_contrary(duty, one.assertion) for one in closest]
        if all(against):
            yield f"it says “{duty.wording}”, the cited text “{against[0]}”"


def _contrary(duty: "_Duty", passage: Assertion) -> str:
    """The word by which a passage bids or leaves open the reverse of the same; empty where none
    does."""
    stated = [other for other in _duties(passage.text) if other.predicate & duty.predicate]
    kinds = {other.kind for other in stated}
    if duty.kind in kinds or kinds.isdisjoint(_AGAINST.get(duty.kind, frozenset())):
        return ""
    return stated[0].wording


class _Duty(NamedTuple):
    kind: str
    wording: str
    predicate: frozenset[str]
    """The two words that follow."""


_AGAINST: dict[str, frozenset[str]] = {
    "oblige": frozenset({"allow", "spare"}),
    "allow": frozenset({"oblige", "forbid"}),
    "spare": frozenset({"oblige", "forbid"}),
    "forbid": frozenset({"allow", "spare", "oblige"}),
}


def _duties(text: str) -> list[_Duty]:
    found: list[_Duty] = []
    text = polarity.without_comparisons(text)
    for modal in polarity.find_modals(text):
        kind: str = modal.kind
        if _NOBODY.search(_BOUNDARY.split(text[: modal.start])[-1]):
            kind = {"allow": "forbid", "oblige": "spare"}.get(kind, kind)
        terms: list[str] = []
        for word in _WORD.findall(modal.predicate):
            terms += _stem(word)
        found.append(_Duty(kind, modal.wording, frozenset(terms[:2])))
    return found


# Opposites ----------------------------------------------------------------------------------------


def _turned(claim: Assertion, closest: Sequence[AlignedAssertion]) -> Iterator[str]:
    text = polarity.without_comparisons(claim.text)
    for word, opposite in polarity.opposites(sure=True):
        if not polarity.contains_term(word, text):
            continue
        if all(_says_opposite(word, opposite, one.assertion) for one in closest):
            yield f"it says “{word}”, the cited text “{opposite}”"


def _says_opposite(word: str, opposite: str, passage: Assertion) -> bool:
    stated = polarity.without_comparisons(passage.text)
    if not polarity.contains_term(opposite, stated):
        return False
    return not polarity.contains_similar(word, passage.whole_text)


# Words of other statements ------------------------------------------------------------------------


def _put_in_place(
    claim: Assertion,
    closest: Sequence[AlignedAssertion],
    alignment: Alignment,
    asked: frozenset[str],
) -> Iterator[str]:
    """A word that a claim begins with and the passages have only elsewhere, where this one begins
    with another."""
    opening = _opening_terms(claim)
    known = set(asked)
    for one in closest:
        if not _opening_terms(one.assertion) - claim.terms:
            return
        sentence = one.assertion.sentence
        known |= canonical_terms(sentence.terms | sentence.terms_above)
    around = canonical_terms(claim.sentence.terms)
    for term in sorted(opening - known):
        if _is_of_another(term, around, alignment):
            yield f"“{term}” is said of something else in the cited text"


def _is_of_another(term: str, around: frozenset[str], alignment: Alignment) -> bool:
    """Whether assertions that share nothing else with the claim have it."""
    if has_synonyms(term) or alignment.weight(term) < RARE:
        return False
    elsewhere = [other for other in alignment.assertions if term in other.terms]
    return bool(elsewhere) and all(len(other.terms & around) < 2 for other in elsewhere)


def _opening_terms(claim: Assertion, words: int = OPENING) -> frozenset[str]:
    """Of the words that it begins with, those that most sentences do not have."""
    terms: set[str] = set()
    for word in _WORD.findall(claim.text)[:words]:
        if word_weight(word) == 1 and not parties_in(word):
            terms |= _stem(word)
    return frozenset(terms)


def _added(
    claim: Assertion,
    closest: Sequence[AlignedAssertion],
    alignment: Alignment,
    asked: frozenset[str],
) -> Iterator[str]:
    new = _opening_terms(claim, len(claim.text)) - asked
    known = sum(alignment.has(term) for term in new)
    if len(new) < 2 or 2 * known >= len(new):
        return
    if not closest or closest[0].share < ADDED:
        yield "it adds what the cited text does not say"
