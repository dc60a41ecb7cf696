"""Token buckets on a clock of their own."""

import pytest

from ombud.web import rate_limit
from ombud.web.rate_limit import RateLimiter, network_of


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def limiter(clock: Clock, per_minute: int = 60, burst: int = 3) -> RateLimiter:
    return RateLimiter(per_minute=per_minute, burst=burst, clock=clock)


def passed(limits: RateLimiter, count: int, address: str = "10.0.0.1") -> int:
    """How many of so many requests pass."""
    return sum(limits.take(address) == 0 for _ in range(count))


def test_a_burst_passes_and_then_the_rate() -> None:
    clock = Clock()
    limits = limiter(clock)
    assert passed(limits, 10) == 3
    clock.now += 2
    assert passed(limits, 10) == 2
    clock.now += 3600
    assert passed(limits, 10) == 3


def test_who_is_refused_hears_when_to_come_again() -> None:
    clock = Clock()
    limits = limiter(clock, per_minute=6, burst=1)
    limits.take("10.0.0.1")
    wait = limits.take("10.0.0.1")
    assert wait == pytest.approx(10)
    # Asking too early does not make it longer.
    clock.now += 4
    assert limits.take("10.0.0.1") == pytest.approx(6)
    clock.now += 6
    assert limits.take("10.0.0.1") == 0


def test_everyone_has_a_bucket_of_their_own() -> None:
    limits = limiter(Clock())
    assert passed(limits, 5, "10.0.0.1") == 3
    assert passed(limits, 5, "10.0.0.2") == 3


def test_no_limit_is_none() -> None:
    assert passed(limiter(Clock(), per_minute=0), 5000) == 5000


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("127.0.0.1", "127.9.9.9"),
        ("127.0.0.1", "::1"),
        ("2001:db8::1", "2001:db8::ffff:1"),
    ],
)
def test_addresses_that_a_machine_may_choose_freely_count_as_one(one: str, other: str) -> None:
    assert network_of(one) == network_of(other)


def test_other_addresses_are_told_apart() -> None:
    addresses = ["10.0.0.1", "10.0.0.2", "2001:db8::1", "2001:db8:0:1::1", "::1", "", "testclient"]
    assert len({network_of(address) for address in addresses}) == len(addresses)


def test_only_so_many_addresses_are_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rate_limit, "MOST_ADDRESSES", 2)
    limits = limiter(Clock(), burst=1)
    assert [limits.take(f"10.0.0.{n}") for n in (1, 2)] == [0, 0]
    assert limits.take("10.0.0.1") > 0
    # A third takes the place of the one not heard of for longest.
    assert limits.take("10.0.0.3") == 0
    assert limits.take("10.0.0.1") > 0
    assert limits.take("10.0.0.2") == 0
