"""What a document says as triplets, by the rules or by a model: edges between entities, the names
by which these are found, and what of it has to be read again next time."""

import json
from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import NamedTuple

from ombud.errors import ModelError
from ombud.graph.model_extraction import ModelExtractor, ModelReading, passage_text
from ombud.graph.naming import edges_of, names_of
from ombud.graph.phrases import StatedTriplet
from ombud.graph.rules import triplets_of
from ombud.store import Edge, Extracted, Name
from ombud.types import Chunk, Document

RULES_VERSION = "1"
"""Changes when the rules give other triplets from the same passages: everything is then read
anew."""


class DocumentTriplets(NamedTuple):
    """What one document says."""

    extracted: Extracted
    names: list[Name]
    digest: str
    """What it was read from and how; empty where some passages could not be read."""
    errors: Sequence[ModelError]

    @property
    def keys(self) -> set[str]:
        """Of its entities."""
        keys: set[str] = set()
        for edge in self.extracted.edges:
            keys |= {edge.subject_key, edge.object_key}
        return keys


class GraphExtractor:
    """Reads documents by a model where there is one, else by the rules.

    kind: the setting `index.graph`; a graph that was read in another way is read anew."""

    def __init__(self, kind: str, model: ModelExtractor | None) -> None:
        self._model = model
        self._recipe = (kind, *(model.recipe if model else (RULES_VERSION,)))

    @property
    def model(self) -> ModelExtractor | None:
        return self._model

    def digest(self, chunk_ids: Sequence[str]) -> str:
        """Of a document's triplets, if they were all read from these chunks."""
        return _digest(self._recipe, sorted(chunk_ids))

    async def read(
        self,
        document: Document,
        chunk_ids: Sequence[str],
        chunks: Mapping[str, Chunk],
        before: Extracted,
    ) -> DocumentTriplets:
        """chunk_ids: all of the document; chunks: those that are there to be read; before: what was
        kept of the document; passages that a model has read before are not read again. Raises
        ModelAway."""
        ordered = sorted(chunks.values(), key=lambda chunk: (chunk.start, chunk.end))
        digests: dict[str, str] = {}
        for chunk in ordered:
            digests[chunk.id] = _digest(self._recipe, passage_text(chunk))
        if self._model:
            reading = await _by_model(self._model, ordered, digests, before)
        else:
            reading = _by_rules(ordered)
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


def _by_rules(chunks: Sequence[Chunk]) -> ModelReading:
    stated: dict[str, list[StatedTriplet]] = {}
    for chunk in chunks:
        stated[chunk.id] = list(triplets_of(chunk))
    return ModelReading(stated, ())


async def _by_model(
    model: ModelExtractor, chunks: Sequence[Chunk], digests: Mapping[str, str], before: Extracted
) -> ModelReading:
    kept = _kept_triplets(before)
    unread = [chunk for chunk in chunks if digests[chunk.id] not in kept]
    reading = await model.read(unread)
    stated: dict[str, list[StatedTriplet]] = {}
    for chunk in chunks:
        triplets = kept.get(digests[chunk.id], reading.stated.get(chunk.id))
        if triplets is not None:
            stated[chunk.id] = triplets
    return ModelReading(stated, reading.errors)


def _kept_triplets(before: Extracted) -> dict[str, list[StatedTriplet]]:
    """Digest of a passage -> what it said."""
    kept: dict[str, list[StatedTriplet]] = {}
    for digest in before.chunks.values():
        kept[digest] = []
    for edge in before.edges:
        digest = before.chunks[edge.triplet.chunk_id]
        kept[digest].append(_stated(edge))
    return kept


def _stated(edge: Edge) -> StatedTriplet:
    triplet = edge.triplet
    return StatedTriplet(triplet.subject, triplet.predicate, triplet.object)


def _digest(*parts: object) -> str:
    return sha256(json.dumps(parts, default=str).encode()).hexdigest()
