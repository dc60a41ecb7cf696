"""Other ways in than our own pages that need settings: `[teams]`."""

from pydantic import Field, model_validator

from ombud.settings.sections import Section


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
