"""Paths through the graph of triplets, from what a question names, through what its reader may see and nothing else.

What a reader may not see is out before anything is ranked or counted: the same question finds the same paths whether
hidden documents are in the index or not. As in HyPA-RAG (Kalra et al. 2024): up to K keywords, paths of up to S
triplets.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import NamedTuple

from ombud.errors import EngineError, StoreError
from ombud.index import Engine, Filter, stems, visible
from ombud.models import detect_language
from ombud.retrieve.entities import Match, choose, matches, phrases
from ombud.store import Edge, Graph
from ombud.types import Chunk, Evidence, Hit, Plan, Triplet

BEAM = 40
"""Paths that are gone on with from each length to the next."""
HUB = 60
"""Triplets of an entity from which no path leads through it: "employee" connects everything with everything."""
MOST_TRIPLETS = 20
LEAST_HITS = 3
FAR = 0.5
"""Share of the best path's score below which a path is left out."""
VALUE = re.compile(r"[\W\d]|(?:yes|no|none|at once|as needed|optional|required|unlimited|varies|\w{3} \d)(?:\s|\Z)")
"""Figures, days and the like: things that have one in common have nothing to do with each other."""
DECAY = 0.6
"""What a path is worth for each triplet more."""
COVERING = 3.0
"""What words of the question in the path count beside the entity that it begins with."""


class Walked(NamedTuple):
    triplets: tuple[Triplet, ...] = ()
    """Best path first, each path in its order, none twice."""
    hits: tuple[Hit, ...] = ()
    """Their passages, best first."""
    degraded: tuple[str, ...] = ()


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


class Path(NamedTuple):
    edges: tuple[Edge, ...]
    at: str
    """The entity that it has come to."""
    match: Match
    score: float


def paths(text: str, plan: Plan, where: Filter, graph: Graph, engine: Engine, keywords: Sequence[str] = ()) -> Walked:
    """Triplets and passages for a question: plan.graph_keywords entities, paths of plan.graph_depth triplets.

    keywords: names that a model has seen in the question, looked up before its own words. Never raises: what fails is
    said in `degraded`.
    """
    try:
        return _walk(text, plan, _Seen(where, graph, engine), keywords)
    except (StoreError, EngineError) as failed:
        return Walked(degraded=(f"graph: {failed}",))


def neighbourhood(term: str, depth: int, where: Filter, graph: Graph, engine: Engine, most: int = 40) -> Neighbourhood:
    """At most so many triplets around the entities that a term names, nearest first, of what `where` shows."""
    seen = _Seen(where, graph, engine)
    found = seen.entities([term], "en") or seen.entities(phrases(term), "en")
    best = max((match.strength * len(match.words) for match in found), default=0.0)
    keys = {match.key for match in found if match.strength * len(match.words) >= best}
    near: dict[Triplet, Edge] = {}
    frontier, known = set(keys), set[str]()
    for _ in range(depth):
        if len(near) >= most:
            break
        known |= frontier
        edges = seen.around(frontier)
        near |= {edge.triplet: edge for edge in edges if edge.triplet not in near}
        frontier = {key for edge in edges for key in (edge.subject_key, edge.object_key)} - known
    kept = list(near.values())[:most]
    return Neighbourhood(tuple(sorted(keys)), tuple(kept), seen.chunks(kept), len(near) - len(kept))


def with_paths(evidence: Evidence, walked: Walked) -> Evidence:
    """The evidence with the paths behind it: passages that it has not yet come last, in their order."""
    held = {hit.chunk.id for hit in evidence.hits}
    least = min((hit.score for hit in evidence.hits), default=1.0)
    step = abs(least) / 1000 or 1e-6
    new = [hit for hit in walked.hits if hit.chunk.id not in held]
    placed = [hit.model_copy(update={"score": least - step * place}) for place, hit in enumerate(new, start=1)]
    return evidence.model_copy(
        update={
            "local": (*evidence.local, *(hit for hit in placed if hit.chunk.countries)),
            "shared": (*evidence.shared, *(hit for hit in placed if not hit.chunk.countries)),
            "triplets": walked.triplets,
        }
    )


class _Seen:
    """The graph as one reader sees it; entities that count as the same have one key."""

    def __init__(self, where: Filter, graph: Graph, engine: Engine) -> None:
        self._where, self._graph, self._engine = where, graph, engine
        self._open: dict[str, bool] = {}

    def around(self, keys: Iterable[str]) -> list[Edge]:
        alike = frozenset[str]().union(*self._graph.same(keys).values())
        edges = self._visible(self._graph.around(alike, self._where.sources))
        groups = self._graph.same(key for edge in edges for key in (edge.subject_key, edge.object_key))
        return [
            edge._replace(subject_key=min(groups[edge.subject_key]), object_key=min(groups[edge.object_key]))
            for edge in edges
        ]

    def entities(self, texts: Sequence[str], language: str) -> dict[Match, int]:
        """What the phrases mean, by what visible documents call it, and how many triplets it has."""
        found = matches(texts, self._graph, language)
        edges = self._visible(self._graph.around({match.key for match, _ in found}, self._where.sources))
        shown = Counter((edge.document_id, key) for edge in edges for key in {edge.subject_key, edge.object_key})
        in_all: Counter[str] = Counter()
        for (_, key), count in shown.items():
            in_all[key] += count
        groups = self._graph.same(in_all)
        best: dict[tuple[str, frozenset[str]], Match] = {}
        for match, document in found:
            if (document, match.key) in shown:
                one = match._replace(key=min(groups[match.key]))
                before = best.setdefault((one.key, one.words), one)
                best[one.key, one.words] = max(before, one, key=lambda match: match.strength)
        return {match: sum(in_all[key] for key in groups[match.key]) for match in best.values()}

    def chunks(self, edges: Iterable[Edge]) -> dict[str, Chunk]:
        """The passages of the edges, each one looked at for itself."""
        found = self._engine.get(list(dict.fromkeys(edge.triplet.chunk_id for edge in edges)))
        return {identity: chunk for identity, chunk in found.items() if visible(chunk, self._where)}

    def language(self, text: str) -> str:
        languages = self._engine.languages()
        return next(iter(languages)) if len(languages) == 1 else detect_language(text)

    def leg(self, chunk: Chunk) -> str:
        wanted = self._where.countries
        mine = [country for country in chunk.countries if wanted is None or country in wanted]
        return f"{mine[0] if mine else 'global'}/graph/paths"

    def _visible(self, edges: Sequence[Edge]) -> list[Edge]:
        """All passages of a document are open to the same people: one of them decides, and `chunks` asks them all."""
        new = {edge.document_id: edge.triplet.chunk_id for edge in edges if edge.document_id not in self._open}
        found = self._engine.get(list(new.values())) if new else {}
        for document_id, chunk_id in new.items():
            self._open[document_id] = chunk_id in found and visible(found[chunk_id], self._where)
        return [edge for edge in edges if self._open[edge.document_id]]


def _walk(text: str, plan: Plan, seen: _Seen, keywords: Sequence[str]) -> Walked:
    if not plan.graph_keywords or not plan.graph_depth:
        return Walked()
    language = seen.language(text)
    starts = choose(seen.entities([*keywords, *phrases(text)], language), plan.graph_keywords)
    ranked = list(_in_turn(_ranked(starts, frozenset(stems(text, language)), plan.graph_depth, seen, language)))
    chunks = seen.chunks(edge for path in ranked for edge in path.edges)
    kept: dict[tuple[str, str, str], tuple[Triplet, float]] = {}
    for path in ranked:
        triplets = [edge.triplet for edge in path.edges]
        if len(kept) < MOST_TRIPLETS and all(triplet.chunk_id in chunks for triplet in triplets):
            for one in triplets:
                kept.setdefault((one.subject, one.predicate, one.object), (one, path.score))
    hits: dict[str, Hit] = {}
    for one, score in kept.values():
        chunk = chunks[one.chunk_id]
        hits.setdefault(chunk.id, Hit(chunk=chunk, score=score, found_by=(seen.leg(chunk),)))
    return Walked(tuple(one for one, _ in kept.values()), tuple(hits.values())[: max(LEAST_HITS, plan.graph_keywords)])


def _ranked(starts: Sequence[Match], asked: frozenset[str], depth: int, seen: _Seen, language: str) -> list[Path]:
    """Paths of every length up to `depth`, best first."""
    held: dict[Triplet, frozenset[str]] = {}
    found: list[Path] = []
    frontier = [Path((), match.key, match, match.strength) for match in starts]
    for length in range(1, depth + 1):
        at: dict[str, list[Edge]] = {}
        for edge in seen.around({path.at for path in frontier}):
            for key in {edge.subject_key, edge.object_key}:
                at.setdefault(key, []).append(edge)
            if edge.triplet not in held:
                one = edge.triplet
                held[one] = frozenset(stems(f"{one.subject} {one.predicate} {one.object}", language)) & asked
        longer = [
            _longer(path, edge, asked, held)
            for path in frontier
            if length == 1 or (len(at.get(path.at, ())) <= HUB and not VALUE.match(path.at))
            for edge in at.get(path.at, ())
            if not path.edges or edge.triplet not in [before.triplet for before in path.edges]
        ]
        frontier = sorted(longer, key=lambda path: -path.score)[:BEAM]
        found += frontier
    return sorted(found, key=lambda path: -path.score)


def _in_turn(ranked: Sequence[Path]) -> Iterator[Path]:
    """The best path of each keyword, then the second of each; without those that are far from the best of all."""
    by_keyword: dict[frozenset[str], list[Path]] = {}
    for path in ranked:
        if path.score >= FAR * ranked[0].score:
            by_keyword.setdefault(path.match.words, []).append(path)
    for row in zip_longest(*by_keyword.values()):
        yield from filter(None, row)


def _longer(path: Path, edge: Edge, asked: frozenset[str], held: Mapping[Triplet, frozenset[str]]) -> Path:
    edges = (*path.edges, edge)
    rest = asked - path.match.words
    covered = frozenset[str]().union(*(held[one.triplet] for one in edges)) & rest
    score = path.match.strength * (1 + COVERING * len(covered) / max(1, len(rest))) * DECAY ** (len(edges) - 1)
    return Path(edges, edge.object_key if edge.subject_key == path.at else edge.subject_key, path.match, score)
