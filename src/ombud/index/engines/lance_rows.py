"""Convert chunks to rows of a LanceDB table and back.

A row is one vector window of a chunk; the first window carries the terms of the chunk, each carries
its tokens."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import date
from typing import Any, get_args

import numpy as np
import pyarrow as pa

from ombud.index.engine import Row
from ombud.index.visibility import Filter, is_open_to, reader_key
from ombud.types import Chunk, Document, Status

EARLIEST = 0
LATEST = 9999_12_31
"""Stand-ins for missing days."""
STRINGS = ("row_id", "chunk_id", "document_id", "source", "reader", "status", "terms", "chunk")
NUMBERS = ("part", "effective_from", "effective_to")
SHARED = (
    "title",
    "countries",
    "audience",
    "effective_from",
    "effective_to",
    "status",
    "mandatory",
    "topic",
)
"""Metadata that chunks take from their document."""
Cells = dict[str, Any]


def chunk_schema(fingerprint: str, dimension: int) -> pa.Schema:
    fields = [pa.field(name, pa.string()) for name in STRINGS]
    fields += [pa.field(name, pa.int32()) for name in NUMBERS]
    if dimension:
        fields.append(pa.field("tokens", pa.binary()))
        fields.append(pa.field("vector", pa.list_(pa.float32(), dimension)))
    return pa.schema(fields, metadata={"embedder": fingerprint})


def reader_schema() -> pa.Schema:
    return pa.schema([("key", pa.string()), ("rule", pa.string())])


def chunk_reader_key(chunk: Chunk) -> tuple[str, str]:
    """Return key and rule of those who may read the chunk."""
    return reader_key(chunk.countries, chunk.audience, chunk.language)


def chunk_facts(chunk: Chunk, source: str) -> Cells:
    key, _ = chunk_reader_key(chunk)
    return {
        "chunk_id": chunk.id,
        "document_id": chunk.document_id,
        "source": source,
        "reader": key,
        "status": chunk.status,
        "effective_from": as_number(chunk.effective_from, EARLIEST),
        "effective_to": as_number(chunk.effective_to, LATEST),
        "chunk": chunk.model_dump_json(),
    }


def cells_of(row: Row, dimension: int) -> Iterator[Cells]:
    """Yield a table row for each vector window; one without a vector if the chunk has none."""
    facts = chunk_facts(row.chunk, row.source)
    vectors: list[Any] = [None]
    if row.vectors is not None and len(row.vectors):
        vectors = list(row.vectors)
    for part, vector in enumerate(vectors):
        is_first = part == 0
        cells = {
            **facts,
            "row_id": row.chunk.id if is_first else f"{row.chunk.id}#{part}",
            "part": part,
            "terms": row.terms if is_first else "",
        }
        if dimension:
            cells["tokens"] = row.tokens
            cells["vector"] = vector
        yield cells


def row_of(windows: Sequence[Cells]) -> Row:
    """Put a chunk's windows, in order, back together as the row that was indexed."""
    first = windows[0]
    vectors = [cells["vector"] for cells in windows if cells.get("vector") is not None]
    return Row(
        chunk=Chunk.model_validate_json(first["chunk"]),
        source=first["source"],
        terms=first["terms"],
        vectors=np.array(vectors, np.float32) if vectors else None,
        tokens=first.get("tokens"),
    )


def revised_chunk(chunk: Chunk, document: Document) -> Chunk:
    """Copy a chunk with the metadata of its document, also in a trail that begins with the
    title."""
    changed = {name: getattr(document, name) for name in SHARED}
    if chunk.trail[:1] == (chunk.title,):
        changed["trail"] = (document.title, *chunk.trail[1:])
    return chunk.model_copy(update=changed)


def as_number(day: date | None, otherwise: int) -> int:
    """Write a day as a number that sorts as days do: 20260131."""
    if day is None:
        return otherwise
    return day.year * 10_000 + day.month * 100 + day.day


def among(column: str, values: Sequence[str]) -> str:
    quoted: list[str] = []
    for value in values:
        escaped = value.replace("'", "''")
        quoted.append(f"'{escaped}'")
    return f"{column} IN ({', '.join(quoted)})"


def condition_of(
    where: Filter,
    rules: Callable[[], Mapping[str, Mapping[str, Any]]],
    among: Callable[[str, Sequence[str]], str],
) -> str | None:
    """Write a filter as a condition in the SQL that LanceDB and Milvus share; "" if it hides
    nothing, None if nothing can be visible.

    rules: reader key -> countries and audience, called only if needed. among: writes that a column
    holds one of some values. Conditions that hide nothing are left out, as they cost as much as
    others."""
    parts: list[str] = []
    if where.countries is not None or where.reader is not None:
        keys: list[str] = []
        for key, rule in rules().items():
            if is_open_to(rule["countries"], rule["audience"], where):
                keys.append(key)
        if not keys:
            return None
        parts.append(among("reader", keys))
    if not where.status:
        return None
    if set(where.status) != set(get_args(Status)):
        parts.append(among("status", where.status))
    if where.as_of:
        day = as_number(where.as_of, EARLIEST)
        parts.append(f"effective_from <= {day} and effective_to >= {day}")
    if where.sources:
        parts.append(among("source", where.sources))
    return " and ".join(parts)
