"""What documents say as triplets: read by rules or by a chat model, kept in step with the index."""

from ombud.ingest.graph_updates import Updated, check_graph, update_graph

__all__ = ["Updated", "check_graph", "triplets_of", "update_graph"]
