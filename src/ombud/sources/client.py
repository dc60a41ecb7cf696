"""HTTP for all sources: paced, retried, bounded in time and size.

`HttpClient` sends a request and retries it. `PublicClient` requests addresses that strangers may
have written, over the guarded network of `guard.py`. `site.SiteClient` requests a site with an
account, and sends its credentials nowhere else."""

import threading
import time
import weakref
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import NamedTuple

import httpx

from ombud.deadlines import retry_after
from ombud.errors import SourceError
from ombud.sources.decompression import expanded
from ombud.sources.guard import GuardedTransport, Network, host_key

try:
    AGENT = f"ombud/{version('ombud')}"
except PackageNotFoundError:  # run from a folder that was never installed
    AGENT = "ombud"

FIRST_WAIT = 1.0
"""Seconds before the second attempt, doubled each time."""
CONNECT_SECONDS = 10.0
HOPS = 5
"""Redirects that are followed."""
LONGEST_URL = 4000
LARGEST = 200 * 2**20
"""Bytes of a body after decompression, as `documents.size_mb` is by default."""
BUSY = frozenset({429, 500, 502, 503, 504})
"""Statuses after which a request is tried again."""
MOVED = frozenset({301, 302, 303, 307, 308})


@dataclass(frozen=True, kw_only=True)
class RequestPolicy:
    """Attempts and time limits of a request."""

    tries: int
    longest_wait: float
    """Most seconds of a Retry-After that are waited."""
    silent_seconds: float
    """Most seconds without a byte."""
    whole_seconds: float
    """Most seconds for a response: a server that drips bytes never exceeds a read timeout."""
    busy: frozenset[int] = BUSY


class HttpResponse(NamedTuple):
    url: str
    """Its address after redirects."""
    status: int
    headers: httpx.Headers
    body: bytes = b""

    @property
    def ok(self) -> bool:
        return 200 <= self.status < 300

    @property
    def target(self) -> str:
        """Target of a redirect; empty for other responses."""
        location = self.headers.get("location", "")
        if self.status not in MOVED or not location:
            return ""
        try:
            return str(httpx.URL(self.url).join(location))
        except (httpx.InvalidURL, UnicodeError, ValueError):
            return ""

    @property
    def next(self) -> str:
        """Target of `Link: <...>; rel="next"`; empty when there is none."""
        links = httpx.Response(self.status, headers=self.headers).links
        return str(links.get("next", {}).get("url", ""))


BodyLimit = Callable[[HttpResponse], int]
"""Most bytes to read of a response, decided by its head; 0 reads no body."""
IsBusy = Callable[[HttpResponse], bool]
Send = Callable[[httpx.Request], httpx.Response]
"""Sends a request and returns the response with its body unread."""


def never_busy(response: HttpResponse) -> bool:
    return False


class HttpRequest(NamedTuple):
    url: httpx.URL
    display_url: str
    """The address as errors print it."""
    headers: Mapping[str, str]
    body_limit: BodyLimit
    form: Mapping[str, str] | None = None
    """Sent by POST; None = a GET."""
    is_busy: IsBusy = never_busy
    """Tells whether to retry after a response, besides those with a busy status."""


class NoAnswer(Exception):
    """Raised when there is no response, with the reason. The clients turn it into a SourceError."""

    def __init__(self, failed: Exception, *, late: bool) -> None:
        reason = str(failed).strip().rstrip(".")
        super().__init__(reason or type(failed).__name__)
        self.late = late
        """True if it took longer than `whole_seconds`."""


def sleep(seconds: float) -> None:
    time.sleep(seconds)


class HttpClient:
    """Sends requests with retries. Several threads may share a client without `spacing`.

    spacing: seconds between two requests to one host. on_deadline: called before each attempt with
    the time, by `clock`, at which it must end. clock, pause: time and sleep, for tests."""

    def __init__(
        self,
        send: Send,
        policy: RequestPolicy,
        *,
        spacing: float = 0.0,
        clock: Callable[[], float] = time.monotonic,
        pause: Callable[[float], None] | None = None,
    ) -> None:
        self._send = send
        self._policy = policy
        self._clock = clock
        self._pause = pause
        self._free: dict[str, float] = {}
        self.spacing = spacing
        self.spacings: dict[str, float] = {}
        """Host -> seconds, for hosts that ask for their own spacing."""
        self.on_deadline: Callable[[float], None] = lambda deadline: None

    def ask(self, request: HttpRequest) -> HttpResponse:
        """Send with retries and exponential backoff; return the last response, whatever its status.
        Raises NoAnswer, and SourceError for a refused address or a body that is too large."""
        wait = FIRST_WAIT
        last = self._policy.tries
        for attempt in range(1, last + 1):
            self._take_turn(host_key(request.url.host))
            deadline = self._clock() + self._policy.whole_seconds
            self.on_deadline(deadline)
            try:
                response = self._attempt(request, deadline)
            except httpx.TransportError as failed:
                late = self._clock() >= deadline
                if late or attempt == last:
                    raise NoAnswer(failed, late=late) from failed
            else:
                server_wait = retry_after(response.headers) or 0.0
                busy = response.status in self._policy.busy or request.is_busy(response)
                if not busy or attempt == last or server_wait > self._policy.longest_wait:
                    return response
                wait = max(wait, server_wait)
            self._rest(min(wait, self._policy.longest_wait))
            wait *= 2
        raise AssertionError  # the last attempt returns or raises

    def _take_turn(self, host: str) -> None:
        gap = self.spacings.get(host, self.spacing)
        if not gap:
            return
        now = self._clock()
        turn = max(now, self._free.get(host, now))
        self._free[host] = turn + gap
        if turn > now:
            self._rest(turn - now)

    def _rest(self, seconds: float) -> None:
        if self._pause is None:
            sleep(seconds)
        else:
            self._pause(seconds)

    def _attempt(self, request: HttpRequest, deadline: float) -> HttpResponse:
        ours = {"user-agent": AGENT, "accept": "*/*", "accept-encoding": "gzip, deflate"}
        timeout = httpx.Timeout(self._policy.silent_seconds, connect=CONNECT_SECONDS)
        sent = httpx.Request(
            "GET" if request.form is None else "POST",
            request.url,
            headers=ours | dict(request.headers),
            data=request.form,
            extensions={"timeout": timeout.as_dict()},
        )
        received = self._send(sent)
        try:
            head = HttpResponse(str(request.url), received.status_code, received.headers)
            most = request.body_limit(head)
            if most:
                body = self._read_body(received, request.display_url, most, deadline)
                return head._replace(body=body)
            if received.headers.get("content-length", "0") == "0":
                # An empty body must be read before the connection can be used again.
                pieces: Iterator[bytes] = received.iter_raw()
                next(pieces, b"")
            return head
        finally:
            received.close()

    def _read_body(
        self, received: httpx.Response, display_url: str, most: int, deadline: float
    ) -> bytes:
        """Read and decompress a body up to a limit. httpx would expand a whole piece before the
        limit can stop it."""
        announced = received.headers.get("content-length", "")
        if announced.isdigit() and int(announced) > most:
            raise too_large(display_url, most)
        encoding = received.headers.get("content-encoding", "").strip().lower()
        body = bytearray()
        for piece in expanded(received.iter_raw(), encoding, display_url):
            body += piece
            if len(body) > most:
                raise too_large(display_url, most)
            if self._clock() > deadline:
                raise httpx.ReadTimeout("it took too long")
        return bytes(body)


class PublicClient:
    """Requests addresses that anybody may have written. Several threads may share a client, which
    sends one request at a time.

    spacing: seconds between two requests to one host. clock, pause: time and sleep, for tests."""

    POLICY = RequestPolicy(
        tries=3,
        longest_wait=120.0,
        silent_seconds=30.0,
        whole_seconds=180.0,
        busy=BUSY | {408},
    )

    def __init__(
        self,
        network: Network,
        *,
        spacing: float = 0.0,
        clock: Callable[[], float] = time.monotonic,
        pause: Callable[[float], None] | None = None,
    ) -> None:
        self._transport = GuardedTransport(network)
        weakref.finalize(self, self._transport.close)
        network.clock = clock
        self._client = HttpClient(
            self._transport.handle_request,
            self.POLICY,
            spacing=spacing,
            clock=clock,
            pause=pause,
        )
        self._client.on_deadline = network.end_at
        self._lock = threading.Lock()

    def get(
        self,
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        hops: int = HOPS,
        body_limit: BodyLimit | None = None,
        is_busy: IsBusy = never_busy,
    ) -> HttpResponse:
        """Return the response, whatever its status; hops = 0 returns redirects instead of following
        them.

        Only bodies of successful responses are read. Raises SourceError without a response: no
        connection, refused address, too slow, too large."""

        def limit_of_success(response: HttpResponse) -> int:
            if not response.ok:
                return 0
            return body_limit(response) if body_limit else LARGEST

        with self._lock:
            for _ in range(hops + 1):
                request = HttpRequest(
                    url=checked(url),
                    display_url=url,
                    headers=headers or {},
                    body_limit=limit_of_success,
                    is_busy=is_busy,
                )
                response = self._answer(request)
                if not hops or not response.target:
                    return response
                url = response.target
        raise SourceError(
            f"{url} is redirected more than {hops} times.", hint="Give the address it ends at."
        )

    def slow_down(self, host: str, seconds: float) -> None:
        """Leave at least so many seconds between two requests to this host from now on."""
        if seconds > self._client.spacing:
            self._client.spacings[host] = seconds

    def close(self) -> None:
        """Close open connections; further requests open new ones."""
        self._transport.close()

    def _answer(self, request: HttpRequest) -> HttpResponse:
        try:
            return self._client.ask(request)
        except NoAnswer as failed:
            if failed.late:
                raise SourceError(
                    f"{request.display_url} was not sent within "
                    f"{self.POLICY.whole_seconds:.0f} seconds.",
                    hint="Leave it out with `exclude`.",
                ) from failed
            raise SourceError(
                f"{request.display_url} cannot be reached: {failed}.",
                hint="Is the address right, and the network up?",
            ) from failed


def checked(url: str) -> httpx.URL:
    """Parse an address; raises SourceError for anything but a plain web address."""
    address = parse_address(url)
    if address is None:
        raise SourceError(
            f"`{url[:200]}` is no web address.", hint="Such as https://www.example.com/hr/."
        )
    if address.userinfo:
        # The address is not printed, as it holds a password.
        raise SourceError(
            f"An address at {address.host} holds a user or password.",
            hint="Leave it out of the url.",
        )
    return address.copy_with(fragment=None)


def refused(response: HttpResponse) -> SourceError:
    """Make the error for an unsuccessful response."""
    what = f"{response.url} answered {response.status}"
    if response.target:
        return SourceError(f"{what}: it has moved to {response.target}.", hint="Give that address.")
    hint = _HINTS.get(response.status, "")
    if response.status >= 500:
        hint = "Try again later."
    return SourceError(f"{what}.", hint=hint)


_HINTS = {
    401: "It asks for a login; only public pages are read.",
    403: "It does not let ombud in; ask its owner.",
    404: "Is the address right?",
    410: "It is gone for good.",
    429: "It asks for fewer requests: lower `rate`, or sync later.",
}
"""Status -> what to do about it."""


def parse_address(url: str) -> httpx.URL | None:
    """Parse an http or https address; None for anything else."""
    if len(url) > LONGEST_URL:
        return None
    try:
        address = httpx.URL(url.strip())
    except (httpx.InvalidURL, UnicodeError, ValueError):
        return None
    if address.scheme not in {"http", "https"} or not address.host or address.port == 0:
        return None
    return address


def too_large(display_url: str, most: int) -> SourceError:
    """Make the error for a body that is larger than the limit."""
    megabytes = most // 2**20
    size = f"{megabytes} MB" if megabytes else f"{most} bytes"
    return SourceError(f"{display_url} is larger than {size}.", hint="Leave it out with `exclude`.")
