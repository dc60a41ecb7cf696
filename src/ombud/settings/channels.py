"""Other ways in than our own pages that need settings: `[slack]` and `[teams]`."""

from typing import Literal

from pydantic import Field, model_validator

from ombud.settings.sections import Section


class SlackSettings(Section):
    mode: Literal["off", "events", "socket"] = Field(
        "off",
        description="How Slack brings what people write: events = to /api/slack; socket = over a "
        "connection that we open, where no port is open to the internet. Needs the extra `slack`.",
    )
    token_env: str = Field(
        "SLACK_BOT_TOKEN", description="Environment variable with the bot's token (xoxb-…)."
    )
    secret_env: str = Field(
        "SLACK_SECRET",
        description="Environment variable with the signing secret; in socket mode with the "
        "app-level token (xapp-…).",
    )
    api_url: str = Field(
        "https://slack.com/api/",
        description="Address of Slack's Web API; GovSlack has another one.",
    )

    @model_validator(mode="after")
    def _is_encrypted(self) -> "SlackSettings":
        if not self.api_url.startswith(("https://", "http://127.0.0.1:")):
            raise ValueError("api_url must be an https:// address")
        return self


class TeamsSettings(Section):
    enabled: bool = Field(
        False,
        description="Whether /api/messages takes what people write in Microsoft Teams; needs the "
        "extra `teams`.",
    )
    app_id: str = Field(
        "",
        description="Application (client) id of the bot; empty = without credentials, on this "
        "machine alone, to try it out.",
    )
    tenant_id: str = Field("", description="Directory (tenant) id of the organisation.")
    secret_env: str = Field(
        "TEAMS_CLIENT_SECRET",
        description="Environment variable with the bot's secret; unset = the machine's managed "
        "identity.",
    )

    @model_validator(mode="after")
    def _whole(self) -> "TeamsSettings":
        if self.app_id and not self.tenant_id:
            raise ValueError("app_id needs tenant_id")
        return self
