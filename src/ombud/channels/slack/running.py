"""The Slack channel as a server runs it."""

import asyncio
from collections.abc import Mapping
from contextlib import suppress

from aiohttp import ClientSession, ClientTimeout
from slack_sdk.signature import SignatureVerifier
from slack_sdk.socket_mode.aiohttp import SocketModeClient
from slack_sdk.socket_mode.async_client import AsyncBaseSocketModeClient
from slack_sdk.socket_mode.request import SocketModeRequest
from slack_sdk.socket_mode.response import SocketModeResponse

from ombud.app import Workspace
from ombud.channels.chats.relaying import Relay
from ombud.channels.places import AskingPlaces
from ombud.channels.slack.connecting import SlackChat
from ombud.channels.slack.events import SlackEvents
from ombud.handoff import Pace


class SlackChannel:
    """Takes what Slack reports, and relays answers and advisors' messages."""

    def __init__(
        self,
        workspace: Workspace,
        places: AskingPlaces,
        token: str,
        secret: str,
        pace: Pace,
    ) -> None:
        """secret: for the signatures or, in socket mode, the app-level token."""
        self._chat = SlackChat(workspace, places, token)
        self.events = SlackEvents(self._chat)
        self._relay = Relay(workspace, self._chat, self._chat.talks.answer, pace)
        self._secret = secret
        is_socket = workspace.settings.slack.mode == "socket"
        self.verifier = None if is_socket else SignatureVerifier(secret)

    def is_signed(self, body: bytes, headers: Mapping[str, str]) -> bool:
        """Tell whether Slack signed a request within the last five minutes."""
        try:
            return self.verifier is not None and self.verifier.is_valid_request(body, dict(headers))
        except (ValueError, TypeError):  # a time that is no number, or text that is not UTF-8
            return False

    async def run(self) -> None:
        """Relay until cancelled; in socket mode also hold the connection."""
        async with ClientSession(timeout=ClientTimeout(total=30)) as session:
            self._chat.client.session = session
            try:
                async with asyncio.TaskGroup() as group:
                    group.create_task(self._relay.run())
                    if self.verifier is None:
                        group.create_task(self._hold_socket())
            finally:
                self._chat.client.session = None

    async def _hold_socket(self) -> None:
        socket = SocketModeClient(self._secret, web_client=self._chat.client)
        socket.proxy = self._chat.client.proxy
        socket.socket_mode_request_listeners.append(self._take)
        try:
            await socket.connect()  # type: ignore[no-untyped-call]
            await asyncio.Event().wait()
        finally:
            with suppress(Exception):
                await socket.close()  # type: ignore[no-untyped-call]

    async def _take(self, socket: AsyncBaseSocketModeClient, request: SocketModeRequest) -> None:
        """Take an envelope and acknowledge it; one that fails comes again."""
        is_repeated = bool(request.retry_attempt)
        if request.type == "events_api":
            await self.events.take_event(request.payload, is_repeated=is_repeated)
        elif request.type == "interactive":
            await self.events.take_interaction(request.payload, is_repeated=is_repeated)
        await socket.send_socket_mode_response(SocketModeResponse(request.envelope_id))
