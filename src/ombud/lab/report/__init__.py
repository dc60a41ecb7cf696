"""Runs compared, judged and shown."""
