"""Search a LanceDB table: each leg ranks row addresses, then the passages of all legs are loaded
together, each once.

A leg that selected passages would load them for every row it scans, one by one from object
storage. A row's address (`_rowid`) is never reused and its content never changes: an update writes
a new row."""

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
MAX_COUNTED_CHUNKS = 1_000_000
"""Chunks with a term that are counted at most."""


class RowHit(NamedTuple):
    """The best window of a chunk."""

    address: int
    chunk_id: str
    score: float


class RowLeg(NamedTuple):
    """A ranking, best first, whose passages are not loaded yet."""

    name: str
    hits: Sequence[RowHit]


def search_terms(table: Any, terms: str, condition: str, k: int) -> RowLeg:
    """Rank chunks by BM25."""
    query = table.search(MatchQuery(terms, "terms"), query_type="fts")
    if condition:
        query = query.where(condition, prefilter=True)
    query = query.select(["_rowid", "chunk_id", "_score"])
    rows = query.with_row_id(True).limit(k).to_arrow()
    return RowLeg("sparse", _hits(rows, rows["_score"].to_pylist(), k))


def search_vector(table: Any, vector: Vector, condition: str, k: int) -> RowLeg:
    """Rank chunks by the cosine of their nearest window."""
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
        # The windows of a long chunk may displace all others.
        if len(hits) == k or rows.num_rows < limit:
            return RowLeg("dense", hits)
        limit *= 4


def count_holders(table: Any, term: str) -> int:
    query = table.search(MatchQuery(term, "terms"), query_type="fts")
    return int(query.select(["part", "_score"]).limit(MAX_COUNTED_CHUNKS).to_arrow().num_rows)


def _hits(rows: pa.Table, scores: Iterable[float], k: int) -> list[RowHit]:
    """Choose the best window of each chunk. rows: windows, best first."""
    best: dict[str, RowHit] = {}
    addresses, chunk_ids = rows["_rowid"].to_pylist(), rows["chunk_id"].to_pylist()
    for address, chunk_id, score in zip(addresses, chunk_ids, scores, strict=True):
        best.setdefault(chunk_id, RowHit(address, chunk_id, float(score)))
    return sorted(best.values(), key=lambda hit: (-hit.score, hit.chunk_id))[:k]


def load_passages(
    table: Any, legs: Sequence[RowLeg], *, tokens: bool, cache: PassageCache | None
) -> dict[int, StoredPassage]:
    """Load the passages of all hits by address; those replaced or deleted meanwhile are missing.

    tokens: whether the table has tokens."""
    chunk_ids = {hit.address: hit.chunk_id for leg in legs for hit in leg.hits}
    cached = cache.get(chunk_ids) if cache else {}
    missing = [address for address in chunk_ids if address not in cached]
    read = _read(table, missing, tokens=tokens) if missing else {}
    if cache:
        cache.put(read)
    return cached | read


def _read(table: Any, addresses: list[int], *, tokens: bool) -> dict[int, StoredPassage]:
    columns = ["_rowid", "chunk", "tokens"] if tokens else ["_rowid", "chunk"]
    rows = table.take_row_ids(addresses).select(columns).to_arrow()
    packed = rows["tokens"].to_pylist() if tokens else [None] * rows.num_rows
    read: dict[int, StoredPassage] = {}
    cells = zip(rows["_rowid"].to_pylist(), rows["chunk"].to_pylist(), packed, strict=True)
    for address, text, packed_tokens in cells:
        read[address] = StoredPassage(text.encode(), packed_tokens)
    return read


def legs_with_passages(
    legs: Sequence[RowLeg], passages: Mapping[int, StoredPassage]
) -> tuple[Leg, ...]:
    """Complete legs with their passages; hits without one are left out."""
    chunks: dict[int, Chunk] = {}
    for address, passage in passages.items():
        chunks[address] = Chunk.model_validate_json(passage.json)
    complete: list[Leg] = []
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
        complete.append(Leg(leg.name, tuple(hits), tokens))
    return tuple(complete)
