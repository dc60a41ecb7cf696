"""What a claim says must stand in what it cites; deterministic."""
