"""The clauses of passages that speak of what a claim's clause does."""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from ombud.text import Clause, Sentence

CLOSE = 0.85
"""A clause whose overlap is this share of the best one's may be meant as well."""
AROUND = 0.3
"""What a term shared by the sentences around two clauses counts beside one that they share
themselves."""
ABOVE = 0.2
"""The same of a term that the claim shares with the headings."""
EXACT = 1.0
"""What a clause of the passage gains that says nothing else than the claim's."""
LEAST = 0.3
"""Share of a clause's terms below which nothing in the passages counts as speaking of the same."""
SURE_OF_CLAIM = 0.5
SURE_OF_PASSAGE = 0.8
"""Share of a clause's terms from which two surely speak of the same."""


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
    """It says so much of the same that it may not deny what the claim says."""

    @property
    def text(self) -> str:
        return self.clause.text

    @property
    def whole_text(self) -> str:
        """Of its sentence."""
        return self.sentence.text.lower()


def nearest_clauses(claim: ClaimClause, passages: Sequence[Sentence]) -> list[NearClause]:
    """Those that share most terms with it; fewer where the sentences around them share more.

    Either all are sure or none is.
    """
    candidates = list(_candidates(claim, passages))
    best = best_score(candidates)
    if best < LEAST * len(claim.terms):
        return []
    close = closest_clauses(candidates, CLOSE)
    sure = [near for near in close if near.sure]
    return sure or close


def best_score(near: Iterable[NearClause]) -> float:
    return max((other.score for other in near), default=0.0)


def closest_clauses(near: Sequence[NearClause], share: float) -> list[NearClause]:
    """Those with this share of the best one's score."""
    least = share * best_score(near)
    return [other for other in near if other.score >= least]


def _candidates(claim: ClaimClause, passages: Sequence[Sentence]) -> Iterator[NearClause]:
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
            yield NearClause(
                clause=clause,
                sentence=sentence,
                score=shared + whole + around,
                sure=_is_sure(shared, claim, clause),
            )


def _is_sure(shared: int, claim: ClaimClause, other: Clause) -> bool:
    in_claim = len(claim.terms)
    in_passage = len(other.terms)
    if shared == 1 and in_claim > 1:
        return False
    return shared >= SURE_OF_CLAIM * in_claim or shared >= SURE_OF_PASSAGE * in_passage


def surely_near(near: Sequence[NearClause]) -> bool:
    """Whether any is sure."""
    return any(other.sure for other in near)


def joined_text(near: Sequence[NearClause]) -> str:
    """Of the clauses, a line each."""
    return "\n".join(other.text for other in near)


def joined_whole_text(near: Sequence[NearClause]) -> str:
    """Of their sentences."""
    return "\n".join(other.whole_text for other in near)
