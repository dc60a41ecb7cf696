"""What desks that are reached over HTTP share."""

from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

import httpx
from pydantic import BaseModel

from ombud.errors import BadSetting


class NoReply(BaseModel):
    """The shape of calls whose reply says nothing beyond that they were done."""


def check_address(url: str, setting: str, example: str) -> str:
    """The address, without a slash at its end. Raises BadSetting where it is none of HTTP."""
    try:
        address = httpx.URL(url.strip())
    except httpx.InvalidURL:
        address = httpx.URL()
    if address.scheme not in {"http", "https"} or not address.host:
        raise BadSetting(f"{setting} is no address.", hint=f"Set {setting}, such as {example}")
    return url.strip().rstrip("/")


def waiting_client(seconds: float, headers: dict[str, str] | None = None) -> httpx.AsyncClient:
    """A client whose calls do not wait for each other: each open conversation may hold a connection
    on which it waits for news. seconds: how long a reply may take."""
    return httpx.AsyncClient(
        headers=headers,
        timeout=httpx.Timeout(seconds, pool=None),
        limits=httpx.Limits(max_connections=None, max_keepalive_connections=20),
    )


def retry_after(headers: httpx.Headers) -> float | None:
    """Seconds of Retry-After, which is a number or a date; None where it says neither."""
    value = headers.get("retry-after", "").strip()
    if value.isdecimal() and value.isascii():
        return float(value[:9])
    try:
        until = parsedate_to_datetime(value)
    except (ValueError, TypeError, IndexError):
        return None
    if until.tzinfo is None:
        until = until.replace(tzinfo=UTC)
    return max(0.0, (until - datetime.now(UTC)).total_seconds())
