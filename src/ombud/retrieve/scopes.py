"""Local and global: passages of a country, and those of everywhere."""

import asyncio
from collections.abc import Sequence

import numpy as np

from ombud.index import Engine, Filter, Vector
from ombud.types import Chunk, Counterpart, Evidence, Hit

FLOOR_FROM = 5
"""Fewest hits among which one may be spared for a mandatory global rule."""
NEAREST = 60
"""Passages around a global one among which the country's own is looked for."""
ALIKE = 0.5
"""Least cosine of two passages on the same matter."""
COMPARED = 2
"""Global passages, the best, for which it is looked for: what leads an answer is of these."""


def by_scope(hits: Sequence[Hit]) -> Evidence:
    local: list[Hit] = []
    shared: list[Hit] = []
    for hit in hits:
        scope = local if hit.chunk.countries else shared
        scope.append(hit)
    return Evidence(local=tuple(local), shared=tuple(shared))


def scope_of(chunk: Chunk, where: Filter) -> str:
    """The first country of the chunk that is asked for, or `global`."""
    for country in chunk.countries:
        if where.countries is None or country in where.countries:
            return country
    return "global"


def with_floor(ranked: Sequence[Hit], k: int) -> Sequence[Hit]:
    """The best k hits. Where they hold a country's rule and a mandatory global document speaks of
    the same topic, the passage that opens that document takes the last place: nobody should be told
    the local rule without the floor under it, and policies say their rule first."""
    best = list(ranked[:k])
    opening = _floor_opening(best, ranked)
    if k < FLOOR_FROM or opening is None or opening in best:
        return best
    return [*best[:-1], opening]


def _floor_opening(best: Sequence[Hit], ranked: Sequence[Hit]) -> Hit | None:
    """The first passage, in reading order, of the best mandatory document on a topic that `best`
    has a country's rule on."""
    topics: set[str] = set()
    for hit in best:
        if hit.chunk.countries and hit.chunk.topic:
            topics.add(hit.chunk.topic)
    opening: Hit | None = None
    for hit in ranked:
        chunk = hit.chunk
        if not chunk.mandatory or chunk.topic not in topics:
            continue
        if opening is None or (
            chunk.uri == opening.chunk.uri and chunk.start < opening.chunk.start
        ):
            opening = hit
    return opening


async def with_counterparts(evidence: Evidence, where: Filter, engine: Engine) -> Evidence:
    """Beside the best global passages the country's own on the same matter, which may be worded so
    unlike the question that no leg finds it ("Urlaub" for "holiday").

    Two passages on one topic, one global and one of a country, are on the same matter if each is
    the other's nearest in its scope, by their vectors. A mandatory rule has none: it holds beside
    the local one."""
    best = sorted(evidence.shared, key=lambda hit: -hit.score)[:COMPARED]
    found = await asyncio.gather(*(_counterpart(hit.chunk, where, engine) for hit in best))
    pairs: list[Counterpart] = []
    locals_by_id = {hit.chunk.id: hit for hit in evidence.local}
    for hit, (local, cosine) in zip(best, found, strict=True):
        if local is None:
            continue
        pairs.append(Counterpart(shared=hit.chunk.id, local=local.id, alike=round(cosine, 3)))
        locals_by_id.setdefault(local.id, Hit(chunk=local, score=hit.score))
    return evidence.model_copy(
        update={"local": tuple(locals_by_id.values()), "counterparts": tuple(pairs)}
    )


async def _counterpart(chunk: Chunk, where: Filter, engine: Engine) -> tuple[Chunk | None, float]:
    if chunk.mandatory or not chunk.topic or chunk.countries:
        return None, 0.0
    local, cosine = await _nearest(chunk, where, engine, of_country=True)
    if local is None:
        return None, 0.0
    back, _ = await _nearest(local, where, engine, of_country=False)
    is_mutual = back is not None and back.id == chunk.id
    return (local, cosine) if is_mutual else (None, 0.0)


async def _nearest(
    chunk: Chunk, where: Filter, engine: Engine, *, of_country: bool
) -> tuple[Chunk | None, float]:
    """The nearest passage on the same topic in the other scope, and its cosine; None without
    vectors."""
    vectors = (await engine.vectors([chunk.id])).get(chunk.id)
    if vectors is None or not len(vectors):
        return None, 0.0
    legs = await engine.search("", _middle(vectors), where, NEAREST, "dense")
    for leg in legs:
        for other, cosine in leg.hits:
            if other.topic == chunk.topic and bool(other.countries) == of_country:
                return (other, cosine) if cosine >= ALIKE else (None, 0.0)
    return None, 0.0


def _middle(windows: Vector) -> Vector:
    """One unit vector of a passage's windows."""
    mean = windows.mean(axis=0)
    unit: Vector = mean / max(1e-9, float(np.linalg.norm(mean)))
    return unit
