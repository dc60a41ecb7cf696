"""Paths through the graph of triplets, from what a question names, through what its reader may see
and nothing else.

What a reader may not see is out before anything is ranked or counted: the same question finds the
same paths whether hidden documents are in the index or not. As in HyPA-RAG (Kalra et al. 2024): up
to K keywords, paths of up to S triplets."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import NamedTuple

from ombud.errors import EngineError, StoreError
from ombud.index import Engine, Filter, is_visible
from ombud.retrieve.entities import Match, beginning, choose, matches, phrases
from ombud.store import Edge, Graph, Spread
from ombud.text import detect_language, entity_stems, name_words
from ombud.types import Chunk, Evidence, Hit, Plan, Triplet

BEAM = 40
"""Paths that are gone on with from each length to the next."""
NAMED = 0.9
"""Share of the best match from which an entity, too, is what a term means: what it is short for, or
is one part of."""
HUB = 60
"""Triplets of an entity from which no path leads through it: "employee" connects everything with
everything."""
COMMON, MOST_OF_COMMON = 200, 2000
"""Triplets of an entity from which only those are read that hold another word of the question, and
how many of them at
most: everything speaks of employees."""
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


def find_paths(
    text: str, plan: Plan, where: Filter, graph: Graph, engine: Engine, keywords: Sequence[str] = ()
) -> GraphWalk:
    """Triplets and passages for a question: plan.graph_keywords entities, paths of plan.graph_depth
    triplets.

    keywords: names that a model has seen in the question, looked up before its own words. Never
    raises: what fails is said in `degraded`."""
    try:
        return _walk(text, plan, _Seen(where, graph, engine), keywords)
    except (StoreError, EngineError) as failed:
        return GraphWalk(degraded=(f"graph: {failed}",))


def neighbourhood(
    term: str, depth: int, where: Filter, graph: Graph, engine: Engine, most: int = 40
) -> Neighbourhood:
    """At most so many triplets around the entities that a term names, nearest first, of what
    `where` shows."""
    seen = _Seen(where, graph, engine)
    keys = _meant(term, seen.entities([term], "en") or seen.entities(phrases(term), "en"))
    near: dict[Triplet, Edge] = {}
    frontier, known = set(keys), set[str]()
    for _ in range(depth):
        if len(near) >= most:
            break
        known |= frontier
        edges = seen.around(frontier)
        near |= {edge.triplet: edge for edge in edges if edge.triplet not in near}
        met = {key for edge in edges for key in (edge.subject_key, edge.object_key)}
        frontier = {key for key in met - known if not VALUE.match(key)}
    chunks = seen.chunks(near.values())
    shown = [edge for edge in near.values() if edge.triplet.chunk_id in chunks]
    return Neighbourhood(
        tuple(sorted(keys)), tuple(shown[:most]), chunks, len(shown) - len(shown[:most])
    )


def _meant(term: str, found: Mapping[Match, int]) -> set[str]:
    """What a term names best; a term of several words also means what has them all, as "paid annual
    leave" has."""
    best = max((match.strength * len(match.words) for match in found), default=0.0)
    whole = frozenset(entity_stems(term))
    return {
        match.key
        for match in found
        if match.strength * len(match.words) >= NAMED * best
        or (len(whole) > 1 and match.words == whole)
    }


def with_paths(evidence: Evidence, walked: GraphWalk) -> Evidence:
    """The evidence with the paths behind it: passages that it has not yet come last, in their
    order."""
    held = {hit.chunk.id for hit in evidence.hits}
    least = min((hit.score for hit in evidence.hits), default=1.0)
    step = abs(least) / 1000 or 1e-6
    new = [hit for hit in walked.hits if hit.chunk.id not in held]
    placed = [
        hit.model_copy(update={"score": least - step * place})
        for place, hit in enumerate(new, start=1)
    ]
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
        self._known: dict[str, list[Spread]] = {}

    def around(self, keys: Iterable[str], holding: Sequence[str] = ()) -> list[Edge]:
        """Triplets of these entities; holding: of those with very many only the ones with such a
        word."""
        degrees = self.degrees(keys)
        common = {key for key, count in degrees.items() if count > COMMON}
        edges = self._graph.around(self._alike(degrees.keys() - common), self._where.sources)
        for key in sorted(common):
            edges += self._graph.around(
                self._alike([key]), self._where.sources, holding, MOST_OF_COMMON
            )
        shown = [edge for edge in dict.fromkeys(edges) if self._open.get(edge.document_id, False)]
        groups = self._graph.same(
            key for edge in shown for key in (edge.subject_key, edge.object_key)
        )
        return [
            edge._replace(
                subject_key=min(groups[edge.subject_key]), object_key=min(groups[edge.object_key])
            )
            for edge in shown
        ]

    def degrees(self, keys: Iterable[str]) -> dict[str, int]:
        """How many triplets the reader sees of each."""
        groups = self._graph.same(keys)
        counts = Counter[str]()
        for one in self._spread(groups):
            counts[one.key] += one.ends
        return {key: sum(counts[other] for other in group) for key, group in groups.items()}

    def entities(self, texts: Sequence[str], language: str) -> dict[Match, int]:
        """What the phrases mean, by what visible documents call it, and how many triplets it
        has."""
        found = matches(texts, self._graph, language)
        shown = {
            (one.document_id, one.key) for one in self._spread({match.key for match, _ in found})
        }
        groups = self._graph.same(match.key for match, _ in found)
        best: dict[tuple[str, frozenset[str]], Match] = {}
        for match, document in found:
            if (document, match.key) in shown:
                one = match._replace(key=min(groups[match.key]))
                before = best.setdefault((one.key, one.words), one)
                best[one.key, one.words] = max(before, one, key=lambda match: match.strength)
        degrees = self.degrees(match.key for match in best.values())
        return {match: degrees[match.key] for match in best.values()}

    def chunks(self, edges: Iterable[Edge]) -> dict[str, Chunk]:
        """The passages of the edges, each one looked at for itself."""
        found = self._engine.get(list(dict.fromkeys(edge.triplet.chunk_id for edge in edges)))
        return {
            identity: chunk for identity, chunk in found.items() if is_visible(chunk, self._where)
        }

    def language(self, text: str) -> str:
        languages = self._engine.languages()
        return next(iter(languages)) if len(languages) == 1 else detect_language(text)

    def leg(self, chunk: Chunk) -> str:
        wanted = self._where.countries
        mine = [country for country in chunk.countries if wanted is None or country in wanted]
        return f"{mine[0] if mine else 'global'}/graph/paths"

    def _alike(self, keys: Iterable[str]) -> frozenset[str]:
        return frozenset[str]().union(*self._graph.same(keys).values())

    def _spread(self, keys: Iterable[str]) -> list[Spread]:
        """Where the reader may know these entities from. All passages of a document are open to the
        same people: one of them decides here, and `chunks` asks each before anything is shown."""
        wanted = set(keys)
        found = self._graph.spread(wanted - self._known.keys(), self._where.sources)
        new = {one.document_id: one.chunk_id for one in found if one.document_id not in self._open}
        chunks = self._engine.get(list(new.values())) if new else {}
        for document_id, chunk_id in new.items():
            self._open[document_id] = chunk_id in chunks and is_visible(
                chunks[chunk_id], self._where
            )
        self._known |= {key: [] for key in wanted - self._known.keys()}
        for one in found:
            if self._open[one.document_id]:
                self._known[one.key].append(one)
        return [one for key in wanted for one in self._known[key]]


def _walk(text: str, plan: Plan, seen: _Seen, keywords: Sequence[str]) -> GraphWalk:
    if not plan.graph_keywords or not plan.graph_depth:
        return GraphWalk()
    language = seen.language(text)
    found = seen.entities([*keywords, *phrases(text)], language)
    telling = {match: count for match, count in found.items() if count <= EVERYWHERE}
    starts = choose(telling or found, plan.graph_keywords)
    ranked = list(_in_turn(_ranked(starts, text, plan.graph_depth, seen, language)))
    chunks = seen.chunks(edge for path in ranked for edge in path.edges)
    kept: dict[tuple[str, ...], tuple[Triplet, float]] = {}
    for path in ranked:
        triplets = [edge.triplet for edge in path.edges]
        if len(kept) < MOST_TRIPLETS and all(triplet.chunk_id in chunks for triplet in triplets):
            for one in triplets:
                kept.setdefault(tuple(entity_stems(_said(one), language)), (one, path.score))
    hits: dict[str, Hit] = {}
    for one, score in kept.values():
        chunk = chunks[one.chunk_id]
        hits.setdefault(chunk.id, Hit(chunk=chunk, score=score, found_by=(seen.leg(chunk),)))
    return GraphWalk(
        tuple(one for one, _ in kept.values()),
        tuple(hits.values())[: max(LEAST_HITS, plan.graph_keywords)],
    )


def _ranked(
    starts: Sequence[Match], text: str, depth: int, seen: _Seen, language: str
) -> list[Path]:
    """Paths of every length up to `depth`, best first."""
    parts = {
        stem: beginning(word) for word in name_words(text) for stem in entity_stems(word, language)
    }
    asked = frozenset(parts)
    common = {
        key for key, count in seen.degrees(match.key for match in starts).items() if count > COMMON
    }
    named = frozenset[str]().union(*(match.words for match in starts if match.key in common))
    holding = [part for stem, part in parts.items() if stem not in named]
    held: dict[Triplet, frozenset[str]] = {}
    found: list[Path] = []
    frontier = [Path((), match.key, match, match.strength) for match in starts]
    for length in range(1, depth + 1):
        at: dict[str, list[Edge]] = {}
        for edge in seen.around({path.at for path in frontier}, holding):
            for key in {edge.subject_key, edge.object_key}:
                at.setdefault(key, []).append(edge)
            if edge.triplet not in held:
                held[edge.triplet] = frozenset(entity_stems(_said(edge.triplet), language)) & asked
        longer = [
            _longer(path, edge, asked, held)
            for path in frontier
            for edge in at.get(path.at, ())
            if not path.edges or edge.triplet not in [before.triplet for before in path.edges]
        ]
        found += (best := sorted(longer, key=lambda path: -path.score)[:BEAM])
        degrees = seen.degrees({path.at for path in best}) if length < depth else {}
        frontier = [
            path
            for path in best
            if degrees.get(path.at, HUB + 1) <= HUB and not VALUE.match(path.at)
        ]
    return sorted(found, key=lambda path: -path.score)


def _said(one: Triplet) -> str:
    return f"{one.subject} {one.predicate} {one.object}"


def _in_turn(ranked: Sequence[Path]) -> Iterator[Path]:
    """The best path of each keyword, then the second of each; without those that are far from the
    best.

    A keyword of one word must do nearly as well as the best of all: "day" has something to say to
    everything."""
    by_keyword: dict[frozenset[str], list[Path]] = {}
    for path in ranked:
        best = by_keyword.get(path.match.words, [path] if len(path.match.words) > 1 else ranked)[0]
        if path.score >= FAR * best.score:
            by_keyword.setdefault(path.match.words, []).append(path)
    for row in zip_longest(*by_keyword.values()):
        yield from filter(None, row)


def _longer(
    path: Path, edge: Edge, asked: frozenset[str], held: Mapping[Triplet, frozenset[str]]
) -> Path:
    edges = (*path.edges, edge)
    rest = asked - path.match.words
    covered = frozenset[str]().union(*(held[one.triplet] for one in edges)) & rest
    score = (
        path.match.strength
        * (1 + COVERING * len(covered) / max(1, len(rest)))
        * DECAY ** (len(edges) - 1)
    )
    return Path(
        edges,
        edge.object_key if edge.subject_key == path.at else edge.subject_key,
        path.match,
        score,
    )
