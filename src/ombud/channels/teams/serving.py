"""`/api/messages`, if the Teams channel is enabled."""

from typing import TYPE_CHECKING

from fastapi import APIRouter, Request, Response

from ombud.app import Workspace
from ombud.channels.places import AskingPlaces
from ombud.errors import NotFound, SetupError

if TYPE_CHECKING:
    from ombud.channels.teams.connecting import TeamsChannel

router = APIRouter(include_in_schema=False)


@router.post("/api/messages")
async def receive(request: Request) -> Response:
    channel: TeamsChannel | None = request.app.state.teams
    if channel is None:
        raise NotFound("Microsoft Teams is not set up here.", hint="See [teams] in the settings.")
    return await channel.process(request)


def opened(workspace: Workspace, places: AskingPlaces) -> "TeamsChannel | None":
    """Open the channel; None if it is disabled. places: limits concurrent questions. Raises
    SetupError if the extra is missing or settings contradict each other."""
    if not workspace.settings.teams.enabled:
        return None
    try:
        from ombud.channels.teams.connecting import open_channel
    except ModuleNotFoundError as missing:
        raise SetupError(
            "Teams needs packages that are not installed.", hint="pip install 'ombud[teams]'"
        ) from missing
    return open_channel(workspace, places)
