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
END = " ?.!"
MOST_TERMS = 6
"""More content words than these make no turn more of its own."""
POINTS_BACK = re.compile(
    r"\b(?:it|its|that|this|those|these|them|then|same|too|either|instead|both|another|ones?"
    r"|he|she|him|her|his)\b",
    re.IGNORECASE,
)
THERE = re.compile(
    r"(?<!\bis )(?<!\bare )(?<!\bwas )(?<!\bbe )\bthere\b(?!['’]?s\b)"
    r"(?! (?:is|are|was|were|a|an|any|be)\b)",
    re.IGNORECASE,
)
"""The place; "is there a bike scheme" points to none."""
THEY = re.compile(r"\b(?:they|their)\b", re.IGNORECASE)
"""Often the employer, whom nobody has named."""
LEAST_BEFORE = 3
"""Content words of a turn from which what points back may point to them: "got four days left, are
they gone"."""
OPENS = re.compile(
    r"^\W*(?:(?:ok(?:ay)?|right|so|and|thanks?|thank you|cheers)\W+)*(?:an?\s+)?(?:also|another"
    r"|one more|next(?! (?:week|month|year|time|\w+day)\b)|different|new|by the way|btw|other"
    r"|separate|changing|something else)\b",
    re.IGNORECASE,
)
"""How people say that they come to something else."""
_FIRST = r"^\W*(?:(?:ok(?:ay)?|so|and|but|or|also|thanks?|thx)\W+)*"
ASKS = re.compile(
    rf"{_FIRST}(?:who|what|when|where|why|how|which|can|could|may|do|does|did|is|are|am|will"
    r"|would|should|have|has)\b",
    re.IGNORECASE,
)
JOINS = re.compile(r"^\W*(?:(?:ok(?:ay)?|so|thanks?|thx)\W+)*(?:and|but)\b", re.IGNORECASE)
""""And jury duty": a subject of its own more often than not, unless what stands behind is no whole
question."""
ELLIPTIC = re.compile(
    rf"{_FIRST}(?:(?:what|how) about|what if|even if|if|for|in|at|on|with|without|during|after"
    r"|before|from|until|as|by|vs|per|every|paid|including|only)\b",
    re.IGNORECASE,
)
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
    whole = f"{earlier[-1].rstrip(END)} {question.text}"
    return question.model_copy(update={"text": whole, "history": ()})


def as_one(question: Question) -> Question:
    """A follow-up as one question: what it says, and behind it the turn that opened the subject, as
    far as words tell which that was. As it is where nothing was asked before it.

    Of 82 follow-ups written blind the sentence that answers stood under the first heading of .35
    with this searched for and read, of .22 with all turns before and words of the last answer; of
    57 of dev, on which that had been chosen, of .39 and .44."""
    said = [turn.content for turn in question.history if turn.role == "user"]
    if not said:
        return question.model_copy(update={"history": ()})
    opening = said[0]
    for text in said:
        if not follows_by_words(text):
            opening = text
    whole = f"{question.text.rstrip(END)}? {opening.rstrip(END)}"
    return question.model_copy(update={"text": whole, "history": ()})


def stands_alone(text: str) -> bool:
    """Whether a turn has words of its own and points back to nothing."""
    if points_back(text) or CONTINUES.match(text) or says_only_where(text):
        return False
    return len(analyse(text)) >= LEAST_TERMS


def follows_by_words(text: str) -> bool:
    """Where there are no vectors: a turn that points back, that says only when, where or for whom,
    or that says too little alone."""
    if OPENS.match(text):
        return False
    needs_subject = points_back(text) or _names_them(text)
    if needs_subject or CONTINUES.match(text) or ELLIPTIC.match(text):
        return True
    return len(analyse(text)) < LEAST_TERMS


def points_back(text: str) -> bool:
    """Whether a turn has a word for what was said before it: one with nothing in the turn itself
    that it may stand for."""
    return any(_first_without_own(pattern, text, LEAST_BEFORE) for pattern in (POINTS_BACK, THERE))


def _names_them(text: str) -> bool:
    return _first_without_own(THEY, text, LEAST_TERMS)


def _first_without_own(pattern: re.Pattern[str], text: str, least: int) -> bool:
    """Whether the first match has fewer content words before it than these."""
    match = pattern.search(text)
    return match is not None and len(analyse(text[: match.start()])) < least


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
    before_hits = of_before.hits[:PASSAGES]
    said_before: set[str] = set()
    for hit in before_hits:
        said_before.update(chunk_terms(hit.chunk))
    nearest_alone = alone.best.get("dense", 0.0)
    nearest_folded = folded.best.get("dense", 0.0)
    return {
        **_marks(text, len(terms)),
        "gain": nearest_folded - nearest_alone,
        "together": nearest_folded - max(nearest_alone, of_before.best.get("dense", 0.0)),
        "near_last": near_last,
        "near_all": near_all,
        "elsewhere": _elsewhere(alone, {hit.chunk.uri for hit in before_hits}),
        "titled": _titled(terms, said_before, alone.hits[:PASSAGES]),
        "novel": _novel(await index.engine.stats(sorted(terms)), said_before),
    }


def _marks(text: str, terms: int) -> dict[str, float]:
    """How a turn is worded. terms: content words that are its own."""
    is_elliptic = bool(ELLIPTIC.match(text))
    asks = bool(ASKS.match(text))
    marks = {
        "points_back": points_back(text),
        "they": _names_them(text),
        "joins": bool(JOINS.match(text)) and not is_elliptic,
        "elliptic": is_elliptic,
        "states": not asks and "?" not in text and len(text.split()) > LEAST_TERMS,
    }
    is_whole = terms >= LEAST_TERMS and not any(marks.values())
    marks |= {"asks": asks, "whole": is_whole, "opens": bool(OPENS.match(text))}
    # "Does it just roll on": the word may stand for something of this turn, and often does not.
    marks["mentions"] = bool(POINTS_BACK.search(text) or THERE.search(text))
    values = {name: float(value) for name, value in marks.items()}
    return {**values, "terms": float(min(terms, MOST_TERMS))}


def _elsewhere(alone: Ranked, uris_before: set[str]) -> float:
    """How much nearer a turn is to a passage of another page than to any of the pages on what was
    asked before; cosines."""
    uri_of = {hit.chunk.id: hit.chunk.uri for hit in alone.hits}
    there: list[float] = []
    here: list[float] = []
    for ranking in alone.rankings:
        if "/dense/" not in ranking.leg:
            continue
        for chunk_id, _, cosine in ranking.rows:
            place = here if uri_of.get(chunk_id) in uris_before else there
            place.append(cosine)
    furthest = min([*here, *there], default=0.0)
    return max(there, default=0.0) - max(here, default=furthest)


async def _search(text: str, plan: Plan, where: Filter, index: SearchParts) -> Ranked:
    query = Query(strategy="standard", text=text, passage=text)
    return await RankRun([query], plan, where, index).ranked()


def _nearness(text: str, earlier: Sequence[str], embedder: Embedder | None) -> tuple[float, float]:
    """Cosines of a turn to the one before it and to all of them."""
    if embedder is None:
        return 0.0, 0.0
    turn, last, everything = embedder.embed([text, earlier[-1], " ".join(earlier)])
    return float(turn @ last), float(turn @ everything)


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
