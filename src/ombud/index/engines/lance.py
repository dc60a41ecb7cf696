"""LanceDB engine: one table in a folder or in object storage, many processes reading, one commit
per upsert.

A row is one vector window of a chunk; the first window carries the terms of the chunk, each carries
its tokens. The vector index is IVF_FLAT: with all partitions probed it ranks exactly, above about
160k rows approximately."""

import asyncio
import json
import random
import time
import warnings
from collections.abc import Callable, Coroutine, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa

from ombud.errors import Conflict, EngineError
from ombud.index.engine import Engine, Leg, Row, Stats, Vector
from ombud.index.engines.folders import FolderGenerations, Stamped, commits_of
from ombud.index.engines.lance_indexes import build_indexes, index_names
from ombud.index.engines.lance_rows import (
    Cells,
    among,
    cells_of,
    chunk_facts,
    chunk_reader_key,
    chunk_schema,
    condition_of,
    reader_schema,
    revised_chunk,
    row_of,
)
from ombud.index.engines.lance_search import (
    RowLeg,
    count_holders,
    legs_with_passages,
    load_passages,
    search_terms,
    search_vector,
)
from ombud.index.engines.object_generations import (
    BROKEN,
    ObjectGenerations,
    connect,
    first_line,
    unusable,
)
from ombud.index.engines.passage_cache import PassageCache, StoredPassage
from ombud.index.engines.quick_import import without_remote_client
from ombud.index.visibility import Filter
from ombud.private_files import make_private_folder
from ombud.types import Chunk, Document, Mode

with without_remote_client():
    import lancedb

T = TypeVar("T")
EVERY_ROW = 100_000_000
"""A limit that no index reaches: LanceDB returns ten rows by default."""
KEEP_VERSIONS = timedelta(hours=1)
LEG_THREADS = 4
MAX_SEARCH_ATTEMPTS = 3
"""Attempts of a search whose hits were replaced before their passages were loaded."""
MAX_CACHED_COUNTS = 50_000
"""Terms whose counts are cached."""
WRITE_HINT = "Check free space and permissions of the .ombud folder."
READ_HINT = (
    "Try again; `ombud doctor` says what is wrong. `ombud index rebuild` makes a damaged one anew."
)


class LanceBackend:
    """Opens LanceDB tables in a folder, or in object storage: `s3://bucket/path`, `az://…`,
    `gs://…`. LanceDB reads the keys of the storage from the environment."""

    def __init__(self, location: str) -> None:
        place = ObjectGenerations(location) if "://" in location else None
        self._generations = place or FolderGenerations(Path(location), ".lance")
        self.recorded = self._generations.recorded
        self.names = self._generations.names
        self.remove = self._generations.remove
        self.holds = self._generations.holds
        self.size = self._generations.size
        self._is_far = place is not None
        self._cache: Path | None = None

    def cache_in(self, folder: Path) -> None:
        """Cache passages of object storage in this folder."""
        self._cache = folder if self._is_far else None

    def open(
        self, generation: str, *, fingerprint: str, dimension: int, fresh_seconds: float = 0.0
    ) -> Engine:
        return LanceEngine(
            self._generations.folder(generation),
            fingerprint=fingerprint,
            dimension=dimension,
            fresh_seconds=fresh_seconds,
            cache=self._cache,
        )


class LanceEngine:
    """A generation in LanceDB, whose calls block, so each runs in a thread; the two legs of a
    search run in parallel."""

    def __init__(
        self,
        place: Path | str,
        *,
        fingerprint: str,
        dimension: int,
        fresh_seconds: float = 0.0,
        cache: Path | None = None,
    ) -> None:
        """cache: folder for cached passages; None caches none."""
        self.fingerprint = fingerprint
        self.dimension = dimension
        self._place = place
        self._cache = PassageCache(cache, str(place)) if cache else None
        self._swept = -1
        try:
            if isinstance(place, Path):
                make_private_folder(place)
        except OSError as failed:
            raise EngineError(
                "The folder of the index cannot be written.",
                hint=WRITE_HINT,
                detail=f"{place}: {failed.strerror}.",
            ) from failed
        # 0 = every read sees the newest commit of any process.
        fresh = timedelta(seconds=fresh_seconds)
        if isinstance(place, Path):
            self._db = lancedb.connect(str(place), read_consistency_interval=fresh)
        else:
            self._db = connect(place, fresh)
        self._chunks = self._open("chunks", chunk_schema(fingerprint, dimension))
        self._readers = self._open("readers", reader_schema())
        self._check_fingerprint()
        self._version = Stamped(commits_of(place, "chunks"), self._read_version)
        self._languages = Stamped(commits_of(place, "readers"), self._read_languages)
        self._rules: tuple[int, dict[str, dict[str, Any]]] = (-1, {})
        self._counts: dict[tuple[int, str], int] = {}
        self._leg_threads = ThreadPoolExecutor(LEG_THREADS, thread_name_prefix="leg")

    # Each in a thread ---------------------------------------------------------------------------

    async def upsert(self, documents: Sequence[str], rows: Iterable[Row]) -> None:
        await asyncio.to_thread(self._upsert, documents, rows)

    async def revise(self, document: Document) -> None:
        await asyncio.to_thread(self._revise, document)

    async def delete(self, documents: Sequence[str]) -> None:
        await asyncio.to_thread(self._delete, documents)

    async def maintain(self) -> None:
        await asyncio.to_thread(self._maintain)

    async def search(
        self, text: str, vector: Vector | None, where: Filter, k: int, mode: Mode
    ) -> tuple[Leg, ...]:
        condition = await asyncio.to_thread(self._condition, where)
        if condition is None:
            return ()
        for _ in range(MAX_SEARCH_ATTEMPTS):
            legs = await self._rank(text, vector, condition, k, mode)
            passages = await self._run_leg(partial(self._load, legs))
            if all(hit.address in passages for leg in legs for hit in leg.hits):
                break
        return legs_with_passages(legs, passages)

    async def _rank(
        self, text: str, vector: Vector | None, condition: str, k: int, mode: Mode
    ) -> Sequence[RowLeg]:
        legs: list[Coroutine[Any, Any, RowLeg]] = []
        if text and mode != "dense":
            legs.append(self._run_leg(lambda: search_terms(self._chunks, text, condition, k)))
        if vector is not None and self.dimension and mode != "sparse":
            legs.append(self._run_leg(lambda: search_vector(self._chunks, vector, condition, k)))
        return await asyncio.gather(*legs)

    async def get(self, chunks: Sequence[str]) -> dict[str, Chunk]:
        return await asyncio.to_thread(self._get, chunks)

    async def vectors(self, chunks: Sequence[str]) -> dict[str, Vector]:
        if not self.dimension or not chunks:
            return {}
        return await asyncio.to_thread(self._vectors, chunks)

    async def rows(self, documents: Sequence[str]) -> Sequence[Row]:
        return await asyncio.to_thread(lambda: list(self._rows(documents)))

    async def documents(self) -> dict[str, int]:
        return await asyncio.to_thread(self._documents)

    async def chunk_ids(self) -> list[str]:
        return await asyncio.to_thread(self._chunk_ids)

    async def stats(self, terms: Sequence[str] = ()) -> Stats:
        return await asyncio.to_thread(self._stats, terms)

    async def at(self, version: str, when: datetime) -> "LanceEngine | None":
        return await asyncio.to_thread(self._at, version, when)

    async def purge(self, *, keep_seconds: float = 0.0) -> None:
        await asyncio.to_thread(self._purge, timedelta(seconds=keep_seconds))

    async def holds(self, phrases: Sequence[str]) -> int:
        return await asyncio.to_thread(self._count_containing, phrases)

    def languages(self) -> frozenset[str]:
        return self._languages.value()

    def version(self) -> str:
        return str(self._version.value())

    # Writing ------------------------------------------------------------------------------------

    def _upsert(self, documents: Sequence[str], rows: Iterable[Row]) -> None:
        keys: set[tuple[str, str]] = set()
        cells: list[Cells] = []
        for row in rows:
            keys.add(chunk_reader_key(row.chunk))
            cells += cells_of(row, self.dimension)
        self._register(keys)
        schema = chunk_schema(self.fingerprint, self.dimension)
        self._replace(documents, pa.Table.from_pylist(cells, schema))

    def _revise(self, document: Document) -> None:
        query = self._scan().where(among("document_id", [document.id])).limit(EVERY_ROW)
        before = self._read(query.to_arrow)
        keys: set[tuple[str, str]] = set()
        cells: list[Cells] = []
        for row in before.to_pylist():
            chunk = revised_chunk(Chunk.model_validate_json(row["chunk"]), document)
            keys.add(chunk_reader_key(chunk))
            cells.append(row | chunk_facts(chunk, document.source))
        self._register(keys)
        if cells:
            self._replace([document.id], pa.Table.from_pylist(cells, before.schema))

    def _delete(self, documents: Sequence[str]) -> None:
        for batch in batches(documents, 500):
            self._write(partial(self._chunks.delete, among("document_id", batch)))

    def _maintain(self) -> None:
        self._write(self._build_indexes)
        self._write(lambda: self._chunks.optimize(cleanup_older_than=KEEP_VERSIONS))

    def _purge(self, keep: timedelta) -> None:
        # Compaction skips files of which less than a tenth is deleted, so all rows are rewritten.
        if self._read(lambda: self._chunks.count_rows()):
            rewrite = {"where": "true", "values_sql": {"row_id": "row_id"}}
            self._write(lambda: self._chunks.update(**rewrite))
        self._write(self._build_indexes)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # it warns that readers may lose versions
            clean = {"cleanup_older_than": keep, "delete_unverified": not keep}
            self._write(lambda: self._chunks.optimize(**clean))

    # Reading ------------------------------------------------------------------------------------

    async def _run_leg(self, search: Callable[[], T]) -> T:
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._leg_threads, self._read, search)

    def _load(self, legs: Sequence[RowLeg]) -> dict[int, StoredPassage]:
        return load_passages(self._chunks, legs, tokens=bool(self.dimension), cache=self._cache)

    def _get(self, chunks: Sequence[str]) -> dict[str, Chunk]:
        by_id: dict[str, Chunk] = {}
        for batch in batches(list(chunks), 500):
            query = self._scan().where(among("row_id", batch))
            rows = self._read(query.select(["chunk"]).limit(len(batch)).to_arrow)
            for text in rows["chunk"].to_pylist():
                chunk = Chunk.model_validate_json(text)
                by_id[chunk.id] = chunk
        return by_id

    def _vectors(self, chunks: Sequence[str]) -> dict[str, Vector]:
        condition = among("chunk_id", chunks) + " AND vector IS NOT NULL"
        query = self._scan().where(condition)
        query = query.select(["chunk_id", "part", "vector"]).limit(EVERY_ROW)
        rows = self._read(query.to_arrow).sort_by("part")
        numbers = rows["vector"].combine_chunks().flatten().to_numpy()
        matrix = numbers.reshape(-1, self.dimension)
        owners = np.array(rows["chunk_id"].to_pylist())
        return {chunk: matrix[owners == chunk] for chunk in set(owners.tolist())}

    def _read_version(self) -> int:
        version: int = self._read(lambda: self._chunks.version)
        if self._cache and version != self._swept:
            self._swept = version
            self._leg_threads.submit(self._sweep, self._cache)
        return version

    def _sweep(self, cache: PassageCache) -> None:
        """Remove deleted and replaced passages from the cache."""
        alive: frozenset[int] = frozenset()
        with suppress(EngineError):
            if not cache.is_empty():
                query = self._scan().with_row_id(True).select(["_rowid"]).limit(EVERY_ROW)
                alive = frozenset(self._read(query.to_arrow)["_rowid"].to_pylist())
        cache.keep(alive)

    def _read_languages(self) -> frozenset[str]:
        return frozenset(rule["language"] for rule in self._rule_table().values())

    def _chunk_ids(self) -> list[str]:
        query = self._scan().where("part = 0").select(["chunk_id"]).limit(EVERY_ROW)
        return sorted(self._read(query.to_arrow)["chunk_id"].to_pylist())

    def _rows(self, documents: Sequence[str]) -> Iterator[Row]:
        for batch in batches(documents, 200):
            query = self._scan().where(among("document_id", batch)).limit(EVERY_ROW)
            windows_of: dict[str, list[Cells]] = {}
            for cells in self._read(query.to_arrow).sort_by("part").to_pylist():
                windows_of.setdefault(cells["chunk_id"], []).append(cells)
            for windows in windows_of.values():
                yield row_of(windows)

    def _at(self, version: str, when: datetime) -> "LanceEngine | None":
        past = LanceEngine(self._place, fingerprint=self.fingerprint, dimension=self.dimension)
        try:
            for row in past._chunks.list_versions():
                # An index that was deleted and created again counts from 1.
                committed = row["timestamp"].astimezone(UTC)
                if str(row["version"]) == version and committed <= when:
                    past._chunks.checkout(row["version"])
                    return past
        except BROKEN:  # removed meanwhile
            pass
        return None

    def _count_containing(self, phrases: Sequence[str]) -> int:
        forms = [json.dumps(phrase, ensure_ascii=False)[1:-1] for phrase in phrases]
        containing: set[str] = set()
        past = LanceEngine(self._place, fingerprint=self.fingerprint, dimension=self.dimension)
        for version in self._read(past._chunks.list_versions):
            self._read(partial(past._chunks.checkout, version["version"]))
            query = past._scan().select(["chunk"]).limit(EVERY_ROW)
            for text in self._read(query.to_arrow)["chunk"].to_pylist():
                if any(form in text for form in forms):
                    containing.add(text)
        return len(containing)

    def _documents(self) -> dict[str, int]:
        query = self._scan().where("part = 0").select(["document_id"]).limit(EVERY_ROW)
        counts = self._read(query.to_arrow)["document_id"].value_counts().to_pylist()
        return {row["values"]: row["counts"] for row in counts}

    def _stats(self, terms: Sequence[str]) -> Stats:
        version = self._read(lambda: self._chunks.version)
        if len(self._counts) > MAX_CACHED_COUNTS:
            self._counts.clear()
        counts: dict[str, int] = {}
        for term in terms:
            if (version, term) not in self._counts:
                self._counts[version, term] = self._read(partial(count_holders, self._chunks, term))
            counts[term] = self._counts[version, term]
        return Stats(self._read(lambda: self._chunks.count_rows("part = 0")), counts)

    # Details ------------------------------------------------------------------------------------

    def _open(self, name: str, schema: pa.Schema) -> Any:
        try:
            return self._db.create_table(name, schema=schema, exist_ok=True)
        except BROKEN as broken:
            try:  # the schema on disk may differ: then it was built with another embedder
                return self._db.open_table(name)
            except BROKEN:
                if isinstance(self._place, str):
                    raise unusable(self._place, broken) from broken
                raise EngineError(
                    "The index cannot be opened.", hint=WRITE_HINT, detail=self._details(broken)
                ) from broken

    def _check_fingerprint(self) -> None:
        metadata = self._chunks.schema.metadata or {}
        built = (metadata.get(b"embedder") or b"").decode()
        if built != self.fingerprint:
            raise EngineError(
                f"The index was built with the embedder `{built or 'none'}`, "
                f"not `{self.fingerprint or 'none'}`.",
                hint="Put the old embedder back in ombud.toml, or run `ombud index rebuild`.",
            )
        if self.dimension and "tokens" not in self._chunks.schema.names:
            raise EngineError(
                "The index was built by an older ombud.", hint="Run `ombud index rebuild`."
            )

    def _register(self, keys: Iterable[tuple[str, str]]) -> None:
        rules = self._rule_table()
        missing: list[Cells] = []
        for key, rule in sorted(keys):
            if key not in rules:
                missing.append({"key": key, "rule": rule})
        if not missing:
            return
        table = pa.Table.from_pylist(missing, self._readers.schema)

        def commit() -> None:
            merge = self._readers.merge_insert("key").when_not_matched_insert_all()
            merge.execute(table)

        self._write(commit)

    def _rule_table(self) -> dict[str, dict[str, Any]]:
        version = self._read(lambda: self._readers.version)
        if version != self._rules[0]:
            rows = self._read(self._readers.to_arrow).to_pylist()
            rules: dict[str, dict[str, Any]] = {}
            for row in rows:
                rules[row["key"]] = json.loads(row["rule"])
            self._rules = (version, rules)
        return self._rules[1]

    def _condition(self, where: Filter) -> str | None:
        """Write the SQL of a filter; it holds only our own hex keys and numbers."""
        return condition_of(where, self._rule_table, among)

    def _replace(self, documents: Sequence[str], rows: pa.Table) -> None:
        if not documents:
            return

        def commit() -> None:
            merge = self._chunks.merge_insert("row_id")
            merge = merge.when_matched_update_all().when_not_matched_insert_all()
            merge.when_not_matched_by_source_delete(among("document_id", documents))
            # "null": chunks without vectors may be in one batch with others.
            merge.execute(rows, on_bad_vectors="null")

        self._write(commit)
        if "terms_idx" not in index_names(self._chunks):
            self._write(self._build_indexes)

    def _build_indexes(self) -> None:
        build_indexes(self._chunks, vectors=bool(self.dimension))

    def _write(self, commit: Callable[[], T], attempts: int = 8) -> T:
        for attempt in range(attempts):
            try:
                return commit()
            except BROKEN as failed:
                if "onflict" not in str(failed):
                    if isinstance(self._place, str):
                        raise unusable(self._place, failed) from failed
                    raise EngineError(
                        "The index cannot be written.",
                        hint=f"{WRITE_HINT[:-1]}; the next sync goes on.",
                        detail=self._details(failed),
                    ) from failed
                # Full jitter, so that two conflicting writers do not conflict again.
                time.sleep(random.uniform(0, 0.05 * 2**attempt))  # noqa: S311
        raise Conflict(
            "Another process keeps writing to the index.",
            hint="Wait for the running sync, then try again.",
        )

    def _scan(self) -> Any:
        return self._read(self._chunks.search)

    def _read(self, query: Callable[[], T]) -> T:
        try:
            return query()
        except BROKEN as failed:
            if isinstance(self._place, str):
                raise unusable(self._place, failed) from failed
            raise EngineError(
                "The index cannot be read.", hint=READ_HINT, detail=self._details(failed)
            ) from failed

    def _details(self, failed: Exception) -> str:
        return f"{self._place}: {first_line(failed)}."


def batches(values: Sequence[str], size: int) -> Iterator[Sequence[str]]:
    for start in range(0, len(values), size):
        yield values[start : start + size]
