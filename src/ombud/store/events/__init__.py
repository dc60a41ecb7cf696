"""Conversations as an append-only log of typed events; everything else is a projection of it."""
