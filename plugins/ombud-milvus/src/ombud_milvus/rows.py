"""Chunks as rows of a Milvus collection, and back.

Milvus cuts words by a tokenizer of its own: terms go in as hexadecimal numbers, which it leaves
whole. A VARCHAR holds 65,535 bytes, so a chunk's JSON goes in compressed.
"""

import base64
import json
import zlib
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ombud.errors import EngineError
from ombud.index.engine import Leg, Row
from ombud.index.engines.lance_rows import Cells, chunk_facts
from ombud.types import Chunk

LONGEST = 65_535
"""Bytes of a VARCHAR."""
STRINGS = {
    "chunk_id": 512,
    "document_id": 512,
    "source": 1024,
    "reader": 32,
    "status": 16,
    "terms": LONGEST,
    "chunk": LONGEST,
    "tokens": LONGEST,
}


def encode_terms(terms: str) -> str:
    return " ".join("x" + term.encode().hex() for term in terms.split())


def decode_terms(terms: str) -> str:
    return " ".join(bytes.fromhex(term[1:]).decode() for term in terms.split())


def pack_chunk(chunk_json: str) -> str:
    return base64.b64encode(zlib.compress(chunk_json.encode(), 6)).decode()


def unpack_chunk(packed: str) -> Chunk:
    return Chunk.model_validate_json(zlib.decompress(base64.b64decode(packed)))


def among(column: str, values: Sequence[str]) -> str:
    """A filter; JSON quotes what stands in it (`ids=` of pymilvus 3.0 quotes nothing)."""
    return f"{column} in " + json.dumps(list(values), ensure_ascii=False)


def facts_of(chunk: Chunk, source: str) -> Cells:
    facts = chunk_facts(chunk, source)
    return facts | {"chunk": pack_chunk(facts["chunk"])}


def cells_of_row(row: Row, dimension: int) -> Iterator[Cells]:
    """A row of the collection for each window. Raises EngineError for a chunk that is too long."""
    tokens = base64.b64encode(row.tokens).decode() if row.tokens else ""
    facts = facts_of(row.chunk, row.source) | {"tokens": tokens}
    terms = encode_terms(row.terms)
    if max(len(terms), len(facts["chunk"]), len(tokens)) > LONGEST:
        raise EngineError(
            f"A passage of {row.chunk.uri} is too long for Milvus, which holds {LONGEST:,} bytes.",
            hint="Set index.chunk_tokens to less.",
        )
    vectors: list[Any] = [None]
    if row.vectors is not None and len(row.vectors):
        vectors = list(row.vectors)
    for part, vector in enumerate(vectors):
        cells = facts | {
            "row_id": row.chunk.id if part == 0 else f"{row.chunk.id}#{part}",
            "part": part,
            "terms": terms if part == 0 else "",
            "embedded": vector is not None,
        }
        if dimension:
            whole = np.zeros(dimension, np.float32) if vector is None else vector
            cells["vector"] = np.asarray(whole, np.float32).tolist()
        yield cells


def row_of_cells(windows: Sequence[Cells]) -> Row:
    """The chunk of these windows, in their order, as it came in."""
    first = windows[0]
    vectors = [cells["vector"] for cells in windows if cells["embedded"]]
    return Row(
        chunk=unpack_chunk(first["chunk"]),
        source=first["source"],
        terms=decode_terms(first["terms"]),
        vectors=np.array(vectors, np.float32) if vectors else None,
        tokens=base64.b64decode(first["tokens"]) if first["tokens"] else None,
    )


def leg_of_hits(name: str, hits: Sequence[dict[str, Any]], k: int) -> Leg:
    """hits: windows, the best first, with the fields chunk and tokens."""
    best: dict[str, tuple[Chunk, float]] = {}
    tokens: dict[str, bytes] = {}
    for hit in hits:
        score = float(hit["distance"])
        if name == "sparse":
            score = abs(score)  # milvus-lite gives BM25 as a distance
            if score == 0:  # what holds none of the words
                continue
        chunk = unpack_chunk(hit["entity"]["chunk"])
        best.setdefault(chunk.id, (chunk, score))
        packed = hit["entity"]["tokens"]
        if packed:
            tokens[chunk.id] = base64.b64decode(packed)
    ranked = sorted(best.values(), key=lambda found: (-found[1], found[0].id))
    return Leg(name, tuple(ranked[:k]), tokens)
