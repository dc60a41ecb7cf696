"""Milvus engine: a collection a generation on a server, for more passages than one machine holds.

A row is one vector window of a chunk, as in LanceDB's tables. Milvus has no transactions: of an
upsert, rows that are no more go first, so that a reader may miss a passage for a moment and never
finds one under its old rule. It keeps no versions that could be opened again.
"""

import asyncio
import json
import os
import threading
import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from typing import Any, TypeVar

import numpy as np
from pymilvus import MilvusClient
from pymilvus.exceptions import MilvusException

from ombud.errors import EngineError
from ombud.index.engine import FIRST, Engine, Leg, Row, Stats, Vector
from ombud.index.engines.lance_rows import (
    Cells,
    chunk_reader_key,
    condition_of,
    revised_chunk,
)
from ombud.index.visibility import Filter
from ombud.types import Chunk, Document, Mode
from ombud_milvus.rows import (
    STRINGS,
    among,
    cells_of_row,
    encode_terms,
    facts_of,
    leg_of_hits,
    row_of_cells,
    unpack_chunk,
)
from ombud_milvus.schema import create_meta, create_passages

T = TypeVar("T")
MOST_HITS = 16_384
"""That Milvus returns at once."""
BATCH = 500
PAGE = 4_000
"""Rows of an iterator at once."""
CONNECTION = {"grpc.keepalive_time_ms": 300_000, "grpc.keepalive_permit_without_calls": 0}
"""pymilvus pings every 10 s, idle or not. A server with gRPC's own defaults hangs up on whoever
pings more often than in five minutes ("Too many pings"), and the client did not get back in."""
META = "_meta"
"""Ending of the collection with rules of readers, version and fingerprint."""


class MilvusBackend:
    """Collections on a server: `http://milvus:19530`, or `http://milvus:19530/name` where several
    organisations share one. A key comes from the variable MILVUS_TOKEN."""

    def __init__(self, location: str) -> None:
        scheme, _, rest = location.partition("://")
        host, _, name = rest.partition("/")
        self._name = name.strip("/") or "ombud"
        try:
            token = os.environ.get("MILVUS_TOKEN", "")
            self._client = MilvusClient(
                uri=f"{scheme}://{host}", token=token, grpc_options=CONNECTION
            )
        except MilvusException as failed:
            raise _broken(failed) from failed

    def open(
        self, generation: str, *, fingerprint: str, dimension: int, fresh_seconds: float = 0.0
    ) -> Engine:
        collection = self._collection(generation)
        return _called(
            lambda: MilvusEngine(
                self._client,
                collection,
                fingerprint=fingerprint,
                dimension=dimension,
                fresh_seconds=fresh_seconds,
            )
        )

    def recorded(self) -> str:
        return FIRST

    def names(self) -> frozenset[str]:
        begin = f"{self._name}_"
        found: set[str] = set()
        for collection in _called(self._client.list_collections):
            name = collection.removeprefix(begin)
            if collection.startswith(begin) and not collection.endswith(META):
                found.add(FIRST if name == "first" else name)
        return frozenset(found)

    def remove(self, generation: str) -> None:
        collection = self._collection(generation)
        _called(lambda: self._client.drop_collection(collection))
        _called(lambda: self._client.drop_collection(collection + META))

    def holds(self, generation: str) -> bool:
        collection = self._collection(generation)
        return bool(_called(lambda: self._client.has_collection(collection)))

    def size(self) -> int:
        return 0

    def _collection(self, generation: str) -> str:
        name = "first" if generation == FIRST else generation
        return f"{self._name}_{name}"


class MilvusEngine:
    """One generation. pymilvus's calls stand still, so each waits in a thread."""

    def __init__(
        self,
        client: MilvusClient,
        collection: str,
        *,
        fingerprint: str,
        dimension: int,
        fresh_seconds: float = 0.0,
    ) -> None:
        self.fingerprint = fingerprint
        self.dimension = dimension
        self._client = client
        self._name = collection
        self._level = "Bounded" if fresh_seconds else "Strong"
        self._fresh_seconds = fresh_seconds
        self._begin()
        self._check_fingerprint()
        self._version = ""
        self._looked = 0.0
        self._rules: tuple[str, dict[str, dict[str, Any]]] = ("", {})
        self._counts: dict[tuple[str, str], int] = {}
        self._looking = threading.Lock()

    # Each in a thread ---------------------------------------------------------------------------

    async def upsert(self, documents: Sequence[str], rows: Iterable[Row]) -> None:
        await self._wait(lambda: self._upsert(documents, rows))

    async def revise(self, document: Document) -> None:
        await self._wait(lambda: self._revise(document))

    async def delete(self, documents: Sequence[str]) -> None:
        await self._wait(lambda: self._delete(documents))

    async def maintain(self) -> None:
        await self._wait(self._maintain)

    async def search(
        self, text: str, vector: Vector | None, where: Filter, k: int, mode: Mode
    ) -> tuple[Leg, ...]:
        condition = await self._wait(lambda: self._condition(where))
        if condition is None:
            return ()
        legs: list[Any] = []
        words = encode_terms(text)
        if words and mode != "dense":
            legs.append(self._wait(lambda: self._sparse(words, condition, k)))
        if vector is not None and self.dimension and mode != "sparse":
            legs.append(self._wait(lambda: self._dense(vector, condition, k)))
        return tuple(await asyncio.gather(*legs))

    async def get(self, chunks: Sequence[str]) -> dict[str, Chunk]:
        return await self._wait(lambda: self._get(chunks))

    async def vectors(self, chunks: Sequence[str]) -> dict[str, Vector]:
        if not self.dimension or not chunks:
            return {}
        return await self._wait(lambda: self._vectors(chunks))

    async def rows(self, documents: Sequence[str]) -> Sequence[Row]:
        return await self._wait(lambda: list(self._rows(documents)))

    async def documents(self) -> dict[str, int]:
        return await self._wait(self._documents)

    async def chunk_ids(self) -> list[str]:
        wanted = ["chunk_id"]
        return await self._wait(
            lambda: sorted(row["chunk_id"] for row in self._all("part == 0", wanted))
        )

    async def stats(self, terms: Sequence[str] = ()) -> Stats:
        return await self._wait(lambda: self._stats(terms))

    async def at(self, version: str, when: datetime) -> "Engine | None":
        del version, when
        return None

    async def purge(self, *, keep_seconds: float = 0.0) -> None:
        """What compaction leaves goes when the server's own retention is over."""
        del keep_seconds
        await self._wait(self._maintain)

    async def holds(self, phrases: Sequence[str]) -> int:
        return await self._wait(lambda: self._holding(phrases))

    def languages(self) -> frozenset[str]:
        rules = _called(self._rule_table)
        return frozenset(rule["language"] for rule in rules.values())

    def version(self) -> str:
        with self._looking:
            now = time.monotonic()
            if not self._version or now - self._looked >= self._fresh_seconds:
                kept = _called(lambda: self._kept("key == 'version'"))
                self._version = kept.get("version", "0")
                self._looked = now
            return self._version

    async def _wait(self, call: Callable[[], T]) -> T:
        return await asyncio.to_thread(_called, call)

    # Writing ------------------------------------------------------------------------------------

    def _upsert(self, documents: Sequence[str], rows: Iterable[Row]) -> None:
        if not documents:
            return
        keys: set[tuple[str, str]] = set()
        cells: list[Cells] = []
        for row in rows:
            keys.add(chunk_reader_key(row.chunk))
            cells += cells_of_row(row, self.dimension)
        self._register(keys)
        kept = {one["row_id"] for one in cells}
        before: set[str] = set()
        for batch in _batches(documents):
            found = self._all(among("document_id", batch), ["row_id"])
            before.update(row["row_id"] for row in found)
        for some in _batches(sorted(before - kept)):
            self._client.delete(self._name, filter=among("row_id", some))
        for windows in _batches(cells):
            self._client.upsert(self._name, list(windows))
        self._bump()

    def _revise(self, document: Document) -> None:
        keys: set[tuple[str, str]] = set()
        cells: list[Cells] = []
        for row in self._all(among("document_id", [document.id]), self._fields()):
            chunk = revised_chunk(unpack_chunk(row["chunk"]), document)
            keys.add(chunk_reader_key(chunk))
            cells.append(row | facts_of(chunk, document.source))
        self._register(keys)
        for windows in _batches(cells):
            self._client.upsert(self._name, list(windows))
        self._bump()

    def _delete(self, documents: Sequence[str]) -> None:
        for batch in _batches(list(documents)):
            self._client.delete(self._name, filter=among("document_id", batch))
        self._bump()

    def _maintain(self) -> None:
        self._client.flush(self._name)
        self._client.compact(self._name)

    # Reading ------------------------------------------------------------------------------------

    def _sparse(self, words: str, condition: str, k: int) -> Leg:
        whole = _both(condition, "part == 0")
        hits = self._hits("sparse", words, whole, min(k, MOST_HITS))
        return leg_of_hits("sparse", hits, k)

    def _dense(self, vector: Vector, condition: str, k: int) -> Leg:
        numbers = np.asarray(vector, np.float32).tolist()
        whole = _both(condition, "embedded == true")
        limit = min(2 * k, MOST_HITS)
        while True:
            hits = self._hits("vector", numbers, whole, limit)
            leg = leg_of_hits("dense", hits, k)
            # A long chunk's windows may take all the places of the others.
            if len(leg.hits) == k or len(hits) < limit or limit == MOST_HITS:
                return leg
            limit = min(4 * limit, MOST_HITS)

    def _hits(self, field: str, what: Any, condition: str, limit: int) -> list[dict[str, Any]]:
        found = self._client.search(
            self._name,
            data=[what],
            anns_field=field,
            filter=condition,
            limit=limit,
            output_fields=["chunk", "tokens"],
            search_params={"metric_type": "BM25" if field == "sparse" else "IP"},
            consistency_level=self._level,
        )
        return list(found[0])

    def _get(self, chunks: Sequence[str]) -> dict[str, Chunk]:
        by_id: dict[str, Chunk] = {}
        for batch in _batches(list(chunks)):
            for row in self._query(among("row_id", batch), ["chunk"]):
                chunk = unpack_chunk(row["chunk"])
                by_id[chunk.id] = chunk
        return by_id

    def _vectors(self, chunks: Sequence[str]) -> dict[str, Vector]:
        condition = _both(among("chunk_id", list(chunks)), "embedded == true")
        rows = list(self._all(condition, ["chunk_id", "part", "vector"]))
        by_chunk: dict[str, list[Any]] = {}
        for row in sorted(rows, key=lambda row: row["part"]):
            by_chunk.setdefault(row["chunk_id"], []).append(row["vector"])
        return {chunk: np.array(vectors, np.float32) for chunk, vectors in by_chunk.items()}

    def _rows(self, documents: Sequence[str]) -> Iterator[Row]:
        for batch in _batches(list(documents)):
            windows_of: dict[str, list[Cells]] = {}
            found = list(self._all(among("document_id", batch), self._fields()))
            for cells in sorted(found, key=lambda row: row["part"]):
                windows_of.setdefault(cells["chunk_id"], []).append(cells)
            for windows in windows_of.values():
                yield row_of_cells(windows)

    def _documents(self) -> dict[str, int]:
        counts: dict[str, int] = {}
        for row in self._all("part == 0", ["document_id"]):
            counts[row["document_id"]] = counts.get(row["document_id"], 0) + 1
        return counts

    def _holding(self, phrases: Sequence[str]) -> int:
        forms = [json.dumps(phrase, ensure_ascii=False)[1:-1] for phrase in phrases]
        found = 0
        for row in self._all("part == 0", ["chunk"]):
            text = unpack_chunk(row["chunk"]).model_dump_json()
            found += any(form in text for form in forms)
        return found

    def _stats(self, terms: Sequence[str]) -> Stats:
        version = self.version()
        for term in set(terms):
            if (version, term) not in self._counts:
                self._counts[version, term] = self._count_holders(term)
        counts = {term: self._counts[version, term] for term in terms}
        return Stats(self._count("part == 0"), counts)

    # Details ------------------------------------------------------------------------------------

    def _count_holders(self, term: str) -> int:
        words = encode_terms(term)
        return self._count(f"part == 0 and text_match(terms, '{words}')") if words else 0

    def _count(self, condition: str) -> int:
        return int(self._query(condition, ["count(*)"])[0]["count(*)"])

    def _query(self, condition: str, fields: list[str]) -> list[dict[str, Any]]:
        found = self._client.query(
            self._name,
            filter=condition,
            output_fields=fields,
            consistency_level=self._level,
        )
        return list(found)

    def _all(self, condition: str, fields: list[str]) -> Iterator[dict[str, Any]]:
        rows = self._client.query_iterator(
            self._name,
            batch_size=PAGE,
            filter=condition,
            output_fields=fields,
            consistency_level=self._level,
        )
        while found := rows.next():
            for row in found:
                yield dict(row)
        rows.close()

    def _fields(self) -> list[str]:
        fields = ["row_id", "part", "effective_from", "effective_to", "embedded", *STRINGS]
        return [*fields, "vector"] if self.dimension else fields

    def _begin(self) -> None:
        for name, create in ((self._name + META, self._create_meta), (self._name, self._create)):
            if self._client.has_collection(name):
                continue
            try:
                create()
            except MilvusException:  # another process has made it at the same moment
                if not self._client.has_collection(name):
                    raise

    def _create(self) -> None:
        create_passages(self._client, self._name, self.dimension)

    def _create_meta(self) -> None:
        create_meta(self._client, self._name + META)
        self._put({"embedder": self.fingerprint})

    def _check_fingerprint(self) -> None:
        kept = self._kept("key == 'embedder'")
        for _ in range(100):
            if kept:
                break
            time.sleep(0.1)  # the process that has made the collections is about to say it
            kept = self._kept("key == 'embedder'")
        built = kept.get("embedder", "")
        if built != self.fingerprint:
            raise EngineError(
                f"The index was built with the embedder `{built or 'none'}`, "
                f"not `{self.fingerprint or 'none'}`.",
                hint="Put the old embedder back in ombud.toml, or run `ombud index rebuild`.",
            )

    def _kept(self, condition: str) -> dict[str, str]:
        rows = self._client.query(
            self._name + META,
            filter=condition,
            output_fields=["key", "value"],
            limit=MOST_HITS,
            consistency_level=self._level,
        )
        return {row["key"]: row["value"] for row in rows}

    def _put(self, values: dict[str, str]) -> None:
        rows = [{"key": k, "value": v, "nothing": [0.0, 1.0]} for k, v in values.items()]
        self._client.upsert(self._name + META, rows)

    def _bump(self) -> None:
        self._put({"version": uuid.uuid4().hex})
        self._version = ""

    def _register(self, keys: Iterable[tuple[str, str]]) -> None:
        known = self._kept("key like 'reader/%'")
        missing = {f"reader/{key}": rule for key, rule in set(keys)}
        missing = {key: rule for key, rule in missing.items() if key not in known}
        if missing:
            self._put(missing)

    def _rule_table(self) -> dict[str, dict[str, Any]]:
        version = self.version()
        if self._rules[0] != version:
            rules: dict[str, dict[str, Any]] = {}
            for key, rule in self._kept("key like 'reader/%'").items():
                rules[key.removeprefix("reader/")] = json.loads(rule)
            self._rules = (version, rules)
        return self._rules[1]

    def _condition(self, where: Filter) -> str | None:
        return condition_of(where, self._rule_table, among)


def _both(condition: str, other: str) -> str:
    return f"{condition} and {other}" if condition else other


def _batches(values: Sequence[T]) -> Iterator[Sequence[T]]:
    for start in range(0, len(values), BATCH):
        yield values[start : start + BATCH]


def _called(call: Callable[[], T]) -> T:
    try:
        return call()
    except MilvusException as failed:
        raise _broken(failed) from failed


def _broken(failed: MilvusException) -> EngineError:
    lines = str(failed.message).strip().splitlines() or [type(failed).__name__]
    return EngineError(
        "The server of the index cannot be reached or used.",
        hint="Try again; if it stays so, whoever runs the server checks its connection.",
        detail=f"Milvus at index.url: {lines[0][:200].rstrip('.')}.",
    )
