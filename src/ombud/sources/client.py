"""HTTP for all sources: paced, retried, bounded in time and size.

`HttpClient` is one request with its retries. `PublicClient` asks addresses that strangers may have
written, over the guarded network of `guard.py`. A site that an account belongs to is asked by
`site.SiteClient`, which keeps the credentials at home."""

import threading
import time
import weakref
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from importlib.metadata import PackageNotFoundError, version
from typing import NamedTuple

import httpx

from ombud.errors import SourceError
from ombud.sources.decompression import expanded
from ombud.sources.guard import GuardedTransport, Network, host_key

try:
    AGENT = f"ombud/{version('ombud')}"
except PackageNotFoundError:  # run from a folder that was never installed
    AGENT = "ombud"

FIRST_WAIT = 1.0
"""Seconds before the second try, doubled each time."""
CONNECT_SECONDS = 10.0
HOPS = 5
"""Redirects that are followed."""
LONGEST_URL = 4000
LARGEST = 200 * 2**20
"""Bytes of a body after decompression, as `documents.size_mb` is by default."""
BUSY = frozenset({429, 500, 502, 503, 504})
"""What may be better in a moment."""
MOVED = frozenset({301, 302, 303, 307, 308})


@dataclass(frozen=True, kw_only=True)
class RequestPolicy:
    """How long one request is tried."""

    tries: int
    longest_wait: float
    """Seconds; the longest that a server may ask for."""
    silent_seconds: float
    """Without a byte."""
    whole_seconds: float
    """For one answer: a server that drips bytes never runs into a timeout of single reads."""
    busy: frozenset[int] = BUSY


class HttpResponse(NamedTuple):
    url: str
    """Where it came from, after redirects."""
    status: int
    headers: httpx.Headers
    body: bytes = b""

    @property
    def ok(self) -> bool:
        return 200 <= self.status < 300

    @property
    def target(self) -> str:
        """Where a redirect leads; empty when this is none."""
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
"""From an answer without its body to the most bytes to read of it; 0 = leave the body."""
IsBusy = Callable[[HttpResponse], bool]
Send = Callable[[httpx.Request], httpx.Response]
"""Sends a request and gives the answer with its body unread."""


def never_busy(response: HttpResponse) -> bool:
    return False


class HttpRequest(NamedTuple):
    url: httpx.URL
    shown: str
    """How errors call the address."""
    headers: Mapping[str, str]
    body_limit: BodyLimit
    form: Mapping[str, str] | None = None
    """Sent by POST; None = a GET."""
    is_busy: IsBusy = never_busy
    """Says of an answer that it is worth asking once more, beside those whose status says so."""


class NoAnswer(Exception):
    """Why there is none. Stays inside the clients, which say it in their own words."""

    def __init__(self, failed: Exception, *, late: bool) -> None:
        reason = str(failed).strip().rstrip(".")
        super().__init__(reason or type(failed).__name__)
        self.late = late
        """It took longer than `whole_seconds`."""


def sleep(seconds: float) -> None:
    time.sleep(seconds)


class HttpClient:
    """One request with its retries. Several threads may share one, unless `spacing` is given.

    spacing: seconds between two requests to one host. on_deadline: told the moment, by `clock`, at
    which the request that begins must be over. clock, pause: time and sleep, for tests."""

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
        """Of the hosts that have one of their own."""
        self.on_deadline: Callable[[float], None] = _ignore

    def ask(self, request: HttpRequest) -> HttpResponse:
        """The answer, whatever its status, after as many tries as the policy gives it. Raises
        NoAnswer, and SourceError for a refused address and for a body that is too large."""
        wait = FIRST_WAIT
        last = self._policy.tries
        for attempt in range(1, last + 1):
            self._take_turn(host_key(request.url.host))
            deadline = self._clock() + self._policy.whole_seconds
            self.on_deadline(deadline)
            try:
                response = self._once(request, deadline)
            except httpx.TransportError as failed:
                late = self._clock() >= deadline
                if late or attempt == last:
                    raise NoAnswer(failed, late=late) from failed
            else:
                asked_wait = retry_after(response.headers)
                busy = response.status in self._policy.busy or request.is_busy(response)
                if not busy or attempt == last or asked_wait > self._policy.longest_wait:
                    return response
                wait = max(wait, asked_wait)
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

    def _once(self, request: HttpRequest, deadline: float) -> HttpResponse:
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
                return head._replace(body=self._body(received, request.shown, most, deadline))
            if received.headers.get("content-length", "0") == "0":
                _drain(received)
            return head
        finally:
            received.close()

    def _body(self, received: httpx.Response, shown: str, most: int, deadline: float) -> bytes:
        """Decompressed here, not by httpx: its decoders expand a whole piece before anyone can say
        stop."""
        announced = received.headers.get("content-length", "")
        if announced.isdigit() and int(announced) > most:
            raise _too_large(shown, most)
        encoding = received.headers.get("content-encoding", "").strip().lower()
        body = bytearray()
        for piece in expanded(received.iter_raw(), encoding, shown):
            body += piece
            if len(body) > most:
                raise _too_large(shown, most)
            if self._clock() > deadline:
                raise httpx.ReadTimeout("it took too long")
        return bytes(body)


class PublicClient:
    """Asks addresses that anybody may have written. May be used by several threads, one request at
    a time.

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
        """The answer, whatever its status; hops = 0 returns redirects instead of following them.

        Only bodies of success are read. Raises SourceError where there is no answer: no connection,
        refused address, too slow, too large."""
        limit = body_limit or _everything

        def limit_of_success(response: HttpResponse) -> int:
            return limit(response) if response.ok else 0

        with self._lock:
            for _ in range(hops + 1):
                request = HttpRequest(
                    url=checked(url),
                    shown=url,
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
        """From now on leave at least so many seconds between two requests to this host."""
        if seconds > self._client.spacing:
            self._client.spacings[host] = seconds

    def close(self) -> None:
        """Let go of open connections; asking on opens new ones."""
        self._transport.close()

    def _answer(self, request: HttpRequest) -> HttpResponse:
        try:
            return self._client.ask(request)
        except NoAnswer as failed:
            if failed.late:
                raise SourceError(
                    f"{request.shown} was not sent within {self.POLICY.whole_seconds:.0f} seconds.",
                    hint="Leave it out with `exclude`.",
                ) from failed
            raise SourceError(
                f"{request.shown} cannot be reached: {failed}.",
                hint="Is the address right, and the network up?",
            ) from failed


def checked(url: str) -> httpx.URL:
    """The address as it will be asked for; raises SourceError for what is no plain web address."""
    address = _parsed(url)
    if address is None:
        raise SourceError(
            f"`{url[:200]}` is no web address.", hint="Such as https://www.example.com/hr/."
        )
    if address.userinfo:
        # Not shown: it holds a password.
        raise SourceError(
            f"An address at {address.host} holds a user or password.",
            hint="Leave it out of the url.",
        )
    return address.copy_with(fragment=None)


def refused(response: HttpResponse) -> SourceError:
    """What an answer other than success means, as an error."""
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


def retry_after(headers: httpx.Headers) -> float:
    """Seconds of Retry-After, which is a number or a date; 0 where it says none."""
    value = headers.get("retry-after", "").strip()
    if value.isdigit():
        return float(value[:9])
    try:
        until = parsedate_to_datetime(value)
    except (ValueError, TypeError, IndexError):
        return 0.0
    if until.tzinfo is None:
        until = until.replace(tzinfo=UTC)
    return max(0.0, (until - datetime.now(UTC)).total_seconds())


def _parsed(url: str) -> httpx.URL | None:
    if len(url) > LONGEST_URL:
        return None
    try:
        address = httpx.URL(url.strip())
    except (httpx.InvalidURL, UnicodeError, ValueError):
        return None
    if address.scheme not in {"http", "https"} or not address.host or address.port == 0:
        return None
    return address


def _everything(response: HttpResponse) -> int:
    return LARGEST


def _ignore(deadline: float) -> None:
    pass


def _drain(response: httpx.Response) -> None:
    """An empty body, read so that the connection can be used again."""
    pieces: Iterator[bytes] = response.iter_raw()
    next(pieces, b"")


def _too_large(shown: str, most: int) -> SourceError:
    megabytes = most // 2**20
    size = f"{megabytes} MB" if megabytes else f"{most} bytes"
    return SourceError(f"{shown} is larger than {size}.", hint="Leave it out with `exclude`.")
