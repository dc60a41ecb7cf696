"""The channels room."""
