"""The graph for one question: the engine tells which passages its reader sees, the graph finds the
paths through them."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ombud.errors import EngineError, StoreError
from ombud.graph import (
    GraphWalk,
    Neighbourhood,
    ReaderScope,
    VisibleGraph,
    find_neighbourhood,
    walk_graph,
)
from ombud.index import Engine, Filter, blocking, is_visible
from ombud.retrieve.scopes import by_scope
from ombud.store import Graph
from ombud.types import Chunk, Evidence, Hit, Plan


class GraphSearch(NamedTuple):
    """A graph, the engine that holds its passages, and what of them a reader may see."""

    graph: Graph
    engine: Engine
    where: Filter

    def visible(self) -> VisibleGraph:
        """Return the graph as a reader may see it. Raises EngineError, now or during reading."""
        scope = ReaderScope(
            visible_chunks=self._visible_chunks,
            languages=self.engine.languages(),
            countries=self.where.countries,
            sources=self.where.sources,
        )
        return VisibleGraph(self.graph, scope)

    def _visible_chunks(self, ids: Sequence[str]) -> Mapping[str, Chunk]:
        chunks = blocking(self.engine.get(ids))
        return {chunk.id: chunk for chunk in chunks.values() if is_visible(chunk, self.where)}


def find_paths(
    text: str, plan: Plan, search: GraphSearch, keywords: Sequence[str] = ()
) -> GraphWalk:
    """Return the triplets and passages of a question that a reader may see. Never raises; failures
    are noted in `degraded`.

    keywords: names that a model has recognised in the question, looked up before its own words."""
    try:
        return walk_graph(text, plan, search.visible(), keywords)
    except (StoreError, EngineError) as failed:
        return GraphWalk(degraded=(f"graph: {failed}",))


def neighbourhood(term: str, depth: int, search: GraphSearch, most: int = 40) -> Neighbourhood:
    """Return at most `most` triplets around the entities of a term, nearest first, that a reader
    may see."""
    return find_neighbourhood(term, depth, search.visible(), most)


def with_paths(evidence: Evidence, walk: GraphWalk) -> Evidence:
    """Append the passages of the paths to the evidence, without repetition."""
    present = {hit.chunk.id for hit in evidence.hits}
    least = min((hit.score for hit in evidence.hits), default=1.0)
    step = abs(least) / 1000 or 1e-6
    added: list[Hit] = []
    for hit in walk.hits:
        if hit.chunk.id not in present:
            score = least - step * (len(added) + 1)
            added.append(hit.model_copy(update={"score": score}))
    scoped = by_scope(added)
    return evidence.model_copy(
        update={
            "local": (*evidence.local, *scoped.local),
            "shared": (*evidence.shared, *scoped.shared),
            "triplets": walk.triplets,
        }
    )
