"""Embedders, and what of their readings is kept."""
