"""Triplets of the documents: read by rules or a model, their keys and names."""

from ombud.graph.model_extraction import Asker, Away, Read, as_read, near_pairs
from ombud.graph.naming import edges_of, names_of
from ombud.graph.phrases import StatedTriplet
from ombud.graph.rules import triplets_of

__all__ = [
    "Asker",
    "Away",
    "Read",
    "StatedTriplet",
    "as_read",
    "edges_of",
    "names_of",
    "near_pairs",
    "triplets_of",
]
