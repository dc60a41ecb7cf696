"""Rerankers: in a folder, or behind an API."""
