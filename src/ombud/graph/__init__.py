"""The knowledge graph: triplets that a chat model extracts from documents, entity names, paths
through the graph, and the neighbourhood of a term.

Extraction is imported on first use, as no question needs it."""

from typing import TYPE_CHECKING

from ombud.graph.neighbourhood import Neighbourhood, find_neighbourhood
from ombud.graph.paths import GraphWalk, walk_graph
from ombud.graph.visible_graph import ReaderScope, VisibleGraph
from ombud.registry import imported_later

if TYPE_CHECKING:
    from ombud.graph.extraction import DocumentTriplets, GraphExtractor
    from ombud.graph.model_extraction import ModelAway, ModelExtractor, near_pairs

__getattr__ = imported_later(
    __name__,
    {
        "extraction": ["DocumentTriplets", "GraphExtractor"],
        "model_extraction": ["ModelAway", "ModelExtractor", "near_pairs"],
    },
)
