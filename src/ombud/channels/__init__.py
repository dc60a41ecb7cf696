"""Other ways in than our own pages: OpenAI-compatible clients, MCP and Microsoft Teams."""

from ombud.channels.mcp.serving import mounted as mounted_mcp
from ombud.channels.mcp.serving import open_server as open_mcp
from ombud.channels.openai.routes import router as completions
from ombud.channels.places import AskingPlaces, CpuBudget, OwnPlace
from ombud.channels.teams.serving import opened as opened_teams
from ombud.channels.teams.serving import router as teams_messages

__all__ = [
    "AskingPlaces",
    "CpuBudget",
    "OwnPlace",
    "completions",
    "mounted_mcp",
    "open_mcp",
    "opened_teams",
    "teams_messages",
]
