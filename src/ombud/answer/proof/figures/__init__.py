"""Whether the figures of a claim stand in its passages, where it says that they do."""
