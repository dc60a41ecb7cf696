"""Other ways in than our own pages: OpenAI-compatible clients; MCP and Teams do not stand yet."""

from ombud.channels.openai.routes import router as completions

__all__ = ["completions"]
