"""Does a turn go on with what was asked before, or does it open a new subject?

Told by what the turn finds alone and with the turns before it, by how near it is to them, and by
words that point back. In doubt it is a new subject: an answer on the subject before is worse than
one that has to be asked for again. "And dental", "also, who fixes my laptop" open a subject more
often than they go on with one."""

import json
import math
import re
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ombud.errors import ModelError
from ombud.index import Filter, Stats
from ombud.models import Embedder
from ombud.retrieve.parts import SearchParts
from ombud.retrieve.ranking import Ranked, RankRun
from ombud.retrieve.strategies.own_words import query_terms
from ombud.retrieve.terms import chunk_terms
from ombud.text import analyse
from ombud.types import Hit, Plan, Query, Question

SHIPPED = Path(__file__).with_name("follow_ups.json")
TURNS = 2
"""Earlier turns of the asker that a turn is compared with."""
PASSAGES = 4
"""Passages whose headings are looked at."""
LEAST_TERMS = 2
"""Content words from which a turn can stand alone."""
MOST_TERMS = 6
"""More content words than these make no turn more of its own."""
POINTS_BACK = re.compile(
    r"\b(?:it|its|that|this|those|these|they|them|their|there|then|same|too|either|instead|both"
    r"|another|one|ones|he|she|him|her)\b",
    re.IGNORECASE,
)
OPENS = re.compile(
    r"^\W*(?:(?:ok(?:ay)?|right|so|thanks?|thank you|cheers)\W+)*(?:also|another|one more|next"
    r"|different|new|by the way|btw|other|separate|changing|something else)\b",
    re.IGNORECASE,
)
"""How people say that they come to something else."""


CONTINUES = re.compile(
    r"^\W*(?:(?:and|but|so) )?(?:what|how) about\b|^\W*(?:and|what|even) if\b", re.IGNORECASE
)
ELSEWHERE = re.compile(
    r"^\W*(?:and|but|or|so)\s+(?:in|for|at|on|with|without|during|after|before|from|until|as)\b",
    re.IGNORECASE,
)
"""How a turn begins that says only where, for whom or when: "and in Germany?" has no subject."""
MOST_ELSEWHERE = 3
"""Content words of such a turn."""


class FollowUpWeights(NamedTuple):
    """Logistic regression on standardised features; `threshold` is the least probability of a
    follow-up."""

    features: tuple[str, ...]
    mean: tuple[float, ...]
    scale: tuple[float, ...]
    weight: tuple[float, ...]
    bias: float
    threshold: float


async def on_its_own(question: Question, plan: Plan, where: Filter, index: SearchParts) -> Question:
    """The question as it should be searched for: with its history where it goes on with it, without
    where it opens a subject."""
    earlier = [turn.content for turn in question.history if turn.role == "user"]
    if not earlier:
        return question.model_copy(update={"history": ()})
    if index.embedder is None or plan.mode == "sparse":
        follows = follows_by_words(question.text)
    else:
        follows = await _follows(question.text, earlier[-TURNS:], plan, where, index)
    return question if follows else question.model_copy(update={"history": ()})


async def _follows(
    text: str, earlier: Sequence[str], plan: Plan, where: Filter, index: SearchParts
) -> bool:
    try:
        features = await turn_features(text, earlier, plan, where, index)
    except ModelError:
        return follows_by_words(text)
    weights = load_follow_up_weights()
    return probability(features, weights) >= weights.threshold


def says_only_where(text: str) -> bool:
    return bool(ELSEWHERE.match(text)) and len(analyse(text)) <= MOST_ELSEWHERE


def said_whole(question: Question) -> Question:
    """A turn that says only where, with the subject of the turn before it: "maternity pay and in
    Germany?". Any other as it is."""
    earlier: list[str] = []
    for turn in question.history:
        if turn.role == "user" and not says_only_where(turn.content):
            earlier.append(turn.content)
    if not earlier or not says_only_where(question.text):
        return question
    whole = f"{earlier[-1].rstrip(' ?.!')} {question.text}"
    return question.model_copy(update={"text": whole, "history": ()})


def stands_alone(text: str) -> bool:
    """Whether a turn has words of its own and points back to nothing."""
    if POINTS_BACK.search(text) or CONTINUES.match(text) or says_only_where(text):
        return False
    return len(analyse(text)) >= LEAST_TERMS


def follows_by_words(text: str) -> bool:
    """Where there are no vectors: a turn that points back, or that says too little alone."""
    if OPENS.match(text):
        return False
    if POINTS_BACK.search(text) or CONTINUES.match(text):
        return True
    return len(analyse(text)) < LEAST_TERMS


async def turn_features(
    text: str, earlier: Sequence[str], plan: Plan, where: Filter, index: SearchParts
) -> dict[str, float]:
    """What is measured of a turn beside the asker's turns before it. Raises ModelError where the
    embedder fails."""
    before = "\n".join(earlier)
    alone = await _search(text, plan, where, index)
    folded = await _search(f"{before}\n{text}", plan, where, index)
    of_before = await _search(before, plan, where, index)
    terms = set(query_terms(text, index.engine))
    near_last, near_all = _nearness(text, earlier, index.embedder)
    said_before: set[str] = set()
    for hit in of_before.hits[:PASSAGES]:
        said_before.update(chunk_terms(hit.chunk))
    of_alone = alone.best.get("dense", 0.0)
    return {
        "alone": of_alone,
        "gain": folded.best.get("dense", 0.0) - of_alone,
        "near_last": near_last,
        "near_all": near_all,
        "terms": float(min(len(terms), MOST_TERMS)),
        "points_back": float(bool(POINTS_BACK.search(text))),
        "headed": _headed(terms, alone.hits[:PASSAGES]),
        "opens": float(bool(OPENS.match(text))),
        "titled": _titled(terms, said_before, alone.hits[:PASSAGES]),
        "novel": _novel(await index.engine.stats(sorted(terms)), said_before),
    }


async def _search(text: str, plan: Plan, where: Filter, index: SearchParts) -> Ranked:
    query = Query(strategy="standard", text=text, passage=text)
    return await RankRun([query], plan, where, index).ranked()


def _nearness(text: str, earlier: Sequence[str], embedder: Embedder | None) -> tuple[float, float]:
    """Cosines of a turn to the one before it and to all of them."""
    if embedder is None:
        return 0.0, 0.0
    turn, last, everything = embedder.embed([text, earlier[-1], " ".join(earlier)])
    return float(turn @ last), float(turn @ everything)


def _headed(terms: set[str], hits: Sequence[Hit]) -> float:
    """The largest share of a turn's content words that title and headings of one passage have."""
    shares = [0.0]
    for hit in hits:
        headings = " ".join((hit.chunk.title, *hit.chunk.trail))
        held = terms.intersection(analyse(headings, hit.chunk.language))
        shares.append(len(held) / max(1, len(terms)))
    return max(shares)


def _titled(terms: set[str], said_before: set[str], hits: Sequence[Hit]) -> float:
    """The largest share of a turn's content words that stand in one title, and in no passage on
    what was asked before."""
    shares = [0.0]
    for hit in hits:
        in_title = terms.intersection(analyse(hit.chunk.title, hit.chunk.language))
        shares.append(len(in_title - said_before) / max(1, len(terms)))
    return max(shares)


def _novel(stats: Stats, said_before: set[str]) -> float:
    """The share, by rarity, of a turn's content words that no passage on what was asked before
    has. stats: of these words."""
    whole = 0.0
    novel = 0.0
    for term, holders in stats.documents_with.items():
        weight = math.log(1 + (stats.chunks - holders + 0.5) / (holders + 0.5))
        whole += weight
        if term not in said_before:
            novel += weight
    return novel / whole if whole else 0.0


def probability(features: Mapping[str, float], weights: FollowUpWeights) -> float:
    """That a turn goes on with what was before, 0 to 1."""
    values = np.array([features[name] for name in weights.features])
    standardised = (values - weights.mean) / weights.scale
    logit = standardised @ np.array(weights.weight) + weights.bias
    return float(np.exp(-np.logaddexp(0.0, -logit)))


@cache
def load_follow_up_weights(path: Path = SHIPPED) -> FollowUpWeights:
    content = json.loads(path.read_text(encoding="utf-8"))
    return FollowUpWeights(
        features=tuple(content["features"]),
        mean=tuple(content["mean"]),
        scale=tuple(content["scale"]),
        weight=tuple(content["weight"]),
        bias=content["bias"],
        threshold=content["threshold"],
    )
