"""Which requests go through a proxy of the environment, and which never may.

HTTP clients read HTTP_PROXY, HTTPS_PROXY, ALL_PROXY and NO_PROXY when they are opened. Addresses of
this machine and of private networks are added to NO_PROXY before that, so that no client of ours or
of a library takes them elsewhere."""

import os
import ssl
from collections.abc import Iterable, Iterator
from ipaddress import IPv4Address, IPv6Address, ip_address
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from urllib.request import (  # type: ignore[attr-defined]
    getproxies,
    getproxies_environment,
    proxy_bypass_environment,
)

import certifi

from ombud.masking import mask_secrets

EXEMPT = ("NO_PROXY", "no_proxy")
"""Both are set: some clients read only one, and an empty lower-case one hides the other."""


def is_loopback(url: str) -> bool:
    """Tell whether a URL names this machine: `localhost`, a name below it, or a loopback address.
    Other names are not looked up, since their meaning may change."""
    host = _host(url)
    if host == "localhost" or host.endswith(".localhost"):
        return True
    address = _address(host)
    return address is not None and address.is_loopback


def is_local(url: str) -> bool:
    """Tell whether a URL names this machine or an address of a private network."""
    address = _address(_host(url))
    return is_loopback(url) or (address is not None and address.is_private)


def proxy_of(url: str) -> str:
    """Return the proxy that clients opened now take for `url`, empty where they connect directly.
    The result is safe to print."""
    return mask_secrets(proxy_address(url))


def proxy_address(url: str) -> str:
    """Return that proxy with its password."""
    host = _host(url)
    proxies = getproxies()
    if not host or proxy_bypass_environment(host, proxies):
        return ""
    scheme = urlsplit(url).scheme.lower()
    return str(proxies.get(scheme) or proxies.get("all") or "")


def take_proxy(proxy: str, direct: Iterable[str]) -> None:
    """Let all clients of this process that are opened from now on take a proxy, except to the hosts
    that are reached directly."""
    if proxy:
        for scheme in ("http", "https"):
            for name in (f"{scheme}_proxy", f"{scheme}_proxy".upper()):
                os.environ[name] = proxy
    for host in direct:
        if host not in getproxies().get("no", "").split(","):
            _exempt(host)


def trust_authority(authority: Path, bundle: Path) -> None:
    """Let all clients of this process trust a certificate authority beside the public ones, by a
    file of both at `bundle`. Raises OSError, also for a file that holds no certificate."""
    ssl.create_default_context(cafile=authority)
    certificates = Path(certifi.where()).read_bytes() + b"\n" + authority.read_bytes()
    if not bundle.is_file() or bundle.read_bytes() != certificates:
        draft = bundle.with_suffix(".part")
        draft.write_bytes(certificates)
        draft.replace(bundle)
    for name in ("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "AWS_CA_BUNDLE"):
        os.environ[name] = str(bundle)


def bypass_proxies(url: str) -> bool:
    """Exempt the host of `url`, if it is local, from the proxies of this process. Returns True
    where clients opened before would still take one."""
    if not (is_local(url) and proxy_of(url)):
        return False
    _exempt(_host(url))
    return True


def bypass_proxies_of(settings: Any) -> None:
    """Exempt every local address that stands anywhere in the settings."""
    for url in _urls(settings):
        bypass_proxies(url)


def route_of(url: str) -> str:
    """Describe for an administrator how requests to `url` travel."""
    host = urlsplit(url).netloc.rpartition("@")[2] or "the provider"
    proxy = proxy_of(url)
    return f"through the proxy {proxy} to {host}" if proxy else f"directly to {host}"


def _exempt(host: str) -> None:
    if not getproxies_environment():
        # Some systems configure proxies elsewhere, where they count only while this names none.
        os.environ.update({f"{scheme}_proxy": proxy for scheme, proxy in getproxies().items()})
    hosts = [part.strip() for part in getproxies().get("no", "").split(",")]
    exempt = ",".join([part for part in hosts if part] + [host])
    for name in EXEMPT:
        os.environ[name] = exempt


def _host(url: str) -> str:
    """Return the host in lower case, empty where `url` is not an address."""
    try:
        return (urlsplit(url).hostname or "").rstrip(".")
    except ValueError:
        return ""


def _address(host: str) -> IPv4Address | IPv6Address | None:
    try:
        address = ip_address(host)
    except ValueError:
        return None
    return getattr(address, "ipv4_mapped", None) or address


def _urls(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        if "://" in value:
            yield value
    elif isinstance(value, dict):
        yield from _urls(value.values())
    elif isinstance(value, Iterable):
        for part in value:
            yield from _urls(part)
