"""What a claim denies, obliges or allows, beside the clauses of its passages that speak of the
same."""

import re
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from ombud.text import Clause, Sentence, polarity

ANSWER = re.compile(r"^\s*(?:yes|no)\b\s*(?:[,.:;–-]|$)", re.IGNORECASE)
"""What a claim begins with because the question wants it; it denies nothing by itself."""
CLOSE = 0.85
"""A clause whose overlap is this share of the best one's may be meant as well."""
CLOSEST = 0.9
"""The same where duties are compared."""
AROUND = 0.3
"""What a term shared by the sentences around two clauses counts beside one that they share
themselves."""
ABOVE = 0.2
"""The same of a term that the claim shares with the headings."""
EXACT = 1.0
"""What a clause of the passage gains that says nothing else than the claim's."""
LEAST = 0.3
"""Share of a clause's terms below which nothing in the passages counts as speaking of the same."""
NO_CELL = re.compile(r"\|\s*no\b")
GOES_ON = re.compile(r"[\s,]*(?:and|or)\b")
EARLY = re.compile(r"\bearl(?:y|ier|iest)\b")
DENIES = "it denies something, the cited text does not"
DENIED = "the cited text denies something, it does not"


class ClaimClause(NamedTuple):
    text: str
    """Without the yes or no that it begins with."""
    terms: frozenset[str]
    sentence: Sentence


class NearClause(NamedTuple):
    """A clause of a passage that speaks of what a claim's clause does."""

    clause: Clause
    sentence: Sentence
    score: float
    sure: bool


def objections(
    claim: Sequence[Sentence], passages: Sequence[Sentence], language: str
) -> Iterator[str]:
    """What the claim denies, obliges or allows and its passages do not, or the other way round."""
    for sentence in claim:
        for clause in sentence.clauses:
            text = ANSWER.sub("", clause.text)
            yield from _objections(ClaimClause(text, clause.terms, sentence), passages, language)


def _objections(claim: ClaimClause, passages: Sequence[Sentence], language: str) -> Iterator[str]:
    near = _nearest(claim, passages)
    if not near:
        yield from _denied_by_none(claim, passages, language)
        return
    if not _denials_agree(claim, near, passages, language):
        yield _denial(claim, near, language)
    if language[:2] != "en":
        return
    yield from _modal_objections(claim, near, passages)
    yield from _lost_limit(claim, near)
    yield from _opposite(claim, near, passages)


def _nearest(claim: ClaimClause, passages: Sequence[Sentence]) -> list[NearClause]:
    """The clauses that share most terms with it; fewer where the sentences around them share
    more."""
    candidates: list[NearClause] = []
    for sentence in passages:
        shared_by_sentences = len(claim.sentence.terms & sentence.terms)
        if not shared_by_sentences:
            continue
        shared_above = len(claim.terms & sentence.terms_above)
        around = AROUND * shared_by_sentences + ABOVE * shared_above
        for clause in sentence.clauses:
            shared = len(claim.terms & clause.terms)
            if not shared:
                continue
            whole = EXACT * shared / len(clause.terms)
            candidates.append(
                NearClause(
                    clause=clause,
                    sentence=sentence,
                    score=shared + whole + around,
                    sure=_is_sure(shared, claim, clause),
                )
            )
    best = max((near.score for near in candidates), default=0.0)
    if best < LEAST * len(claim.terms):
        return []
    close = [near for near in candidates if near.score >= CLOSE * best]
    return [near for near in close if near.sure] or close


def _is_sure(shared: int, claim: ClaimClause, other: Clause) -> bool:
    """Whether the two say so much of the same that one may not deny what the other says."""
    if shared < 2 and len(claim.terms) > 1:
        return False
    return shared >= 0.5 * len(claim.terms) or shared >= 0.8 * len(other.terms)


# Denials ------------------------------------------------------------------------------------------


def _denied_by_none(
    claim: ClaimClause, passages: Sequence[Sentence], language: str
) -> Iterator[str]:
    """Where nothing speaks of the same, a denial needs one somewhere in the passages."""
    if not polarity.count_denials(claim.text, language):
        return
    texts = (sentence.text.lower() for sentence in passages)
    if not any(polarity.count_denials(text, language) for text in texts):
        yield DENIES


def _denial(claim: ClaimClause, near: Sequence[NearClause], language: str) -> str:
    most = max(polarity.count_denials(other.clause.text, language) for other in near)
    return DENIES if polarity.count_denials(claim.text, language) > most else DENIED


def _denials_agree(
    claim: ClaimClause, near: Sequence[NearClause], passages: Sequence[Sentence], language: str
) -> bool:
    if _agrees(claim, near, language):
        return True
    in_english = language[:2] == "en"
    if in_english and any(_is_doubtful(claim, other) for other in near):
        return True
    if in_english and _agrees_as_whole(claim, near):
        return True
    if _agrees_nearby(claim, near, language):
        return True
    return _is_denied_elsewhere(claim, passages, language)


def _agrees(claim: ClaimClause, near: Sequence[NearClause], language: str) -> bool:
    """Whether a clause denies as often, or as often by twos."""
    denials = polarity.count_denials(claim.text, language)
    for other in near:
        other_denials = polarity.count_denials(other.clause.text, language)
        if (denials - other_denials) % 2 == 0:
            return True
        # Several denials in a list are one each.
        if denials and other_denials and "," in other.clause.text:
            return True
    return False


def _is_doubtful(claim: ClaimClause, near: NearClause) -> bool:
    """Whether one side has a word that may deny and the other has not."""
    text = near.clause.text
    if near.sentence.row and (NO_CELL.search(text) or polarity.count_denials(text)):
        return True
    in_claim = polarity.doubtful_words(claim.text)
    in_passage = polarity.doubtful_words(text)
    around_claim = polarity.doubtful_words(claim.sentence.text.lower())
    around_passage = polarity.doubtful_words(near.sentence.text.lower())
    return bool(in_claim - around_passage or in_passage - around_claim)


def _agrees_as_whole(claim: ClaimClause, near: Sequence[NearClause]) -> bool:
    """ "Not without" and "not unless" deny twice, in one clause or in two: then the whole sentences
    count."""
    denials = polarity.count_denials(ANSWER.sub("", claim.sentence.text.lower()))
    denied_outside = bool(denials) and not polarity.count_denials(claim.text)
    excepted = polarity.names_exception(claim.text)
    for other in near:
        counts = excepted or denied_outside or polarity.names_exception(other.clause.text)
        other_denials = polarity.count_denials(other.sentence.text.lower())
        if counts and (denials - other_denials) % 2 == 0:
            return True
    return False


def _agrees_nearby(claim: ClaimClause, near: Sequence[NearClause], language: str) -> bool:
    """Whether, where no clause is surely meant, one beside them denies as often."""
    if any(other.sure for other in near):
        return False
    denials = polarity.count_denials(claim.text, language)
    for other in near:
        for clause in other.sentence.clauses:
            if (denials - polarity.count_denials(clause.text)) % 2 == 0:
                return True
    return False


def _is_denied_elsewhere(claim: ClaimClause, passages: Sequence[Sentence], language: str) -> bool:
    """Whether what the claim denies is denied by a clause: "does not answer" by "no answer is no
    agreement"."""
    runs = polarity.denied_runs(claim.text)
    if not runs or not polarity.count_denials(claim.text, language):
        return False
    clauses = [clause for sentence in passages for clause in sentence.clauses]
    denied_in_clauses = [polarity.denied_terms(clause.text) for clause in clauses]
    return all(any(run & denied for denied in denied_in_clauses) for run in runs)


def _lost_limit(claim: ClaimClause, near: Sequence[NearClause]) -> Iterator[str]:
    """ "Can be higher" where the passage says "never exceeds": a limit is no denial, but it may not
    get lost."""
    sure = [other for other in near if other.sure]
    if not sure or not all(polarity.forbids_exceeding(other.clause.text) for other in sure):
        return
    if not polarity.forbids_exceeding(claim.text) and not polarity.sets_limit(claim.text):
        yield "the cited text sets a limit, it does not"


# May, must, need not ------------------------------------------------------------------------------


class Duties(NamedTuple):
    """What the clauses closest to a claim's say of what must, may and need not be done.

    `..._around`: their whole sentences say so.
    """

    obliges: bool
    bids: bool
    """It obliges, or tells to do something."""
    allows: bool
    spares: bool
    """Nobody has to."""
    advises: bool
    forbids: bool
    forbids_else: bool
    """Apart from the words that spare."""
    sets_time: bool
    """Something has to be done by a time although no word says so: "updates are applied within 24
    hours"."""
    obliges_around: bool
    allows_around: bool
    spares_around: bool
    """Where no clause is surely meant, anything in the passages does."""


class ModalRule(NamedTuple):
    """A claim with a word of one of `kinds` is objected to where `is_wrong`."""

    kinds: frozenset[polarity.ModalKind]
    is_wrong: Callable[[Duties], bool]
    message: str


def _leaves_open(duties: Duties) -> bool:
    return duties.allows and not duties.bids and not duties.obliges_around


def _obliges(duties: Duties) -> bool:
    told_only = duties.bids and not duties.allows
    timed_only = duties.sets_time and not duties.allows_around
    return told_only or timed_only


def _does_not_spare(duties: Duties) -> bool:
    return not duties.spares and (duties.forbids or not duties.spares_around)


def _only_spares(duties: Duties) -> bool:
    return duties.spares and not duties.forbids_else


def _does_not_only_advise(duties: Duties) -> bool:
    return duties.obliges and not duties.advises


MODAL_RULES = (
    ModalRule(frozenset({"oblige"}), _leaves_open, "leaves it open"),
    ModalRule(frozenset({"allow", "vague"}), _obliges, "obliges"),
    ModalRule(frozenset({"spare"}), _does_not_spare, "does not leave it open"),
    ModalRule(frozenset({"forbid"}), _only_spares, "leaves it open"),
    ModalRule(frozenset({"advise"}), _does_not_only_advise, "obliges"),
)


def _modal_objections(
    claim: ClaimClause, near: Sequence[NearClause], passages: Sequence[Sentence]
) -> Iterator[str]:
    modals = list(polarity.find_modals(claim.text))
    if not modals:
        return
    duties = _duties(claim, near, passages)
    for modal in modals:
        for rule in MODAL_RULES:
            if modal.kind in rule.kinds and rule.is_wrong(duties):
                yield f"it says “{modal.wording}”, the cited text {rule.message}"


def _duties(claim: ClaimClause, near: Sequence[NearClause], passages: Sequence[Sentence]) -> Duties:
    best = max(other.score for other in near)
    closest = [other for other in near if other.score >= CLOSEST * best]
    clauses = [_opening(other) for other in closest]
    here = "\n".join(clauses)
    around = "\n".join(other.sentence.text.lower() for other in closest)
    spared = around
    if not any(other.sure for other in closest):
        spared = "\n".join(sentence.text.lower() for sentence in passages)
    obliges = polarity.expresses("oblige", here)
    return Duties(
        obliges=obliges,
        bids=obliges or any(polarity.bids(clause) for clause in clauses),
        allows=polarity.expresses("allow", here),
        spares=polarity.expresses("spare", here),
        advises=polarity.expresses("advise", here),
        forbids=polarity.forbids(here),
        forbids_else=polarity.forbids(polarity.without_sparing(here)),
        sets_time=_sets_time(claim, closest),
        obliges_around=polarity.expresses("oblige", around),
        allows_around=polarity.expresses("allow", around),
        spares_around=polarity.expresses("spare", spared),
    )


def _opening(near: NearClause) -> str:
    if GOES_ON.match(near.clause.text):
        return near.sentence.text.lower()
    return near.clause.text


def _sets_time(claim: ClaimClause, near: Sequence[NearClause]) -> bool:
    if "never" in claim.text:
        return False
    return any(
        not other.sentence.row and polarity.sets_deadline(other.clause.text) for other in near
    )


# Opposites ----------------------------------------------------------------------------------------


def _opposite(
    claim: ClaimClause, near: Sequence[NearClause], passages: Sequence[Sentence]
) -> Iterator[str]:
    same_matter = [s for s in passages if len(s.terms & claim.sentence.terms) > 1]
    sentences = [*same_matter, *(other.sentence for other in near)]
    around = "\n".join(f"{sentence.text}\n{sentence.above}".lower() for sentence in sentences)
    here = polarity.without_comparisons("\n".join(other.clause.text for other in near))
    if polarity.contains_term("no earlier than", claim.text) and not EARLY.search(around):
        yield "it says “no earlier than”, the cited text does not"
    said = polarity.without_comparisons(claim.text)
    for word, opposite in polarity.opposites(sure=any(other.sure for other in near)):
        if not polarity.contains_term(word, said) or not polarity.contains_term(opposite, here):
            continue
        if not polarity.contains_similar(word, around):
            yield f"it says “{word}”, the cited text “{opposite}”"
