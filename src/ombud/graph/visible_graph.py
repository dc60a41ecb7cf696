"""The graph as one reader sees it. The caller passes in the function that decides which passages
the reader may see."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from ombud.graph.entities import EntityMatch, find_matches
from ombud.store import Edge, Graph, Spread
from ombud.text import detect_language
from ombud.types import Chunk

COMMON_DEGREE = 200
"""Degree above which only triplets with another word of the question are read: nearly all
documents mention employees."""
MAX_COMMON_TRIPLETS = 2000
"""Triplets of such an entity that are read at most."""


class ReaderScope(NamedTuple):
    """The part of the index that one reader sees."""

    visible_chunks: Callable[[Sequence[str]], Mapping[str, Chunk]]
    """Returns those of the chunks that the reader may see, by id."""
    languages: Collection[str]
    """Language codes of the chunks."""
    countries: Sequence[str] | None = None
    """Country scopes searched; None = every country."""
    sources: tuple[str, ...] = ()
    """Names of the sources searched; empty = all."""


class VisibleGraph:
    """The graph as one reader sees it; merged entities have one key."""

    def __init__(self, graph: Graph, scope: ReaderScope) -> None:
        self._graph = graph
        self._scope = scope
        self._is_open: dict[str, bool] = {}
        self._spread_of: dict[str, list[Spread]] = {}

    def around(self, keys: Iterable[str], holding: Sequence[str] = ()) -> list[Edge]:
        """List the edges of these entities; of common ones only those that contain one of the
        prefixes in `holding`."""
        sources = self._scope.sources
        degrees = self.degrees(keys)
        common = sorted(key for key, degree in degrees.items() if degree > COMMON_DEGREE)
        others = self._with_same(degrees.keys() - set(common))
        edges = self._graph.around(others, sources)
        for key in common:
            same = self._with_same([key])
            edges += self._graph.around(same, sources, holding, MAX_COMMON_TRIPLETS)
        visible: list[Edge] = []
        for edge in dict.fromkeys(edges):
            if self._is_open.get(edge.document_id):
                visible.append(edge)
        ends = [key for edge in visible for key in (edge.subject_key, edge.object_key)]
        groups = self._graph.same(ends)
        return [merge_keys(edge, groups) for edge in visible]

    def degrees(self, keys: Iterable[str]) -> dict[str, int]:
        """Count the triplets of each entity that the reader sees."""
        groups = self._graph.same(keys)
        ends = Counter[str]()
        for spread in self._visible_spread(groups):
            ends[spread.key] += spread.ends
        degrees: dict[str, int] = {}
        for key, group in groups.items():
            degrees[key] = sum(ends[other] for other in group)
        return degrees

    def entities(self, phrases: Sequence[str], language: str) -> dict[EntityMatch, int]:
        """Match phrases to entities by the names that visible documents use, with the number of
        triplets of each."""
        matches = find_matches(phrases, self._graph, language)
        keys = {match.key for match, _ in matches}
        groups = self._graph.same(keys)
        visible = {(spread.document_id, spread.key) for spread in self._visible_spread(keys)}
        best: dict[tuple[str, frozenset[str]], EntityMatch] = {}
        for match, document_id in matches:
            if (document_id, match.key) not in visible:
                continue
            key = min(groups[match.key])
            before = best.get((key, match.stems))
            if before is None or match.strength > before.strength:
                best[key, match.stems] = match._replace(key=key)
        chosen = list(best.values())
        degrees = self.degrees(match.key for match in chosen)
        return {match: degrees[match.key] for match in chosen}

    def chunks(self, edges: Iterable[Edge]) -> Mapping[str, Chunk]:
        """Load the visible passages of the edges; each passage is checked by itself."""
        ids = dict.fromkeys(edge.triplet.chunk_id for edge in edges)
        return self._scope.visible_chunks(list(ids))

    def language(self, text: str) -> str:
        """Return the index's language if it has only one, else that of the text."""
        if len(self._scope.languages) == 1:
            return next(iter(self._scope.languages))
        return detect_language(text)

    def scope_of(self, chunk: Chunk) -> str:
        """Return the country scope that includes the chunk, else `global`."""
        wanted = self._scope.countries
        for country in chunk.countries:
            if wanted is None or country in wanted:
                return country
        return "global"

    def _with_same(self, keys: Iterable[str]) -> frozenset[str]:
        return frozenset[str]().union(*self._graph.same(keys).values())

    def _visible_spread(self, keys: Iterable[str]) -> list[Spread]:
        """List the visible documents that mention these entities. All passages of a document have
        the same readers, so one decides here; `chunks` checks each before it is displayed."""
        wanted = set(keys)
        new_keys = wanted - self._spread_of.keys()
        new_spread = self._graph.spread(new_keys, self._scope.sources)
        self._check_documents(new_spread)
        for key in new_keys:
            self._spread_of[key] = []
        for spread in new_spread:
            if self._is_open[spread.document_id]:
                self._spread_of[spread.key].append(spread)
        visible: list[Spread] = []
        for key in wanted:
            visible += self._spread_of[key]
        return visible

    def _check_documents(self, spreads: Iterable[Spread]) -> None:
        """Note which of these documents are visible, by one chunk of each."""
        chunk_of: dict[str, str] = {}
        for spread in spreads:
            if spread.document_id not in self._is_open:
                chunk_of[spread.document_id] = spread.chunk_id
        visible = self._scope.visible_chunks(list(chunk_of.values())) if chunk_of else {}
        for document_id, chunk_id in chunk_of.items():
            self._is_open[document_id] = chunk_id in visible


def merge_keys(edge: Edge, groups: Mapping[str, Collection[str]]) -> Edge:
    """Give both ends of an edge the key that stands for all merged with it."""
    return edge._replace(
        subject_key=min(groups[edge.subject_key]),
        object_key=min(groups[edge.object_key]),
    )
