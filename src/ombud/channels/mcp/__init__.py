"""The Model Context Protocol: other assistants ask, search and fetch documents."""
