"""Which addresses a source may connect to, and a transport that connects nowhere else.

What a page links to is written by strangers: a link to 169.254.169.254 or to a server inside the
network must not be followed just because ombud could reach it. Every connection, also that of a
redirect, goes through `Network`, which looks a host up once, judges all its addresses and connects
to one of those; a name that later stands for another address is not asked again. TLS and the Host
header keep the name."""

import ipaddress
import socket
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import httpcore
import httpx

from ombud.errors import SourceError

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
AddressRange = ipaddress.IPv4Network | ipaddress.IPv6Network

_PUBLIC = ipaddress.ip_network("2000::/3")
"""The only part of IPv6 that is the internet: IPv4-mapped, NAT64, local and multicast forms all lie
outside."""


def _networks(networks: Iterable[str]) -> tuple[AddressRange, ...]:
    return tuple(map(ipaddress.ip_network, networks))


_SPECIAL = _networks(
    (
        "0.0.0.0/8",
        "169.254.0.0/16",
        "192.0.0.0/24",
        "192.0.2.0/24",
        "192.88.99.0/24",
        "198.51.100.0/24",
        "203.0.113.0/24",
        "224.0.0.0/4",
        "240.0.0.0/4",
        # IETF protocols with Teredo, documentation, 6to4.
        "2001::/23",
        "2001:db8::/32",
        "2002::/16",
        "3fff::/20",
    )
)
_PRIVATE = _networks(
    (
        "10.0.0.0/8",
        "100.64.0.0/10",
        "127.0.0.0/8",
        "172.16.0.0/12",
        "192.168.0.0/16",
        "198.18.0.0/15",
        "::1/128",
        "fc00::/7",
    )
)
_METADATA = frozenset(
    map(
        ipaddress.ip_address,
        (
            "169.254.169.254",
            "fd00:ec2::254",
            "fd20:ce::254",
            "100.100.100.200",
            "168.63.129.16",
        ),
    )
)
"""Servers that hand credentials to whoever asks from inside a cloud; refused also to allowed
hosts."""

PRIVATE_HINT = "If it is meant, add the host to the source's `private_hosts`."
MOST_ADDRESSES = 3
"""Tried one after another when the first does not answer."""


def refusal(address: Address, *, private: bool = False) -> str:
    """Why no connection is made to it; empty when one may be.

    private: its host may have an address inside the network.
    """
    if address in _METADATA:
        return "a cloud's metadata service"
    if _in_any(address, _PRIVATE):
        return "" if private else "an address inside the network"
    outside = address.version == 6 and address not in _PUBLIC
    if outside or _in_any(address, _SPECIAL):
        return "an address of a special kind"
    return ""


def _in_any(address: Address, networks: Iterable[AddressRange]) -> bool:
    return any(address in network for network in networks)


def host_key(host: str) -> str:
    """One way to write a host: lower case, ASCII, no brackets, no dot at the end."""
    plain = host.strip().strip("[]").rstrip(".").lower()
    if plain.isascii():
        return plain
    try:
        return httpx.URL(f"http://{plain}/").raw_host.decode("ascii")
    except (httpx.InvalidURL, UnicodeError):
        return plain


def looked_up(host: str, port: int) -> list[str]:
    """Numeric addresses of a host, best first."""
    rows = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    addresses = [str(row[4][0]) for row in rows]
    return list(dict.fromkeys(addresses))


Resolve = Callable[[str, int], Sequence[str]]


class Network(httpcore.NetworkBackend):
    """Connects to judged addresses only; raises SourceError for others. For one thread at a time.

    private_hosts: `host` or `host:port` that may have an address inside the network.
    """

    def __init__(self, private_hosts: Iterable[str] = (), resolve: Resolve | None = None) -> None:
        self._private = frozenset(map(_entry, private_hosts))
        self._resolve = resolve
        self._pinned: dict[tuple[str, int], list[Address]] = {}
        self._plain = httpcore.SyncBackend()
        self.deadline = float("inf")
        """Of the request under way, by `clock`: no read or write goes on after it, however slowly
        bytes drip."""
        self.clock: Callable[[], float] = time.monotonic

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Any = None,
    ) -> httpcore.NetworkStream:
        failed: Exception = httpcore.ConnectError(f"{host} has no address")
        for address in self.addresses(host, port)[:MOST_ADDRESSES]:
            try:
                stream = self._plain.connect_tcp(
                    str(address), port, self.left(timeout), local_address, socket_options
                )
                return _Timed(stream, self)
            except (httpcore.ConnectError, httpcore.ConnectTimeout) as no:
                failed = no
        self._pinned.pop(
            (host_key(host), port), None
        )  # it may have moved: the next try looks it up again
        raise failed

    def connect_unix_socket(
        self, path: str, timeout: float | None = None, socket_options: Any = None
    ) -> Any:
        raise SourceError("Sockets of this machine are not read.")

    def addresses(self, host: str, port: int) -> list[Address]:
        """Where connections to a host go; looked up and judged once. Raises SourceError if any must
        not be used."""
        key = (host_key(host), port)
        if key not in self._pinned:
            self._pinned[key] = self._judged(*key)
        return self._pinned[key]

    def end_at(self, deadline: float) -> None:
        """The request that begins must be over by then, by `clock`."""
        self.deadline = deadline

    def left(self, timeout: float | None) -> float:
        left = self.deadline - self.clock()
        if left <= 0:
            raise httpcore.ReadTimeout("it takes too long")
        return min(left, timeout if timeout is not None else left)

    def _judged(self, host: str, port: int) -> list[Address]:
        resolve = self._resolve or looked_up
        try:
            addresses = list(map(_address, resolve(host, port)))
        except (OSError, UnicodeError) as unknown:
            raise httpcore.ConnectError(f"{host} is not known") from unknown
        private = host in self._private or f"{host}:{port}" in self._private
        for address in addresses:
            # One foot inside is enough to refuse: an honest name does not mix the two.
            why = refusal(address, private=private)
            if why:
                shown = host if host == str(address) else f"{host} ({address})"
                raise SourceError(f"{shown} is {why}: not read.", hint=PRIVATE_HINT)
        return addresses


class _Timed(httpcore.NetworkStream):
    """A stream whose reads and writes end with the request's deadline, TLS handshake included."""

    def __init__(self, stream: httpcore.NetworkStream, network: Network) -> None:
        self._stream = stream
        self._network = network

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._stream.read(max_bytes, self._network.left(timeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._stream.write(buffer, self._network.left(timeout))

    def close(self) -> None:
        self._stream.close()

    def start_tls(
        self, ssl_context: Any, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.NetworkStream:
        secure = self._stream.start_tls(ssl_context, server_hostname, self._network.left(timeout))
        return _Timed(secure, self._network)

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)


class GuardedTransport(httpx.BaseTransport):
    """httpx over a `Network`. Built on httpcore's own pool, for that is where a connection is made
    and nowhere else."""

    def __init__(self, network: Network, tls: Any = None) -> None:
        context = tls or httpx.create_ssl_context(trust_env=False)
        self._pool = httpcore.ConnectionPool(
            ssl_context=context,
            network_backend=network,
            max_connections=10,
            keepalive_expiry=15.0,
        )

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        url = httpcore.URL(
            scheme=request.url.raw_scheme,
            host=request.url.raw_host,
            port=request.url.port,
            target=request.url.raw_path,
        )
        content = request.stream if isinstance(request.stream, httpx.SyncByteStream) else None
        sent = httpcore.Request(
            request.method,
            url,
            headers=request.headers.raw,
            content=content,
            extensions=request.extensions,
        )
        with _as_httpx():
            received = self._pool.handle_request(sent)
        return httpx.Response(
            received.status,
            headers=received.headers,
            stream=_Body(received.stream),
            extensions=received.extensions,
        )

    def close(self) -> None:
        self._pool.close()


class _Body(httpx.SyncByteStream):
    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def __iter__(self) -> Iterator[bytes]:
        with _as_httpx():
            yield from self._stream

    def close(self) -> None:
        self._stream.close()


@contextmanager
def _as_httpx() -> Iterator[None]:
    try:
        yield
    except (httpcore.TimeoutException, httpcore.NetworkError, httpcore.ProtocolError) as failed:
        kind = getattr(httpx, type(failed).__name__, httpx.TransportError)
        raise kind(str(failed)) from failed


def _entry(host: str) -> str:
    """`host` or `host:port`, as they are compared."""
    name, colon, port = host.strip().rpartition(":")
    is_ipv6 = ":" in name and "]" not in name
    if colon and port.isdigit() and not is_ipv6:
        return f"{host_key(name)}:{port}"
    return host_key(host)


def _address(text: str) -> Address:
    try:
        return ipaddress.ip_address(text.partition("%")[0])
    except ValueError as wrong:
        raise httpcore.ConnectError(f"{text} is no address") from wrong
