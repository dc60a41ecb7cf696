"""The search flow: queries, legs, fusion, scopes."""

import asyncio
import re
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from ombud.errors import ModelError, UnknownName
from ombud.index import Engine, Filter, Leg, Vector
from ombud.models import Chat, EmbeddedText, Embedder, Reranker
from ombud.retrieve.disagreements import find_contradictions
from ombud.retrieve.feedback import more_legs
from ombud.retrieve.fusion import fuse
from ombud.retrieve.graph_search import find_paths, with_paths
from ombud.retrieve.model import Model, Spent, Understanding
from ombud.retrieve.rerank.nearness import by_tokens
from ombud.retrieve.rerank.reranking import rerank_hits, reranker_of
from ombud.retrieve.router import Router, classify
from ombud.retrieve.router.adapting import adapt_plan
from ombud.retrieve.strategies.glossary import Glossary
from ombud.retrieve.strategies.making import StrategyQueries, make_queries, strategy_of
from ombud.retrieve.strategies.own_words import language_of, query_terms, with_history
from ombud.retrieve.weighting import CANDIDATES, by_tfidf
from ombud.store import Graph
from ombud.types import Chunk, Evidence, Hit, Plan, Query, Question, Ranking

CJK = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
LEGS = ("sparse", "dense")
UNAIDED = ("standard", "feedback")
"""Strategies that search with the question itself."""
LEAST_SECONDS = 0.0005
"""A step that took less was not done."""
FLOOR_FROM = 5
"""Fewest hits among which one may be spared for a mandatory global rule."""
FOREIGN = 1 / 6
"""What is left of the vectors' weight where the embedder was not trained on the question's
language: words 80 to 20 by default (XQuAD, chosen in German: recall@5 .938 to .969; Spanish, only
confirmed: .922 to .987). """
LOCAL_BONUS = 0.06
"""What a country's own rule is worth over a global one, as a share of the best fused score (dev:
+.02 quote@1000w)."""


class SearchParts(NamedTuple):
    """What a search needs of the workspace."""

    engine: Engine
    embedder: Embedder | None
    glossary: Glossary = Glossary()
    chat: Chat | None = None
    """Writes search texts: the model of role `strategy`."""
    seconds: float = 15.0
    """Deadline of the model calls that prepare a search, all together; a reranker has as much
    again."""
    organisation: str = "the organisation"
    prompts: Path | None = None
    """A folder of the workspace's own prompts."""
    cross_encoder: Reranker | None = None
    graph: Graph | None = None
    ranker: Chat | None = None
    """Orders passages: the model of role `rerank`."""
    router: Router = classify


class SearchResult(NamedTuple):
    evidence: Evidence
    queries: tuple[Query, ...]
    rankings: tuple[Ranking, ...]
    seconds: Mapping[str, float]
    degraded: tuple[str, ...]
    best: Mapping[str, float]
    """Leg -> score of its first hit: BM25 or cosine."""
    plan: Plan = Plan()
    """As it was carried out."""
    spent: Spent = Spent()
    understood: Understanding | None = None
    signals: Mapping[str, float] = {}


class _Ranked(NamedTuple):
    """Everything that was found, fused, before it is cut to k."""

    hits: Sequence[Hit]
    found: SearchResult
    """Without evidence."""


async def search(question: Question, plan: Plan, where: Filter, index: SearchParts) -> SearchResult:
    """Evidence for a question: at most plan.k hits, what `where` hides removed before anything is
    ranked.

    Paths of the graph come on top of these.
    """
    check_plan(plan)
    clock = _Clock()
    plan, signals = await asyncio.to_thread(adapt_plan, plan, question.text, None, index.router)
    model = Model(index.chat, plan, index.organisation, index.seconds, index.prompts)
    asked = await make_queries(question, plan, model, index.glossary, index.embedder)
    if model.understood:
        plan, signals = adapt_plan(plan, question.text, model.understood.contexts)
    clock.lap("strategy")
    asked, (hits, found) = await _look(asked, question, plan, where, index, model)
    clock.start()
    said = _as_asked(question, asked, model.understood)
    reranked = await rerank_hits(said, hits, plan, index._replace(chat=index.ranker))
    evidence = _by_scope(_with_floor(_by_scope(reranked.hits).hits, plan.k))
    clock.lap("rerank")
    evidence, lost = await asyncio.to_thread(
        _joined, evidence, question, plan, where, index, model.understood
    )
    clock.lap("graph")
    return found._replace(
        evidence=evidence,
        degraded=(*asked.degraded, *model.notes, *found.degraded, *reranked.degraded, *lost),
        seconds=clock.seconds | dict(found.seconds),
        spent=model.spent.plus(reranked.spent),
        understood=model.understood,
        signals=signals,
    )


def find_passages(
    queries: Sequence[Query], plan: Plan, where: Filter, index: SearchParts
) -> SearchResult:
    """What the queries find, without any model: nothing is written, reordered or walked."""
    hits, found = _rank(queries, plan, where, index)
    return found._replace(evidence=_by_scope(_with_floor(hits, plan.k)))


def check_plan(plan: Plan) -> None:
    """Raises UnknownName for what nothing here knows, rather than ignore it."""
    reranker_of(plan.reranker)
    for name in plan.strategies:
        strategy_of(name)
    for name in plan.weights:
        if name not in LEGS:
            raise UnknownName(f"No leg is called `{name}`.", hint=f"Known: {', '.join(LEGS)}.")


class _Clock:
    """Seconds of the steps that took any."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self.start()

    def start(self) -> None:
        self._since = time.perf_counter()

    def lap(self, step: str) -> None:
        now = time.perf_counter()
        if now - self._since > LEAST_SECONDS:
            self.seconds[step] = now - self._since
        self._since = now


def _as_asked(question: Question, asked: StrategyQueries, said: Understanding | None) -> str:
    """What a reranker reads: the standalone question, unless that is of no use."""
    useless = all(query.strategy in UNAIDED for query in asked.queries)
    return said.standalone if said and not useless else with_history(question)


async def _look(
    asked: StrategyQueries,
    question: Question,
    plan: Plan,
    where: Filter,
    index: SearchParts,
    model: Model,
) -> tuple[StrategyQueries, _Ranked]:
    """What the texts find; where they find nothing the question itself: a model's may hold no word
    of the documents."""
    ranked = await asyncio.to_thread(_rank, asked.queries, plan, where, index)
    if ranked.hits or any(query.strategy in UNAIDED for query in asked.queries):
        return asked, ranked
    alone = plan.model_copy(update={"strategies": UNAIDED[:1]})
    plain = await make_queries(question, alone, model, index.glossary, index.embedder)
    again = await asyncio.to_thread(_rank, plain.queries, plan, where, index)
    if not again.hits:
        return asked, ranked
    names = ", ".join(dict.fromkeys(query.strategy for query in asked.queries))
    return plain._replace(
        degraded=(*asked.degraded, f"strategy: {names} found nothing, searched without it")
    ), again


def _rank(queries: Sequence[Query], plan: Plan, where: Filter, index: SearchParts) -> _Ranked:
    started = time.perf_counter()
    read, degraded = _embed(queries, plan, index)
    embedded = time.perf_counter()
    paired = zip(
        queries,
        [read[q.passage].windows[0] if q.passage in read else None for q in queries],
        strict=True,
    )
    legs = [pair for query, vector in paired for pair in _legs(query, vector, plan, where, index)]
    searched = time.perf_counter()
    foreign = _foreign(queries, index)
    hits = _fuse(legs, plan, where, foreign)
    fused = time.perf_counter()
    packed = {chunk: tokens for _, leg in legs for chunk, tokens in leg.tokens.items()}
    asked = [] if foreign else [reading.tokens for reading in read.values() if reading.tokens]
    hits, near = by_tokens(asked, hits, packed, plan)
    seconds = {"embed": embedded - started, "search": searched - embedded, "fuse": fused - searched}
    seconds |= {"late": time.perf_counter() - fused} if near else {}
    rankings = (*_rankings(legs, where), *_late_ranking(hits, near))
    return _Ranked(
        hits,
        SearchResult(Evidence(), tuple(queries), rankings, seconds, degraded, _best(legs), plan),
    )


def _joined(
    evidence: Evidence,
    question: Question,
    plan: Plan,
    where: Filter,
    index: SearchParts,
    said: Understanding | None,
) -> tuple[Evidence, tuple[str, ...]]:
    """The evidence with what stands around it in the graph and what in it disagrees."""
    lost: tuple[str, ...] = ()
    if plan.graph and index.graph is None:
        lost = ("graph: there is none, set index.graph",)
    elif plan.graph and index.graph is not None:
        walked = find_paths(
            question.text, plan, where, index.graph, index.engine, said.keywords if said else ()
        )
        evidence, lost = with_paths(evidence, walked), walked.degraded
    return evidence.model_copy(update={"contradictions": find_contradictions(evidence)}), lost


def _legs(
    query: Query, vector: Vector | None, plan: Plan, where: Filter, index: SearchParts
) -> list[tuple[Query, Leg]]:
    terms = " ".join(query_terms(query.text, index.engine))
    mode = "sparse" if vector is None else plan.mode
    deep = plan.weighting == "tfidf" and mode != "dense"
    legs = index.engine.search(
        terms, vector, where, max(plan.pool, CANDIDATES) if deep else plan.pool, mode
    )
    if deep:
        legs = tuple(
            by_tfidf(leg, terms, index.engine) if leg.name == "sparse" else leg for leg in legs
        )
        legs = tuple(leg._replace(hits=leg.hits[: plan.pool]) for leg in legs)
    if query.strategy == "feedback":
        legs = more_legs(legs, terms, vector, where, plan.pool, index.engine)
    return [(query, leg) for leg in legs]


def _best(legs: Sequence[tuple[Query, Leg]]) -> dict[str, float]:
    best: dict[str, float] = {}
    for _, leg in legs:
        if leg.hits:
            best[leg.name] = max(best.get(leg.name, leg.hits[0][1]), leg.hits[0][1])
    return best


def _embed(
    queries: Sequence[Query], plan: Plan, index: SearchParts
) -> tuple[dict[str, EmbeddedText], tuple[str, ...]]:
    """Passages of the queries -> what the embedder reads in them."""
    said = list(dict.fromkeys(q.passage for q in queries if q.passage))
    if plan.mode == "sparse" or not said:
        return {}, ()
    if index.embedder is None:
        return {}, ("dense: no embedding model, searched by words only",)
    if index.embedder.languages is not None and all(map(_unread, said)):
        return {}, ("dense: the embedder does not know the language, searched by words only",)
    try:
        return dict(zip(said, index.embedder.read(said), strict=True)), ()
    except ModelError:
        return {}, ("dense: the embedding model gave no answer, searched by words only",)


def _unread(text: str) -> bool:
    """Whether most letters are of a script that an embedder of few languages takes for unknown
    tokens."""
    return 2 * len(CJK.findall(text)) > sum(c.isalpha() for c in text)


def _foreign(queries: Sequence[Query], index: SearchParts) -> bool:
    """Whether the embedder does not know the language that was asked in."""
    known = index.embedder.languages if index.embedder else None
    said = [query.passage for query in queries if query.passage]
    return known is not None and bool(said) and language_of(said[0], index.engine) not in known


def _fuse(
    legs: Sequence[tuple[Query, Leg]], plan: Plan, where: Filter, foreign: bool
) -> Sequence[Hit]:
    """Every hit of the legs, best first."""
    chunks = {chunk.id: chunk for _, leg in legs for chunk, _ in leg.hits}
    held: dict[str, list[str]] = {identity: [] for identity in chunks}
    weighted = []
    of_kind = Counter(leg.name for _, leg in legs)
    for query, leg in legs:
        # However many texts were searched for, words and vectors keep their shares.
        weight = plan.weights.get(leg.name, 1.0) / of_kind[leg.name]
        weight *= FOREIGN if foreign and leg.name == "dense" else 1.0
        weighted.append(([(chunk.id, score) for chunk, score in leg.hits], weight))
        for chunk, _ in leg.hits:
            held[chunk.id].append(f"{_scope(chunk, where)}/{leg.name}/{query.strategy}")
    fused = fuse(plan.fusion, weighted, rrf_k=plan.rrf_k)
    bonus = LOCAL_BONUS * max(fused.values(), default=0.0)
    fused = {i: score + bonus * bool(chunks[i].countries) for i, score in fused.items()}
    hits = [
        Hit(chunk=chunks[i], score=score, found_by=tuple(held[i])) for i, score in fused.items()
    ]
    return _by_scope(hits).hits


def _by_scope(hits: Sequence[Hit]) -> Evidence:
    return Evidence(
        local=tuple(h for h in hits if h.chunk.countries),
        shared=tuple(h for h in hits if not h.chunk.countries),
    )


def _with_floor(ranked: Sequence[Hit], k: int) -> Sequence[Hit]:
    """The best k hits. Where they hold a country's rule and a mandatory global document speaks of
    the same topic, the passage that opens that document takes the last place: nobody should be told
    the local rule without the floor under it, and policies say their rule first."""
    top = list(ranked[:k])
    ruled = {h.chunk.topic for h in top if h.chunk.countries and h.chunk.topic}
    floors = [h for h in ranked if h.chunk.mandatory and h.chunk.topic in ruled]
    if k < FLOOR_FROM or not floors:
        return top
    opening = min(
        (h for h in floors if h.chunk.uri == floors[0].chunk.uri), key=lambda h: h.chunk.start
    )
    return top if opening in top else [*top[:-1], opening]


def _rankings(legs: Sequence[tuple[Query, Leg]], where: Filter) -> list[Ranking]:
    rows: dict[str, list[tuple[str, int, float]]] = {}
    for query, leg in legs:
        for chunk, score in leg.hits:
            ranking = rows.setdefault(f"{_scope(chunk, where)}/{leg.name}/{query.strategy}", [])
            ranking.append((chunk.id, len(ranking) + 1, round(score, 6)))
    return [Ranking(leg=name, rows=tuple(listed)) for name, listed in rows.items()]


def _late_ranking(hits: Sequence[Hit], near: Sequence[float]) -> list[Ranking]:
    rows = [
        (hit.chunk.id, n, round(score, 6))
        for n, (hit, score) in enumerate(zip(hits, near, strict=False), start=1)
    ]
    return [Ranking(leg="late", rows=tuple(rows))] if rows else []


def _scope(chunk: Chunk, where: Filter) -> str:
    mine = [c for c in chunk.countries if where.countries is None or c in where.countries]
    return mine[0] if mine else "global"
