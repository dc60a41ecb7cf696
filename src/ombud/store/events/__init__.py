"""Conversations as an append-only log of typed events, from which everything else is projected."""
