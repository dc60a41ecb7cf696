"""How a LanceDB table is searched: each leg says which rows and how near, then the passages of all
legs are fetched together, each once.

Legs that bring passages and tokens along read them for every row that they look at, which object
storage is asked for one by one. A row's address (`_rowid`) is never given to another row of the
same table, and what stands there never changes: an update writes a new row."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import pyarrow as pa

from ombud.index.engine import Leg, Vector
from ombud.index.engines.passage_cache import PassageCache, StoredPassage
from ombud.index.engines.quick_import import without_remote_client
from ombud.types import Chunk

with without_remote_client():
    from lancedb.query import MatchQuery

PROBES = 20
MOST_HOLDERS = 1_000_000
"""Chunks with one term that are counted."""


class RowHit(NamedTuple):
    """The best window of a chunk."""

    address: int
    chunk_id: str
    score: float


class RowLeg(NamedTuple):
    """A ranking, best first, whose passages were not read yet."""

    name: str
    hits: Sequence[RowHit]


def by_words(table: Any, terms: str, condition: str, k: int) -> RowLeg:
    query = table.search(MatchQuery(terms, "terms"), query_type="fts")
    if condition:
        query = query.where(condition, prefilter=True)
    query = query.select(["_rowid", "chunk_id", "_score"])
    rows = query.with_row_id(True).limit(k).to_arrow()
    return RowLeg("sparse", _hits(rows, rows["_score"].to_pylist(), k))


def by_vector(table: Any, vector: Vector, condition: str, k: int) -> RowLeg:
    query = table.search(vector, vector_column_name="vector")
    query = query.distance_type("dot").nprobes(PROBES)
    if condition:
        query = query.where(condition, prefilter=True)
    query = query.select(["_rowid", "chunk_id", "_distance"]).with_row_id(True)
    limit = 2 * k
    while True:
        rows = query.limit(limit).to_arrow()
        cosines = [1 - distance for distance in rows["_distance"].to_pylist()]
        hits = _hits(rows, cosines, k)
        # A long chunk's windows may take all the places of the others.
        if len(hits) == k or rows.num_rows < limit:
            return RowLeg("dense", hits)
        limit *= 4


def count_holders(table: Any, term: str) -> int:
    query = table.search(MatchQuery(term, "terms"), query_type="fts")
    return int(query.select(["part", "_score"]).limit(MOST_HOLDERS).to_arrow().num_rows)


def _hits(rows: pa.Table, scores: Iterable[float], k: int) -> list[RowHit]:
    """rows: windows, the best first."""
    best: dict[str, RowHit] = {}
    addresses, chunk_ids = rows["_rowid"].to_pylist(), rows["chunk_id"].to_pylist()
    for address, chunk_id, score in zip(addresses, chunk_ids, scores, strict=True):
        best.setdefault(chunk_id, RowHit(address, chunk_id, float(score)))
    return sorted(best.values(), key=lambda hit: (-hit.score, hit.chunk_id))[:k]


def load_passages(
    table: Any, legs: Sequence[RowLeg], *, tokens: bool, cache: PassageCache | None
) -> dict[int, StoredPassage]:
    """Address -> passage of all hits; one that is missing was replaced or deleted meanwhile.

    tokens: whether the table has any."""
    wanted = {hit.address: hit.chunk_id for leg in legs for hit in leg.hits}
    found = cache.get(wanted) if cache else {}
    missing = [address for address in wanted if address not in found]
    read = _read(table, missing, tokens=tokens) if missing else {}
    if cache:
        cache.put(read)
    return found | read


def _read(table: Any, addresses: list[int], *, tokens: bool) -> dict[int, StoredPassage]:
    columns = ["_rowid", "chunk", "tokens"] if tokens else ["_rowid", "chunk"]
    rows = table.take_row_ids(addresses).select(columns).to_arrow()
    packed = rows["tokens"].to_pylist() if tokens else [None] * rows.num_rows
    read: dict[int, StoredPassage] = {}
    cells = zip(rows["_rowid"].to_pylist(), rows["chunk"].to_pylist(), packed, strict=True)
    for address, text, of_tokens in cells:
        read[address] = StoredPassage(text.encode(), of_tokens)
    return read


def found_all(legs: Sequence[RowLeg], passages: Mapping[int, StoredPassage]) -> bool:
    return all(hit.address in passages for leg in legs for hit in leg.hits)


def whole_legs(legs: Sequence[RowLeg], passages: Mapping[int, StoredPassage]) -> tuple[Leg, ...]:
    """With the passages that are there."""
    chunks: dict[int, Chunk] = {}
    for address, passage in passages.items():
        chunks[address] = Chunk.model_validate_json(passage.json)
    made: list[Leg] = []
    for leg in legs:
        hits: list[tuple[Chunk, float]] = []
        tokens: dict[str, bytes] = {}
        for hit in leg.hits:
            if hit.address not in chunks:
                continue
            hits.append((chunks[hit.address], hit.score))
            packed = passages[hit.address].tokens
            if packed is not None:
                tokens[hit.chunk_id] = packed
        made.append(Leg(leg.name, tuple(hits), tokens))
    return tuple(made)
