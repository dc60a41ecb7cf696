"""The application put together, and the server that runs it."""

import asyncio
import importlib.metadata
import math
import socket
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any
from urllib.parse import urlsplit

import h11
import uvicorn
from fastapi import FastAPI
from starlette.middleware.gzip import GZipMiddleware
from uvicorn.config import LOGGING_CONFIG
from uvicorn.protocols.http.h11_impl import H11Protocol

from ombud.app import Workspace, callers, library, signing_in
from ombud.channels import (
    AskingPlaces,
    CpuBudget,
    completions,
    mounted_mcp,
    opened_slack,
    opened_teams,
    responses,
    slack_events,
    teams_messages,
)
from ombud.errors import SetupError
from ombud.web import api, login, pages
from ombud.web.access import AccessControl, owner_of
from ombud.web.admin import content, desk, directory, grouping, tuning
from ombud.web.admin import running as running_pages
from ombud.web.documents import pages as document_pages
from ombud.web.guard import (
    LARGEST_MESSAGE,
    EndsInFlight,
    Failures,
    InFlight,
    RequestGuard,
    SecurityHeaders,
    SubPath,
    is_loopback,
)
from ombud.web.lab import annotating, datasets, drilldown, production, runs
from ombud.web.layout import PageLanguage
from ombud.web.live import advisor, employee
from ombud.web.live import socket as socket_routes
from ombud.web.live.lifespan import running
from ombud.web.live.secrets import key_of
from ombud.web.metrics import Meters, RequestMeter
from ombud.web.metrics import router as metrics_router
from ombud.web.problems import MEDIA, answer_errors
from ombud.web.traces import RequestTracer, answer_spans, open_tracing

LAB_PAGES = (annotating, datasets, drilldown, production, runs)
SUMMARY = "Answers employees' questions from the organisation's own policies, each sentence proven."
KEEP_ALIVE_SECONDS = 75
"""Seconds that a connection stays open between two requests: longer than clients keep theirs, so
that none is closed under a question (with uvicorn's 5, two of 400 in a burst of 200 people)."""
GRACE = 20.0
"""Seconds that running answers get when the server stops; orchestrators kill after 30."""
WAIT = 20.0
"""Seconds from a request's first byte, or from the opening of the connection, to its last one."""
SLOWEST = 10_000
"""Bytes a second that a large body must keep to on top of that."""


def create_app(workspace: Workspace) -> FastAPI:
    """Create the HTTP application of a workspace. It loads nothing from another host, not even its
    manual."""
    root = urlsplit(workspace.settings.server.public_url).path
    app = FastAPI(
        title="ombud",
        summary=SUMMARY,
        version=importlib.metadata.version("ombud"),
        docs_url=None,
        redoc_url=None,
        lifespan=running,
        servers=[{"url": root}] if root else None,
    )
    app.state.workspace = workspace
    limits = workspace.settings.server
    budget = CpuBudget(limits.person_cpu_seconds)
    app.state.places = AskingPlaces(limits.concurrency, budget)
    app.state.meters = Meters(workspace, app.state.places)
    app.state.callers = callers.Callers(workspace)
    app.state.throttle = signing_in.Throttle()
    if workspace.settings.server.metrics:
        app.include_router(metrics_router)
    app.include_router(api.router)
    app.include_router(completions)
    app.include_router(responses)
    app.state.mcp = mounted_mcp(workspace)
    if app.state.mcp:
        app.router.routes.extend(app.state.mcp.routes)
    app.include_router(slack_events)
    app.state.slack = opened_slack(workspace, app.state.places)
    app.include_router(teams_messages)
    app.state.teams = opened_teams(workspace, app.state.places)
    if app.state.teams:
        app.state.agent_configuration = app.state.teams.configuration  # the SDK looks for it here
    app.include_router(pages.router)
    for part in (*LAB_PAGES, login, content, desk, running_pages, grouping, directory, tuning):
        app.include_router(part.router)
    app.include_router(document_pages.router)
    app.state.scim = directory.opened_scim(workspace)
    for part in (employee, advisor, socket_routes):
        app.include_router(part.router)
    answer_errors(app)
    server = workspace.settings.server
    app.add_middleware(AccessControl, accounts=app.state.callers)
    app.add_middleware(Failures)
    app.add_middleware(
        RequestGuard,
        largest_upload=workspace.settings.documents.size_mb * 1_000_000,
        public_host=urlsplit(server.public_url).netloc,
        owner=key_of if app.state.callers.is_open else partial(owner_of, app.state.callers),
        requests_per_minute=server.requests_per_minute,
        # Half of what an address may: whoever floods leaves as much to the others behind it.
        person_per_minute=math.ceil(server.requests_per_minute / 2),
        burst=max(1, 2 * server.requests_per_minute),
        messages_per_minute=server.requests_per_minute,
    )
    app.add_middleware(PageLanguage, otherwise=workspace.settings.general.language)
    app.add_middleware(SecurityHeaders, embed_origins=server.embed_origins)
    if root:
        app.add_middleware(SubPath, root=root)
    app.add_middleware(GZipMiddleware, minimum_size=600)
    workspace.listeners.append(app.state.meters.hear)
    app.state.in_flight = InFlight()
    app.add_middleware(EndsInFlight, in_flight=app.state.in_flight)
    app.add_middleware(RequestMeter, meters=app.state.meters)
    app.state.tracing = open_tracing(app.version)
    if app.state.tracing:
        tracer = app.state.tracing.get_tracer("ombud")
        app.add_middleware(RequestTracer, tracer=tracer)
        workspace.listeners.append(answer_spans(tracer))
    describe_problems(app)
    return app


def prepare(
    workspace: Workspace, host: str, port: int, on_ready: Callable[[str], None] | None = None
) -> tuple[uvicorn.Server, socket.socket]:
    """Return a server with its socket already bound; `run(sockets=[...])` runs it. Raises
    SetupError if it cannot listen."""
    check_reach(workspace, host)
    app = create_app(workspace)
    listening = _bind("127.0.0.1" if host == "localhost" else host, port)
    name = f"[{host}]" if ":" in host else host
    config = uvicorn.Config(
        app,
        log_config=None if workspace.settings.server.log == "json" else LOGGING_CONFIG,
        log_level="warning",
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=math.ceil(GRACE) + 5,  # by then they have ended
        timeout_keep_alive=KEEP_ALIVE_SECONDS,
        # Where nobody stands in front, a client that names another address would have a rate of
        # its own.
        proxy_headers=bool(workspace.settings.server.trusted_proxies),
        forwarded_allow_ips=list(workspace.settings.server.trusted_proxies),
        http=PatientProtocol,
        ws="websockets-sansio",
        ws_max_size=LARGEST_MESSAGE,
    )
    url = f"http://{name}:{listening.getsockname()[1]}"
    ready = lambda: on_ready(url) if on_ready else None  # noqa: E731
    return _Server(config, ready, app.state.in_flight), listening


def serve(
    workspace: Workspace, host: str, port: int, on_ready: Callable[[str], None] | None = None
) -> None:
    """Serve until Ctrl-C, which is raised again as KeyboardInterrupt after running answers had time
    to end.

    Prints nothing; `on_ready` gets the address once it answers. Port 0 picks a free one.
    """
    server, listening = prepare(workspace, host, port, on_ready)
    with listening:
        # Models and index are opened now and not by the first question; what is wrong with them is
        # said at once.
        library.why_not_ready(workspace)
        _ = workspace.answering
        workspace.warm()
        server.run(sockets=[listening])


def check_reach(workspace: Workspace, host: str) -> None:
    """Raise SetupError if others could reach it without signing in."""
    if is_loopback(f"[{host}]" if ":" in host else host):
        return
    if workspace.settings.identity.kind == "none":
        raise SetupError(
            f"`{host}` is not an address of this machine alone.",
            hint="Nobody signs in, so everyone who reaches it could read everything. Use "
            "127.0.0.1, or set identity.kind to local or oidc.",
        )
    if not workspace.settings.server.public_url:
        raise SetupError(
            f"`{host}` is not an address of this machine alone.",
            hint="Set server.public_url to the address by which people reach it.",
        )


class PatientProtocol(H11Protocol):
    """HTTP/1.1 as uvicorn speaks it; a connection whose request stays half-sent is closed."""

    _since: float
    _received = 0
    _timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._begin()
        self._wait(WAIT)

    def connection_lost(self, exc: Exception | None) -> None:
        if self._timer is not None:
            self._timer.cancel()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if not self._is_half_sent():
            self._begin()
        self._received += len(data)
        super().data_received(data)
        if self._timer is None and self._is_half_sent():
            self._wait(WAIT)

    def on_response_complete(self) -> None:
        """Handle the part of another request that may have arrived during this one."""
        super().on_response_complete()
        if self._timer is None and self._is_half_sent():
            self._begin()
            self._wait(WAIT)

    def _begin(self) -> None:
        self._since = self.loop.time()
        self._received = 0

    def _wait(self, seconds: float) -> None:
        self._timer = self.loop.call_later(seconds, self._look)

    def _look(self) -> None:
        self._timer = None
        is_ours = self.transport.get_protocol() is self  # a WebSocket has another one
        if not is_ours or self.transport.is_closing() or not self._is_half_sent():
            return
        left = self._since + WAIT + self._received / SLOWEST - self.loop.time()
        if left > 0:
            self._wait(left)
        else:
            self.transport.close()

    def _is_half_sent(self) -> bool:
        """Tell whether the client still has to send: nothing came yet, or part of a head or
        body."""
        theirs = self.conn.their_state
        if theirs is h11.SEND_BODY:
            return True
        unread, _ = self.conn.trailing_data
        return theirs is h11.IDLE and (self.cycle is None or bool(unread))


class _Server(uvicorn.Server):
    def __init__(
        self, config: uvicorn.Config, ready: Callable[[], None], in_flight: InFlight
    ) -> None:
        super().__init__(config)
        self._ready = ready
        self._in_flight = in_flight

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            self._ready()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Let running answers end by themselves first, then with 503."""
        ending = asyncio.get_running_loop().call_later(GRACE, self._in_flight.end_all)
        await super().shutdown(sockets)
        ending.cancel()


def _bind(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # Said to be TCP, else asyncio lets the end of each reply wait for the client's word that its
    # beginning has come, 40 ms.
    listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((host, port))
        listening.listen()
    except OSError as wrong:
        listening.close()
        raise SetupError(
            f"Cannot listen on {host}:{port}: {wrong.strerror or wrong}.",
            hint="Stop what listens there, or choose another port with `--port`; "
            "`--port 0` picks a free one.",
        ) from wrong
    return listening


def describe_problems(app: FastAPI) -> None:
    """Let the OpenAPI description name the media type that errors really have."""
    plain = app.openapi

    def described() -> dict[str, Any]:
        if app.openapi_schema is None:
            for response in error_responses(plain()):
                # Under the media type of the route's own answers.
                schema = response["content"].pop(next(iter(response["content"])))
                response["content"] = {MEDIA: schema}
        return plain()

    app.openapi = described  # type: ignore[method-assign]


def error_responses(description: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for path in description["paths"].values():
        for operation in path.values():
            for status, response in operation["responses"].items():
                if status >= "400" and "content" in response:
                    yield response
