"""What stands before every route, as pure ASGI: a stream passes through it unbuffered.

Without identity the only protection is that nobody else can reach the server. So it answers to
loopback names only, and to the one of `server.public_url` (a rebinding DNS name is refused), and a
page of another site may not post to it, nor open a socket."""

import asyncio
import ipaddress
import json
import logging
import math
import time
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import HTTPConnection, Request
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ombud.web.logs import describe_error
from ombud.web.problems import Problem, refusal, unexpected
from ombud.web.rate_limit import Clock, RateLimiter

logger = logging.getLogger(__name__)

STOPPING = "The server is being restarted."
HINT = "Send it again in a few seconds; nothing of it was lost or stored twice."
RETRY_AFTER = "5"
LARGEST_REQUEST = 1_000_000
"""Bytes of a request's body."""
UPLOADS = ("/admin/sources/upload", "/admin/drafts/upload")
"""Where files are handed in, for which the settings say how large they may be."""
LARGEST_MESSAGE = 100_000
"""Bytes of one message of a WebSocket: what a person writes at once, many times over."""

CONTENT_SECURITY_POLICY = "; ".join(
    [
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data:",
        "connect-src 'self'",
        "base-uri 'none'",
        "form-action 'self'",
        "frame-ancestors 'self'",
        "require-trusted-types-for 'script'",
        "trusted-types ombud",
    ]
)
SECURITY = {
    "content-security-policy": CONTENT_SECURITY_POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}


def is_loopback(host: str) -> bool:
    """Tell whether a host name or address, with or without port and brackets, is this machine's
    own."""
    try:
        name = urlsplit(f"//{host}").hostname or ""
        _ = urlsplit(f"//{host}").port  # a port that is no number is refused
        return name == "localhost" or ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False


class SecurityHeaders:
    """The security headers on every response; nothing is cached unless the route says so.

    embed_origins: pages of other origins that may show ours in a frame."""

    def __init__(self, app: ASGIApp, embed_origins: Sequence[str] = ()) -> None:
        self.app = app
        ancestors = " ".join(("frame-ancestors 'self'", *embed_origins))
        self._embedded = CONTENT_SECURITY_POLICY.replace("frame-ancestors 'self'", ancestors)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                # A page that has a stricter or another policy of its own says so.
                own = headers.get("content-security-policy")
                headers.update(SECURITY)
                if scope["path"] in ("/", "/login") or scope["path"].startswith("/documents"):
                    # What a frame shows: the chat, its sign-in, documents; nothing that changes
                    # more than one's own conversations.
                    headers["content-security-policy"] = self._embedded
                if scope["path"].startswith("/login"):
                    # A popup hands its code to the frame that opened it, and to no other origin.
                    headers["cross-origin-opener-policy"] = "unsafe-none"
                if own:
                    headers["content-security-policy"] = own
                if headers.get("content-type", "").startswith("text/event-stream"):
                    headers["cache-control"] = "no-cache"
                    headers["x-accel-buffering"] = "no"  # nginx would hold events back
                headers.setdefault("cache-control", "no-store")
            await send(message)

        await self.app(scope, receive, with_headers)


class SubPath:
    """Serves the application below a path such as `/ombud`, behind a proxy that strips the path or
    one that leaves it: adds it to links of pages, redirects and cookies."""

    def __init__(self, app: ASGIApp, root: str) -> None:
        self.app = app
        self._root = root
        marks = (b' href="', b' src="', b' action="', b' formaction="')
        self._links = [(mark + b"/", mark + root.encode() + b"/") for mark in marks]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["path"] == self._root and scope["type"] == "http":
            await RedirectResponse(f"{self._root}/")(scope, receive, send)
            return
        if scope["path"].startswith(f"{self._root}/"):
            # In place: those outside read afterwards which route took it.
            scope["path"] = scope["path"].removeprefix(self._root)
        start: Message | None = None

        async def below_root(message: Message) -> None:
            nonlocal start
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                self._move_headers(headers, Headers(scope=scope).get("host", ""))
                if headers.get("content-type", "").startswith("text/html"):
                    start = message  # its length is known with its body
                    return
            elif start is not None:
                if not message.get("more_body") and message.get("body"):
                    message["body"] = self._move_links(message["body"])
                    MutableHeaders(scope=start)["content-length"] = str(len(message["body"]))
                await send(start)
                start = None
            await send(message)

        await self.app(scope, receive, below_root)

    def _move_links(self, html: bytes) -> bytes:
        """Return a page with its links below the path. Text of people cannot look like one: its
        quotation marks are escaped."""
        for ours, moved in self._links:
            html = html.replace(ours, moved)
        return html

    def _move_headers(self, headers: MutableHeaders, host: str) -> None:
        location = urlsplit(headers.get("location", ""))
        if location.path.startswith("/") and location.netloc in ("", host):
            headers["location"] = location._replace(path=self._root + location.path).geturl()
        cookies = headers.getlist("set-cookie")
        if cookies:
            del headers["set-cookie"]
        for cookie in cookies:
            headers.append("set-cookie", cookie.replace("; Path=/", f"; Path={self._root}/"))


class Refusal(NamedTuple):
    """A refusal, both as an HTTP response and as the closing of a WebSocket (RFC 6455, 7.4)."""

    status: int
    close_code: int
    detail: str
    hint: str = ""
    retry_after: int = 0
    """Seconds; 0 = not said."""

    def response(self) -> Response:
        response = refusal(self.status, self.detail, self.hint)
        if self.retry_after:
            response.headers["retry-after"] = str(self.retry_after)
        return response


FOREIGN_HOST = Refusal(
    status=400,
    close_code=1008,
    detail="This host name is not served here.",
    hint="Loopback addresses are served, and the one of `server.public_url`.",
)
OTHER_SITE = Refusal(status=403, close_code=1008, detail="A page of another site may not do this.")
TOO_LARGE = Refusal(
    status=413,
    close_code=1009,
    detail=f"A request may have at most {LARGEST_REQUEST:,} bytes.",
)
TOO_MANY = Refusal(
    status=429,
    close_code=1013,
    detail="Too many requests came from this address.",
    hint="Wait a little; `server.requests_per_minute` says how many may come.",
)
TOO_MANY_OF_ONE = TOO_MANY._replace(
    detail="Too many requests came from this browser.",
    hint="Wait a little; one browser may send half of `server.requests_per_minute`.",
)


class RequestGuard:
    """Refuses foreign hosts (400), too many requests (429), posts from other sites (403) and large
    bodies (413). A person's excess is refused before it counts for the address, so that others
    behind the same address are not affected.

    A WebSocket is checked by the same rules before it is accepted; a message that is too large
    closes it with 1009, too many messages with 1008.

    requests_per_minute, burst: of one address; person_per_minute: of one person, or one browser in
    a demo, as `owner` names them, with half the burst; messages_per_minute: of one socket, which
    may send as many at once. 0 = no limit. public_host: served beside loopback names."""

    def __init__(
        self,
        app: ASGIApp,
        *,
        requests_per_minute: int = 0,
        burst: int = 1,
        person_per_minute: int = 0,
        messages_per_minute: int = 0,
        largest_upload: int = LARGEST_REQUEST,
        public_host: str = "",
        owner: Callable[[HTTPConnection], str] = lambda _: "",
        clock: Clock = time.monotonic,
    ) -> None:
        self.app = app
        self._requests = RateLimiter(per_minute=requests_per_minute, burst=burst, clock=clock)
        own_burst = max(1, burst // 2)
        self._persons = RateLimiter(per_minute=person_per_minute, burst=own_burst, clock=clock)
        self._messages_per_minute = messages_per_minute
        self._public_host = public_host
        self._largest_upload = largest_upload
        self._owner = owner
        self._clock = clock

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        refused = self._refuse(scope)
        if scope["type"] == "websocket":
            await self._serve_socket(scope, receive, send, refused)
        elif refused is not None:
            await refused.response()(scope, receive, send)
        else:
            await self.app(scope, _limited(receive, self._most(scope)), send)

    def _refuse(self, scope: Scope) -> Refusal | None:
        """Return why a request or handshake is refused; None if it passes."""
        headers = Headers(scope=scope)
        host = headers.get("host", "")
        if not is_loopback(host) and (not host or host.lower() != self._public_host.lower()):
            return FOREIGN_HOST
        for seconds, refusal_of in self._waits(scope):
            if seconds:
                return refusal_of._replace(retry_after=math.ceil(seconds))
        if changes_something(scope) and not is_same_site(headers, host):
            return OTHER_SITE
        length = headers.get("content-length", "0")
        if not length.isdecimal() or int(length) > self._most(scope):
            return TOO_LARGE
        return None

    def _most(self, scope: Scope) -> int:
        """Return the most bytes of its body."""
        return self._largest_upload if scope["path"] in UPLOADS else LARGEST_REQUEST

    def _waits(self, scope: Scope) -> Iterator[tuple[float, Refusal]]:
        """Return the seconds until a request may come, first by its person, then by its address."""
        person = self._owner(HTTPConnection(scope))
        if person:
            yield self._persons.take(person), TOO_MANY_OF_ONE
        client = scope.get("client")
        yield self._requests.take(client[0] if client else ""), TOO_MANY

    async def _serve_socket(
        self, scope: Scope, receive: Receive, send: Send, refused: Refusal | None
    ) -> None:
        if refused is not None:
            await receive()  # the handshake
            await send(_closing(refused.close_code, refused.detail))
            return
        limiter = RateLimiter(
            per_minute=self._messages_per_minute,
            burst=self._messages_per_minute,
            clock=self._clock,
        )
        socket = _GuardedSocket(receive, send, limiter)
        await self.app(scope, socket.receive, socket.send)


class _GuardedSocket:
    """The two callables of an accepted WebSocket, with its messages measured and counted.

    A message that breaks a rule closes the socket; the application is told of a disconnect, and
    what it still sends goes nowhere.
    """

    def __init__(self, receive: Receive, send: Send, messages: RateLimiter) -> None:
        self._receive = receive
        self._send = send
        self._messages = messages
        self._ended: Message | None = None

    async def receive(self) -> Message:
        if self._ended is not None:
            return self._ended
        message = await self._receive()
        if message["type"] != "websocket.receive":
            return message
        if _size(message) > LARGEST_MESSAGE:
            return await self.end(1009, f"A message may have at most {LARGEST_MESSAGE:,} bytes.")
        if self._messages.take(""):
            return await self.end(1008, "Too many messages came at once.")
        return message

    async def send(self, message: Message) -> None:
        if self._ended is None:
            await self._send(message)

    async def end(self, code: int, reason: str) -> Message:
        self._ended = {"type": "websocket.disconnect", "code": code, "reason": reason}
        await self._send(_closing(code, reason))
        return self._ended


class Failures:
    """An error nobody foresaw becomes a problem without a stack trace; the log says where."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        begun = False

        async def noted(message: Message) -> None:
            nonlocal begun
            begun = begun or message["type"] == "http.response.start"
            await send(message)

        try:
            await self.app(scope, receive, noted)
        except Exception as error:  # noqa: BLE001 - whatever it is, it is said without its words
            if begun or scope["type"] != "http":
                logger.error("%s broke off\n%s", scope.get("path", ""), describe_error(error))
                # The server closes the connection, and logs what it is given.
                raise RuntimeError("The response broke off.") from None
            await unexpected(Request(scope), error)(scope, receive, send)


class InFlight:
    """The HTTP requests that a server is working on."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[None]] = set()
        self.is_over = False

    def end_all(self) -> None:
        """Cancel what is still being worked on; each request is answered with 503."""
        self.is_over = True
        for task in list(self._tasks):
            task.cancel()

    async def run(self, task: asyncio.Task[None]) -> None:
        """Wait for the work on one request, which ends with its client's."""
        self._tasks.add(task)
        try:
            await task
        finally:
            self._tasks.discard(task)
            task.cancel()


class EndsInFlight:
    """Answers a request that `InFlight.end_all` has cancelled: 503 with Retry-After, or the last
    event of a stream that has begun."""

    def __init__(self, app: ASGIApp, in_flight: InFlight) -> None:
        self.app = app
        self._in_flight = in_flight

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        kind: str | None = None

        async def noted(message: Message) -> None:
            nonlocal kind
            if message["type"] == "http.response.start":
                headers = dict(message["headers"])
                kind = headers.get(b"content-type", b"").decode("latin-1")
            await send(message)

        async def work() -> None:
            await self.app(scope, receive, noted)

        task = asyncio.create_task(work())
        try:
            await self._in_flight.run(task)
        except asyncio.CancelledError:
            if not (self._in_flight.is_over and task.cancelled()):
                raise
            await _end(kind, scope, receive, send)


async def _end(kind: str | None, scope: Scope, receive: Receive, send: Send) -> None:
    """End a response. kind: content type of what has begun; None if nothing was sent."""
    response = refusal(503, STOPPING, HINT)
    if kind is None:
        response.headers["retry-after"] = RETRY_AFTER
        await response(scope, receive, send)
        return
    if not kind.startswith("text/event-stream"):
        raise ConnectionResetError("The server stops in the middle of a response.")
    problem = Problem(title="Service Unavailable", status=503, detail=STOPPING, hint=HINT)
    event = f"event: error\ndata: {json.dumps(problem.model_dump())}\n\n"
    await send({"type": "http.response.body", "body": event.encode(), "more_body": False})


def changes_something(scope: Scope) -> bool:
    """Tell whether a request changes something. A WebSocket always may, because browsers open one
    to any site without asking that site first."""
    return scope["type"] == "websocket" or scope["method"] not in {"GET", "HEAD", "OPTIONS"}


def is_same_site(headers: Headers, host: str) -> bool:
    """Tell whether a request comes from our own pages (protection against CSRF)."""
    if headers.get("sec-fetch-site", "none") not in {"same-origin", "none"}:
        return False
    origin = headers.get("origin")
    return origin is None or urlsplit(origin).netloc == host


def _closing(code: int, reason: str) -> Message:
    return {"type": "websocket.close", "code": code, "reason": reason}


def _size(message: Message) -> int:
    """Return the bytes of a text or binary message."""
    data = message.get("bytes")
    return len(data) if data is not None else len((message.get("text") or "").encode())


def _limited(receive: Receive, most: int) -> Receive:
    """Pass the body on up to the limit, because the declared length may be missing or wrong."""
    read = 0

    async def counted() -> Message:
        nonlocal read
        message = await receive()
        read += len(message.get("body", b""))
        if read > most:
            raise HTTPException(TOO_LARGE.status, TOO_LARGE.detail)
        return message

    return counted
