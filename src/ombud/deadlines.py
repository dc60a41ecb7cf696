"""How long a step waits for another machine: until an answer has to be there, or for as long as the
machine asks for."""

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

_until: ContextVar[float | None] = ContextVar("until", default=None)


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """Limit everything that waits inside, in tasks and threads begun there too, to so many seconds;
    an earlier deadline around it still counts."""
    token = _until.set(time.monotonic() + seconds_left(seconds))
    try:
        yield
    finally:
        _until.reset(token)


def seconds_left(most: float) -> float:
    """Return the seconds until the deadline, at most `most`, and 0 once it has passed."""
    until = _until.get()
    return most if until is None else max(0.0, min(most, until - time.monotonic()))


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the seconds of Retry-After, a number or a date (RFC 9110, 10.2.3); None if it is
    neither. The headers take names in any case."""
    value = headers.get("Retry-After", "").strip()
    digits = value.replace(".", "", 1)  # some servers give fractions
    if digits.isdecimal() and digits.isascii():
        return float(value[:9])
    try:
        until = parsedate_to_datetime(value)
    except (ValueError, TypeError, IndexError):
        return None
    if until.tzinfo is None:
        until = until.replace(tzinfo=UTC)
    return max(0.0, (until - datetime.now(UTC)).total_seconds())
