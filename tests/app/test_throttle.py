"""How fast passwords may be tried: everybody is let through, those who guess only slowly."""

import asyncio
from collections.abc import Awaitable, Iterable

import pytest

from ombud.app import signing_in
from ombud.errors import Busy


class Waits:
    """A throttle at a time that stands still, and the pauses it has made."""

    def __init__(self) -> None:
        self.now = 0.0
        self.pauses: list[float] = []
        self.throttle = signing_in.Throttle(clock=lambda: self.now, sleep=self._sleep)

    async def _sleep(self, seconds: float) -> None:
        self.pauses.append(seconds)

    def waited(self, tries: Iterable[tuple[str, str]], result: str | None = None) -> list[float]:
        """Pauses of these tries, one after the other."""

        async def check() -> str | None:
            return result

        async def all_of_them() -> list[float]:
            seconds: list[float] = []
            for name, address in tries:
                self.pauses.clear()
                assert await self.throttle.take_turn(name, address, check) == result
                seconds.append(sum(self.pauses))
            return seconds

        return asyncio.run(all_of_them())


def test_pauses_grow_for_a_name_at_an_address_and_end_at_a_right_password() -> None:
    waits = Waits()
    guessed = waits.waited([("ann", "10.0.0.1")] * 11)
    assert guessed == [0, 0, 0, 0, 0, 0.5, 1, 2, 4, 4, 4]
    assert waits.waited([("ann", "10.0.0.2"), ("bob", "10.0.0.1")]) == [0, 0]
    assert waits.waited([("ann", "10.0.0.1")], "ann") == [4]
    assert waits.waited([("ann", "10.0.0.1")]) == [0]


def test_wrong_passwords_are_forgotten_one_every_half_minute() -> None:
    waits = Waits()
    waits.waited([("ann", "10.0.0.1")] * 6)
    waits.now = 60.0
    assert waits.waited([("ann", "10.0.0.1")] * 2) == [0, 0.5]


def test_many_names_from_an_address_and_many_addresses_for_a_name_are_slowed() -> None:
    names, addresses = Waits(), Waits()
    of_names = names.waited((f"name{n}", "10.0.0.1") for n in range(40))
    of_addresses = addresses.waited(("ann", f"10.0.1.{n}") for n in range(40))
    assert of_names == of_addresses
    assert of_names[:20] == [0] * 20
    assert of_names[-1] == 4
    # The owner waits no longer than everybody, and gets in.
    assert addresses.waited([("ann", "10.0.0.1")], "ann") == [4]


def test_a_flood_waits_without_end_for_nobody_and_the_newest_is_let_in() -> None:
    """A thousand at once, each from an address of its own: few wait, and the last one, the owner,
    is among them."""
    go_on = asyncio.Event()

    async def sleep(_seconds: float) -> None:
        await go_on.wait()

    throttle = signing_in.Throttle(clock=lambda: 0.0, sleep=sleep)
    checked: list[str] = []

    def tried(address: str) -> Awaitable[str | None]:
        async def check() -> str | None:
            checked.append(address)
            await go_on.wait()
            return "ann" if address == "owner" else None

        return throttle.take_turn("ann", address, check)

    async def flood() -> None:
        tries = [asyncio.ensure_future(tried(f"stranger {n}")) for n in range(1000)]
        tries.append(asyncio.ensure_future(tried("owner")))
        turned_away = await asyncio.gather(*tries[:-16], return_exceptions=True)
        assert {type(one) for one in turned_away} == {Busy}
        go_on.set()
        assert await asyncio.gather(*tries[-16:]) == [None] * 15 + ["ann"]

    asyncio.run(flood())
    assert len(checked) <= 20 + 16


def test_a_check_that_fails_says_so() -> None:
    async def check() -> str | None:
        raise RuntimeError("no database")

    with pytest.raises(RuntimeError, match="no database"):
        asyncio.run(signing_in.Throttle().take_turn("ann", "10.0.0.1", check))
