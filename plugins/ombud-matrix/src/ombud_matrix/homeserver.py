"""The client-server API of a homeserver, as far as a desk needs it.

https://spec.matrix.org/v1.13/client-server-api/ says what is asked and what comes back; how calls
fail is said in `Homeserver.ask`. Whatever a homeserver adds to its replies is left alone.
"""

from typing import Any, TypeVar
from urllib.parse import quote

import httpx
from pydantic import BaseModel, Field, ValidationError

from ombud.deadlines import retry_after
from ombud.errors import HandoffError, Undelivered
from ombud.handoff.desks.wire import waiting_client

REPLY_SECONDS = 30.0
"""How long a homeserver may take for a reply, beside what it is asked to wait for."""
LONGEST_REASON = 200
"""Characters of a homeserver's words that an error repeats."""

Shape = TypeVar("Shape", bound=BaseModel)


class Refused(HandoffError):
    """The homeserver understood, and said no. `code`: such as M_FORBIDDEN; empty where it gave
    none."""

    def __init__(self, message: str, *, code: str, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.code = code


class RoomEntry(BaseModel):
    """An event of a room. What stands in `content` is up to whoever sent it: it may be anything."""

    type: str
    sender: str = ""
    event_id: str = ""
    state_key: str | None = None
    content: dict[str, Any] = {}


class Entries(BaseModel):
    events: list[RoomEntry] = []


class RoomTimeline(Entries):
    limited: bool = False
    """Whether entries between `since` and the first of these were left out."""


class SyncedRoom(BaseModel):
    timeline: RoomTimeline = RoomTimeline()
    ephemeral: Entries = Entries()


class SyncedRooms(BaseModel):
    join: dict[str, SyncedRoom] = {}
    leave: dict[str, SyncedRoom] = {}


class SyncPage(BaseModel):
    next_batch: str
    rooms: SyncedRooms = SyncedRooms()


class HistoryPage(BaseModel):
    chunk: list[RoomEntry] = []
    end: str = ""
    """Where the next page begins; empty after the last one."""


class ContextPage(BaseModel):
    event: RoomEntry
    events_before: list[RoomEntry] = []
    """The nearest first."""


class MemberList(BaseModel):
    chunk: list[RoomEntry] = []


class RoomId(BaseModel):
    room_id: str


class EventId(BaseModel):
    event_id: str


class MatrixAccount(BaseModel):
    user_id: str = Field(pattern="^@[^:]*:.+")


class _Problem(BaseModel):
    """How a homeserver says no, and for how long."""

    errcode: str = ""
    error: str = ""
    retry_after_ms: float | None = None


class Homeserver:
    """Calls of one account, whose token is given."""

    def __init__(self, url: str, token: str, token_env: str) -> None:
        self._token_env = token_env
        self._account: MatrixAccount | None = None
        self._place = f"{url}/_matrix/client/v3"
        self._client = waiting_client(REPLY_SECONDS, {"authorization": f"Bearer {token}"})

    async def account(self) -> str:
        """Our own user, such as @ombud:example.org."""
        if self._account is None:
            self._account = await self.ask("GET", ("account", "whoami"), MatrixAccount)
        return self._account.user_id

    async def ask(
        self,
        method: str,
        path: tuple[str, ...],
        shape: type[Shape],
        *,
        body: dict[str, Any] | None = None,
        query: dict[str, str] | None = None,
        wait: float = 0.0,
    ) -> Shape:
        """The reply. path: its parts, in plain; wait: seconds that the homeserver may hold the
        reply back, as /sync does.

        Raises Undelivered where the homeserver is away, broken or wants to be left alone for a
        moment; Refused where it says no; HandoffError where what answers is no homeserver."""
        place = "/".join((self._place, *(quote(part, safe="") for part in path)))
        timeout = httpx.Timeout(REPLY_SECONDS + wait, connect=REPLY_SECONDS, pool=None)
        try:
            response = await self._client.request(
                method, place, json=body, params=query, timeout=timeout
            )
        except httpx.HTTPError as away:
            raise Undelivered(
                f"The Matrix homeserver cannot be reached ({type(away).__name__}).",
                hint="Check handoff.matrix.url and the network.",
            ) from away
        if response.status_code != httpx.codes.OK:
            raise self._failure(response)
        try:
            return shape.model_validate_json(response.content)
        except ValidationError:
            # Not chained: it quotes what it was given.
            raise _no_homeserver(response) from None

    async def close(self) -> None:
        await self._client.aclose()

    def _failure(self, response: httpx.Response) -> HandoffError:
        status = response.status_code
        problem = _problem(response)
        if status == httpx.codes.UNAUTHORIZED:
            return HandoffError(
                "The Matrix homeserver does not accept our token.",
                hint=f"Check the environment variable {self._token_env}; tokens expire.",
            )
        if status == httpx.codes.TOO_MANY_REQUESTS:
            return Undelivered(
                "The Matrix homeserver asks for fewer requests.",
                hint="Exempt our account from its rate limits.",
                retry_after=_seconds(problem, response),
            )
        if status == httpx.codes.REQUEST_TIMEOUT or status >= httpx.codes.INTERNAL_SERVER_ERROR:
            return Undelivered(
                f"The Matrix homeserver answered with HTTP {status}.",
                hint="It is busy or broken; later it may work again.",
                retry_after=_seconds(problem, response),
            )
        if not problem.errcode:
            return _no_homeserver(response)
        return Refused(
            f"The Matrix homeserver refused: {problem.errcode} {problem.error[:LONGEST_REASON]}",
            code=problem.errcode,
            hint="Check what our account may do there.",
        )


def _problem(response: httpx.Response) -> _Problem:
    try:
        return _Problem.model_validate_json(response.content)
    except ValidationError:
        return _Problem()


def _seconds(problem: _Problem, response: httpx.Response) -> float | None:
    """How long it asks to be left alone: in its reply until Matrix 1.9, in Retry-After since."""
    if problem.retry_after_ms is not None:
        return max(0.0, problem.retry_after_ms / 1000)
    return retry_after(response.headers)


def _no_homeserver(response: httpx.Response) -> HandoffError:
    return HandoffError(
        f"What answers at {response.url.host} (HTTP {response.status_code}) is no homeserver.",
        hint="Check handoff.matrix.url.",
    )
