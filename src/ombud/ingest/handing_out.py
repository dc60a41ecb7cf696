"""Hand documents to processes of `ombud work`, which parse and embed them while the sync commits.

Only the sync has the keys of the sources, so it reads the bytes; and only the sync commits."""

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
from ombud.ingest.reading import ChunkedDocument, Made, chunked, chunking_of, in_batches, size_of
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

MAX_QUEUED_DOCUMENTS = 64
MAX_QUEUED_BYTES = 256 * 2**20
"""The bytes of queued documents are rows of the database."""
POLL_SECONDS = 0.1
"""Seconds between two queries of the queue."""
PATIENCE_SECONDS = 10.0
"""Seconds without a result after which the sync takes a document itself: there may be no worker."""
RENEW_SECONDS = 10.0
"""Seconds between two renewals of a claim."""


def recipe_of_work(parts: IngestParts) -> str:
    """Compute a digest of everything that decides rows besides the document."""
    embedder = parts.embedder
    forms: dict[str, object] = {"": parts.settings.index.beside()}
    for place in parts.settings.source:
        forms[place.name] = index_for(parts.settings, place.name).beside()
    recipe = [PARSED_BY, embedder.fingerprint if embedder else "", forms]
    return sha256(json.dumps(recipe, sort_keys=True, default=str).encode()).hexdigest()


class HandedOut:
    """Puts the changed documents of one source into the queue and takes the results out."""

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
        """Number in the queue -> the change and its number of bytes."""

    def batches(
        self, changes: Sequence[DocumentChange], failed: list[Failure]
    ) -> Iterator[list[ChunkedDocument]]:
        """Return the results in batches to commit; documents that cannot be read go to `failed`.
        Raises Busy if the lease is lost."""
        begin_work(self._parts.store, self._lease)
        return in_batches(self._all_results(iter(changes), failed), size_of)

    def _all_results(
        self, pending: Iterator[DocumentChange], failed: list[Failure]
    ) -> Made[ChunkedDocument]:
        while self._fill(pending, failed) or self._waiting:
            yield from self._results(failed)

    def _fill(self, pending: Iterator[DocumentChange], failed: list[Failure]) -> bool:
        """Fill the queue with pending documents; return False when none is pending."""
        while len(self._waiting) < MAX_QUEUED_DOCUMENTS:
            if sum(size for _, size in self._waiting.values()) >= MAX_QUEUED_BYTES:
                break
            change = next(pending, None)
            if change is None:
                return False
            try:
                self._put(change)
            except SourceError as bad:
                failed.append(failure(change.ref, bad))
        return True

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
        """Wait for at least one result and yield all that are ready."""
        begun = time.monotonic()
        results = self._take()
        while not results:
            is_alone = self._is_alone or time.monotonic() - begun > PATIENCE_SECONDS
            # A sync without workers goes on alone until a worker brings a result.
            self._is_alone = is_alone and self._worker.work_once()
            if not self._is_alone:
                time.sleep(POLL_SECONDS)
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
    """Takes documents out of the queue, one at a time."""

    def __init__(self, parts: IngestParts, parser: DocumentParser) -> None:
        self._parts = parts
        self._parser = parser
        self._recipe = recipe_of_work(parts)

    def work_once(self) -> bool:
        """Work on one document; return False if none was queued."""
        item = claim_work(self._parts.store, self._recipe)
        if item is None:
            return False
        with ClaimRenewal(self._parts, item):
            try:
                result, reason = self._work(item), ""
            except SourceError as bad:
                result, reason = None, f"{bad} {bad.hint}".strip()
            finish_work(self._parts.store, item, result, reason)
        return True

    def _work(self, item: WorkItem) -> bytes:
        """Parse and embed a document; raises SourceError, also if it has no text."""
        facts = Document.model_validate_json(item.facts)
        contents = self._parser.read(item.data, facts, chunking_of(self._parts, facts.source))
        if not contents.chunks:
            raise SourceError("Nothing in it can be searched.", hint="Is it empty?")
        rows = rows_of(
            [contents.document], contents.chunks, self._parts.embedder, self._parts.settings.index
        )
        return pack_rows(contents, list(rows))


def run_work(parts: IngestParts, stop: threading.Event) -> None:
    """Work until `stop` is set; after an error of the database, try again."""
    parser = open_parsers(parts.settings.documents)[0]
    process = WorkProcess(parts, parser)
    pause = POLL_SECONDS
    try:
        while not stop.wait(pause):
            try:
                has_worked = process.work_once()
            except OmbudError:
                has_worked = False
            pause = 0.0 if has_worked else min(2 * (pause or POLL_SECONDS), 1.0)
    finally:
        parser.close()


class ClaimRenewal:
    """Renews a claim in a thread while a document is worked on."""

    def __init__(self, parts: IngestParts, item: WorkItem) -> None:
        self._parts, self._item = parts, item
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._renew, name="claim", daemon=True)

    def __enter__(self) -> None:
        self._thread.start()

    def __exit__(self, *error: object) -> None:
        self._over.set()
        self._thread.join()

    def _renew(self) -> None:
        while not self._over.wait(RENEW_SECONDS):
            try:
                if not renew_work(self._parts.store, self._item):
                    return
            except OmbudError:
                continue


# Rows as bytes ------------------------------------------------------------------------------------


def pack_rows(contents: DocumentContents, rows: Sequence[Row]) -> bytes:
    """Write a document and its rows as numpy's .npz, without pickles."""
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
    """Read what `pack_rows` wrote."""
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
    # Workers of older versions send no abbreviations.
    abbreviations = [(short, long) for short, long in head.get("abbreviations", ())]
    return DocumentContents(document, chunks, abbreviations), rows
