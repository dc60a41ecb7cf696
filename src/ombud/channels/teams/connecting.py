"""The way to and from Teams: who may post to us, and how we write to somebody who is not asking.

Requests carry a token that Microsoft has signed for this bot and nobody else; the address they
want to be answered at must be Microsoft's. Without credentials (to try it out on one's own machine)
both must be this machine."""

import logging
import os
from typing import Any
from urllib.parse import urlsplit

from aiohttp import ClientError, ClientResponseError
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

from ombud.app import Workspace, relaying
from ombud.channels.teams.talking import CHANNEL, TeamsAgent, address_of
from ombud.errors import OmbudError, SetupError, Undelivered
from ombud.settings import TeamsSettings

logger = logging.getLogger(__name__)
HERE = {"localhost", "127.0.0.1", "::1"}
GONE = {400, 403, 404, 410}
"""Statuses with which Teams says that somebody is no longer reached: the bot was removed, say."""
SORRY = "Something went wrong with that. Please try once more; nothing of it was lost."


class TeamsChannel:
    def __init__(self, workspace: Workspace, agent: TeamsAgent) -> None:
        """Raises SetupError."""
        self._settings = workspace.settings.teams
        self.configuration = _configuration(self._settings)
        self._agent = agent
        connections = ConnectionManager(
            MsalAuth if self._settings.app_id else _anonymous,
            connections_configurations={"SERVICE_CONNECTION": self.configuration},
        )
        self._adapter = CloudAdapter(
            channel_service_client_factory=_Clients(connections),
            host_validator=OutboundHostValidator(enabled=bool(self._settings.app_id)),
        )
        self._adapter.on_turn_error = _apologise
        self._relay = relaying.Relay(workspace, CHANNEL, self.send)

    async def run(self) -> None:
        """Bring people what advisors write, until cancelled."""
        await self._relay.run()

    async def process(self, request: Request) -> Response:
        """What Teams posts, once its token has been checked."""
        try:
            activity = Activity.model_validate(await request.json())
        except (ValueError, ValidationError, RecursionError):
            return _refused(400, "This is no activity.")
        if not self._may_be_answered(activity):
            return _refused(403, "This is not an address of Teams.")
        if activity.from_property is None or activity.recipient is None:
            return _refused(400, "It does not say who writes to whom.")
        return await self._checked(request)

    async def _checked(self, request: Request) -> Response:
        answer = await _authorised(request, self)
        assert isinstance(answer, Response)  # noqa: S101 - what the SDK's decorator leaves open
        return answer

    async def hand_on(self, request: Request) -> Response:
        """Without a check."""
        answered = await self._adapter.process(request, self._agent)
        return answered or Response(status_code=202)

    async def send(self, address: str, text: str) -> None:
        """Raises Undelivered where it may go later, relaying.Gone where it never will."""
        continued = address_of(address).get_continuation_activity()
        continued.id = None  # it answers nothing that was written
        activity = Activity(type="message", text=text, text_format="plain")
        failures: list[Exception] = []

        async def say(context: TurnContext) -> None:
            try:
                await context.send_activity(activity)
            except Exception as failed:  # noqa: BLE001 - not for the employee to read
                failures.append(failed)

        try:
            claims = self._claims()
            await self._adapter.continue_conversation_with_claims(claims, continued, say)
        except (ClientError, OSError, ValueError) as failed:  # no token
            failures.append(failed)
        if failures:
            raise _failure(failures[0]) from failures[0]

    def _claims(self) -> ClaimsIdentity:
        """Ours."""
        if not self._settings.app_id:
            return ClaimsIdentity()
        return self._adapter.create_claims_identity(self._settings.app_id)

    def _may_be_answered(self, activity: Activity) -> bool:
        if self._settings.app_id:
            return True  # the adapter's own list of Microsoft's hosts
        return urlsplit(activity.service_url or "").hostname in HERE


class _Clients(RestChannelServiceClientFactory):
    """Without a token for signing users in, which we never do: it would cost a request each."""

    async def create_user_token_client(
        self, context: TurnContext, claims_identity: ClaimsIdentity, use_anonymous: bool = False
    ) -> UserTokenClient:
        del context, use_anonymous
        return UserTokenClient(
            app_id=claims_identity.get_app_id() or "none",
            endpoint=self._token_service_endpoint,
            token="",
        )


def open_channel(workspace: Workspace, agent: TeamsAgent) -> TeamsChannel:
    """Raises SetupError for settings that do not go together."""
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
    return TeamsChannel(workspace, agent)


def _configuration(settings: TeamsSettings) -> AgentAuthConfiguration:
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


def _anonymous(_: AgentAuthConfiguration) -> AnonymousTokenProvider:
    return AnonymousTokenProvider()


@jwt_authorization_decorator  # type: ignore[untyped-decorator]
async def _authorised(request: Request, channel: TeamsChannel) -> Response:
    return await channel.hand_on(request)


async def _apologise(context: TurnContext, error: Exception) -> None:
    """In place of the SDK's own, which prints it and tells the employee what it says."""
    logger.error("A message from Teams could not be answered: %s", type(error).__name__)
    if isinstance(error, ClientError):  # they cannot be reached
        return
    await context.send_activity(SORRY)


def _failure(failed: Exception) -> OmbudError:
    if isinstance(failed, ClientResponseError) and failed.status in GONE:
        return relaying.Gone(f"Teams says {failed.status}.")
    return Undelivered(f"Teams cannot be reached: {type(failed).__name__}.")


def _refused(status: int, said: str) -> Response:
    body: dict[str, Any] = {"error": said}
    return JSONResponse(body, status_code=status)
