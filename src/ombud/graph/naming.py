"""Turn the triplets of a document into edges between entities, and list the names that lead to
these entities."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain

from ombud.graph.model_extraction import StatedTriplet
from ombud.store import Edge, Name
from ombud.text import alternative_keys, entity_key, entity_stems
from ombud.types import Triplet

SHORT_FOR = "is short for"
"""Predicate between an abbreviation and what it stands for, as the prompt asks for it."""
MAX_KEY_CHARACTERS = 200
"""Width of the database column."""
ALTERNATIVE_WEIGHT = 0.9
"""Weight of one alternative in a name, such as "employer" in "employer or employment agency"."""
ABBREVIATION_WEIGHT = 0.95


def edges_of(stated: Mapping[str, Sequence[StatedTriplet]], document_id: str) -> list[Edge]:
    """Turn triplets into edges, each once where it first occurs; an abbreviation that the document
    explains is the entity it stands for.

    stated: chunk id -> triplets of its passage, in reading order."""
    expansions = find_expansions(stated.values())
    edges: dict[tuple[str, str, str], Edge] = {}
    for chunk_id, triplets in stated.items():
        for triplet in triplets:
            ends = entity_ends(triplet, expansions)
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
            subject, predicate, thing = map(str.casefold, triplet)
            edges.setdefault((subject, predicate, thing), edge)
    return list(edges.values())


def names_of(edges: Sequence[Edge], language: str) -> Iterator[Name]:
    """Yield the names of each entity: its key, alternatives within it, abbreviations and stems. The
    edges must be of one document."""
    if not edges:
        return
    document_id = edges[0].document_id
    weights: dict[tuple[str, str], float] = {}
    for edge in edges:
        triplet = edge.triplet
        ends = ((triplet.subject, edge.subject_key), (triplet.object, edge.object_key))
        for text, key in ends:
            for name, weight in weighted_names(text, key, language):
                weights[name, key] = max(weight, weights.get((name, key), 0.0))
    for (name, key), weight in weights.items():
        yield Name(document_id, name, key, weight)
    for edge in edges:
        if edge.triplet.predicate == SHORT_FOR:
            yield Name(document_id, edge.subject_key, edge.object_key, ABBREVIATION_WEIGHT)


def entity_ends(triplet: StatedTriplet, expansions: Mapping[str, str]) -> tuple[str, str] | None:
    """Return the keys of subject and object; None if they are not two different entities."""
    subject = stored_key(triplet.subject)
    thing = stored_key(triplet.object)
    if triplet.predicate != SHORT_FOR:
        subject = expansions.get(subject, subject)
        thing = expansions.get(thing, thing)
    if not subject or not thing or subject == thing:
        return None
    return subject, thing


def weighted_names(text: str, key: str, language: str) -> Iterator[tuple[str, float]]:
    """Yield the names of one entity with their weights."""
    yield key, 1.0
    for part in alternative_keys(text):
        if part != key:
            yield part, ALTERNATIVE_WEIGHT
    stems = entity_stems(key, language)
    for stem in stems:
        yield stem[:MAX_KEY_CHARACTERS], 1 / len(stems)


def find_expansions(stated: Iterable[Sequence[StatedTriplet]]) -> dict[str, str]:
    """Map the key of each abbreviation to that of its long form; the first explanation counts."""
    expansions: dict[str, str] = {}
    for triplet in chain.from_iterable(stated):
        if triplet.predicate == SHORT_FOR:
            expansions.setdefault(stored_key(triplet.subject), stored_key(triplet.object))
    return {short: long for short, long in expansions.items() if short and long}


def stored_key(text: str) -> str:
    """Return the key of an entity, cut to what the database takes."""
    return entity_key(text)[:MAX_KEY_CHARACTERS]
