"""Conversations over HTTP and over the one WebSocket of a tab."""
