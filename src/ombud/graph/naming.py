"""Triplets of a document as edges between entities, and the names by which these are found."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from ombud.graph.phrases import StatedTriplet
from ombud.graph.rules import SHORT_FOR
from ombud.store import Edge, Name
from ombud.text import alternative_keys, entity_key, entity_stems
from ombud.types import Triplet

LONGEST_KEY = 200
"""Characters; what the database takes."""
PART_OF_NAME, SHORT_NAME = 0.9, 0.95
"""What "employer" says of "employer or employment agency", and ACB of the Annual Cash Bonus."""


def edges_of(said: Mapping[str, Sequence[StatedTriplet]], document_id: str) -> list[Edge]:
    """said: chunk id -> what its passage says, in reading order. What a document repeats stands
    once, at its first place; abbreviations that it explains are the entity that they stand for."""
    short = _short_forms(said.values())
    edges: dict[tuple[str, str, str], Edge] = {}
    for chunk_id, triplets in said.items():
        for one in triplets:
            keys = [_key(one.subject), _key(one.object)]
            if one.predicate != SHORT_FOR:
                keys = [short.get(key, key) for key in keys]
            if all(keys) and keys[0] != keys[1]:
                triplet = Triplet(
                    subject=one.subject,
                    predicate=one.predicate,
                    object=one.object,
                    chunk_id=chunk_id,
                )
                same = (one.subject.casefold(), one.predicate.casefold(), one.object.casefold())
                edges.setdefault(same, Edge(triplet, document_id, *keys))
    return list(edges.values())


def names_of(edges: Sequence[Edge], language: str) -> Iterator[Name]:
    """Key, parts of a name that is an alternative, short forms, and stems of each entity."""
    weights: dict[tuple[str, str], float] = {}
    document_id = ""
    for edge in edges:
        document_id, triplet = edge.document_id, edge.triplet
        for text, key in ((triplet.subject, edge.subject_key), (triplet.object, edge.object_key)):
            for name, weight in _names(text, key, language):
                weights[name, key] = max(weight, weights.get((name, key), 0.0))
    yield from (Name(document_id, name, key, weight) for (name, key), weight in weights.items())
    for edge in edges:
        if edge.triplet.predicate == SHORT_FOR:
            yield Name(document_id, edge.subject_key, edge.object_key, SHORT_NAME)


def _names(text: str, key: str, language: str) -> Iterator[tuple[str, float]]:
    yield key, 1.0
    yield from ((part, PART_OF_NAME) for part in alternative_keys(text) if part != key)
    parts = entity_stems(key, language)
    yield from ((part[:LONGEST_KEY], 1 / len(parts)) for part in parts)


def _short_forms(said: Iterable[Sequence[StatedTriplet]]) -> dict[str, str]:
    found: dict[str, str] = {}
    for triplets in said:
        for one in triplets:
            if one.predicate == SHORT_FOR:
                found.setdefault(_key(one.subject), _key(one.object))
    return {short: long for short, long in found.items() if short and long}


def _key(text: str) -> str:
    return entity_key(text)[:LONGEST_KEY]
