"""The search flow: queries, legs, fusion, scopes."""

import time
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from ombud.errors import UnknownName
from ombud.index import Engine, Filter, Leg, Vector, analyse
from ombud.models import Embedder, detect_language
from ombud.retrieve.fusion import fuse
from ombud.retrieve.glossary import Glossary
from ombud.retrieve.thesaurus import policy_words
from ombud.types import Chunk, Evidence, Hit, Plan, Query, Question, Ranking

TURNS = 3
"""Earlier user turns folded into a follow-up."""
LOCAL_BONUS = 0.06
"""What a country's own rule is worth over a global one, as a share of the best fused score (dev: +.02 quote@1000w)."""


class Index(NamedTuple):
    """What a search needs of the workspace."""

    engine: Engine
    embedder: Embedder | None
    glossary: Glossary = Glossary()


class Found(NamedTuple):
    evidence: Evidence
    queries: tuple[Query, ...]
    rankings: tuple[Ranking, ...]
    seconds: Mapping[str, float]
    degraded: tuple[str, ...]
    best: Mapping[str, float]
    """Leg -> score of its first hit: BM25 or cosine."""


def search(question: Question, plan: Plan, where: Filter, index: Index) -> Found:
    """Evidence for a question: at most plan.k hits, what `where` hides removed before anything is ranked."""
    started = time.perf_counter()
    queries = [_strategy(name)(question, index.glossary) for name in plan.strategies[:1]]
    vectors, degraded = _embed(queries, plan, index)
    embedded = time.perf_counter()
    legs: list[tuple[Query, Leg]] = []
    for query, vector in zip(queries, vectors, strict=True):
        terms = " ".join(query_terms(query.text, index.engine))
        legs += [(query, leg) for leg in index.engine.search(terms, vector, where, plan.pool, plan.mode)]
    searched = time.perf_counter()
    evidence = _fuse(legs, plan, where)
    return Found(
        evidence,
        tuple(queries),
        tuple(_rankings(legs, where)),
        {"embed": embedded - started, "search": searched - embedded, "fuse": time.perf_counter() - searched},
        degraded,
        {leg.name: leg.hits[0][1] for _, leg in legs if leg.hits},
    )


def standard(question: Question, glossary: Glossary) -> Query:
    """The question itself, with the asker's earlier turns before it.

    Abbreviations spelt out and the words that policies use for what people say go to the sparse side only: there
    they bridge vocabularies, while a vector of many words points nowhere (measured on dev).
    """
    earlier = [m.content for m in question.history if m.role == "user"][-TURNS:]
    folded = "\n".join([*earlier, question.text])
    more = [*glossary.expansions(folded, question.asker.country), *policy_words(folded)]
    return Query(strategy="standard", text="\n".join([folded, *more]), passage=folded)


def query_terms(text: str, engine: Engine) -> list[str]:
    """Index terms of a question, stemmed by the rules of its language, and of the index's only one if it has one.

    Short questions are hard to place; in an index of one language there is nothing to place.
    """
    languages = engine.languages()
    language = next(iter(languages)) if len(languages) == 1 else detect_language(text)
    return analyse(text, language if language in languages or not languages else "en")


def _strategy(name: str) -> Callable[[Question, Glossary], Query]:
    if name not in STRATEGIES:
        raise UnknownName(f"No strategy is called `{name}`.", hint=f"Known: {', '.join(sorted(STRATEGIES))}.")
    return STRATEGIES[name]


def _embed(queries: Sequence[Query], plan: Plan, index: Index) -> tuple[list[Vector | None], tuple[str, ...]]:
    if plan.mode == "sparse":
        return [None] * len(queries), ()
    if index.embedder is None:
        return [None] * len(queries), ("dense: no embedding model, searched by words only",)
    return list(index.embedder.embed([q.passage for q in queries])), ()


def _fuse(legs: Sequence[tuple[Query, Leg]], plan: Plan, where: Filter) -> Evidence:
    chunks = {chunk.id: chunk for _, leg in legs for chunk, _ in leg.hits}
    held: dict[str, list[str]] = {identity: [] for identity in chunks}
    weighted = []
    for query, leg in legs:
        weighted.append(([(chunk.id, score) for chunk, score in leg.hits], plan.weights.get(leg.name, 1.0)))
        for chunk, _ in leg.hits:
            held[chunk.id].append(f"{_scope(chunk, where)}/{leg.name}/{query.strategy}")
    fused = fuse(plan.fusion, weighted, rrf_k=plan.rrf_k)
    bonus = LOCAL_BONUS * max(fused.values(), default=0.0)
    fused = {i: score + bonus * bool(chunks[i].countries) for i, score in fused.items()}
    hits = [Hit(chunk=chunks[i], score=score, found_by=tuple(held[i])) for i, score in fused.items()]
    everything = Evidence(
        local=tuple(h for h in hits if h.chunk.countries), shared=tuple(h for h in hits if not h.chunk.countries)
    )
    top = everything.hits[: plan.k]
    return Evidence(
        local=tuple(h for h in top if h.chunk.countries), shared=tuple(h for h in top if not h.chunk.countries)
    )


def _rankings(legs: Sequence[tuple[Query, Leg]], where: Filter) -> list[Ranking]:
    rows: dict[str, list[tuple[str, int, float]]] = {}
    for query, leg in legs:
        for chunk, score in leg.hits:
            ranking = rows.setdefault(f"{_scope(chunk, where)}/{leg.name}/{query.strategy}", [])
            ranking.append((chunk.id, len(ranking) + 1, round(score, 6)))
    return [Ranking(leg=name, rows=tuple(listed)) for name, listed in rows.items()]


def _scope(chunk: Chunk, where: Filter) -> str:
    mine = [c for c in chunk.countries if where.countries is None or c in where.countries]
    return mine[0] if mine else "global"


STRATEGIES = {"standard": standard}
