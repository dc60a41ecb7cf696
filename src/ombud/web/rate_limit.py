"""How often somebody may ask: a token bucket for each address.

The rule is the token bucket of network shaping (RFC 2697 counts bytes with it): a burst goes
through at once, a stream goes through at the rate.
"""

import ipaddress
import time
from collections import OrderedDict
from collections.abc import Callable

MOST_ADDRESSES = 10_000
"""Addresses that are remembered at once, about 2 MB. The one not heard of for longest goes first;
it then has a full bucket again."""

Clock = Callable[[], float]
"""Seconds from any beginning, never going back."""


class TokenBucket:
    """Full with `burst` tokens; `per_minute` come back each minute. One request takes one."""

    def __init__(self, *, per_minute: float, burst: float, now: float) -> None:
        self._per_second = per_minute / 60
        self._burst = burst
        self._tokens = burst
        self._counted_at = now

    def take(self, now: float) -> float:
        """Take a token: 0.0. Where there is none, the seconds until there will be one."""
        returned = (now - self._counted_at) * self._per_second
        self._tokens = min(self._burst, self._tokens + returned)
        self._counted_at = now
        if self._tokens >= 1:
            self._tokens -= 1
            return 0.0
        return (1 - self._tokens) / self._per_second


class RateLimiter:
    """A bucket for each address; per_minute = 0 limits nobody."""

    def __init__(self, *, per_minute: int, burst: int, clock: Clock = time.monotonic) -> None:
        self._per_minute = per_minute
        self._burst = burst
        self._clock = clock
        self._buckets: OrderedDict[str, TokenBucket] = OrderedDict()

    def take(self, address: str) -> float:
        """Count a request: 0.0 where it may pass, otherwise the seconds until one may."""
        if not self._per_minute:
            return 0.0
        owner = network_of(address)
        bucket = self._buckets.get(owner)
        if bucket is None:
            bucket = TokenBucket(per_minute=self._per_minute, burst=self._burst, now=self._clock())
            self._buckets[owner] = bucket
        self._buckets.move_to_end(owner)
        if len(self._buckets) > MOST_ADDRESSES:
            self._buckets.popitem(last=False)
        return bucket.take(self._clock())


def network_of(address: str) -> str:
    """Return the network that one machine can choose its addresses from: 127.0.0.0/8, or a /64 of
    IPv6."""
    try:
        host = ipaddress.ip_address(address)
    except ValueError:  # a socket of the file system has no address
        return address
    if host.is_loopback:
        return "loopback"
    if host.version == 4:
        return address
    return str(ipaddress.ip_network((address, 64), strict=False))
