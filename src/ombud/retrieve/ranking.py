"""Queries to one ranking: embedded, searched for in every leg, fused, and put in order by tokens.

No chat model plays a part here, and nothing is cut: the ranking holds all that was found."""

import asyncio
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ombud.deadlines import within
from ombud.errors import ModelError
from ombud.index import Filter, Leg
from ombud.models import EmbeddedText, beside
from ombud.retrieve.fusion import Scores, Weighted, fuse
from ombud.retrieve.parts import SearchParts
from ombud.retrieve.rerank.nearness import by_tokens
from ombud.retrieve.scopes import by_scope, scope_of
from ombud.retrieve.strategies.own_words import OWN_WORDS, language_of, query_terms
from ombud.retrieve.weighting import CANDIDATES, by_tfidf
from ombud.text import count_cjk
from ombud.types import Chunk, Hit, Plan, Query, Ranking

FOREIGN = 1 / 6
"""What is left of the vectors' weight where the embedder was not trained on the question's
language: words 80 to 20 by default (XQuAD, chosen in German: recall@5 .938 to .969; Spanish, only
confirmed: .922 to .987). """
OWN_SHARE = 0.35
"""Share of a leg's weight that the question's own words have beside those of a model."""
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


async def rank_passages(
    queries: Sequence[Query], plan: Plan, where: Filter, index: SearchParts
) -> Ranked:
    """Return all passages that the queries find under `where`, best first."""
    return await RankRun(queries, plan, where, index).ranked()


class RankRun:
    """Queries on their way to one ranking. Each stage reads what those before it left; one of a
    millisecond or less is no change of threads worth."""

    def __init__(
        self, queries: Sequence[Query], plan: Plan, where: Filter, index: SearchParts
    ) -> None:
        self.queries = tuple(queries)
        self.plan = plan
        self.where = where
        self.index = index
        self.readings: dict[str, EmbeddedText] = {}
        """Passage of a query -> what the embedder reads in it."""
        self.degraded: tuple[str, ...] = ()
        self.legs: list[_QueryLeg] = []
        self.hits: Sequence[Hit] = ()
        self.nearness: Sequence[float] = ()
        """Of the first hits, where tokens put them in order."""

    async def ranked(self) -> Ranked:
        seconds: dict[str, float] = {}
        for stage in (self.embed, self.search, self.fuse, self.late):
            started = time.perf_counter()
            await stage()
            seconds[stage.__name__] = time.perf_counter() - started
        if not self.nearness:
            del seconds["late"]
        return Ranked(
            hits=self.hits,
            queries=self.queries,
            rankings=(*_rankings(self.legs, self.where), *late_ranking(self.hits, self.nearness)),
            seconds=seconds,
            degraded=self.degraded,
            best=best_scores(self.legs),
        )

    async def embed(self) -> None:
        """Read the passages of the queries; what fails leaves the search to words."""
        if self.plan.mode == "sparse":
            return
        documents = {query.passage for query in self.queries if query.hypothetical}
        questions = [passage for passage in self._passages() if passage not in documents]
        written = [passage for passage in self._passages() if passage in documents]
        with within(self.index.seconds):
            failed = await asyncio.gather(
                beside(self.index.embedder, questions, lambda: self._read(questions)),
                beside(self.index.embedder, written, lambda: self._read(written, as_queries=False)),
            )
        for why_not in filter(None, failed):
            self.readings = {}
            self.degraded = (f"dense: {why_not}, searched by words only",)

    async def search(self) -> None:
        """Search all legs of all queries concurrently, and keep the order of the queries."""
        searches = list(map(self._search, self.queries))
        results = await asyncio.gather(*searches)
        for query, legs in zip(self.queries, results, strict=True):
            self.legs += [_QueryLeg(query, leg) for leg in legs]

    async def fuse(self) -> None:
        """Return every hit of the legs, best first."""
        self.hits = self._fused()

    async def late(self) -> None:
        """Reorder the best hits by late interaction, if the embedder reads the language."""
        if self._is_foreign():
            return
        tokens = [reading.tokens for reading in self.readings.values() if reading.tokens]
        packed: dict[str, bytes] = {}
        for _, leg in self.legs:
            packed.update(leg.tokens)
        self.hits, self.nearness = by_tokens(tokens, self.hits, packed, self.plan)

    # What the stages ask ----------------------------------------------------------------------

    def _passages(self) -> list[str]:
        passages = dict.fromkeys(query.passage for query in self.queries)
        passages.pop("", None)
        return list(passages)

    def _read(self, passages: Sequence[str], *, as_queries: bool = True) -> str:
        """Fill `readings`; return why not where that cannot be done."""
        embedder = self.index.embedder
        if not passages:
            return ""
        if embedder is None:
            return "no embedding model"
        if embedder.languages is not None and all(map(is_unreadable, passages)):
            return "the embedder does not know the language"
        try:
            read = embedder.read
            if as_queries:
                read = getattr(embedder, "read_queries", read)
            readings = read(passages)
        except ModelError:
            return "the embedding model gave no answer"
        self.readings.update(zip(passages, readings, strict=True))
        return ""

    def _is_foreign(self) -> bool:
        """Tell whether the embedder does not read the language of the question."""
        embedder = self.index.embedder
        passages = self._passages()
        if embedder is None or embedder.languages is None or not passages:
            return False
        return language_of(passages[0], self.index.engine) not in embedder.languages

    async def _search(self, query: Query) -> Sequence[Leg]:
        engine = self.index.engine
        plan = self.plan
        reading = self.readings.get(query.passage)
        vector = reading.windows[0] if reading else None
        mode = "sparse" if vector is None else plan.mode
        terms = " ".join(query_terms(query.text, engine))
        if plan.weighting == "tfidf" and mode != "dense":
            candidates = max(plan.pool, CANDIDATES)
            deep = await engine.search(terms, vector, self.where, candidates, mode)
            return [await self._reweighted(leg, terms) for leg in deep]
        return await engine.search(terms, vector, self.where, plan.pool, mode)

    async def _reweighted(self, leg: Leg, terms: str) -> Leg:
        if leg.name == "sparse":
            leg = await by_tfidf(leg, terms, self.index.engine)
        return leg._replace(hits=leg.hits[: self.plan.pool])

    def _fused(self) -> Sequence[Hit]:
        chunks: dict[str, Chunk] = {}
        found_by: dict[str, list[str]] = {}
        for query, leg in self.legs:
            for chunk, _ in leg.hits:
                chunks[chunk.id] = chunk
                names = found_by.setdefault(chunk.id, [])
                names.append(leg_name(chunk, leg, query, self.where))
        scores = fuse(self.plan.fusion, self._weighted())
        bonus = LOCAL_BONUS * max(scores.values(), default=0.0)
        hits: list[Hit] = []
        for chunk_id, score in scores.items():
            chunk = chunks[chunk_id]
            if chunk.countries:
                score += bonus
            names = found_by[chunk_id]
            hits.append(
                Hit(
                    chunk=chunk,
                    score=score,
                    found_by=tuple(names),
                )
            )
        return by_scope(hits).hits

    def _weighted(self) -> Weighted:
        """Return each leg as (chunk id, score) rows with its weight. However many texts were
        searched for, words and vectors keep their shares, and own words theirs of each."""
        weights = self.plan.weights
        beside = Counter((leg.name, query.strategy == OWN_WORDS) for query, leg in self.legs)
        foreign = self._is_foreign()
        weighted: list[tuple[Scores, float]] = []
        for query, leg in self.legs:
            is_own = query.strategy == OWN_WORDS
            weight = weights.get(leg.name, 1.0) / beside[leg.name, is_own]
            if beside[leg.name, not is_own]:
                weight *= OWN_SHARE if is_own else 1 - OWN_SHARE
            if foreign and leg.name == "dense":
                weight *= FOREIGN
            rows = [(chunk.id, score) for chunk, score in leg.hits]
            weighted.append((rows, weight))
        return weighted


def is_unreadable(text: str) -> bool:
    """Tell whether most letters are of a script that an embedder of few languages maps to unknown
    tokens."""
    letters = sum(map(str.isalpha, text))
    return 2 * count_cjk(text) > letters


def best_scores(legs: Sequence[_QueryLeg]) -> dict[str, float]:
    best: dict[str, float] = {}
    for _, leg in legs:
        if not leg.hits:
            continue
        _, score = leg.hits[0]
        before = best.get(leg.name, score)
        best[leg.name] = max(before, score)
    return best


_Row = tuple[str, int, float]


# What the trace shows -----------------------------------------------------------------------------


def leg_name(chunk: Chunk, leg: Leg, query: Query, where: Filter) -> str:
    """Return a name such as `GB/sparse/standard`."""
    return f"{scope_of(chunk, where)}/{leg.name}/{query.strategy}"


def _rankings(legs: Sequence[_QueryLeg], where: Filter) -> list[Ranking]:
    rows_of: dict[str, list[_Row]] = {}
    for query, leg in legs:
        for chunk, score in leg.hits:
            name = leg_name(chunk, leg, query, where)
            rows = rows_of.setdefault(name, [])
            rank = len(rows) + 1
            rows.append((chunk.id, rank, round(score, 6)))
    return [Ranking(leg=name, rows=tuple(rows)) for name, rows in rows_of.items()]


def late_ranking(hits: Sequence[Hit], nearness: Sequence[float]) -> list[Ranking]:
    rows: list[_Row] = []
    for hit, score in zip(hits, nearness, strict=False):
        rank = len(rows) + 1
        rows.append((hit.chunk.id, rank, round(score, 6)))
    return [Ranking(leg="late", rows=tuple(rows))] if rows else []
