"""Guard against SSRF: decide which addresses a source may connect to, and connect nowhere else.

Links are written by strangers: one to 169.254.169.254 or to a server inside the network must not be
followed just because ombud could reach it. Every connection, also of a redirect, goes through
`Network`, which resolves a host once, checks all its addresses and connects to one of them, so that
a name cannot be moved to another address later. TLS and the Host header keep the name."""

import ipaddress
import socket
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

import httpcore
import httpx

from ombud.errors import SourceError
from ombud.proxies import proxy_address

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
AddressRange = ipaddress.IPv4Network | ipaddress.IPv6Network

_PUBLIC = ipaddress.ip_network("2000::/3")
"""The only public range of IPv6; IPv4-mapped, NAT64, local and multicast addresses lie outside."""


def parse_networks(networks: Iterable[str]) -> tuple[AddressRange, ...]:
    return tuple(map(ipaddress.ip_network, networks))


_SPECIAL = parse_networks(
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
_PRIVATE = parse_networks(
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
"""Servers that give credentials to any client inside a cloud; refused even for allowed hosts."""

PRIVATE_HINT = "If it is meant, add the host to the source's `private_hosts`."
MAX_ADDRESSES = 3
"""Addresses of a host that are tried, one after another."""


def refusal(address: Address, *, private: bool = False) -> str:
    """Explain why an address is refused; empty if it is allowed.

    private: its host may have an address inside the network."""
    if address in _METADATA:
        return "a cloud's metadata service"
    if is_in_any(address, _PRIVATE):
        return "" if private else "an address inside the network"
    outside = address.version == 6 and address not in _PUBLIC
    if outside or is_in_any(address, _SPECIAL):
        return "an address of a special kind"
    return ""


def is_in_any(address: Address, networks: Iterable[AddressRange]) -> bool:
    return any(address in network for network in networks)


def host_key(host: str) -> str:
    """Normalise a host: lower case, ASCII, no brackets, no dot at the end."""
    plain = host.strip().strip("[]").rstrip(".").lower()
    if plain.isascii():
        return plain
    try:
        return httpx.URL(f"http://{plain}/").raw_host.decode("ascii")
    except (httpx.InvalidURL, UnicodeError):
        return plain


def resolve_host(host: str, port: int) -> list[str]:
    """Look up the numeric addresses of a host, best first."""
    rows = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    addresses = [str(row[4][0]) for row in rows]
    return list(dict.fromkeys(addresses))


Resolve = Callable[[str, int], Sequence[str]]


class Network(httpcore.NetworkBackend):
    """Connects to checked addresses only and raises SourceError for others. For one thread at a
    time.

    private_hosts: `host` or `host:port` that may have an address inside the network."""

    def __init__(self, private_hosts: Iterable[str] = (), resolve: Resolve | None = None) -> None:
        self._private = frozenset(map(normalise_entry, private_hosts))
        self._resolve = resolve
        self._pinned: dict[tuple[str, int], list[Address]] = {}
        self._plain = httpcore.SyncBackend()
        self.deadline = float("inf")
        """End of the current request by `clock`, also for reads whose bytes drip in."""
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
        for address in self.addresses(host, port)[:MAX_ADDRESSES]:
            try:
                stream = self._plain.connect_tcp(
                    str(address), port, self.seconds_left(timeout), local_address, socket_options
                )
                return TimedStream(stream, self)
            except (httpcore.ConnectError, httpcore.ConnectTimeout) as no:
                failed = no
        # The host may have moved: the next attempt resolves it again.
        self._pinned.pop((host_key(host), port), None)
        raise failed

    def connect_unix_socket(
        self, path: str, timeout: float | None = None, socket_options: Any = None
    ) -> Any:
        raise SourceError("Sockets of this machine are not read.")

    def addresses(self, host: str, port: int) -> list[Address]:
        """Return the addresses of a host, resolved and checked once. Raises SourceError if any is
        refused."""
        key = (host_key(host), port)
        if key not in self._pinned:
            self._pinned[key] = self._checked_addresses(*key)
        return self._pinned[key]

    def is_private(self, host: str, port: int | None) -> bool:
        """Tell whether a host may have an address inside the network."""
        key = host_key(host)
        return key in self._private or f"{key}:{port}" in self._private

    def end_at(self, deadline: float) -> None:
        """Set the end of the next request, by `clock`."""
        self.deadline = deadline

    def seconds_left(self, timeout: float | None) -> float:
        """Return the timeout, or what is left of the request's time if that is less."""
        rest = self.deadline - self.clock()
        if rest <= 0:
            raise httpcore.ReadTimeout("it takes too long")
        return min(rest, timeout if timeout is not None else rest)

    def _checked_addresses(self, host: str, port: int) -> list[Address]:
        resolve = self._resolve or resolve_host
        try:
            addresses = list(map(parse_ip, resolve(host, port)))
        except (OSError, UnicodeError) as unknown:
            raise httpcore.ConnectError(f"{host} is not known") from unknown
        private = self.is_private(host, port)
        for address in addresses:
            # One private address is enough to refuse: an honest host does not mix the two.
            why = refusal(address, private=private)
            if why:
                name = host if host == str(address) else f"{host} ({address})"
                raise SourceError(f"{name} is {why}: not read.", hint=PRIVATE_HINT)
        return addresses


class TimedStream(httpcore.NetworkStream):
    """A stream whose reads and writes end with the request's deadline, TLS handshake included."""

    def __init__(self, stream: httpcore.NetworkStream, network: Network) -> None:
        self._stream = stream
        self._network = network

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._stream.read(max_bytes, self._network.seconds_left(timeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._stream.write(buffer, self._network.seconds_left(timeout))

    def close(self) -> None:
        self._stream.close()

    def start_tls(
        self, ssl_context: Any, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.NetworkStream:
        seconds = self._network.seconds_left(timeout)
        secure = self._stream.start_tls(ssl_context, server_hostname, seconds)
        return TimedStream(secure, self._network)

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)


class GuardedTransport(httpx.BaseTransport):
    """Connects httpx to a `Network`, by httpcore's pool, as connections are made only there."""

    def __init__(self, network: Network, tls: Any = None) -> None:
        self._network = network
        self._tls = tls or httpx.create_ssl_context()
        self._pool = httpcore.ConnectionPool(
            ssl_context=self._tls,
            network_backend=network,
            max_connections=10,
            keepalive_expiry=15.0,
        )
        self._through: dict[str, tuple[httpcore.HTTPProxy, Network]] = {}
        """Proxy -> the connections through it, and what connects to it."""

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
        with httpx_errors():
            received = self._route(str(request.url)).handle_request(sent)
        return httpx.Response(
            received.status,
            headers=received.headers,
            stream=ResponseBody(received.stream),
            extensions=received.extensions,
        )

    def _route(self, url: str) -> httpcore.ConnectionPool:
        """Return the connections that a request takes: direct ones, or through the organisation's
        proxy. Where the name is known here, it is checked all the same."""
        proxy = proxy_address(url)
        address = httpx.URL(url)
        if not proxy or self._network.is_private(address.host, address.port):
            return self._pool
        with suppress(httpcore.ConnectError):
            self._network.addresses(address.host, address.port or 443)
        if proxy not in self._through:
            gate = httpx.URL(proxy)
            credentials = (gate.username, gate.password) if gate.username else None
            way = Network((gate.host,))
            pool = httpcore.HTTPProxy(
                f"{gate.scheme}://{gate.netloc.decode()}",
                proxy_auth=credentials,
                ssl_context=self._tls,
                network_backend=way,
                max_connections=10,
                keepalive_expiry=15.0,
            )
            self._through[proxy] = pool, way
        pool, way = self._through[proxy]
        way.clock = self._network.clock
        way.deadline = self._network.deadline
        return pool

    def close(self) -> None:
        self._pool.close()
        for pool, _ in self._through.values():
            pool.close()


class ResponseBody(httpx.SyncByteStream):
    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def __iter__(self) -> Iterator[bytes]:
        with httpx_errors():
            yield from self._stream

    def close(self) -> None:
        self._stream.close()


@contextmanager
def httpx_errors() -> Iterator[None]:
    try:
        yield
    except (httpcore.TimeoutException, httpcore.NetworkError, httpcore.ProtocolError) as failed:
        kind = getattr(httpx, type(failed).__name__, httpx.TransportError)
        raise kind(str(failed)) from failed


def normalise_entry(host: str) -> str:
    """Normalise `host` or `host:port`."""
    name, colon, port = host.strip().rpartition(":")
    is_ipv6 = ":" in name and "]" not in name
    if colon and port.isdigit() and not is_ipv6:
        return f"{host_key(name)}:{port}"
    return host_key(host)


def parse_ip(text: str) -> Address:
    try:
        return ipaddress.ip_address(text.partition("%")[0])
    except ValueError as wrong:
        raise httpcore.ConnectError(f"{text} is no address") from wrong
