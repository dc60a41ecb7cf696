"""Queries to one ranking: embedded, searched for in every leg, fused, and put in order by tokens.

No chat model plays a part here, and nothing is cut: the ranking holds all that was found."""

import asyncio
import re
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ombud.errors import ModelError
from ombud.index import Filter, Leg, Vector
from ombud.models import EmbeddedText
from ombud.retrieve.feedback import FeedbackSearch, more_legs
from ombud.retrieve.fusion import fuse
from ombud.retrieve.parts import SearchParts
from ombud.retrieve.rerank.nearness import by_tokens
from ombud.retrieve.scopes import by_scope, scope_of
from ombud.retrieve.strategies.own_words import language_of, query_terms
from ombud.retrieve.weighting import CANDIDATES, by_tfidf
from ombud.types import Chunk, Hit, Plan, Query, Ranking

CJK = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
FOREIGN = 1 / 6
"""What is left of the vectors' weight where the embedder was not trained on the question's
language: words 80 to 20 by default (XQuAD, chosen in German: recall@5 .938 to .969; Spanish, only
confirmed: .922 to .987). """
LOCAL_BONUS = 0.06
"""What a country's own rule is worth over a global one, as a share of the best fused score (dev:
+.02 quote@1000w)."""


class Ranked(NamedTuple):
    """Everything that the queries found, fused, best first."""

    hits: Sequence[Hit]
    queries: tuple[Query, ...]
    rankings: tuple[Ranking, ...]
    """What each leg returned, and the order by tokens where there is one."""
    seconds: Mapping[str, float]
    degraded: tuple[str, ...]
    best: Mapping[str, float]
    """Leg -> score of its first hit: BM25 or cosine."""


class _QueryLeg(NamedTuple):
    query: Query
    leg: Leg


class _Embedded(NamedTuple):
    readings: Mapping[str, EmbeddedText]
    """Passage of a query -> what the embedder reads in it."""
    degraded: tuple[str, ...] = ()

    def vector_of(self, query: Query) -> Vector | None:
        reading = self.readings.get(query.passage)
        return reading.windows[0] if reading else None


async def rank_passages(
    queries: Sequence[Query], plan: Plan, where: Filter, index: SearchParts
) -> Ranked:
    """All passages that the queries find under `where`, best first."""
    started = time.perf_counter()
    embedded = await asyncio.to_thread(_embed, queries, plan, index)
    embedded_at = time.perf_counter()
    legs = await _search_all(queries, embedded, plan, where, index)
    searched_at = time.perf_counter()
    found = _Found(tuple(queries), embedded, legs)
    ranked = await asyncio.to_thread(_in_order, found, plan, where, index)
    seconds = {
        "embed": embedded_at - started,
        "search": searched_at - embedded_at,
        **ranked.seconds,
    }
    return ranked._replace(seconds=seconds)


class _Found(NamedTuple):
    queries: tuple[Query, ...]
    embedded: _Embedded
    legs: Sequence[_QueryLeg]


def _in_order(found: _Found, plan: Plan, where: Filter, index: SearchParts) -> Ranked:
    """What the legs found, fused, and the best of it put in order by tokens."""
    started = time.perf_counter()
    legs = found.legs
    foreign = _is_foreign(found.queries, index)
    hits = _fused(legs, plan, where, foreign)
    fused_at = time.perf_counter()
    asked = [] if foreign else list(found.embedded.readings.values())
    tokens = [reading.tokens for reading in asked if reading.tokens]
    hits, nearness = by_tokens(tokens, hits, _packed_tokens(legs), plan)
    seconds = {"fuse": fused_at - started}
    if nearness:
        seconds["late"] = time.perf_counter() - fused_at
    return Ranked(
        hits=hits,
        queries=found.queries,
        rankings=(*_rankings(legs, where), *_late_ranking(hits, nearness)),
        seconds=seconds,
        degraded=found.embedded.degraded,
        best=_best_scores(legs),
    )


# Vectors ------------------------------------------------------------------------------------------


def _embed(queries: Sequence[Query], plan: Plan, index: SearchParts) -> _Embedded:
    passages = list(dict.fromkeys(query.passage for query in queries if query.passage))
    if plan.mode == "sparse" or not passages:
        return _Embedded({})
    embedder = index.embedder
    if embedder is None:
        return _by_words_only("no embedding model")
    if embedder.languages is not None and all(map(_is_unreadable, passages)):
        return _by_words_only("the embedder does not know the language")
    try:
        readings = embedder.read(passages)
    except ModelError:
        return _by_words_only("the embedding model gave no answer")
    return _Embedded(dict(zip(passages, readings, strict=True)))


def _by_words_only(why: str) -> _Embedded:
    return _Embedded({}, (f"dense: {why}, searched by words only",))


def _is_unreadable(text: str) -> bool:
    """Whether most letters are of a script that an embedder of few languages takes for unknown
    tokens."""
    return 2 * len(CJK.findall(text)) > sum(character.isalpha() for character in text)


def _is_foreign(queries: Sequence[Query], index: SearchParts) -> bool:
    """Whether the embedder does not know the language that was asked in."""
    if index.embedder is None or index.embedder.languages is None:
        return False
    passages = [query.passage for query in queries if query.passage]
    if not passages:
        return False
    return language_of(passages[0], index.engine) not in index.embedder.languages


# Legs ---------------------------------------------------------------------------------------------


async def _search_all(
    queries: Sequence[Query],
    embedded: _Embedded,
    plan: Plan,
    where: Filter,
    index: SearchParts,
) -> list[_QueryLeg]:
    """All legs of all queries, in the order of the queries, searched together."""
    searches = [
        _search_legs(query, embedded.vector_of(query), plan, where, index) for query in queries
    ]
    legs: list[_QueryLeg] = []
    for query, legs_of_query in zip(queries, await asyncio.gather(*searches), strict=True):
        legs += [_QueryLeg(query, leg) for leg in legs_of_query]
    return legs


async def _search_legs(
    query: Query, vector: Vector | None, plan: Plan, where: Filter, index: SearchParts
) -> Sequence[Leg]:
    terms = " ".join(query_terms(query.text, index.engine))
    mode = "sparse" if vector is None else plan.mode
    if plan.weighting == "tfidf" and mode != "dense":
        candidates = max(plan.pool, CANDIDATES)
        candidate_legs = await index.engine.search(terms, vector, where, candidates, mode)
        legs = tuple([await _reweighted(leg, terms, plan.pool, index) for leg in candidate_legs])
    else:
        legs = await index.engine.search(terms, vector, where, plan.pool, mode)
    if query.strategy != "feedback":
        return legs
    return await more_legs(
        legs,
        FeedbackSearch(
            terms=terms,
            vector=vector,
            where=where,
            k=plan.pool,
            engine=index.engine,
        ),
    )


async def _reweighted(leg: Leg, terms: str, pool: int, index: SearchParts) -> Leg:
    if leg.name == "sparse":
        leg = await by_tfidf(leg, terms, index.engine)
    return leg._replace(hits=leg.hits[:pool])


def _best_scores(legs: Sequence[_QueryLeg]) -> dict[str, float]:
    best: dict[str, float] = {}
    for _, leg in legs:
        if not leg.hits:
            continue
        _, score = leg.hits[0]
        best[leg.name] = max(best.get(leg.name, score), score)
    return best


def _packed_tokens(legs: Sequence[_QueryLeg]) -> dict[str, bytes]:
    packed: dict[str, bytes] = {}
    for _, leg in legs:
        packed.update(leg.tokens)
    return packed


# Fusion -------------------------------------------------------------------------------------------


def _fused(legs: Sequence[_QueryLeg], plan: Plan, where: Filter, foreign: bool) -> Sequence[Hit]:
    """Every hit of the legs, best first."""
    chunks: dict[str, Chunk] = {}
    found_by: dict[str, list[str]] = {}
    for query, leg in legs:
        for chunk, _ in leg.hits:
            chunks[chunk.id] = chunk
            names = found_by.setdefault(chunk.id, [])
            names.append(_leg_name(chunk, leg, query, where))
    scores = fuse(plan.fusion, _weighted(legs, plan, foreign), rrf_k=plan.rrf_k)
    bonus = LOCAL_BONUS * max(scores.values(), default=0.0)
    hits: list[Hit] = []
    for identity, score in scores.items():
        chunk = chunks[identity]
        if chunk.countries:
            score += bonus
        hits.append(Hit(chunk=chunk, score=score, found_by=tuple(found_by[identity])))
    return by_scope(hits).hits


def _weighted(
    legs: Sequence[_QueryLeg], plan: Plan, foreign: bool
) -> list[tuple[list[tuple[str, float]], float]]:
    """Each leg as (chunk id, score) rows with its weight. However many texts were searched for,
    words and vectors keep their shares."""
    of_kind = Counter(leg.name for _, leg in legs)
    weighted: list[tuple[list[tuple[str, float]], float]] = []
    for _, leg in legs:
        weight = plan.weights.get(leg.name, 1.0) / of_kind[leg.name]
        if foreign and leg.name == "dense":
            weight *= FOREIGN
        rows = [(chunk.id, score) for chunk, score in leg.hits]
        weighted.append((rows, weight))
    return weighted


# What the trace shows -----------------------------------------------------------------------------


def _leg_name(chunk: Chunk, leg: Leg, query: Query, where: Filter) -> str:
    """Such as `GB/sparse/standard`."""
    return f"{scope_of(chunk, where)}/{leg.name}/{query.strategy}"


def _rankings(legs: Sequence[_QueryLeg], where: Filter) -> list[Ranking]:
    rows: dict[str, list[tuple[str, int, float]]] = {}
    for query, leg in legs:
        for chunk, score in leg.hits:
            ranking = rows.setdefault(_leg_name(chunk, leg, query, where), [])
            ranking.append((chunk.id, len(ranking) + 1, round(score, 6)))
    return [Ranking(leg=name, rows=tuple(ranking)) for name, ranking in rows.items()]


def _late_ranking(hits: Sequence[Hit], nearness: Sequence[float]) -> list[Ranking]:
    rows: list[tuple[str, int, float]] = []
    for rank, (hit, score) in enumerate(zip(hits, nearness, strict=False), start=1):
        rows.append((hit.chunk.id, rank, round(score, 6)))
    return [Ranking(leg="late", rows=tuple(rows))] if rows else []
