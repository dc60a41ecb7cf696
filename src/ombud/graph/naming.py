"""Triplets of a document as edges between entities, and the names by which these are found."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain

from ombud.graph.phrases import StatedTriplet
from ombud.graph.rules import SHORT_FOR
from ombud.store import Edge, Name
from ombud.text import alternative_keys, entity_key, entity_stems
from ombud.types import Triplet

LONGEST_KEY = 200
"""Characters; what the database takes."""
PART_OF_NAME = 0.9
SHORT_NAME = 0.95
"""What "employer" says of "employer or employment agency", and ACB of the Annual Cash Bonus."""


def edges_of(stated: Mapping[str, Sequence[StatedTriplet]], document_id: str) -> list[Edge]:
    """stated: chunk id -> what its passage says, in reading order. What a document repeats stands
    once, at its first place; abbreviations that it explains are the entity that they stand for."""
    long_forms = _long_forms(stated.values())
    edges: dict[tuple[str, str, str], Edge] = {}
    for chunk_id, triplets in stated.items():
        for triplet in triplets:
            ends = _ends(triplet, long_forms)
            if not ends:
                continue
            edge = Edge(
                triplet=Triplet(
                    subject=triplet.subject,
                    predicate=triplet.predicate,
                    object=triplet.object,
                    chunk_id=chunk_id,
                ),
                document_id=document_id,
                subject_key=ends[0],
                object_key=ends[1],
            )
            edges.setdefault(_folded(triplet), edge)
    return list(edges.values())


def names_of(edges: Sequence[Edge], language: str) -> Iterator[Name]:
    """Key, parts of a name that is an alternative, short forms, and stems of each entity. The edges
    are of one document."""
    if not edges:
        return
    document_id = edges[0].document_id
    weights: dict[tuple[str, str], float] = {}
    for edge in edges:
        triplet = edge.triplet
        ends = ((triplet.subject, edge.subject_key), (triplet.object, edge.object_key))
        for text, key in ends:
            for name, weight in _names(text, key, language):
                weights[name, key] = max(weight, weights.get((name, key), 0.0))
    for (name, key), weight in weights.items():
        yield Name(document_id, name, key, weight)
    for edge in edges:
        if edge.triplet.predicate == SHORT_FOR:
            yield Name(document_id, edge.subject_key, edge.object_key, SHORT_NAME)


def _ends(triplet: StatedTriplet, long_forms: Mapping[str, str]) -> tuple[str, str] | None:
    """Keys of subject and object; None where they are no two entities."""
    subject = _key(triplet.subject)
    thing = _key(triplet.object)
    if triplet.predicate != SHORT_FOR:
        subject = long_forms.get(subject, subject)
        thing = long_forms.get(thing, thing)
    if not subject or not thing or subject == thing:
        return None
    return subject, thing


def _folded(triplet: StatedTriplet) -> tuple[str, str, str]:
    return triplet.subject.casefold(), triplet.predicate.casefold(), triplet.object.casefold()


def _names(text: str, key: str, language: str) -> Iterator[tuple[str, float]]:
    yield key, 1.0
    for part in alternative_keys(text):
        if part != key:
            yield part, PART_OF_NAME
    stems = entity_stems(key, language)
    for stem in stems:
        yield stem[:LONGEST_KEY], 1 / len(stems)


def _long_forms(stated: Iterable[Sequence[StatedTriplet]]) -> dict[str, str]:
    """Key of an abbreviation -> that of what it is short for; the first explanation counts."""
    long_forms: dict[str, str] = {}
    for triplet in chain.from_iterable(stated):
        if triplet.predicate == SHORT_FOR:
            long_forms.setdefault(_key(triplet.subject), _key(triplet.object))
    return {short: long for short, long in long_forms.items() if short and long}


def _key(text: str) -> str:
    return entity_key(text)[:LONGEST_KEY]
