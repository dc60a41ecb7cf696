"""Questions that stand on both sides of a split: what was tuned on one has seen the other."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from ombud.lab.cases.splits import split_of
from ombud.lab.metrics.overlap import answer_tokens
from ombud.types import Case

ALIKE = 0.8
"""Share of words that two questions must have in common (Jaccard) to be nearly the same."""
NAMED = 3
"""Pairs that a note names."""


class Contamination(NamedTuple):
    case: str
    seen_as: str
    """Id of the case of the dev split that asks nearly the same, of the same country."""
    share: float


def contaminated(cases: Iterable[Case]) -> list[Contamination]:
    """List cases of test and sealed whose question nearly repeats one of dev, each with its
    closest."""
    tokenised = [(case, frozenset(answer_tokens(case.question))) for case in cases]
    counts: Counter[str] = Counter()
    for _, words in tokenised:
        counts.update(words)
    by_word: dict[str, list[tuple[Case, frozenset[str]]]] = {}
    held_out: list[tuple[Case, frozenset[str]]] = []
    for case, words in tokenised:
        if split_of(case.id) != "dev":
            held_out.append((case, words))
            continue
        for word in words:
            by_word.setdefault(word, []).append((case, words))
    matches: list[Contamination] = []
    for case, words in held_out:
        # Of two sets with so much in common, the rarest words of one are nearly all in the other.
        rarest = sorted(words, key=lambda word: (counts[word], word))
        least = len(words) - int(ALIKE * len(words)) + 1
        near = {id(other): other for word in rarest[:least] for other in by_word.get(word, ())}
        closest = _closest(case, words, near.values())
        if closest:
            matches.append(closest)
    return matches


def _closest(
    case: Case, words: frozenset[str], others: Iterable[tuple[Case, frozenset[str]]]
) -> Contamination | None:
    best: Contamination | None = None
    for other, own in others:
        if other.person.country != case.person.country:
            continue
        share = len(words & own) / len(words | own)
        if share >= ALIKE and (best is None or share > best.share):
            best = Contamination(case.id, other.id, share)
    return best


def contamination_note(matches: Sequence[Contamination], cases: Sequence[Case]) -> str:
    """Return a sentence for a run; empty if none of its cases is contaminated."""
    own = {case.id for case in cases}
    seen = [one for one in matches if one.case in own]
    if not seen:
        return ""
    pairs = ", ".join(f"{one.case} as {one.seen_as}" for one in seen[:NAMED])
    more = " …" if len(seen) > NAMED else ""
    return f"{len(seen)} of {len(own)} questions are nearly asked in dev too: {pairs}{more}."
