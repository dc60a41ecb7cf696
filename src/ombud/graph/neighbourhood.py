"""What stands around a term in the graph."""

from collections.abc import Mapping
from typing import NamedTuple

from ombud.graph.entities import EntityMatch, name_phrases
from ombud.graph.paths import VALUE
from ombud.graph.visible_graph import VisibleGraph
from ombud.store import Edge
from ombud.text import entity_stems
from ombud.types import Chunk, Triplet

NAMED = 0.9
"""Share of the best match from which an entity, too, is what a term means: what it is short for, or
is one part of."""


class Neighbourhood(NamedTuple):
    """What stands around a term."""

    keys: tuple[str, ...]
    """Entities that the term means."""
    edges: tuple[Edge, ...]
    """Nearest first."""
    chunks: Mapping[str, Chunk]
    """The passages of the edges."""
    left_out: int
    """Edges that there are besides."""


def find_neighbourhood(term: str, depth: int, graph: VisibleGraph, most: int = 40) -> Neighbourhood:
    """At most so many triplets around the entities that a term names, nearest first."""
    matches = graph.entities([term], "en")
    if not matches:
        matches = graph.entities(name_phrases(term), "en")
    keys = _meant(term, matches)
    near = _near(keys, depth, graph, most)
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


def _near(keys: set[str], depth: int, graph: VisibleGraph, most: int) -> dict[Triplet, Edge]:
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


def _meant(term: str, matches: Mapping[EntityMatch, int]) -> set[str]:
    """What a term names best; a term of several words also means what has them all, as "paid annual
    leave" has."""
    fits = {match: match.strength * len(match.stems) for match in matches}
    least = NAMED * max(fits.values(), default=0.0)
    stems = frozenset(entity_stems(term))
    meant: set[str] = set()
    for match, fit in fits.items():
        has_all = len(stems) > 1 and match.stems == stems
        if fit >= least or has_all:
            meant.add(match.key)
    return meant
