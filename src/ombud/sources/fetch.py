"""One GET over a guarded network: paced, retried, bounded in time and size, redirects by hand."""

import threading
import time
import weakref
import zlib
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from importlib.metadata import PackageNotFoundError, version
from typing import Any, NamedTuple, NoReturn

import httpx

from ombud.errors import SourceError
from ombud.sources.guard import GuardedTransport, Network, host_key

try:
    AGENT = f"ombud/{version('ombud')}"
except PackageNotFoundError:  # run from a folder that was never installed
    AGENT = "ombud"

TRIES = 3
WAIT, LONGEST_WAIT = 1.0, 120.0
"""Seconds before the second try, doubled each time; and the longest that a server may ask for."""
HOPS = 5
LONGEST_URL = 4000
LARGEST = 200 * 2**20
"""Bytes of a body after decompression, as `documents.size_mb` is by default."""
PIECE = 2**16
CONNECT_SECONDS, READ_SECONDS = 10.0, 30.0
WHOLE_SECONDS = 180.0
"""For one answer: a server that drips bytes never runs into a timeout of single reads."""
BUSY = frozenset({408, 429, 500, 502, 503, 504})
"""What may be better in a moment."""
MOVED = frozenset({301, 302, 303, 307, 308})


class FetchedPage(NamedTuple):
    url: str
    """Where it came from, after redirects."""
    status: int
    headers: httpx.Headers
    body: bytes = b""

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


Room = Callable[[FetchedPage], int]
"""From an answer without its body to the most bytes to read of it; 0 = leave the body."""


class Fetcher:
    """May be used by several threads, one request at a time.

    spacing: seconds between two requests to one host; `spacings` holds those that differ. clock,
    pause: time and sleep, for tests."""

    def __init__(
        self,
        network: Network,
        *,
        spacing: float = 0.0,
        clock: Callable[[], float] = time.monotonic,
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        self._network, self._transport = network, GuardedTransport(network)
        weakref.finalize(self, self._transport.close)
        network.clock = clock
        self._clock, self._pause = clock, pause
        self._lock = threading.Lock()
        self._free: dict[str, float] = {}
        self.spacing = spacing
        self.spacings: dict[str, float] = {}

    def get(
        self,
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        hops: int = HOPS,
        room: Room | None = None,
        again: Callable[[FetchedPage], bool] | None = None,
    ) -> FetchedPage:
        """The answer, whatever its status; hops = 0 returns redirects instead of following them.

        again: says of an answer that it is worth asking once more, beside those whose status says
        so.
        Raises SourceError where there is none: no connection, refused address, too slow, too large.
        """
        with self._lock:
            for _ in range(hops + 1):
                reply = self._asked(url, headers or {}, room or _all, again or _never)
                if not hops or not reply.target:
                    return reply
                url = reply.target
        raise SourceError(
            f"{url} is redirected more than {hops} times.", hint="Give the address it ends at."
        )

    def close(self) -> None:
        """Let go of open connections; asking on opens new ones."""
        self._transport.close()

    def _asked(
        self, url: str, headers: Mapping[str, str], room: Room, again: Callable[[FetchedPage], bool]
    ) -> FetchedPage:
        address = checked(url)
        wait = WAIT
        for attempt in range(1, TRIES + 1):
            self._take_turn(host_key(address.host))
            self._network.deadline = self._clock() + WHOLE_SECONDS
            try:
                reply = self._once(address, headers, room)
            except httpx.TransportError as failed:
                late = self._clock() >= self._network.deadline
                if late or attempt == TRIES:
                    _unreached(url, failed, late=late)
            else:
                asked = _asked_to_wait(reply)
                busy = reply.status in BUSY or again(reply)
                if not busy or attempt == TRIES or asked > LONGEST_WAIT:
                    return reply
                wait = max(wait, asked)
            self._pause(wait)
            wait *= 2
        raise AssertionError  # the last attempt returns or raises

    def _take_turn(self, host: str) -> None:
        now = self._clock()
        turn = max(now, self._free.get(host, now))
        self._free[host] = turn + self.spacings.get(host, self.spacing)
        if turn > now:
            self._pause(turn - now)

    def _once(self, address: httpx.URL, headers: Mapping[str, str], room: Room) -> FetchedPage:
        ours = {"user-agent": AGENT, "accept": "*/*", "accept-encoding": "gzip, deflate"}
        timeout = httpx.Timeout(READ_SECONDS, connect=CONNECT_SECONDS).as_dict()
        request = httpx.Request(
            "GET", address, headers=ours | dict(headers), extensions={"timeout": timeout}
        )
        response = self._transport.handle_request(request)
        try:
            reply = FetchedPage(str(address), response.status_code, response.headers)
            if httpx.codes.is_success(reply.status) and (most := room(reply)):
                reply = reply._replace(body=b"".join(_body(response, str(address), most)))
            elif response.headers.get("content-length", "0") == "0":
                _drained(response)
            return reply
        finally:
            response.close()


def checked(url: str) -> httpx.URL:
    """The address as it will be asked for; raises SourceError for what is no plain web address."""
    try:
        address = httpx.URL(url.strip()) if len(url) <= LONGEST_URL else None
    except (httpx.InvalidURL, UnicodeError, ValueError):
        address = None
    if (
        address is None
        or address.scheme not in {"http", "https"}
        or not address.host
        or address.port == 0
    ):
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


def refused(reply: FetchedPage) -> SourceError:
    """What an answer other than success means, as an error."""
    what = f"{reply.url} answered {reply.status}"
    if reply.target:
        return SourceError(f"{what}: it has moved to {reply.target}.", hint="Give that address.")
    hints = {
        401: "It asks for a login; only public pages are read.",
        403: "It does not let ombud in; ask its owner.",
        404: "Is the address right?",
        410: "It is gone for good.",
        429: "It asks for fewer requests: lower `rate`, or sync later.",
    }
    hint = "Try again later." if reply.status >= 500 else hints.get(reply.status, "")
    return SourceError(f"{what}.", hint=hint)


def _all(reply: FetchedPage) -> int:
    return LARGEST


def _never(reply: FetchedPage) -> bool:
    return False


def _body(response: httpx.Response, url: str, most: int) -> Iterator[bytes]:
    """Decompressed pieces. Done here, not by httpx: its decoders expand a whole piece before anyone
    can say stop."""
    encoding = response.headers.get("content-encoding", "").strip().lower()
    announced = response.headers.get("content-length", "")
    if announced.isdigit() and int(announced) > most:
        _too_large(url, most)
    pieces = _expanded(response.iter_raw(), encoding, url)
    size = 0
    for piece in pieces:
        size += len(piece)
        if size > most:
            _too_large(url, most)
        yield piece


def _expanded(pieces: Iterator[bytes], encoding: str, url: str) -> Iterator[bytes]:
    if encoding in {"", "identity"}:
        yield from pieces
        return
    if encoding not in {"gzip", "x-gzip", "deflate"}:
        raise SourceError(f"{url} is sent as `{encoding[:40]}`, which was not asked for.")
    try:
        yield from unzipped(pieces, raw=encoding == "deflate")
    except (zlib.error, EOFError) as broken:
        raise SourceError(
            f"{url} is damaged: its compressed data cannot be read.", hint="Try again later."
        ) from broken


def unzipped(pieces: Iterator[bytes], *, raw: bool = False) -> Iterator[bytes]:
    """Bounded pieces of gzip or deflate data; raises zlib.error, and EOFError where it breaks
    off."""
    # +32: gzip or zlib by its header. Deflate without one is wrong and common.
    engine, begun = zlib.decompressobj(zlib.MAX_WBITS + 32), False
    for piece in pieces:
        rest, more = piece, bool(piece)
        while more:
            if engine.eof:  # another member may follow; some pad the end
                rest = rest.lstrip(b"\0")
                if not rest:
                    break
                engine = zlib.decompressobj(zlib.MAX_WBITS + 32)
            try:
                out = engine.decompress(rest, PIECE)
            except zlib.error:
                if begun or not raw:
                    raise
                engine = zlib.decompressobj(-zlib.MAX_WBITS)
                out = engine.decompress(rest, PIECE)
            begun = True
            yield out
            rest = engine.unused_data if engine.eof else engine.unconsumed_tail
            more = bool(rest) or (len(out) == PIECE and not engine.eof)
    if not engine.eof:
        raise EOFError


def _drained(response: httpx.Response) -> None:
    """An empty body, read so that the connection can be used again."""
    for _ in response.iter_raw():
        break


def _too_large(url: str, most: int) -> NoReturn:
    size = f"{most // 2**20} MB" if most >= 2**20 else f"{most} bytes"
    raise SourceError(f"{url} is larger than {size}.", hint="Leave it out with `exclude`.")


def _unreached(url: str, failed: Exception, *, late: bool) -> NoReturn:
    if late:
        raise SourceError(
            f"{url} was not sent within {WHOLE_SECONDS:.0f} seconds.",
            hint="Leave it out with `exclude`.",
        ) from failed
    why = str(failed).strip().rstrip(".") or type(failed).__name__
    raise SourceError(
        f"{url} cannot be reached: {why}.", hint="Is the address right, and the network up?"
    ) from failed


def _asked_to_wait(reply: FetchedPage) -> float:
    said: Any = reply.headers.get("retry-after", "").strip()
    if said.isdigit():
        return float(said[:9])
    try:
        until = parsedate_to_datetime(said)
    except (ValueError, TypeError, IndexError):
        return 0.0
    return max(
        0.0,
        (
            (until if until.tzinfo else until.replace(tzinfo=UTC)) - datetime.now(UTC)
        ).total_seconds(),
    )
