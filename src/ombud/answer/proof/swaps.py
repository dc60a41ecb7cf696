"""Whether a statement of a claim says of the passage's statement the same in the same direction:
nothing denied or undenied, obliged or allowed, turned round, put in the place of something else,
or added. Statement by statement; English only."""

import re
from collections.abc import Iterator, Sequence

from ombud.answer.proof.aligning import AlignedSegment, Alignment, Segment, split_segments
from ombud.text import Sentence, content_terms, polarity
from ombud.text.statements.subjects import word_weight
from ombud.text.scope.synonyms import canonical_terms

ADDED = 0.2
"""A statement of a claim of which less stands in any statement of the passages is added."""
RARE = 0.7
"""Weight of a word from which it tells two statements apart: it stands in one or two of them."""
OPENING = 6
"""Words in which a statement says what it is about."""
LOOKED_BACK = 45
"""Characters before a word in which a denial reaches it."""
_NEGATOR = re.compile(
    r"\b(?:not|no|never|none|nobody|nothing|neither|nor|cannot|without|\w+n't|unable)\b(?! only\b)"
)
_NOBODY = re.compile(r"^\W*(?:(?:and|but|or) )?(?:no|nobody|none|neither|never)\b")
_BOUNDARY = re.compile(r"[,;.:|]| but ")
_WORD = re.compile(r"[a-z][\w'-]*")
_TURNED = re.compile(
    r"\b(?:except|unless|only|until|instead|otherwise|rather|lapse\w*|refus\w*|lose[sd]?|exclu\w+"
    r"|beyond|impossible|forbid\w*|prohibit\w*|exempt|void|free|waive\w*|hardly|too late|fails?|stop\w*|unpaid"
    r"|declin\w*|apart|separate\w*|independent\w*|optional|voluntary|nil|zero)\b"
)


def objections(
    claim: Sequence[Sentence], alignment: Alignment, asked: frozenset[str], language: str
) -> Iterator[str]:
    """asked: terms of the question."""
    if language[:2] != "en":
        return
    told: frozenset[str] = canonical_terms(asked)
    for sentence in claim:
        for segment in split_segments(sentence, language):
            closest = alignment.closest(segment)
            yield from _added(segment, closest, alignment, told)
            if not closest or not closest[0].sure:
                continue
            yield from _denial_lost(segment, closest)
            yield from _denial_added(segment, closest, alignment)
            yield from _duty_turned(segment, closest)
            yield from _turned(segment, closest)
            yield from _put_in_place(segment, closest, alignment, told)


# Denials ------------------------------------------------------------------------------------------


def _denial_lost(claim: Segment, closest: Sequence[AlignedSegment]) -> Iterator[str]:
    lost: set[str] = set()
    denials = _count(claim.text)
    for one in closest:
        if denials >= _count(one.segment.text):
            return
        words = _denied_words(one.segment.text)
        affirmed = {word for word in words if _affirms(claim.text, word)}
        if not affirmed:
            return
        lost |= affirmed
    if lost:
        yield f"the cited text denies “{min(lost)}”, it does not"


def _denial_added(
    claim: Segment, closest: Sequence[AlignedSegment], alignment: Alignment
) -> Iterator[str]:
    denied: set[str] = set()
    if polarity.names_exception(claim.text):
        return
    for one in closest:
        around = " ".join(alignment.texts_behind(one))
        if _NEGATOR.search(around) or _TURNED.search(around):
            return
        words = _denied_words(polarity.without_comparisons(claim.text))
        here = {word for word in words if _stem(word) <= one.segment.terms and _stem(word)}
        if not here:
            return
        denied |= here
    if denied and not _TURNED.search(claim.text):
        yield f"it denies “{min(denied)}”, the cited text does not"


def _count(text: str) -> int:
    return len(_NEGATOR.findall(polarity.without_comparisons(text)))


def _denied_words(text: str) -> set[str]:
    """The first word with a meaning behind each denial."""
    words: set[str] = set()
    plain = polarity.without_comparisons(text)
    for match in _NEGATOR.finditer(plain):
        following = _BOUNDARY.split(plain[match.end() : match.end() + LOOKED_BACK])[0]
        for word in _WORD.findall(following):
            if content_terms(word, "en"):
                words.add(word)
                break
    return words


def _affirms(text: str, word: str) -> bool:
    """Whether the text has the word and no denial reaches it."""
    stem = _stem(word)
    affirmed = False
    for match in _WORD.finditer(text):
        if _stem(match[0]) != stem:
            continue
        before = text[max(0, match.start() - LOOKED_BACK) : match.start()]
        reaching = _BOUNDARY.split(before)[-1]
        if _NEGATOR.search(reaching) or _TURNED.search(text):
            return False
        affirmed = True
    return affirmed


def _stem(word: str) -> frozenset[str]:
    return canonical_terms(content_terms(word, "en"))


# Duties -------------------------------------------------------------------------------------------


def _duty_turned(claim: Segment, closest: Sequence[AlignedSegment]) -> Iterator[str]:
    wanted = _duties(claim.text)
    for kind, wording, predicate in wanted:
        against: list[str] = []
        for one in closest:
            stated = [other for other in _duties(one.segment.text) if other[2] & predicate]
            kinds = {other[0] for other in stated}
            if not kinds or kind in kinds or kinds.isdisjoint(_AGAINST.get(kind, frozenset())):
                break
            against.append(stated[0][1])
        else:
            yield f"it says “{wording}”, the cited text “{against[0]}”"


_AGAINST: dict[str, frozenset[str]] = {
    "oblige": frozenset({"allow", "spare"}),
    "allow": frozenset({"oblige", "forbid"}),
    "spare": frozenset({"oblige", "forbid"}),
    "forbid": frozenset({"allow", "spare", "oblige"}),
}


def _duties(text: str) -> list[tuple[str, str, frozenset[str]]]:
    """(kind, wording, the two words that follow) of each modal."""
    found: list[tuple[str, str, frozenset[str]]] = []
    for match in polarity.modal_matches(text):
        following = _BOUNDARY.split(text[match.end() : match.end() + LOOKED_BACK])[0]
        terms: list[str] = []
        for word in _WORD.findall(following):
            terms += _stem(word)
        kind = str(match.lastgroup)
        before = _BOUNDARY.split(text[: match.start()])[-1]
        if _NOBODY.search(before):
            kind = {"allow": "forbid", "oblige": "spare"}.get(kind, kind)
        found.append((kind, match[0], frozenset(terms[:2])))
    return found


# Opposites ----------------------------------------------------------------------------------------


def _turned(claim: Segment, closest: Sequence[AlignedSegment]) -> Iterator[str]:
    text = polarity.without_comparisons(claim.text)
    for word, opposite in polarity.opposites(sure=True):
        if not polarity.contains_term(word, text):
            continue
        for one in closest:
            stated = polarity.without_comparisons(one.segment.text)
            whole = one.segment.sentence.text.lower()
            if not polarity.contains_term(opposite, stated):
                break
            if polarity.contains_similar(word, whole):
                break
        else:
            yield f"it says “{word}”, the cited text “{opposite}”"


# Words of other statements ------------------------------------------------------------------------


def _put_in_place(
    claim: Segment, closest: Sequence[AlignedSegment], alignment: Alignment, asked: frozenset[str]
) -> Iterator[str]:
    """A word that the passages have only elsewhere, where this statement has another one."""
    known = set(asked)
    missing = True
    for one in closest:
        known |= one.segment.terms | canonical_terms(one.segment.sentence.terms)
        known |= canonical_terms(one.segment.sentence.terms_above)
        missing = missing and bool(one.segment.terms - claim.terms)
    if not missing:
        return
    around = canonical_terms(claim.sentence.terms)
    for term in sorted(_opening_terms(claim) - known):
        elsewhere = [other for other in alignment.segments if term in other.terms]
        if not elsewhere or alignment.weight(term) < RARE:
            continue
        if all(len(other.terms & around) < 2 for other in elsewhere):
            yield f"“{term}” is said of something else in the cited text"


def _opening_terms(claim: Segment) -> frozenset[str]:
    """Of the words that it begins with, those that most sentences do not have."""
    terms: set[str] = set()
    for word in _WORD.findall(claim.text)[:OPENING]:
        if word_weight(word) == 1:
            terms |= _stem(word)
    return frozenset(terms)


def _added(
    claim: Segment, closest: Sequence[AlignedSegment], alignment: Alignment, asked: frozenset[str]
) -> Iterator[str]:
    new = claim.terms - asked
    known = sum(alignment.has(term) for term in new)
    if len(new) < 2 or 2 * known >= len(new):
        return
    if not closest or closest[0].share < ADDED:
        yield "it adds what the cited text does not say"
