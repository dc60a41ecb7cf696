"""Whether a statement of a claim says of the passage's statement the same in the same direction:
nothing denied or undenied, obliged or allowed, turned round or added. Statement by statement;
English only."""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from ombud.answer.proof.aligning import (
    AlignedAssertion,
    Alignment,
    Assertion,
    split_assertions,
)
from ombud.answer.proof.figures.cells import cells_of, heads_of
from ombud.text import (
    Sentence,
    canonical_terms,
    content_terms,
    is_topic_word,
    parties_in,
    polarity,
)

ADDED = 0.2
"""A statement of a claim of which less stands in any statement of the passages is added."""
ADDED_MESSAGE = "it adds what the cited text does not say"
RESTATED = 0.75
"""Share of a claim's assertion in another from which its sentence is not looked at."""
NEARLY_SURE = 0.485
"""Share from which it is looked at what both deny: they have the denied word in common, too."""
NEAREST = 0.9
"""Share of the best score of assertions whose denials are compared."""
REACHED = 5
"""Words behind a denial that it reaches."""
LOOKED_BACK = 45
"""Characters before a word in which a denial reaches it."""
LISTED = 120
"""Characters behind a denial in which "or" goes on with it."""
_NEGATOR = re.compile(
    r"\b(?:not|no|never|none|nobody|nothing (?=is|are|has|may|must|can)|neither|nor|cannot"
    r"|without|\w+n't|unable)\b(?! only\b)"
)
_MAY_BE = re.compile(
    r"\b(?:may|can|might|could) be (?P<done>[a-z]+ed|held|paid|given|taken|sent|kept)\b"
)
_MAY_DO = re.compile(
    r"\b(?:may|might) (?:(?:well|also|then) )?(?!be\b|not\b|have\b|need\b)(?P<done>[a-z]+)\b"
)
_IS = re.compile(
    r"\b(?:is|are|will be|must be) (?:\w+ly )?(?P<done>[a-z]+ed|held|paid|given|taken|sent|kept)\b"
)
_WILL = re.compile(r"\b(?:will|shall) (?:\w+ly )?(?!be\b|not\b)(?P<done>(?:[a-z]+ ?){1,5})")
_UNSURE = re.compile(
    r"\b(?:may|might|can|could|allow\w*|entitle\w*|permit\w*|eligible|options?|choose\w*|choice"
    r"|up to|at most|maximum|usually|normally|typically|often|sometimes"
    r"|possibl[ey]|likely|optional)\b"
)
_CONDITIONAL = re.compile(r"\b(?:if|unless|only|once|when)\b")
_CONDITION = re.compile(r"\b(?:if|when|while|unless|where|who)\b[^,;]*|\bwith no\b")
_NOTHING = re.compile(r"\b([a-z]+) nothing\b")
"""What is denied by its object."""
_OR = re.compile(r"\b(?:or|nor) ([a-z][\w'-]*)")
"""What else a denial reaches: "will not pay the cost or sign for it"."""
_QUOTED = re.compile(r'"[^"]*"')
_NOBODY = re.compile(r"^\W*(?:(?:and|but|or) )?(?:no|nobody|none|neither|never)\b")
_FORBIDDEN = re.compile(
    r"(?:^|[;:.,] )(?:please )?(?:do not|never)\b(?! (?:have|need))"
    r"|\b(?:nobody|no one)\b(?! (?:has|needs|is|must|may|can)\b)"
)
"""A prohibition without a modal verb: "do not forward it", "nobody shares it"."""
_DENYING_CELL = re.compile(r"(?:no|none|never|not possible|not offered)\b(?! more| later| less)")
_STOP = re.compile(r"[;.:|]| but ")
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
            if closest and closest[0].share >= NEARLY_SURE:
                yield from _denials_differ(assertion, closest, alignment)
            if not closest or not closest[0].sure:
                continue
            nearest = alignment.closest(assertion, NEAREST)
            yield from _denied_cells(assertion, nearest)
            yield from _duty_turned(assertion, closest)
            yield from _softened(assertion, closest)
            yield from _turned(assertion, closest)


# Denials ------------------------------------------------------------------------------------------


def _denials_differ(
    claim: Assertion, closest: Sequence[AlignedAssertion], alignment: Alignment
) -> Iterator[str]:
    """What the claim denies and the assertion that it restates affirms, or the other way round,
    word by word; where each denies what the other affirms, they may well say the same.

    closest: the others may bear the claim out."""
    texts = list(map(alignment.with_answer, closest))
    lost = _denied_here_only(texts[0], claim.text) | _listed_here_only(texts[0], claim.text)
    added = _denied_here_only(claim.text, texts[0])
    if bool(lost) == bool(added):
        return
    for text in texts[1:]:
        lost = {word for word in lost if not _affirms(text, word)}
        added -= _denied_words(text)
    added -= _denied_elsewhere(added, claim, alignment)
    if _denies_nothing(claim) and lost:
        yield f"the cited text denies “{min(lost)}”, it does not"
    if added and _denies_more(claim, texts[0]):
        yield f"it denies “{min(added)}”, the cited text does not"


def _denied_elsewhere(words: set[str], claim: Assertion, alignment: Alignment) -> set[str]:
    """Those that an assertion which speaks of the same denies, be it not the next word behind:
    "will not undergo pay review" for "no pay review"."""
    denied: set[str] = set()
    for other in alignment.assertions:
        if 2 * len(other.terms & claim.terms) > len(claim.terms):
            denied.update(word for word in words if _denies(other, word))
    return denied


def _denies(passage: Assertion, word: str) -> bool:
    return _stem(word) <= passage.terms and not _affirms(passage.text, word)


def _denies_more(claim: Assertion, text: str) -> bool:
    return _count(claim.text) > _count(text) and not polarity.names_exception(claim.text)


def _denies_nothing(claim: Assertion) -> bool:
    return not _NEGATOR.search(claim.text)


def _denied_here_only(text: str, other: str) -> set[str]:
    """Words that a text denies and the other one affirms."""
    if _CONDITIONAL.search(other):  # "only if they consent" for "not without their consent"
        text = text.replace("without", " ")
    return {word for word in _denied_words(text) if _affirms(other, word)}


def _listed_here_only(text: str, other: str) -> set[str]:
    """The same of what a denial reaches by "or"."""
    words: set[str] = set()
    plain = polarity.without_comparisons(_CONDITION.sub(" ", _QUOTED.sub(" ", text)))
    for match in _NEGATOR.finditer(plain):
        following = _STOP.split(plain[match.end() : match.end() + LISTED])[0]
        words.update(filter(_stem, _OR.findall(following)))
    return {word for word in words if _affirms(other, word)}


def _count(text: str) -> int:
    return len(_NEGATOR.findall(polarity.without_comparisons(text)))


@lru_cache(maxsize=8192)
def _denied_words(text: str) -> frozenset[str]:
    """The first word with a meaning behind each denial."""
    words: set[str] = set()
    plain = polarity.without_comparisons(_CONDITION.sub(" ", _QUOTED.sub(" ", text)))
    words.update(filter(_stem, _NOTHING.findall(plain)))
    for match in _NEGATOR.finditer(plain):
        following = _BOUNDARY.split(plain[match.end() : match.end() + LOOKED_BACK])[0]
        for word in filter(_stem, _WORD.findall(following)):
            words.add(word)
            if not word.endswith("ly"):  # "does not automatically renew"
                break
    return frozenset(words)


def _affirms(text: str, word: str) -> bool:
    """Whether the text has the word and no denial reaches it, be it "unapproved" for "not
    approved"."""
    stem = _stem(word)
    text = _QUOTED.sub(" ", text)
    if f"un{word}" in text or f"non-{word}" in text:
        return False
    affirmed = False
    for match in _WORD.finditer(text):
        if _stem(match[0]) != stem:
            continue
        before = _BOUNDARY.split(text[max(0, match.start() - LOOKED_BACK) : match.start()])[-1]
        before = " ".join(before.split()[-REACHED:])
        behind = _BOUNDARY.split(text[match.end() : match.end() + LOOKED_BACK])[0]
        if _NEGATOR.search(f"{before} {behind}") or polarity.turns(f"{before} {behind}"):
            return False
        if _is_listed_behind_denial(text[: match.start()]):
            return False
        affirmed = True
    return affirmed


def _is_listed_behind_denial(before: str) -> bool:
    """Whether what stands before a word ends with "or", and a denial goes on behind that: "do not
    look at the profiles, or google"."""
    return before.endswith(" or ") and bool(_NEGATOR.search(_STOP.split(before[-LISTED:])[-1]))


def _denied_cells(claim: Assertion, closest: Sequence[AlignedAssertion]) -> Iterator[str]:
    """ "No" in the column "May we refuse?", "none" in the row "Proof"."""
    if _NEGATOR.search(claim.text) or polarity.turns(claim.text):
        return
    denied: frozenset[str] = frozenset()
    for one in closest:
        here = _denied_terms(one.assertion) & claim.terms
        if not here:
            return
        denied |= here
    yield f"the cited table denies “{min(denied)}”, it does not"


def _denied_terms(passage: Assertion) -> frozenset[str]:
    if not passage.sentence.row:
        return frozenset()
    cells = cells_of(passage.text)
    heads = heads_of(passage.sentence.above.lower(), len(cells))
    denied: frozenset[str] = frozenset()
    for place, cell in enumerate(cells):
        if place and _DENYING_CELL.match(cell):
            # In a table of two columns the first cell says what is denied.
            name = heads[place] if heads and len(cells) > 2 else cells[0]
            denied |= _stem(name)
    return denied


@lru_cache(maxsize=20_000)
def _stem(word: str) -> frozenset[str]:
    return canonical_terms(content_terms(word, "en"))


def _terms_of(words: str) -> frozenset[str]:
    return frozenset[str]().union(*map(_stem, words.split()))


# Duties -------------------------------------------------------------------------------------------


def _duty_turned(claim: Assertion, closest: Sequence[AlignedAssertion]) -> Iterator[str]:
    excepts = polarity.names_exception(claim.text)
    for duty in _duties(claim.text):
        if excepts and duty.kind in ("allow", "forbid"):
            continue
        against = [_contrary(duty, one.assertion) for one in closest]
        if all(against):
            yield f"it says “{duty.wording}”, the cited text “{against[0]}”"


def _softened(claim: Assertion, closest: Sequence[AlignedAssertion]) -> Iterator[str]:
    """ "May be paused" for "is paused"."""
    for pattern in (_MAY_BE, _MAY_DO):
        for match in pattern.finditer(claim.text):
            done = _stem(match["done"])
            if done and all(_is_done(done, one.assertion) for one in closest):
                yield f"it says “{match[0]}”, the cited text says that it is done"


def _is_done(done: frozenset[str], passage: Assertion) -> bool:
    if any(duty.kind == "allow" for duty in _duties(passage.text)):
        return False
    if _UNSURE.search(passage.whole_text):
        return False
    if any(_stem(match["done"]) == done for match in _IS.finditer(passage.text)):
        return True
    return any(done <= _terms_of(match["done"]) for match in _WILL.finditer(passage.text))


def _contrary(duty: "_Duty", passage: Assertion) -> str:
    """The word by which a passage bids or leaves open the reverse of the same; empty where none
    does."""
    stated = [other for other in _duties(passage.text) if other.predicate & duty.predicate]
    kinds = {other.kind for other in stated}
    if duty.kind == "forbid" and _NEGATOR.search(passage.text):
        kinds -= {"allow"}
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
    for order in _FORBIDDEN.finditer(text):
        found.append(_Duty("forbid", order[0], _predicate(text[order.end() :])))
    for modal in polarity.find_modals(text):
        kind: str = modal.kind
        if _NOBODY.search(_STOP.split(text[: modal.start])[-1]):
            kind = {"allow": "forbid", "oblige": "spare"}.get(kind, kind)
        found.append(_Duty(kind, modal.wording, _predicate(modal.predicate)))
    return found


def _predicate(following: str) -> frozenset[str]:
    terms: list[str] = []
    for word in _WORD.findall(_BOUNDARY.split(following[:LOOKED_BACK])[0]):
        terms += _stem(word)
    return frozenset(terms[:2])


# Opposites ----------------------------------------------------------------------------------------


def _turned(claim: Assertion, closest: Sequence[AlignedAssertion]) -> Iterator[str]:
    text = polarity.without_comparisons(claim.text)
    for word, opposite in polarity.opposites_of(text, sure=True):
        if all(_says_opposite(word, opposite, one) for one in closest):
            yield f"it says “{word}”, the cited text “{opposite}”"


def _says_opposite(word: str, opposite: str, aligned: AlignedAssertion) -> bool:
    passage = aligned.assertion
    stated = polarity.without_comparisons(passage.text)
    if not polarity.contains_term(opposite, stated):
        return False
    # What is surely restated is taken alone: its sentence may go on with the reverse.
    around = passage.text if aligned.share >= RESTATED else passage.whole_text
    return not polarity.contains_similar(word, around)


# Words of no statement ----------------------------------------------------------------------------


@lru_cache(maxsize=8192)
def _telling_terms(claim: Assertion) -> frozenset[str]:
    """Those that most sentences do not have."""
    terms: set[str] = set()
    for word in _WORD.findall(claim.text):
        if is_topic_word(word) and not parties_in(word):
            terms |= _stem(word)
    return frozenset(terms)


def _added(
    claim: Assertion,
    closest: Sequence[AlignedAssertion],
    alignment: Alignment,
    asked: frozenset[str],
) -> Iterator[str]:
    new = _telling_terms(claim) - asked
    known = sum(map(alignment.has, new))
    if len(new) < 2 or 2 * known >= len(new):
        return
    if not closest or closest[0].share < ADDED:
        yield ADDED_MESSAGE
