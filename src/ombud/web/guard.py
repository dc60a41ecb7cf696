"""What stands before every route, as pure ASGI: a stream passes through it unbuffered.

Without identity the only protection is that nobody else can reach the server. So it answers to
loopback names only (a rebinding DNS name is refused), and a page of another site may not post to
it."""

import ipaddress
import logging
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ombud.web.logs import told
from ombud.web.problems import refusal, unexpected

logger = logging.getLogger(__name__)

LARGEST_REQUEST = 1_000_000
"""Bytes of a request's body."""

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
    """Whether a host name or address, with or without port and brackets, is this machine's own."""
    try:
        name = urlsplit(f"//{host}").hostname or ""
        _ = urlsplit(f"//{host}").port  # a port that is no number is refused
        return name == "localhost" or ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False


class SecurityHeaders:
    """The security headers on every response; nothing is cached unless the route says so."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers.update(SECURITY)
                headers.setdefault("cache-control", "no-store")
            await send(message)

        await self.app(scope, receive, with_headers)


class RequestGuard:
    """Refuses foreign hosts (400), posts from other sites (403) and large bodies (413)."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        host, origin = headers.get("host", ""), headers.get("origin")
        length = headers.get("content-length", "0")
        if not is_loopback(host):
            hint = "Until identity is set up, only localhost and loopback addresses are served."
            response = refusal(400, "This host name is not served here.", hint)
        elif scope["method"] not in {"GET", "HEAD", "OPTIONS"} and not _same_site(
            headers, host, origin
        ):
            response = refusal(403, "A page of another site may not do this.")
        elif not length.isdecimal() or int(length) > LARGEST_REQUEST:
            response = refusal(413, f"A request may have at most {LARGEST_REQUEST:,} bytes.")
        else:
            await self.app(scope, _limited(receive), send)
            return
        await response(scope, receive, send)


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
                logger.error("%s broke off\n%s", scope.get("path", ""), told(error))
                # The server closes the connection, and logs what it is given.
                raise RuntimeError("The response broke off.") from None
            await unexpected(Request(scope), error)(scope, receive, send)


def _same_site(headers: Headers, host: str, origin: str | None) -> bool:
    if headers.get("sec-fetch-site", "none") not in {"same-origin", "none"}:
        return False
    return origin is None or urlsplit(origin).netloc == host


def _limited(receive: Receive) -> Receive:
    """The same body, up to the limit: one that gave no length, or a wrong one, is cut off as
    well."""
    read = 0

    async def counted() -> Message:
        nonlocal read
        message = await receive()
        read += len(message.get("body", b""))
        if read > LARGEST_REQUEST:
            raise HTTPException(413, f"A request may have at most {LARGEST_REQUEST:,} bytes.")
        return message

    return counted
