"""Paths through the graph of triplets, from what a question names, through what its reader may see
and nothing else.

What a reader may not see is out before anything is ranked or counted: the same question finds the
same paths whether hidden documents are in the index or not. As in HyPA-RAG (Kalra et al. 2024): up
to K keywords, paths of up to S triplets."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import NamedTuple

from ombud.graph.entities import EntityMatch, beginning, choose_matches, name_phrases
from ombud.graph.visible_graph import COMMON, VisibleGraph
from ombud.store import Edge
from ombud.text import entity_stems, name_words
from ombud.types import Chunk, Hit, Plan, Triplet

BEAM = 40
"""Paths that are gone on with from each length to the next."""
HUB = 60
"""Triplets of an entity from which no path leads through it: "employee" connects everything with
everything."""
EVERYWHERE = 5000
"""Triplets of an entity that says nothing where a question names anything else."""
MOST_TRIPLETS = 20
LEAST_HITS = 3
FAR = 0.4
"""Share of the best score, of its keyword or of all, below which a path is left out."""
VALUE = re.compile(
    r"[\W\d]|(?:yes|no|none|at once|as needed|optional|required|unlimited|varies|\w{3} \d)(?:\s|\Z)"
)
"""Figures, days and the like: things that have one in common have nothing to do with each other."""
DECAY = 0.6
"""What a path is worth for each triplet more."""
COVERING = 3.0
"""What words of the question in the path count beside the entity that it begins with."""


class GraphWalk(NamedTuple):
    triplets: tuple[Triplet, ...] = ()
    """Best path first, each path in its order, none twice."""
    hits: tuple[Hit, ...] = ()
    """Their passages, best first."""
    degraded: tuple[str, ...] = ()


class Path(NamedTuple):
    edges: tuple[Edge, ...]
    end: str
    """The entity that it has come to."""
    match: EntityMatch
    score: float


class _Asked(NamedTuple):
    """What a question asks with."""

    stems: frozenset[str]
    beginnings: list[str]
    """Of the words that very common entities of the question do not hold themselves."""
    language: str


def walk_graph(
    text: str, plan: Plan, graph: VisibleGraph, keywords: Sequence[str] = ()
) -> GraphWalk:
    """Triplets and passages for a question: plan.graph_keywords entities, paths of plan.graph_depth
    triplets.

    keywords: names that a model has seen in the question, looked up before its own words. Raises
    StoreError, and what the graph's look at the chunks raises."""
    if not plan.graph_keywords or not plan.graph_depth:
        return GraphWalk()
    language = graph.language(text)
    degrees = graph.entities([*keywords, *name_phrases(text)], language)
    starts = choose_matches(_specific(degrees) or degrees, plan.graph_keywords)
    asked = _asked(text, starts, graph, language)
    paths = list(_in_turn(_ranked(starts, asked, plan.graph_depth, graph)))
    chunks = graph.chunks(edge for path in paths for edge in path.edges)
    kept = _best_triplets(paths, chunks, language)
    most = max(LEAST_HITS, plan.graph_keywords)
    return GraphWalk(
        triplets=tuple(triplet for triplet, _ in kept),
        hits=tuple(_hits(kept, chunks, graph)[:most]),
    )


def _specific(degrees: Mapping[EntityMatch, int]) -> dict[EntityMatch, int]:
    """Without entities that are everywhere."""
    return {match: degree for match, degree in degrees.items() if degree <= EVERYWHERE}


def _best_triplets(
    paths: Iterable[Path], chunks: Mapping[str, Chunk], language: str
) -> list[tuple[Triplet, float]]:
    """Triplets with the score of their path; what two say in the same words stands once."""
    kept: dict[tuple[str, ...], tuple[Triplet, float]] = {}
    for path in paths:
        if len(kept) >= MOST_TRIPLETS:
            break
        triplets = [edge.triplet for edge in path.edges]
        chunk_ids = {triplet.chunk_id for triplet in triplets}
        if not chunk_ids <= chunks.keys():
            continue
        for triplet in triplets:
            stems = tuple(entity_stems(_sentence(triplet), language))
            kept.setdefault(stems, (triplet, path.score))
    return list(kept.values())


def _hits(
    scored: Iterable[tuple[Triplet, float]], chunks: Mapping[str, Chunk], graph: VisibleGraph
) -> list[Hit]:
    hits: dict[str, Hit] = {}
    for triplet, score in scored:
        chunk = chunks[triplet.chunk_id]
        if chunk.id not in hits:
            leg = f"{graph.scope_of(chunk)}/graph/paths"
            hits[chunk.id] = Hit(chunk=chunk, score=score, found_by=(leg,))
    return list(hits.values())


def _asked(text: str, starts: Sequence[EntityMatch], graph: VisibleGraph, language: str) -> _Asked:
    beginnings: dict[str, str] = {}
    for word in name_words(text):
        for stem in entity_stems(word, language):
            beginnings[stem] = beginning(word)
    degrees = graph.degrees(match.key for match in starts)
    named: set[str] = set()
    for match in starts:
        if degrees[match.key] > COMMON:
            named |= match.stems
    apart = []
    for stem, start in beginnings.items():
        if stem not in named:
            apart.append(start)
    return _Asked(frozenset(beginnings), apart, language)


def _ranked(
    starts: Sequence[EntityMatch], asked: _Asked, depth: int, graph: VisibleGraph
) -> list[Path]:
    """Paths of every length up to `depth`, best first."""
    covered: dict[Triplet, frozenset[str]] = {}
    paths: list[Path] = []
    frontier = [Path((), match.key, match, match.strength) for match in starts]
    for length in range(1, depth + 1):
        edges = _edges_at({path.end for path in frontier}, asked, graph, covered)
        longer = _all_longer(frontier, edges, asked, covered)
        longer.sort(key=lambda path: -path.score)
        best = longer[:BEAM]
        paths += best
        if length < depth:
            frontier = _leading_on(best, graph)
    return sorted(paths, key=lambda path: -path.score)


def _edges_at(
    keys: set[str], asked: _Asked, graph: VisibleGraph, covered: dict[Triplet, frozenset[str]]
) -> dict[str, list[Edge]]:
    """Entity -> its edges. Notes in `covered` which words of the question each of them holds."""
    edges_at: dict[str, list[Edge]] = {}
    for edge in graph.around(keys, asked.beginnings):
        for key in {edge.subject_key, edge.object_key}:
            edges_at.setdefault(key, []).append(edge)
        if edge.triplet not in covered:
            stems = entity_stems(_sentence(edge.triplet), asked.language)
            covered[edge.triplet] = frozenset(stems) & asked.stems
    return edges_at


def _all_longer(
    paths: Iterable[Path],
    edges_at: Mapping[str, Sequence[Edge]],
    asked: _Asked,
    covered: Mapping[Triplet, frozenset[str]],
) -> list[Path]:
    longer: list[Path] = []
    for path in paths:
        passed = [edge.triplet for edge in path.edges]
        for edge in edges_at.get(path.end, ()):
            if edge.triplet not in passed:
                longer.append(_longer(path, edge, asked, covered))
    return longer


def _longer(
    path: Path, edge: Edge, asked: _Asked, covered: Mapping[Triplet, frozenset[str]]
) -> Path:
    edges = (*path.edges, edge)
    rest = asked.stems - path.match.stems
    held: set[str] = set()
    for passed in edges:
        held |= covered[passed.triplet]
    covering = len(held & rest) / max(1, len(rest))
    decay = DECAY ** (len(edges) - 1)
    end = edge.object_key if edge.subject_key == path.end else edge.subject_key
    return Path(
        edges=edges,
        end=end,
        match=path.match,
        score=path.match.strength * (1 + COVERING * covering) * decay,
    )


def _leading_on(paths: Sequence[Path], graph: VisibleGraph) -> list[Path]:
    """Those that end neither at a value nor where everything meets."""
    degrees = graph.degrees({path.end for path in paths})
    leading_on: list[Path] = []
    for path in paths:
        is_hub = degrees.get(path.end, HUB + 1) > HUB
        if not is_hub and not VALUE.match(path.end):
            leading_on.append(path)
    return leading_on


def _sentence(triplet: Triplet) -> str:
    return f"{triplet.subject} {triplet.predicate} {triplet.object}"


def _in_turn(ranked: Sequence[Path]) -> Iterator[Path]:
    """The best path of each keyword, then the second of each; without those that are far from the
    best.

    A keyword of one word must do nearly as well as the best of all: "day" has something to say to
    everything."""
    by_keyword: dict[frozenset[str], list[Path]] = {}
    for path in ranked:
        stems = path.match.stems
        if stems in by_keyword:
            best = by_keyword[stems][0]
        else:
            best = path if len(stems) > 1 else ranked[0]
        if path.score >= FAR * best.score:
            by_keyword.setdefault(stems, []).append(path)
    for row in zip_longest(*by_keyword.values()):
        yield from filter(None, row)
