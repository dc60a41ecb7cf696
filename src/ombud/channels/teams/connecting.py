"""The connection to Teams: it checks incoming requests, and sends messages outside a turn.

Requests carry a token that Microsoft signed for this bot; the reply address must be Microsoft's.
Without credentials, for trials on one's own machine, both must be this machine.
"""

import logging
import os
from typing import Any
from urllib.parse import urlsplit

from aiohttp import ClientError
from fastapi import Request, Response
from fastapi.responses import JSONResponse
from microsoft_agents.activity import Activity
from microsoft_agents.authentication.msal import MsalAuth
from microsoft_agents.hosting.core import (
    AgentAuthConfiguration,
    AnonymousTokenProvider,
    ClaimsIdentity,
    ConnectionManager,
    OutboundHostValidator,
    RestChannelServiceClientFactory,
    TurnContext,
)
from microsoft_agents.hosting.core.authorization import AuthTypes
from microsoft_agents.hosting.core.connector.client import UserTokenClient
from microsoft_agents.hosting.fastapi import CloudAdapter, jwt_authorization_decorator
from pydantic import ValidationError

from ombud.app import Workspace
from ombud.channels.chats.relaying import Relay
from ombud.channels.places import AskingPlaces
from ombud.channels.teams.chat import TeamsChat
from ombud.channels.teams.talking import TeamsAgent
from ombud.errors import SetupError
from ombud.messages import message
from ombud.settings import TeamsSettings

logger = logging.getLogger(__name__)
HERE = {"localhost", "127.0.0.1", "::1"}


class TeamsChannel:
    """The bot's endpoint, and the relay of advisors' messages."""

    def __init__(self, workspace: Workspace, places: AskingPlaces) -> None:
        """Connect the agent. places: limits concurrent questions."""
        self._settings = workspace.settings.teams
        self.configuration = auth_configuration(self._settings)
        connections = ConnectionManager(
            MsalAuth if self._settings.app_id else anonymous_provider,
            connections_configurations={"SERVICE_CONNECTION": self.configuration},
        )
        self._adapter = CloudAdapter(
            channel_service_client_factory=ClientFactory(connections),
            host_validator=OutboundHostValidator(enabled=bool(self._settings.app_id)),
        )
        self._adapter.on_turn_error = apologise
        chat = TeamsChat(workspace, places, self._adapter)
        self._agent = TeamsAgent(chat)
        self._relay = Relay(workspace, chat, chat.talks.answer)

    async def run(self) -> None:
        """Deliver answers and advisors' messages until cancelled."""
        await self._relay.run()

    async def process(self, request: Request) -> Response:
        """Handle an activity that Teams posts, once its token is verified."""
        try:
            activity = Activity.model_validate(await request.json())
        except (ValueError, ValidationError, RecursionError):
            return refuse(400, "This is no activity.")
        if not self._may_be_answered(activity):
            return refuse(403, "This is not an address of Teams.")
        if activity.from_property is None or activity.recipient is None:
            return refuse(400, "It does not say who writes to whom.")
        answer = await process_authorised(request, self)
        assert isinstance(answer, Response)  # noqa: S101 - the SDK's decorator is untyped
        return answer

    async def hand_on(self, request: Request) -> Response:
        """Pass a verified request to the agent."""
        answered = await self._adapter.process(request, self._agent)
        return answered or Response(status_code=202)

    def _may_be_answered(self, activity: Activity) -> bool:
        if self._settings.app_id:
            return True  # the adapter checks for Microsoft's hosts
        return urlsplit(activity.service_url or "").hostname in HERE


class ClientFactory(RestChannelServiceClientFactory):
    """Skips the token for signing users in, which we never use: it would cost one request per
    message."""

    async def create_user_token_client(
        self, context: TurnContext, claims_identity: ClaimsIdentity, use_anonymous: bool = False
    ) -> UserTokenClient:
        del context, use_anonymous
        return UserTokenClient(
            app_id=claims_identity.get_app_id() or "none",
            endpoint=self._token_service_endpoint,
            token="",
        )


def open_channel(workspace: Workspace, places: AskingPlaces) -> TeamsChannel:
    """Open the channel. Raises SetupError for contradictory settings."""
    teams, identity = workspace.settings.teams, workspace.settings.identity
    if teams.app_id and identity.kind != "oidc":
        raise SetupError(
            "Teams tells who writes by the organisation's directory, which is not set up.",
            hint='Set identity.kind to "oidc", with identity.subject = "oid".',
        )
    if not teams.app_id and identity.kind != "none":
        raise SetupError(
            "Without teams.app_id anybody could write as anybody.",
            hint="Set teams.app_id and teams.tenant_id.",
        )
    return TeamsChannel(workspace, places)


def auth_configuration(settings: TeamsSettings) -> AgentAuthConfiguration:
    if not settings.app_id:
        return AgentAuthConfiguration(connection_name="SERVICE_CONNECTION", anonymous_allowed=True)
    secret = os.environ.get(settings.secret_env, "")
    return AgentAuthConfiguration(
        auth_type=AuthTypes.client_secret if secret else AuthTypes.user_managed_identity,
        client_id=settings.app_id,
        tenant_id=settings.tenant_id,
        client_secret=secret or None,
        connection_name="SERVICE_CONNECTION",
        validate_issuer=True,
    )


def anonymous_provider(_: AgentAuthConfiguration) -> AnonymousTokenProvider:
    return AnonymousTokenProvider()


@jwt_authorization_decorator  # type: ignore[untyped-decorator]
async def process_authorised(request: Request, channel: TeamsChannel) -> Response:
    return await channel.hand_on(request)


async def apologise(context: TurnContext, error: Exception) -> None:
    """Replace the SDK's error handler, which prints the error and shows it to the employee."""
    logger.error("A message from Teams could not be answered: %s", type(error).__name__)
    if isinstance(error, ClientError):  # they cannot be reached
        return
    await context.send_activity(message("channels.failed"))


def refuse(status: int, problem: str) -> Response:
    body: dict[str, Any] = {"error": problem}
    return JSONResponse(body, status_code=status)
