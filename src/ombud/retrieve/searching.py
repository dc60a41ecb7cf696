"""The search flow: a plan that suits, search texts, a ranking, a better order, the graph."""

import asyncio
import time
from collections.abc import Mapping, Sequence

from ombud.deadlines import within
from ombud.errors import UnknownName
from ombud.index import Filter, blocking
from ombud.retrieve.copies import without_copies
from ombud.retrieve.graph_search import GraphSearch, find_paths, with_paths
from ombud.retrieve.model import StrategyModel
from ombud.retrieve.parts import SearchParts, SearchResult
from ombud.retrieve.ranking import Ranked, rank_passages
from ombud.retrieve.rerank.reranking import Reranked, rerank_hits, reranker_of
from ombud.retrieve.rerank.task import RerankParts
from ombud.retrieve.router.adapting import adapt_plan, adaptive
from ombud.retrieve.scopes import by_scope, with_counterparts, with_floor
from ombud.retrieve.strategies.making import UNAIDED, StrategyQueries, make_queries, strategy_of
from ombud.retrieve.strategies.own_words import OWN_WORDS, standard_query
from ombud.retrieve.strategies.thesaurus.translating import (
    Translation,
    translate,
    unread_language,
)
from ombud.retrieve.table_rows import with_named_rows
from ombud.types import Evidence, Hit, Plan, Query, Question

LEGS = ("sparse", "dense")
NEAREST = 3
"""Hits, most of which are in the language of the question where there are documents in it."""
LEAST_SECONDS = 0.0005
"""A step that took less was not done."""


async def search(question: Question, plan: Plan, where: Filter, index: SearchParts) -> SearchResult:
    """Return the evidence of a question: at most plan.k hits, and the paths of the graph on top.
    What `where` hides is removed before ranking."""
    check_plan(plan)
    return await SearchRun(question, plan, where, index).result()


class SearchRun:
    """The flow of one question to its evidence."""

    ranked: Ranked
    reranked: Reranked

    def __init__(self, question: Question, plan: Plan, where: Filter, index: SearchParts) -> None:
        self.question = question
        self.plan = plan
        self.where = where
        self.index = index
        self.clock = _StepClock()
        self.signals: Mapping[str, float] = {}
        self.asked = StrategyQueries(())
        self.evidence = Evidence()
        self.graph_degraded: tuple[str, ...] = ()
        self.translation: Translation | None = None

    async def result(self) -> SearchResult:
        stages = (
            self.translate,
            self.adapt,
            self.write_queries,
            self.rank,
            self.rerank,
            self.connect,
        )
        for stage in stages:
            await stage()
        return self._closed()

    async def translate(self) -> None:
        """Search in English words for what is asked in a language that neither the embedder nor
        the documents know. A chat model reads it as it is."""
        index = self.index
        language = unread_language(self.question.text, index.engine, index.embedder)
        if index.chat or not language or await self._finds(language):
            return
        self.translation = await asyncio.to_thread(
            translate, self.question, language, index.glossary, index.engine
        )
        if self.translation.ideas:
            self.question = self.translation.question
        self.clock.lap("strategy")

    async def _finds(self, language: str) -> bool:
        """Tell whether there are documents on the subject in that language."""
        if language not in self.index.engine.languages():
            return False
        ranked = await self._ranked([standard_query(self.question, None)])
        first = ranked.hits[:NEAREST]
        same = sum(hit.chunk.language == language for hit in first)
        return 2 * same > len(first)

    async def adapt(self) -> None:
        """Let the complexity of the question set what the plan leaves open."""
        if adaptive(self.plan):
            with within(self.index.seconds):
                self.plan, self.signals = await asyncio.to_thread(
                    adapt_plan, self.plan, self.question.text, None, self.index.router
                )
        self.model = StrategyModel(
            chat=self.index.chat,
            plan=self.plan,
            organisation=self.index.organisation,
            seconds=self.index.seconds,
            prompts=self.index.prompts,
        )

    async def write_queries(self) -> None:
        """Search texts by the plan's strategies; a model that read the question has also counted
        the passages that it needs."""
        self.asked = await self._queries(self.plan)
        understood = self.model.understood
        if understood:
            text = self.question.text
            self.plan, self.signals = adapt_plan(self.plan, text, understood.contexts)
        self.clock.lap("strategy")

    async def rank(self) -> None:
        """Rank the passages of the search texts, or of the question if these find nothing."""
        self.ranked = await self._ranked(self.asked.queries)
        strategies = self._strategies()
        if self.ranked.hits or not UNAIDED.isdisjoint(strategies):
            return
        own_words = self.plan.model_copy(update={"strategies": ("standard",)})
        plain = await self._queries(own_words)
        again = await self._ranked(plain.queries)
        if not again.hits:
            return
        note = f"strategy: {', '.join(strategies)} found nothing, searched without it"
        self.asked = plain._replace(degraded=(*self.asked.degraded, note))
        self.ranked = again

    async def rerank(self) -> None:
        """Reorder the best of the pool, and cut to plan.k."""
        self.clock.start()
        index = self.index
        parts = RerankParts(
            chat=index.ranker,
            cross_encoder=index.cross_encoder,
            seconds=index.seconds,
            organisation=index.organisation,
            prompts=index.prompts,
        )
        text = self._rerank_text()
        self.reranked = await rerank_hits(text, self.ranked.hits, self.plan, parts)
        rerank_question = f"{self.question.facts} {self.question.text}"
        with_rows = await with_named_rows(
            rerank_question, self.reranked.hits, self.where, index.engine
        )
        ordered = by_scope(with_rows).hits
        self.evidence = await self._with_counterparts(best_of(ordered, self.plan.k), ordered)
        self.clock.lap("rerank")

    async def _with_counterparts(self, evidence: Evidence, ranked: Sequence[Hit]) -> Evidence:
        """Add counterparts if vectors are searched and a country has rules of its own."""
        if self.plan.mode == "sparse" or self.where.countries is None:
            return evidence
        return await with_counterparts(evidence, ranked, self.where, self.index.engine)

    async def connect(self) -> None:
        """Add what stands around the evidence in the graph."""
        if self.plan.graph:
            await asyncio.to_thread(self._walk)
        self.clock.lap("graph")

    def _walk(self) -> None:
        graph = self.index.graph
        if graph is None:
            self.graph_degraded = ("graph: there is none, set index.graph",)
            return
        understood = self.model.understood
        keywords = understood.keywords if understood else ()
        visible = GraphSearch(graph, self.index.engine, self.where)
        walk = find_paths(self.question.text, self.plan, visible, keywords)
        self.evidence = with_paths(self.evidence, walk)
        self.graph_degraded = walk.degraded

    def _closed(self) -> SearchResult:
        ranked = self.ranked
        degraded = (
            *unread_note(self.translation),
            *self.asked.degraded,
            *self.model.notes,
            *ranked.degraded,
            *self.reranked.degraded,
            *self.graph_degraded,
        )
        return SearchResult(
            evidence=self.evidence,
            queries=ranked.queries,
            rankings=ranked.rankings,
            seconds={**self.clock.seconds, **ranked.seconds},
            degraded=degraded,
            best=ranked.best,
            plan=self.plan,
            spent=self.model.spent.plus(self.reranked.spent),
            understood=self.model.understood,
            signals=self.signals,
            question=self.question,
            translation=self.translation,
        )

    async def _queries(self, plan: Plan) -> StrategyQueries:
        return await make_queries(self.question, plan, self.model, self.index.glossary)

    async def _ranked(self, queries: Sequence[Query]) -> Ranked:
        return await rank_passages(queries, self.plan, self.where, self.index)

    def _strategies(self) -> list[str]:
        """Return those that made the queries, each once."""
        strategies = dict.fromkeys(query.strategy for query in self.asked.queries)
        strategies.pop(OWN_WORDS, None)
        return list(strategies)

    def _rerank_text(self) -> str:
        """Return the text for a reranker: the standalone question, unless that is of no use."""
        understood = self.model.understood
        if understood is None or UNAIDED.issuperset(self._strategies()):
            return self.question.text
        return understood.standalone


def unread_note(translation: Translation | None) -> tuple[str, ...]:
    if translation is None or not translation.ideas:
        return ()
    language = translation.language
    return (f"language: the embedder does not know {language}, searched in English words",)


def find_passages(
    queries: Sequence[Query], plan: Plan, where: Filter, index: SearchParts
) -> SearchResult:
    """Search without models: nothing is rewritten, reordered or walked."""
    ranked = blocking(rank_passages(queries, plan, where, index))
    return SearchResult(
        evidence=best_of(ranked.hits, plan.k),
        queries=ranked.queries,
        rankings=ranked.rankings,
        seconds=ranked.seconds,
        degraded=ranked.degraded,
        best=ranked.best,
        plan=plan,
    )


def best_of(ordered: Sequence[Hit], k: int) -> Evidence:
    """Return the best k distinct hits, with the global minimum under a country's rule."""
    distinct = without_copies(ordered, k)
    distinct_ids = {hit.chunk.id for hit in distinct}
    others = [hit for hit in ordered if hit.chunk.id not in distinct_ids]
    return by_scope(with_floor([*distinct, *others], k))


def check_plan(plan: Plan) -> None:
    """Raise UnknownName for strategies, rerankers and the like that are not installed."""
    reranker_of(plan.reranker)
    for name in plan.strategies:
        strategy_of(name)
    for name in plan.weights:
        if name not in LEGS:
            raise UnknownName(f"No leg is called `{name}`.", hint=f"Known: {', '.join(LEGS)}.")


class _StepClock:
    """Seconds of the steps that took any."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self.start()

    def start(self) -> None:
        self._since = time.perf_counter()

    def lap(self, step: str) -> None:
        """Attribute the time since the last lap to a step."""
        now = time.perf_counter()
        if now - self._since > LEAST_SECONDS:
            self.seconds[step] = now - self._since
        self._since = now
