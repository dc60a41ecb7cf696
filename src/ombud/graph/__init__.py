"""Triplets of the documents: read by rules or a model, their keys and names, the paths through
them, and the picture of what stands around a term."""

from ombud.graph.drawing import draw_graph
from ombud.graph.extraction import DocumentTriplets, GraphExtractor
from ombud.graph.model_extraction import ModelAway, ModelExtractor, near_pairs
from ombud.graph.neighbourhood import Neighbourhood, find_neighbourhood
from ombud.graph.paths import GraphWalk, walk_graph
from ombud.graph.visible_graph import ReaderScope, VisibleGraph

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
