"""Extract the triplets of a document with a chat model: edges between entities, the names of those
entities, and digests that tell which passages have to be read again."""

import json
from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import NamedTuple

from ombud.errors import ModelError
from ombud.graph.model_extraction import (
    ModelExtractor,
    ModelReading,
    StatedTriplet,
    passage_text,
)
from ombud.graph.naming import edges_of, names_of
from ombud.store import Extracted, Name
from ombud.types import Chunk, Document


class DocumentTriplets(NamedTuple):
    """The triplets of one document."""

    extracted: Extracted
    names: list[Name]
    digest: str
    """Digest of the chunks, model and prompt; empty if some passages could not be read."""
    errors: Sequence[ModelError]

    @property
    def keys(self) -> set[str]:
        """The keys of its entities."""
        keys: set[str] = set()
        for edge in self.extracted.edges:
            keys |= {edge.subject_key, edge.object_key}
        return keys


class GraphExtractor:
    """Extracts triplets with a chat model. Passages that another model or prompt extracted are read
    again."""

    def __init__(self, model: ModelExtractor) -> None:
        self.model = model
        self._recipe = ("model", *model.recipe)

    def digest(self, chunk_ids: Sequence[str]) -> str:
        """Compute the digest that a document's triplets have once all these chunks are read."""
        return _digest(self._recipe, sorted(chunk_ids))

    async def read(
        self,
        document: Document,
        chunk_ids: Sequence[str],
        chunks: Mapping[str, Chunk],
        before: Extracted,
    ) -> DocumentTriplets:
        """Extract the triplets of a document; passages read before are not read again. Raises
        ModelAway.

        chunk_ids: all chunks of the document. chunks: those that could be loaded. before: the
        stored triplets of the document."""
        ordered = sorted(chunks.values(), key=lambda chunk: (chunk.start, chunk.end))
        digests: dict[str, str] = {}
        for chunk in ordered:
            digests[chunk.id] = _digest(self._recipe, passage_text(chunk))
        reading = await read_new_passages(self.model, ordered, digests, before)
        edges = edges_of(reading.stated, document.id)
        is_whole = len(reading.stated) == len(chunk_ids)
        return DocumentTriplets(
            extracted=Extracted(
                chunks={chunk_id: digests[chunk_id] for chunk_id in reading.stated},
                edges=edges,
            ),
            names=list(names_of(edges, document.language)),
            digest=self.digest(chunk_ids) if is_whole else "",
            errors=reading.errors,
        )


async def read_new_passages(
    model: ModelExtractor, chunks: Sequence[Chunk], digests: Mapping[str, str], before: Extracted
) -> ModelReading:
    """Take stored triplets for passages that were read before and read the others."""
    stored = triplets_by_digest(before)
    unread = [chunk for chunk in chunks if digests[chunk.id] not in stored]
    reading = await model.read(unread)
    stated: dict[str, list[StatedTriplet]] = {}
    for chunk in chunks:
        triplets = stored.get(digests[chunk.id], reading.stated.get(chunk.id))
        if triplets is not None:
            stated[chunk.id] = triplets
    return ModelReading(stated, reading.errors)


def triplets_by_digest(before: Extracted) -> dict[str, list[StatedTriplet]]:
    """Group stored triplets by the digest of their passage; passages without any are included."""
    stored: dict[str, list[StatedTriplet]] = {}
    for digest in before.chunks.values():
        stored[digest] = []
    for edge in before.edges:
        triplet = edge.triplet
        stated = StatedTriplet(triplet.subject, triplet.predicate, triplet.object)
        stored[before.chunks[triplet.chunk_id]].append(stated)
    return stored


def _digest(*parts: object) -> str:
    return sha256(json.dumps(parts, default=str).encode()).hexdigest()
