"""The graph as one reader sees it. Which passages that are is decided outside, passage by passage:
whoever opens one hands over the function that looks."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from ombud.graph.entities import EntityMatch, find_matches
from ombud.store import Edge, Graph, Spread
from ombud.text import detect_language
from ombud.types import Chunk

COMMON = 200
MOST_OF_COMMON = 2000
"""Triplets of an entity from which only those are read that hold another word of the question, and
how many of them at most: everything speaks of employees."""


class ReaderScope(NamedTuple):
    """What one reader sees of the index."""

    visible_chunks: Callable[[Sequence[str]], Mapping[str, Chunk]]
    """Ids -> the chunks among them that the reader may see."""
    languages: Collection[str]
    """Codes of the languages that chunks are in."""
    countries: Sequence[str] | None = None
    """Country scopes searched; None = every country."""
    sources: tuple[str, ...] = ()
    """Only these; empty = all."""


class VisibleGraph:
    """The graph as one reader sees it; entities that count as the same have one key."""

    def __init__(self, graph: Graph, scope: ReaderScope) -> None:
        self._graph = graph
        self._scope = scope
        self._is_open: dict[str, bool] = {}
        self._spread_of: dict[str, list[Spread]] = {}

    def around(self, keys: Iterable[str], holding: Sequence[str] = ()) -> list[Edge]:
        """Triplets of these entities; holding: of those with very many only the ones with such a
        word."""
        sources = self._scope.sources
        degrees = self.degrees(keys)
        common = sorted(key for key, degree in degrees.items() if degree > COMMON)
        others = self._with_same(degrees.keys() - set(common))
        edges = self._graph.around(others, sources)
        for key in common:
            same = self._with_same([key])
            edges += self._graph.around(same, sources, holding, MOST_OF_COMMON)
        visible: list[Edge] = []
        for edge in dict.fromkeys(edges):
            if self._is_open.get(edge.document_id):
                visible.append(edge)
        groups = self._graph.same(_ends(visible))
        return [_with_one_key(edge, groups) for edge in visible]

    def degrees(self, keys: Iterable[str]) -> dict[str, int]:
        """How many triplets the reader sees of each."""
        groups = self._graph.same(keys)
        ends = Counter[str]()
        for spread in self._visible_spread(groups):
            ends[spread.key] += spread.ends
        degrees: dict[str, int] = {}
        for key, group in groups.items():
            degrees[key] = sum(ends[other] for other in group)
        return degrees

    def entities(self, phrases: Sequence[str], language: str) -> dict[EntityMatch, int]:
        """What the phrases mean, by what visible documents call it, and how many triplets it
        has."""
        matches = find_matches(phrases, self._graph, language)
        keys = {match.key for match, _ in matches}
        groups = self._graph.same(keys)
        visible = self._visible_places(keys)
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
        """The visible passages of the edges, each one looked at for itself."""
        ids = dict.fromkeys(edge.triplet.chunk_id for edge in edges)
        return self._scope.visible_chunks(list(ids))

    def language(self, text: str) -> str:
        if len(self._scope.languages) == 1:
            return next(iter(self._scope.languages))
        return detect_language(text)

    def scope_of(self, chunk: Chunk) -> str:
        """The country scope that shows the chunk, else `global`."""
        wanted = self._scope.countries
        for country in chunk.countries:
            if wanted is None or country in wanted:
                return country
        return "global"

    def _visible_places(self, keys: Iterable[str]) -> set[tuple[str, str]]:
        """(document id, key) of where the reader may know the entities from."""
        places: set[tuple[str, str]] = set()
        for spread in self._visible_spread(keys):
            places.add((spread.document_id, spread.key))
        return places

    def _with_same(self, keys: Iterable[str]) -> frozenset[str]:
        return frozenset[str]().union(*self._graph.same(keys).values())

    def _visible_spread(self, keys: Iterable[str]) -> list[Spread]:
        """Where the reader may know these entities from. All passages of a document are open to the
        same people: one of them decides here, and `chunks` asks each before anything is shown."""
        wanted = set(keys)
        new_keys = wanted - self._spread_of.keys()
        new_spread = self._graph.spread(new_keys, self._scope.sources)
        self._look_at(new_spread)
        for key in new_keys:
            self._spread_of[key] = []
        for spread in new_spread:
            if self._is_open[spread.document_id]:
                self._spread_of[spread.key].append(spread)
        known: list[Spread] = []
        for key in wanted:
            known += self._spread_of[key]
        return known

    def _look_at(self, spreads: Iterable[Spread]) -> None:
        chunk_of: dict[str, str] = {}
        for spread in spreads:
            if spread.document_id not in self._is_open:
                chunk_of[spread.document_id] = spread.chunk_id
        visible = self._scope.visible_chunks(list(chunk_of.values())) if chunk_of else {}
        for document_id, chunk_id in chunk_of.items():
            self._is_open[document_id] = chunk_id in visible


def _ends(edges: Iterable[Edge]) -> list[str]:
    keys: list[str] = []
    for edge in edges:
        keys += (edge.subject_key, edge.object_key)
    return keys


def _with_one_key(edge: Edge, groups: Mapping[str, Collection[str]]) -> Edge:
    return edge._replace(
        subject_key=min(groups[edge.subject_key]),
        object_key=min(groups[edge.object_key]),
    )
