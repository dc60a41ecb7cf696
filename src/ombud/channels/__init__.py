"""Other ways in than our own pages: OpenAI-compatible clients and MCP; Teams does not stand yet."""

from ombud.channels.mcp.serving import mounted as mounted_mcp
from ombud.channels.mcp.serving import open_server as open_mcp
from ombud.channels.openai.routes import router as completions

__all__ = ["completions", "mounted_mcp", "open_mcp"]
