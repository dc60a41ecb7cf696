"""`/api/messages`, where the channel is switched on."""

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
    """None where it is not switched on. places: for questions that are answered at the same time.
    Raises SetupError where the extra is missing or the settings do not go together."""
    if not workspace.settings.teams.enabled:
        return None
    try:
        from ombud.channels.teams.connecting import open_channel
        from ombud.channels.teams.talking import TeamsAgent
    except ModuleNotFoundError as missing:
        raise SetupError(
            "Teams needs packages that are not installed.", hint="pip install 'ombud[teams]'"
        ) from missing
    return open_channel(workspace, TeamsAgent(workspace, places))
