"""Ways in besides our own pages: OpenAI-compatible clients, MCP, Slack and Microsoft Teams."""

from ombud.channels.mcp.serving import mounted as mounted_mcp
from ombud.channels.mcp.serving import open_server as open_mcp
from ombud.channels.openai.responses import router as responses
from ombud.channels.openai.routes import router as completions
from ombud.channels.places import AskingPlaces, CpuBudget, OwnPlace
from ombud.channels.slack.manifest import slack_manifest
from ombud.channels.slack.serving import opened as opened_slack
from ombud.channels.slack.serving import router as slack_events
from ombud.channels.teams.package import teams_package
from ombud.channels.teams.serving import opened as opened_teams
from ombud.channels.teams.serving import router as teams_messages
