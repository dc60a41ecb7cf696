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
from ombud.store import Graph
from ombud.types import Chunk, Evidence, Hit, Plan


class GraphSearch(NamedTuple):
    """A graph, the engine that holds its passages, and what of them a reader may see."""

    graph: Graph
    engine: Engine
    where: Filter

    def visible(self) -> VisibleGraph:
        """The graph as a reader sees it. Raises EngineError, now or while it is read."""
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
    """Triplets and passages for a question, of what a reader may see.

    keywords: names that a model has seen in the question, looked up before its own words. Never
    raises: what fails is said in `degraded`."""
    try:
        return walk_graph(text, plan, search.visible(), keywords)
    except (StoreError, EngineError) as failed:
        return GraphWalk(degraded=(f"graph: {failed}",))


def neighbourhood(term: str, depth: int, search: GraphSearch, most: int = 40) -> Neighbourhood:
    """At most so many triplets around the entities that a term names, nearest first, of what a
    reader may see."""
    return find_neighbourhood(term, depth, search.visible(), most)


def with_paths(evidence: Evidence, walk: GraphWalk) -> Evidence:
    """The evidence with the paths behind it: passages that it has not yet come last, in their
    order."""
    held = {hit.chunk.id for hit in evidence.hits}
    least = min((hit.score for hit in evidence.hits), default=1.0)
    step = abs(least) / 1000 or 1e-6
    local: list[Hit] = []
    shared: list[Hit] = []
    place = 0
    for hit in walk.hits:
        if hit.chunk.id in held:
            continue
        place += 1
        placed = hit.model_copy(update={"score": least - step * place})
        if hit.chunk.countries:
            local.append(placed)
        else:
            shared.append(placed)
    return evidence.model_copy(
        update={
            "local": (*evidence.local, *local),
            "shared": (*evidence.shared, *shared),
            "triplets": walk.triplets,
        }
    )
