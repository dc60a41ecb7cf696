"""Pages of documents: the index, one with its passage marked, what changed between two versions."""
