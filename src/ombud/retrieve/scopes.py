"""Precedence of local and global rules: passages of a country, and those of everywhere."""

import asyncio
from collections.abc import Iterable, Sequence

import numpy as np

from ombud.index import Engine, Filter, Vector, blocking
from ombud.text import remembered
from ombud.types import Chunk, Evidence, Hit

FLOOR_FROM = 5
"""Fewest hits among which one may be spared for a mandatory global rule."""
NEAREST = 60
"""Passages around a global one among which the country's own is looked for."""
ALIKE = 0.5
"""Least cosine of two passages on the same matter."""
COUNTERPART = "counterpart"
"""In `found_by` of a country's passage that says of its matter what a global one does."""
COMPARED = 4
"""Global passages, the best, for which it is looked for: what leads an answer is of these. And
passages of the country's page on the same subject."""


def by_scope(hits: Sequence[Hit]) -> Evidence:
    local: list[Hit] = []
    shared: list[Hit] = []
    for hit in hits:
        scope = local if hit.chunk.countries else shared
        scope.append(hit)
    return Evidence(local=tuple(local), shared=tuple(shared))


def scope_of(chunk: Chunk, where: Filter) -> str:
    """Return the first requested country of the chunk, or `global`."""
    for country in chunk.countries:
        if where.countries is None or country in where.countries:
            return country
    return "global"


def with_floor(ranked: Sequence[Hit], k: int) -> Sequence[Hit]:
    """Return the best k hits, the last replaced by the opening of a mandatory global document if
    they have a country's rule on its topic. Nobody should read the local rule without the global
    minimum."""
    best = list(ranked[:k])
    opening = floor_opening(best, ranked)
    if k < FLOOR_FROM or opening is None or opening in best:
        return best
    return [*best[:-1], opening]


def floor_opening(best: Sequence[Hit], ranked: Sequence[Hit]) -> Hit | None:
    """Return the first passage of the best mandatory document on a topic of a country's rule in
    `best`."""
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


async def with_counterparts(
    evidence: Evidence, ranked: Sequence[Hit], where: Filter, engine: Engine
) -> Evidence:
    """Add to the best global passages the country's version of the same rule, which no leg may find
    ("Urlaub" for "holiday"), and the best ranked ones of the country's page on the same subject.

    Two passages on one topic are on the same matter if each is the other's nearest in its scope.
    Mandatory rules have no counterpart, because they hold beside the local one."""
    best = sorted(evidence.shared, key=lambda hit: -hit.score)[:COMPARED]
    counterparts = await asyncio.gather(*(_counterpart(hit.chunk, where, engine) for hit in best))
    locals_by_id = {hit.chunk.id: hit for hit in evidence.local}
    for hit, local in zip(best, counterparts, strict=True):
        if local is not None:
            own = locals_by_id.get(local.id, Hit(chunk=local, score=hit.score))
            locals_by_id[local.id] = _marked(own, COUNTERPART)
    pages = {hit.chunk.document_id: hit.chunk for hit in best}
    for page in pages.values():
        own_page = await _own_page(page, where, engine)
        of_page = [hit for hit in ranked if hit.chunk.document_id == own_page]
        for hit in of_page[:COMPARED]:
            locals_by_id.setdefault(hit.chunk.id, hit)
        for hit in list(locals_by_id.values()):
            if hit.chunk.document_id == own_page:
                locals_by_id[hit.chunk.id] = _marked(hit, in_place_of(page.document_id))
    return evidence.model_copy(update={"local": tuple(locals_by_id.values())})


def in_place_of(document_id: str) -> str:
    """Return the mark in `found_by` of a country's page that replaces a global one."""
    return f"in place of {document_id}"


def _marked(hit: Hit, how: str) -> Hit:
    return hit.model_copy(update={"found_by": (*hit.found_by, how)})


async def _counterpart(chunk: Chunk, where: Filter, engine: Engine) -> Chunk | None:
    if chunk.mandatory or not chunk.topic or chunk.countries:
        return None
    local = await _nearest(chunk, where, engine, of_country=True)
    if local is None:
        return None
    back = await _nearest(local, where, engine, of_country=False)
    is_mutual = back is not None and back.id == chunk.id
    return local if is_mutual else None


async def _nearest(
    chunk: Chunk, where: Filter, engine: Engine, *, of_country: bool
) -> Chunk | None:
    """Return the nearest passage on the same topic in the other scope; None without vectors."""
    vectors = (await engine.vectors([chunk.id])).get(chunk.id)
    if vectors is None or not len(vectors):
        return None
    for other, cosine in await _near(_middle(vectors), where, engine, of_country=of_country):
        if other.topic == chunk.topic:
            return other if cosine >= ALIKE else None
    return None


async def _own_page(chunk: Chunk, where: Filter, engine: Engine) -> str:
    """Return the id of the country's document on the subject of a global one: each is the nearest
    of the other, as whole documents. Empty where there is none, or the global rule is mandatory."""
    if chunk.mandatory or chunk.countries:
        return ""
    own = await nearest_page(chunk.document_id, where, engine, of_country=True)
    back = await nearest_page(own, where, engine, of_country=False) if own else ""
    return own if back == chunk.document_id else ""


async def nearest_page(document_id: str, where: Filter, engine: Engine, *, of_country: bool) -> str:
    vector = await asyncio.to_thread(page_vector, document_id, engine)
    if vector is None:
        return ""
    near = await _near(vector, where, engine, of_country=of_country)
    others = dict.fromkeys(chunk.document_id for chunk, _ in near)
    return await asyncio.to_thread(most_alike, vector, others, engine)


def most_alike(vector: Vector, documents: Iterable[str], engine: Engine) -> str:
    alike: list[tuple[float, str]] = []
    for document in documents:
        page = page_vector(document, engine)
        alike.append((float(vector @ page) if page is not None else 0.0, document))
    cosine, nearest = max(alike, default=(0.0, ""))
    return nearest if cosine >= ALIKE else ""


@remembered(4096)
def page_vector(document_id: str, engine: Engine) -> Vector | None:
    """Return the mean of a document's vectors, of length 1; None where it has none."""
    rows = blocking(engine.rows([document_id]))
    windows = [row.vectors for row in rows if row.vectors is not None and len(row.vectors)]
    return _middle(np.concatenate(windows)) if windows else None


async def _near(
    vector: Vector, where: Filter, engine: Engine, *, of_country: bool
) -> list[tuple[Chunk, float]]:
    """Return the passages of one scope that are nearest to a vector, with their cosines."""
    near: list[tuple[Chunk, float]] = []
    for leg in await engine.search("", vector, where, NEAREST, "dense"):
        near += [hit for hit in leg.hits if bool(hit[0].countries) == of_country]
    return near


def _middle(windows: Vector) -> Vector:
    """Return the normalised mean of a passage's windows."""
    mean = windows.mean(axis=0)
    unit: Vector = mean / max(1e-9, float(np.linalg.norm(mean)))
    return unit
