"""Paths through the knowledge graph from the entities that a question names, as in HyPA-RAG (Kalra
et al. 2024): up to K keywords, paths of up to S triplets.

Documents that the reader may not see are excluded before anything is ranked or counted, so a
question leads to the same paths whether or not they are in the index."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import NamedTuple

from ombud.graph.entities import EntityMatch, choose_matches, name_phrases
from ombud.graph.visible_graph import COMMON_DEGREE, VisibleGraph
from ombud.store import Edge
from ombud.text import entity_stems, name_words
from ombud.types import Chunk, Hit, Plan, Triplet

BEAM_WIDTH = 40
"""Paths of each length that are extended."""
HUB_DEGREE = 60
"""Degree above which no path leads through an entity: "employee" connects everything."""
UBIQUITOUS_DEGREE = 5000
"""Degree above which an entity is ignored if a question also names others."""
MAX_TRIPLETS = 20
MIN_HITS = 3
MIN_SHARE_OF_BEST = 0.4
"""Share of the best score, of its keyword or of all, below which a path is dropped."""
VALUE = re.compile(
    r"[\W\d]|(?:yes|no|none|at once|as needed|optional|required|unlimited|varies|\w{3} \d)(?:\s|\Z)"
)
"""Figures, dates and the like. No path leads through them: sharing one relates nothing."""
DECAY = 0.6
"""Factor of a path's score for each triplet after the first."""
COVERAGE_WEIGHT = 3.0
"""Weight of the question's words in a path; the entity that it starts from has 1."""


class GraphWalk(NamedTuple):
    triplets: tuple[Triplet, ...] = ()
    """Triplets of the paths without duplicates, best path first."""
    hits: tuple[Hit, ...] = ()
    """Passages of the triplets, best first."""
    degraded: tuple[str, ...] = ()


class Path(NamedTuple):
    edges: tuple[Edge, ...]
    end: str
    """The entity at its end."""
    match: EntityMatch
    score: float


class QuestionWords(NamedTuple):
    """The words of a question that paths are scored by."""

    stems: frozenset[str]
    prefixes: list[str]
    """Prefixes of the words that are not in the name of a common entity."""
    language: str


def walk_graph(
    text: str, plan: Plan, graph: VisibleGraph, keywords: Sequence[str] = ()
) -> GraphWalk:
    """Find triplets and passages for a question: plan.graph_keywords entities, paths of
    plan.graph_depth triplets.

    keywords: names that a model extracted from the question, looked up before its own words. Raises
    StoreError, and whatever the scope's `visible_chunks` raises."""
    if not plan.graph_keywords or not plan.graph_depth:
        return GraphWalk()
    language = graph.language(text)
    degrees = graph.entities([*keywords, *name_phrases(text)], language)
    specific = {match: degree for match, degree in degrees.items() if degree <= UBIQUITOUS_DEGREE}
    starts = choose_matches(specific or degrees, plan.graph_keywords)
    words = question_words(text, starts, graph, language)
    paths = list(take_turns(rank_paths(starts, words, plan.graph_depth, graph)))
    chunks = graph.chunks(edge for path in paths for edge in path.edges)
    scored = best_triplets(paths, chunks, language)
    most = max(MIN_HITS, plan.graph_keywords)
    return GraphWalk(
        triplets=tuple(triplet for triplet, _ in scored),
        hits=tuple(make_hits(scored, chunks, graph)[:most]),
    )


def best_triplets(
    paths: Iterable[Path], chunks: Mapping[str, Chunk], language: str
) -> list[tuple[Triplet, float]]:
    """List triplets with the score of their path, those with equal stems once."""
    scored: dict[tuple[str, ...], tuple[Triplet, float]] = {}
    for path in paths:
        if len(scored) >= MAX_TRIPLETS:
            break
        triplets = [edge.triplet for edge in path.edges]
        chunk_ids = {triplet.chunk_id for triplet in triplets}
        if not chunk_ids <= chunks.keys():
            continue
        for triplet in triplets:
            stems = tuple(entity_stems(triplet_text(triplet), language))
            scored.setdefault(stems, (triplet, path.score))
    return list(scored.values())


def make_hits(
    scored: Iterable[tuple[Triplet, float]], chunks: Mapping[str, Chunk], graph: VisibleGraph
) -> list[Hit]:
    """Make a hit of each passage, scored by its best triplet."""
    hits: dict[str, Hit] = {}
    for triplet, score in scored:
        chunk = chunks[triplet.chunk_id]
        if chunk.id not in hits:
            leg = f"{graph.scope_of(chunk)}/graph/paths"
            hits[chunk.id] = Hit(chunk=chunk, score=score, found_by=(leg,))
    return list(hits.values())


def question_words(
    text: str, starts: Sequence[EntityMatch], graph: VisibleGraph, language: str
) -> QuestionWords:
    """Collect the stems of a question and the prefixes by which edges of common entities are
    filtered."""
    prefix_of: dict[str, str] = {}
    for word in name_words(text):
        for stem in entity_stems(word, language):
            # Short enough for other forms of the word: "appl" of "apply" and "applied".
            prefix_of[stem] = word[: max(4, len(word) - 3)]
    degrees = graph.degrees(match.key for match in starts)
    common_stems: set[str] = set()
    for match in starts:
        if degrees[match.key] > COMMON_DEGREE:
            common_stems |= match.stems
    prefixes = []
    for stem, prefix in prefix_of.items():
        if stem not in common_stems:
            prefixes.append(prefix)
    return QuestionWords(frozenset(prefix_of), prefixes, language)


def rank_paths(
    starts: Sequence[EntityMatch], words: QuestionWords, depth: int, graph: VisibleGraph
) -> list[Path]:
    """Rank the paths in the graph of every length up to `depth`, best first (beam search)."""
    covered: dict[Triplet, frozenset[str]] = {}
    paths: list[Path] = []
    frontier = [Path((), match.key, match, match.strength) for match in starts]
    for length in range(1, depth + 1):
        edges = edges_by_entity({path.end for path in frontier}, words, graph, covered)
        longer: list[Path] = []
        for path in frontier:
            passed = [edge.triplet for edge in path.edges]
            for edge in edges.get(path.end, ()):
                if edge.triplet not in passed:
                    longer.append(extend_path(path, edge, words, covered))
        longer.sort(key=lambda path: -path.score)
        best = longer[:BEAM_WIDTH]
        paths += best
        if length < depth:
            frontier = extendable_paths(best, graph)
    return sorted(paths, key=lambda path: -path.score)


def edges_by_entity(
    keys: set[str],
    words: QuestionWords,
    graph: VisibleGraph,
    covered: dict[Triplet, frozenset[str]],
) -> dict[str, list[Edge]]:
    """Map each entity to its edges, and note in `covered` which of the question's stems each edge
    contains."""
    edges_at: dict[str, list[Edge]] = {}
    for edge in graph.around(keys, words.prefixes):
        for key in {edge.subject_key, edge.object_key}:
            edges_at.setdefault(key, []).append(edge)
        if edge.triplet not in covered:
            stems = entity_stems(triplet_text(edge.triplet), words.language)
            covered[edge.triplet] = frozenset(stems) & words.stems
    return edges_at


def extend_path(
    path: Path, edge: Edge, words: QuestionWords, covered: Mapping[Triplet, frozenset[str]]
) -> Path:
    """Append an edge to a path, scored by its start, its coverage of the question and its
    length."""
    edges = (*path.edges, edge)
    rest = words.stems - path.match.stems
    covered_stems: set[str] = set()
    for passed in edges:
        covered_stems |= covered[passed.triplet]
    coverage = len(covered_stems & rest) / max(1, len(rest))
    decay = DECAY ** (len(edges) - 1)
    end = edge.object_key if edge.subject_key == path.end else edge.subject_key
    return Path(
        edges=edges,
        end=end,
        match=path.match,
        score=path.match.strength * (1 + COVERAGE_WEIGHT * coverage) * decay,
    )


def extendable_paths(paths: Sequence[Path], graph: VisibleGraph) -> list[Path]:
    """Select the paths that end neither at a value nor at a hub."""
    degrees = graph.degrees({path.end for path in paths})
    extendable: list[Path] = []
    for path in paths:
        is_hub = degrees.get(path.end, HUB_DEGREE + 1) > HUB_DEGREE
        if not is_hub and not VALUE.match(path.end):
            extendable.append(path)
    return extendable


def triplet_text(triplet: Triplet) -> str:
    return f"{triplet.subject} {triplet.predicate} {triplet.object}"


def take_turns(ranked: Sequence[Path]) -> Iterator[Path]:
    """Yield the best path of each keyword, then the second best of each, without those that score
    far below the best.

    The best path of a one-word keyword is measured against the best of all: "day" leads
    everywhere."""
    by_keyword: dict[frozenset[str], list[Path]] = {}
    for path in ranked:
        stems = path.match.stems
        if stems in by_keyword:
            best = by_keyword[stems][0]
        else:
            best = path if len(stems) > 1 else ranked[0]
        if path.score >= MIN_SHARE_OF_BEST * best.score:
            by_keyword.setdefault(stems, []).append(path)
    for row in zip_longest(*by_keyword.values()):
        yield from filter(None, row)
