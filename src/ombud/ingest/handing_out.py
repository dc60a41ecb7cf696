"""Documents that processes of `ombud work` parse and embed while the sync commits.

The sync reads the bytes, for it has the keys of the sources; what comes back it commits alone.
"""

import io
import json
import threading
import time
from collections.abc import Iterator, Sequence
from hashlib import sha256
from typing import Any

import numpy as np

from ombud.documents import PARSED_BY, DocumentContents, DocumentParser, open_parsers
from ombud.errors import OmbudError, SourceError
from ombud.index import Row
from ombud.ingest.changes import DocumentChange, failure
from ombud.ingest.originals import keep_original
from ombud.ingest.parts import IngestParts
from ombud.ingest.reading import BATCH_CHUNKS, ChunkedDocument, chunked, chunking_of
from ombud.ingest.report import Failure
from ombud.ingest.rows import rows_of
from ombud.settings import index_for
from ombud.sources import Source
from ombud.store import (
    Lease,
    WorkItem,
    WorkResult,
    begin_work,
    claim_work,
    finish_work,
    put_work,
    renew_work,
    take_results,
)
from ombud.types import Chunk, Document

MOST_WAITING = 64
"""Documents in the queue at once."""
MOST_BYTES = 256 * 2**20
"""Of their bytes: they are rows of the database."""
PAUSE = 0.1
"""Seconds between two looks at the queue."""
PATIENCE = 10.0
"""Seconds without a result after which the sync takes a document itself: there may be nobody."""
BEAT = 10.0
"""Seconds between two renewals of a claim."""


def recipe_of_work(parts: IngestParts) -> str:
    """Digest of what decides rows besides the document."""
    embedder = parts.embedder
    forms: dict[str, object] = {"": parts.settings.index.beside()}
    for place in parts.settings.source:
        forms[place.name] = index_for(parts.settings, place.name).beside()
    told = [PARSED_BY, embedder.fingerprint if embedder else "", forms]
    return sha256(json.dumps(told, sort_keys=True, default=str).encode()).hexdigest()


class HandedOut:
    """Changed documents of one source on their way through the queue."""

    def __init__(
        self, parts: IngestParts, source: Source, lease: Lease, parsers: Sequence[DocumentParser]
    ) -> None:
        self._parts = parts
        self._source = source
        self._lease = lease
        self._worker = WorkProcess(parts, parsers[0])
        self._recipe = recipe_of_work(parts)
        self._is_alone = False
        self._waiting: dict[int, tuple[DocumentChange, int]] = {}
        """Number in the queue -> the change and how many bytes it has."""

    def batches(
        self, changes: Sequence[DocumentChange], failed: list[Failure]
    ) -> Iterator[list[ChunkedDocument]]:
        """What has come back, in batches to commit; what cannot be read goes to `failed`. Raises
        Busy where the lease is lost."""
        begin_work(self._parts.store, self._lease)
        left = iter(changes)
        batch: list[ChunkedDocument] = []
        rows = 0
        while self._fill(left, failed) or self._waiting:
            for item in self._results(failed):
                batch.append(item)
                rows += len(item.chunks)
            if rows >= BATCH_CHUNKS:
                yield batch
                batch, rows = [], 0
        if batch:
            yield batch

    def _fill(self, left: Iterator[DocumentChange], failed: list[Failure]) -> bool:
        """Put in as many as there is room for; False where none is left."""
        while self._has_room():
            change = next(left, None)
            if change is None:
                return False
            try:
                self._put(change)
            except SourceError as bad:
                failed.append(failure(change.ref, bad))
        return True

    def _has_room(self) -> bool:
        size = sum(size for _, size in self._waiting.values())
        return len(self._waiting) < MOST_WAITING and size < MOST_BYTES

    def _put(self, change: DocumentChange) -> None:
        data = self._source.read(change.ref)
        document = change.document
        keep_original(
            self._parts.originals, document.id, document.digest, uri=document.uri, data=data
        )
        facts = document.model_dump_json()
        number = put_work(self._parts.store, self._lease, self._recipe, facts, data)
        self._waiting[number] = (change, len(data))

    def _results(self, failed: list[Failure]) -> Iterator[ChunkedDocument]:
        """Waits for at least one."""
        begun = time.monotonic()
        results = self._take()
        while not results:
            is_alone = self._is_alone or time.monotonic() - begun > PATIENCE
            # Who has found nobody goes on alone until somebody else brings a result.
            self._is_alone = is_alone and self._worker.work_once()
            if not self._is_alone:
                time.sleep(PAUSE)
            results = self._take()
        self._is_alone = self._is_alone and len(results) == 1
        for result in results:
            change, _ = self._waiting.pop(result.number)
            if result.result is None:
                ref = change.ref
                failed.append(Failure(uri=ref.uri, name=ref.name, reason=result.reason))
            else:
                contents, rows = unpack_rows(result.result)
                yield chunked(change, contents)._replace(rows=tuple(rows))

    def _take(self) -> list[WorkResult]:
        return take_results(self._parts.store, list(self._waiting), self._lease)


# Processes of `ombud work` ------------------------------------------------------------------------


class WorkProcess:
    """Takes documents out of the queue, one after the other."""

    def __init__(self, parts: IngestParts, parser: DocumentParser) -> None:
        self._parts = parts
        self._parser = parser
        self._recipe = recipe_of_work(parts)

    def work_once(self) -> bool:
        """False where nothing waited."""
        item = claim_work(self._parts.store, self._recipe)
        if item is None:
            return False
        with _Renewing(self._parts, item):
            try:
                result, reason = self._work(item), ""
            except SourceError as bad:
                result, reason = None, f"{bad} {bad.hint}".strip()
            finish_work(self._parts.store, item, result, reason)
        return True

    def _work(self, item: WorkItem) -> bytes:
        """Raises SourceError, also where nothing is in it."""
        facts = Document.model_validate_json(item.facts)
        contents = self._parser.read(item.data, facts, chunking_of(self._parts, facts.source))
        if not contents.chunks:
            raise SourceError("Nothing in it can be searched.", hint="Is it empty?")
        rows = rows_of(
            [contents.document], contents.chunks, self._parts.embedder, self._parts.settings.index
        )
        return pack_rows(contents, list(rows))


def run_work(parts: IngestParts, stop: threading.Event) -> None:
    """Work until `stop` is set. A database that fails is tried again."""
    parser = open_parsers(parts.settings.documents)[0]
    process = WorkProcess(parts, parser)
    pause = PAUSE
    try:
        while not stop.wait(pause):
            try:
                has_worked = process.work_once()
            except OmbudError:
                has_worked = False
            pause = 0.0 if has_worked else min(2 * (pause or PAUSE), 1.0)
    finally:
        parser.close()


class _Renewing:
    """Keeps a claim while a document is read."""

    def __init__(self, parts: IngestParts, item: WorkItem) -> None:
        self._parts, self._item = parts, item
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._beat, name="claim", daemon=True)

    def __enter__(self) -> None:
        self._thread.start()

    def __exit__(self, *error: object) -> None:
        self._over.set()
        self._thread.join()

    def _beat(self) -> None:
        while not self._over.wait(BEAT):
            try:
                if not renew_work(self._parts.store, self._item):
                    return
            except OmbudError:
                continue


# Rows as bytes ------------------------------------------------------------------------------------


def pack_rows(contents: DocumentContents, rows: Sequence[Row]) -> bytes:
    """A document and its rows as numpy's .npz, without pickles."""
    arrays: dict[str, Any] = {}
    listed: list[dict[str, str]] = []
    for number, row in enumerate(rows):
        chunk_json = row.chunk.model_dump_json()
        listed.append({"chunk": chunk_json, "source": row.source, "terms": row.terms})
        if row.vectors is not None:
            arrays[f"v{number}"] = row.vectors
        if row.tokens is not None:
            arrays[f"t{number}"] = np.frombuffer(row.tokens, np.uint8)
    head = {
        "document": contents.document.model_dump_json(),
        "abbreviations": contents.abbreviations,
        "rows": listed,
    }
    packed = io.BytesIO()
    arrays["head"] = np.frombuffer(json.dumps(head).encode(), np.uint8)
    np.savez_compressed(packed, **arrays)
    return packed.getvalue()


def unpack_rows(packed: bytes) -> tuple[DocumentContents, list[Row]]:
    with np.load(io.BytesIO(packed), allow_pickle=False) as arrays:
        head = json.loads(arrays["head"].tobytes())
        rows: list[Row] = []
        for number, row in enumerate(head["rows"]):
            tokens = f"t{number}"
            rows.append(
                Row(
                    chunk=Chunk.model_validate_json(row["chunk"]),
                    source=row["source"],
                    terms=row["terms"],
                    vectors=arrays.get(f"v{number}"),
                    tokens=arrays[tokens].tobytes() if tokens in arrays else None,
                )
            )
    document = Document.model_validate_json(head["document"])
    chunks = [row.chunk for row in rows]
    # A worker of an older version sends none.
    abbreviations = [(short, long) for short, long in head.get("abbreviations", ())]
    return DocumentContents(document, chunks, abbreviations), rows
