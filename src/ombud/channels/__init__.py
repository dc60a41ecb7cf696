"""Other ways in than our own pages: OpenAI-compatible, MCP, Teams. Nothing stands here yet."""
