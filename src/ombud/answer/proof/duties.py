"""Whether a claim obliges, allows or forbids what its passages do."""

import re
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from ombud.answer.proof.nearest import (
    ClaimClause,
    NearClause,
    closest_clauses,
    joined_whole_text,
    surely_near,
)
from ombud.text import Sentence, canonical_terms, content_terms, polarity

COURTEOUS = frozenset({"can", "could"})
PLAIN = frozenset({"have to", "has to", "need to", "needs to"})
"""What people say for "should" as well."""
RECOMMENDING = re.compile(r"\b(?:should|recommend\w*|suggest\w*|encourag\w*|advis\w*)\b")
CLOSEST = 0.9
"""A clause counts whose overlap is this share of the best one's."""


class Duties(NamedTuple):
    """What the clauses closest to a claim's say of what must, may and need not be done.

    `..._around`: their whole sentences say so.
    """

    obliges: bool
    bids: bool
    """It obliges, or tells to do something."""
    may: bool
    """It allows by another word than "only"."""
    allows: bool
    spares: bool
    """Nobody has to."""
    advises: bool
    recommends: bool
    """By a word that leaves no doubt."""
    forbids: bool
    denies: bool
    forbids_strictly: bool
    """Not only by "do not" or "is not", which may as well spare."""
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
    return duties.may and not duties.bids and not duties.obliges_around


def _obliges(duties: Duties) -> bool:
    if duties.bids and not duties.allows:
        return True
    return duties.sets_time and not duties.allows_around


def _does_not_spare(duties: Duties) -> bool:
    if duties.spares:
        return False
    if duties.denies and not duties.obliges and not duties.forbids_strictly:
        return False
    return duties.forbids or not duties.spares_around


def _only_spares(duties: Duties) -> bool:
    return duties.spares and not duties.forbids_else


def _only_advises(duties: Duties) -> bool:
    return duties.recommends and not duties.bids and not duties.obliges_around


def _does_not_advise(duties: Duties) -> bool:
    return duties.obliges and not duties.advises


MODAL_RULES = (
    ModalRule(frozenset({"oblige"}), _leaves_open, "leaves it open"),
    ModalRule(frozenset({"oblige"}), _only_advises, "only advises it"),
    ModalRule(frozenset({"allow", "vague"}), _obliges, "obliges"),
    ModalRule(frozenset({"spare"}), _does_not_spare, "does not leave it open"),
    ModalRule(frozenset({"forbid"}), _only_spares, "leaves it open"),
    ModalRule(frozenset({"advise"}), _does_not_advise, "obliges"),
)


def duty_objections(
    claim: ClaimClause, near: Sequence[NearClause], passages: Sequence[Sentence]
) -> Iterator[str]:
    """English only."""
    modals = _modals_to_check(claim, near, passages)
    if not modals:
        return
    duties = _duties(claim, near, passages)
    for modal in modals:
        # A page asks people to do something in order to get what they can have, and what helps can
        # be had where something else is an obligation.
        if modal.wording in COURTEOUS:
            continue
        if modal.wording in PLAIN and duties.recommends:
            continue
        for rule in MODAL_RULES:
            if modal.kind in rule.kinds and rule.is_wrong(duties):
                yield f"it says “{modal.wording}”, the cited text {rule.message}"


def _modals_to_check(
    claim: ClaimClause, near: Sequence[NearClause], passages: Sequence[Sentence]
) -> list[polarity.Modal]:
    modals = [modal for modal in polarity.find_modals(claim.text) if _speaks_of(modal, near)]
    if _advised_beside(claim, passages):
        return [modal for modal in modals if modal.kind != "advise"]
    return modals


def _advised_beside(claim: ClaimClause, passages: Sequence[Sentence]) -> bool:
    """Whether a sentence that shares two words with the claim says "should"."""
    for sentence in passages:
        shared = len(sentence.terms & claim.sentence.terms)
        if shared > 1 and polarity.expresses("advise", sentence.text.lower()):
            return True
    return False


def _speaks_of(modal: polarity.Modal, near: Sequence[NearClause]) -> bool:
    """Whether what has to or may be done is anything that the clauses name."""
    if surely_near(near) and not any(other.sentence.row for other in near):
        return True
    what = canonical_terms(content_terms(modal.predicate, "en"))
    return not what or any(what & canonical_terms(other.clause.terms) for other in near)


def _duties(claim: ClaimClause, near: Sequence[NearClause], passages: Sequence[Sentence]) -> Duties:
    closest = closest_clauses(near, CLOSEST)
    clauses = list(map(_opening, closest))
    here = "\n".join(clauses)
    around = joined_whole_text(closest)
    spared = around
    if not surely_near(closest):
        spared = "\n".join(sentence.text.lower() for sentence in passages)
    obliges = polarity.expresses("oblige", here)
    timeless = "never" in claim.text
    beyond_sparing = polarity.without_sparing(here)
    return Duties(
        obliges=obliges,
        bids=obliges or any(map(polarity.bids, clauses)),
        may=polarity.expresses("allow", here.replace("only", " ")),
        allows=polarity.expresses("allow", here),
        spares=polarity.expresses("spare", here),
        advises=polarity.expresses("advise", here),
        recommends=bool(RECOMMENDING.search(here)),
        forbids=polarity.forbids(here),
        denies=polarity.count_denials(here) > 0,
        forbids_strictly=polarity.forbids(here, strictly=True),
        forbids_else=polarity.forbids(beyond_sparing),
        sets_time=not timeless and any(map(_sets_time, closest)),
        obliges_around=polarity.expresses("oblige", around),
        allows_around=polarity.expresses("allow", around),
        spares_around=polarity.expresses("spare", spared),
    )


def _opening(near: NearClause) -> str:
    """The clause, or its sentence where the clause goes on with what stands before it."""
    if polarity.begins_with_link(near.text):
        return near.whole_text
    return near.text


def _sets_time(near: NearClause) -> bool:
    return not near.sentence.row and polarity.sets_deadline(near.text)
