"""The Model Context Protocol: assistants of other makers ask, search and read."""
