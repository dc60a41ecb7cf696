"""Whether a claim's clause denies what the clauses of its passages say, or the other way round."""

import re
from collections.abc import Iterator, Sequence

from ombud.answer.proof.nearest import ClaimClause, NearClause, surely_near
from ombud.text import Sentence, content_terms, polarity

ANSWER = re.compile(r"^\s*(?:yes|no)\b\s*(?:[,.:;–-]|$)", re.IGNORECASE)
"""What a claim begins with because the question wants it; it denies nothing by itself."""
EXCEPTING = re.compile(r"[\s,]*(?:and |or )?(?:unless|except|apart from|other than)\b")
CONDITIONAL = re.compile(r"[\s,]*(?:and |or )?(?:if|when|where|as long as)\b")
OPENING_CONDITION = re.compile(r"^\s*(?:if|when|where|as long as)\b[^,]*,")
CLOSING_CONDITION = re.compile(r",? (?:(?:and|or) )?(?:if|when|where|as long as)\b[^,;]*$")
WITHOUT = re.compile(r",? (?:and )?without [^,;]{3,60}$")
NO_CELL = re.compile(r"\|\s*no\b")
_DENYING = re.compile(r"\b(?:no|not|never|none|nobody|nor|neither|cannot|without|\w+n['’]t)\b")
DENIES = "it denies something, the cited text does not"
DENIED = "the cited text denies something, it does not"


def denial_objections(
    claim: ClaimClause, near: Sequence[NearClause], passages: Sequence[Sentence], language: str
) -> Iterator[str]:
    """near: the clauses that speak of the same; where there are none, a denial needs one anywhere
    in the passages."""
    denials = _count(claim.text.replace("with no ", "with "), language)
    if CONDITIONAL.match(claim.text):  # "if it says nothing" for "silence"
        return
    if not near:
        yield from _denies_alone(denials, passages, language)
        return
    if _agree(claim, near, passages, language):
        return
    if denials > _most_denials(near, language):
        if not _only_excepts(claim.text) and not _is_denied_beside(claim, passages, language):
            yield DENIES
    elif _lacks_denial(claim, near):
        yield DENIED


def _denies_alone(denials: int, passages: Sequence[Sentence], language: str) -> Iterator[str]:
    if denials and not _denies_anywhere(passages, language):
        yield DENIES


def _lacks_denial(claim: ClaimClause, near: Sequence[NearClause]) -> bool:
    """Whether the claim's sentence denies nothing, and the clauses deny more than an aside."""
    if _DENYING.search(claim.sentence.text.lower()):
        return False
    return not all(_is_beside(other, claim) for other in near)


def _is_beside(near: NearClause, claim: ClaimClause) -> bool:
    """Whether the clause denies only beside what the claim says: "where it would not be fair to
    wait", "without connecting them"."""
    if CONDITIONAL.match(near.text):
        return True
    if not polarity.count_denials(CLOSING_CONDITION.sub("", near.text)):
        return True
    aside = WITHOUT.search(near.text)
    if not aside or polarity.count_denials(near.text) > 1:
        return False
    return content_terms(aside[0], "en").isdisjoint(claim.sentence.terms)


def _most_denials(near: Sequence[NearClause], language: str) -> int:
    return max((_count(other.text, language) for other in near), default=0)


def _is_denied_beside(claim: ClaimClause, passages: Sequence[Sentence], language: str) -> bool:
    """Whether a sentence that has half of the claim's words denies: the nearest one may be of
    something else."""
    wanted = claim.sentence.terms
    for sentence in passages:
        is_near = 2 * len(sentence.terms & wanted) >= len(wanted)
        if is_near and polarity.count_denials(sentence.text.lower(), language):
            return True
    return False


def _only_excepts(clause: str) -> bool:
    """Whether a clause denies nothing but where a rule does not hold: "unless you resign"."""
    return bool(EXCEPTING.match(clause)) and polarity.count_denials(clause) == 1


def _count(clause: str, language: str) -> int:
    """Its denials, but for those of the condition that it begins with."""
    return polarity.count_denials(OPENING_CONDITION.sub("", clause), language)


def _denies_anywhere(passages: Sequence[Sentence], language: str) -> bool:
    return any(polarity.count_denials(sentence.text.lower(), language) for sentence in passages)


def _agree(
    claim: ClaimClause, near: Sequence[NearClause], passages: Sequence[Sentence], language: str
) -> bool:
    if _deny_alike(claim, near, language):
        return True
    if language[:2] == "en" and (_is_doubtful(claim, near) or _agree_as_whole(claim, near)):
        return True
    denials = _count(claim.text, language)
    if not surely_near(near) and _neighbour_agrees(denials, near):
        return True
    return denials > 0 and _is_denied_elsewhere(claim, passages)


def _deny_alike(claim: ClaimClause, near: Sequence[NearClause], language: str) -> bool:
    """Whether a clause denies as often, or as often by twos."""
    denials = _count(claim.text, language)
    for other in near:
        other_denials = _count(other.text, language)
        if _same_parity(denials, other_denials):
            return True
        # Several denials in a list are one each.
        if denials and other_denials and "," in other.text:
            return True
    return False


def _same_parity(first: int, second: int) -> bool:
    return (first - second) % 2 == 0


def _is_doubtful(claim: ClaimClause, near: Sequence[NearClause]) -> bool:
    """Whether one side has a word that may deny and the other has not."""
    in_claim = polarity.doubtful_words(claim.text)
    around_claim = polarity.doubtful_words(claim.sentence.text.lower())
    for other in near:
        if _is_denying_row(other):
            return True
        only_in_claim = in_claim - polarity.doubtful_words(other.whole_text)
        only_in_passage = polarity.doubtful_words(other.text) - around_claim
        if only_in_claim or only_in_passage:
            return True
    return False


def _is_denying_row(near: NearClause) -> bool:
    if not near.sentence.row:
        return False
    return bool(NO_CELL.search(near.text)) or polarity.count_denials(near.text) > 0


def _agree_as_whole(claim: ClaimClause, near: Sequence[NearClause]) -> bool:
    """ "Not without" and "not unless" deny twice, in one clause or in two: then the whole sentences
    count."""
    sentence = claim.sentence.text.lower()
    denials = polarity.count_denials(ANSWER.sub("", sentence))
    for other in near:
        other_denials = polarity.count_denials(other.whole_text)
        if _same_parity(denials, other_denials):
            return True
    return False


def _neighbour_agrees(denials: int, near: Sequence[NearClause]) -> bool:
    """Whether a clause beside one of them denies as often."""
    for other in near:
        for clause in other.sentence.clauses:
            if _same_parity(denials, polarity.count_denials(clause.text)):
                return True
    return False


def _is_denied_elsewhere(claim: ClaimClause, passages: Sequence[Sentence]) -> bool:
    """Whether what the claim denies is denied by a clause: "does not answer" by "no answer is no
    agreement"."""
    runs = polarity.denied_runs(claim.text)
    if not runs:
        return False
    denied: set[str] = set()
    for sentence in passages:
        for clause in sentence.clauses:
            denied |= polarity.denied_terms(clause.text)
    return not any(map(denied.isdisjoint, runs))
