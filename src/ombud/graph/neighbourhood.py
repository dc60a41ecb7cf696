"""The triplets around a term in the graph."""

from collections.abc import Mapping
from typing import NamedTuple

from ombud.graph.entities import EntityMatch, name_phrases
from ombud.graph.paths import VALUE
from ombud.graph.visible_graph import VisibleGraph
from ombud.store import Edge
from ombud.text import entity_stems
from ombud.types import Chunk, Triplet

MIN_SHARE_OF_BEST = 0.9
"""Share of the best match's score from which a term also means another entity, such as the one it
abbreviates."""


class Neighbourhood(NamedTuple):
    """The triplets around a term."""

    keys: tuple[str, ...]
    """Entities that the term names."""
    edges: tuple[Edge, ...]
    """Nearest first."""
    chunks: Mapping[str, Chunk]
    """The passages of the edges."""
    left_out: int
    """Number of further edges."""


def find_neighbourhood(term: str, depth: int, graph: VisibleGraph, most: int = 40) -> Neighbourhood:
    """Find at most `most` triplets around the entities that a term names, nearest first."""
    matches = graph.entities([term], "en")
    if not matches:
        matches = graph.entities(name_phrases(term), "en")
    keys = named_entities(term, matches)
    near = nearest_edges(keys, depth, graph, most)
    chunks = graph.chunks(near.values())
    visible: list[Edge] = []
    for edge in near.values():
        if edge.triplet.chunk_id in chunks:
            visible.append(edge)
    return Neighbourhood(
        keys=tuple(sorted(keys)),
        edges=tuple(visible[:most]),
        chunks=chunks,
        left_out=len(visible[most:]),
    )


def nearest_edges(
    keys: set[str], depth: int, graph: VisibleGraph, most: int
) -> dict[Triplet, Edge]:
    """Collect edges breadth first, up to a depth or until there are enough."""
    near: dict[Triplet, Edge] = {}
    frontier = keys
    passed: set[str] = set()
    for _ in range(depth):
        if len(near) >= most:
            break
        passed |= frontier
        beyond: set[str] = set()
        for edge in graph.around(frontier):
            near.setdefault(edge.triplet, edge)
            beyond |= {edge.subject_key, edge.object_key}
        frontier = {key for key in beyond - passed if not VALUE.match(key)}
    return near


def named_entities(term: str, matches: Mapping[EntityMatch, int]) -> set[str]:
    """Select the best matches of a term and, for a term of several words, the entities whose names
    contain them all."""
    fits = {match: match.strength * len(match.stems) for match in matches}
    least = MIN_SHARE_OF_BEST * max(fits.values(), default=0.0)
    stems = frozenset(entity_stems(term))
    keys: set[str] = set()
    for match, fit in fits.items():
        has_all = len(stems) > 1 and match.stems == stems
        if fit >= least or has_all:
            keys.add(match.key)
    return keys
