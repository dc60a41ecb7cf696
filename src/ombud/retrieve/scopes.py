"""Local and global: passages of a country, and those of everywhere."""

from collections.abc import Sequence

from ombud.index import Filter
from ombud.types import Chunk, Evidence, Hit

FLOOR_FROM = 5
"""Fewest hits among which one may be spared for a mandatory global rule."""


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
