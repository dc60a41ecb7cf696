"""Triplets of the documents: read by rules or a model, their keys and names, the paths through
them, and the picture of what stands around a term.

What reads and draws them is imported when it is first used: it takes .05 s, and a question needs
neither."""

from typing import TYPE_CHECKING

from ombud.graph.neighbourhood import Neighbourhood, find_neighbourhood
from ombud.graph.paths import GraphWalk, walk_graph
from ombud.graph.visible_graph import ReaderScope, VisibleGraph
from ombud.registry import imported_later

if TYPE_CHECKING:
    from ombud.graph.drawing import draw_graph
    from ombud.graph.extraction import DocumentTriplets, GraphExtractor
    from ombud.graph.model_extraction import ModelAway, ModelExtractor, near_pairs

__getattr__ = imported_later(
    __name__,
    {
        "drawing": ["draw_graph"],
        "extraction": ["DocumentTriplets", "GraphExtractor"],
        "model_extraction": ["ModelAway", "ModelExtractor", "near_pairs"],
    },
)
__all__ = [
    "DocumentTriplets",
    "GraphExtractor",
    "GraphWalk",
    "ModelAway",
    "ModelExtractor",
    "Neighbourhood",
    "ReaderScope",
    "VisibleGraph",
    "draw_graph",
    "find_neighbourhood",
    "near_pairs",
    "walk_graph",
]
