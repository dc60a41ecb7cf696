"""What a claim denies, obliges, allows or limits, beside the clauses of its passages that speak of
the same."""

import re
from collections.abc import Iterator, Sequence

from ombud.answer.proof.aligning import Alignment
from ombud.answer.proof.denials import ANSWER, denial_objections
from ombud.answer.proof.duties import duty_objections
from ombud.answer.proof.nearest import (
    ClaimClause,
    NearClause,
    joined_text,
    nearest_clauses,
    surely_near,
)
from ombud.text import Sentence, polarity

EARLY = re.compile(r"\bearl(?:y|ier|iest)\b")
NO_EARLIER = "no earlier than"
IF = re.compile(r"\W*(?:even )?if\b", re.IGNORECASE)
"""How a clause begins that limits nothing by itself."""


def objections(
    claim: Sequence[Sentence],
    passages: Sequence[Sentence],
    language: str,
    alignment: Alignment | None = None,
) -> Iterator[str]:
    """What the claim denies, obliges or allows and its passages do not, or the other way round.

    alignment: tells which sentences of the claim only repeat their passage. Denials are counted in
    those alone: other words deny in other ways.
    """
    for sentence in claim:
        counts = language[:2] != "en" or alignment is None or alignment.repeats(sentence)
        for clause in sentence.clauses:
            text = ANSWER.sub("", clause.text)
            claim_clause = ClaimClause(text, clause.terms, sentence)
            near = nearest_clauses(claim_clause, passages)
            if counts:
                yield from denial_objections(claim_clause, near, passages, language)
            if near and language[:2] == "en":
                yield from _clause_objections(claim_clause, near, passages)


def _clause_objections(
    claim: ClaimClause, near: Sequence[NearClause], passages: Sequence[Sentence]
) -> Iterator[str]:
    yield from duty_objections(claim, near, passages)
    yield from _lost_limit(claim, near)
    yield from _opposite_objections(claim, near, passages)


def _lost_limit(claim: ClaimClause, near: Sequence[NearClause]) -> Iterator[str]:
    """ "Can be higher" where the passage says "never exceeds": a limit is no denial, but it may not
    get lost."""
    if polarity.forbids_exceeding(claim.text) or polarity.sets_limit(claim.text):
        return
    sure = [other.text for other in near if other.sure and not IF.match(other.text)]
    if sure and all(map(polarity.forbids_exceeding, sure)):
        yield "the cited text sets a limit, it does not"


def _opposite_objections(
    claim: ClaimClause, near: Sequence[NearClause], passages: Sequence[Sentence]
) -> Iterator[str]:
    around = _text_around(claim, near, passages)
    if polarity.contains_term(NO_EARLIER, claim.text) and not EARLY.search(around):
        yield f"it says “{NO_EARLIER}”, the cited text does not"
    in_claim = polarity.without_comparisons(claim.text)
    in_passage = polarity.without_comparisons(joined_text(near))
    for word, opposite in polarity.opposites_of(in_claim, sure=surely_near(near)):
        if not polarity.contains_term(opposite, in_passage):
            continue
        if not polarity.contains_similar(word, around):
            yield f"it says “{word}”, the cited text “{opposite}”"


def _text_around(
    claim: ClaimClause, near: Sequence[NearClause], passages: Sequence[Sentence]
) -> str:
    """Sentences about the same matter, with what stands above them."""
    sentences = [other.sentence for other in near]
    for sentence in passages:
        shared = sentence.terms & claim.sentence.terms
        if len(shared) > 1:
            sentences.append(sentence)
    texts: list[str] = []
    for sentence in sentences:
        texts += [sentence.text, sentence.above]
    return "\n".join(texts).lower()
