"""Conversations as employees and advisors use them."""
