"""HTTP client of ticket systems: sign-in, replies and errors."""

import os
from collections.abc import Generator
from typing import Any, TypeVar

import httpx
from pydantic import BaseModel, ValidationError

from ombud.deadlines import retry_after
from ombud.errors import BadSetting, HandoffError, Undelivered
from ombud.handoff.desks.wire import NoReply, check_address, waiting_client
from ombud.settings import TicketSettings

Shape = TypeVar("Shape", bound=BaseModel)


class Missing(HandoffError):
    """The ticket system has no such ticket, or does not show it to the account."""


class NotCarriedOut(Undelivered):
    """The ticket system has certainly not carried out the request; a later attempt may succeed."""


class ClientCredentials(httpx.Auth):
    """Signs requests with the token of an OAuth client, renewed when it is refused."""

    requires_response_body = True

    def __init__(self, owner: "TicketClient", token_url: str, client: str, secret: str) -> None:
        self._owner = owner
        self._token_url = token_url
        self._form = {
            "grant_type": "client_credentials",
            "client_id": client,
            "client_secret": secret,
        }
        self._token = ""

    def auth_flow(self, request: httpx.Request) -> Generator[httpx.Request, httpx.Response, None]:
        used = self._token
        if used:
            request.headers["authorization"] = f"Bearer {used}"
            response = yield request
            if response.status_code != httpx.codes.UNAUTHORIZED:
                return
        if self._token == used:  # nobody else has renewed it meanwhile
            reply = yield httpx.Request("POST", self._token_url, data=self._form)
            self._token = self._owner.parse(reply, TokenReply).access_token
        request.headers["authorization"] = f"Bearer {self._token}"
        yield request


class TokenReply(BaseModel):
    access_token: str


class TicketClient:
    """Requests to one ticket system, signed in by password, token or OAuth client."""

    def __init__(
        self, settings: TicketSettings, name: str, token_path: str, user_suffix: str = ""
    ) -> None:
        """token_path: default address of OAuth tokens. user_suffix: appended to the user's name."""
        self.name = name
        self.url = check_address(settings.url, "tickets.url", "https://example.service-now.com")
        self._secret_env = settings.secret_env
        secret = os.environ.get(settings.secret_env, "").strip()
        if not secret:
            raise BadSetting(
                f"There is no secret for {name}.",
                hint=f"Set the environment variable {settings.secret_env}.",
            )
        self._client = waiting_client(settings.timeout_seconds, {"accept": "application/json"})
        if settings.client:
            token_url = settings.token_url or f"{self.url}{token_path}"
            self._client.auth = ClientCredentials(self, token_url, settings.client, secret)
        elif settings.user:
            self._client.auth = httpx.BasicAuth(f"{settings.user}{user_suffix}", secret)
        else:
            self._client.headers["authorization"] = f"Bearer {secret}"

    async def ask(
        self,
        method: str,
        path: str,
        shape: type[Shape],
        *,
        body: dict[str, Any] | None = None,
        query: dict[str, str] | None = None,
        headers: dict[str, str] | None = None,
    ) -> Shape:
        """Send a request and parse its reply. Raises Undelivered if a later attempt may succeed,
        Missing, or HandoffError."""
        try:
            response = await self._client.request(
                method, f"{self.url}{path}", json=body, params=query, headers=headers
            )
        except httpx.HTTPError as away:
            never_sent = isinstance(away, httpx.ConnectError | httpx.ConnectTimeout)
            failure = NotCarriedOut if never_sent else Undelivered
            raise failure(
                f"{self.name} cannot be reached ({type(away).__name__}).",
                hint="Check tickets.url and the network.",
            ) from away
        return self.parse(response, shape)

    def parse(self, response: httpx.Response, shape: type[Shape]) -> Shape:
        """Parse a reply. Raises what `ask` raises."""
        if not response.is_success:
            raise self.failure(response)
        if shape is NoReply:
            return shape()
        try:
            return shape.model_validate_json(response.content)
        except ValidationError:
            # Not chained: the error quotes the reply.
            raise HandoffError(
                f"What answers at {self.url} is not {self.name}.", hint="Check tickets.url."
            ) from None

    def failure(self, response: httpx.Response) -> HandoffError:
        status = response.status_code
        is_busy = status == httpx.codes.TOO_MANY_REQUESTS
        if is_busy or status == httpx.codes.REQUEST_TIMEOUT or response.is_server_error:
            failure = NotCarriedOut if is_busy else Undelivered
            return failure(
                f"{self.name} answered with HTTP {status}.",
                hint="It is busy or broken; later it may work again.",
                retry_after=retry_after(response.headers),
            )
        if status == httpx.codes.NOT_FOUND:
            return Missing(
                f"{self.name} has no such ticket or place.",
                hint="Check tickets.url, tickets.queue and what the account may see.",
            )
        is_sign_in = "token" in response.request.url.path
        if status == httpx.codes.UNAUTHORIZED or is_sign_in or response.is_redirect:
            return self.not_signed_in()
        return HandoffError(
            f"{self.name} refused with HTTP {status}.",
            hint="Check [tickets], and what the account may do there.",
        )

    def not_signed_in(self) -> HandoffError:
        return HandoffError(
            f"{self.name} does not accept the account or its secret.",
            hint=f"Check tickets.user or tickets.client, and the variable {self._secret_env}.",
        )

    async def close(self) -> None:
        await self._client.aclose()
