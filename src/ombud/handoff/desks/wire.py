"""What desks reached over HTTP share."""

import httpx
from pydantic import BaseModel

from ombud.errors import BadSetting


class NoReply(BaseModel):
    """The shape of a reply whose content does not matter."""


def check_address(url: str, setting: str, example: str) -> str:
    """Return the address without a trailing slash. Raises BadSetting if it is no HTTP address."""
    try:
        address = httpx.URL(url.strip())
    except httpx.InvalidURL:
        address = httpx.URL()
    if address.scheme not in {"http", "https"} or not address.host:
        raise BadSetting(f"{setting} is not an address.", hint=f"Set {setting}, such as {example}")
    return url.strip().rstrip("/")


def waiting_client(seconds: float, headers: dict[str, str] | None = None) -> httpx.AsyncClient:
    """Make a client whose calls do not block each other, because each open conversation may hold a
    connection that waits for news. seconds: timeout of a reply."""
    return httpx.AsyncClient(
        headers=headers,
        timeout=httpx.Timeout(seconds, pool=None),
        limits=httpx.Limits(max_connections=None, max_keepalive_connections=20),
    )
