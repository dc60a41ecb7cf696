"""`/api/slack`, and the connection of socket mode, if the Slack channel is enabled."""

import json
import os
from typing import TYPE_CHECKING
from urllib.parse import parse_qs

from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse

from ombud.app import Workspace
from ombud.channels.places import AskingPlaces
from ombud.errors import BadRequest, NotFound, NotSignedIn, SetupError
from ombud.handoff import Pace
from ombud.proxies import is_loopback

if TYPE_CHECKING:
    from ombud.channels.slack.running import SlackChannel

router = APIRouter(include_in_schema=False)


@router.post("/api/slack")
async def receive(request: Request) -> Response:
    """Take what Slack posts, once its signature is verified. An error makes Slack post it again."""
    channel: SlackChannel | None = request.app.state.slack
    if channel is None or channel.verifier is None:
        raise NotFound("Slack does not post here.", hint='See [slack]; slack.mode = "events".')
    body = await request.body()
    if not channel.is_signed(body, dict(request.headers)):
        raise NotSignedIn("This is not signed by Slack, or too old.")
    is_repeated = "x-slack-retry-num" in request.headers
    try:
        if request.headers.get("content-type", "").startswith("application/json"):
            payload = json.loads(body)
        else:
            payload = json.loads(parse_qs(body.decode())["payload"][0])
        kind = payload["type"]
    except (ValueError, KeyError, TypeError, RecursionError) as wrong:
        raise BadRequest("This is no event of Slack.") from wrong
    if kind == "url_verification":
        return JSONResponse({"challenge": str(payload.get("challenge", ""))})
    if kind == "event_callback":
        await channel.events.take_event(payload, is_repeated=is_repeated)
    else:
        await channel.events.take_interaction(payload, is_repeated=is_repeated)
    return Response()


def opened(
    workspace: Workspace,
    places: AskingPlaces,
    pace: Pace = Pace(),  # noqa: B008 - frozen
) -> "SlackChannel | None":
    """Open the channel; None if it is disabled. places: limits concurrent questions. Raises
    SetupError if the extra or a secret is missing or settings contradict each other."""
    settings = workspace.settings.slack
    if settings.mode == "off":
        return None
    if workspace.settings.identity.kind == "none" and not is_loopback(settings.api_url):
        raise SetupError(
            "Slack tells who writes by the mail address of an account, and there are no accounts.",
            hint='Set identity.kind to "local" or "oidc".',
        )
    token, secret = (
        os.environ.get(name, "").strip() for name in (settings.token_env, settings.secret_env)
    )
    for name, value in ((settings.token_env, token), (settings.secret_env, secret)):
        if not value:
            raise SetupError(
                f"Slack needs the environment variable {name}.",
                hint="The pages of your app at api.slack.com/apps show its value.",
            )
    try:
        from ombud.channels.slack.running import SlackChannel
    except ModuleNotFoundError as missing:
        raise SetupError(
            "Slack needs packages that are not installed.", hint="pip install 'ombud[slack]'"
        ) from missing
    return SlackChannel(workspace, places, token, secret, pace)
