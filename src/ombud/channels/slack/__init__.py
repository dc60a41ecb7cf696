"""Slack, with its own SDK."""
