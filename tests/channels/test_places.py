"""Who waits for an answer is served fairly, whoever asks more at once."""

import asyncio

import pytest

from ombud.channels import AskingPlaces


async def ask(places: AskingPlaces, owner: str, served: list[str]) -> None:
    async with places.of(owner):
        served.append(owner)
        await asyncio.sleep(0)


def served_by(places: AskingPlaces, owners: list[str]) -> list[str]:
    served: list[str] = []

    async def all_of_them() -> None:
        async with asyncio.TaskGroup() as group:
            for owner in owners:
                group.create_task(ask(places, owner, served))

    asyncio.run(all_of_them())
    return served


def test_one_who_asks_a_hundred_times_does_not_keep_the_others_waiting() -> None:
    owners = ["greedy"] * 100 + ["ann", "bob"]
    served = served_by(AskingPlaces(1), owners)
    assert served[:4] == ["greedy", "greedy", "ann", "bob"]
    assert sorted(served) == sorted(owners)


def test_as_many_as_there_are_places_are_served_at_once() -> None:
    places = AskingPlaces(2)

    async def run() -> None:
        async with places.of("ann"):
            assert not places.locked()
            async with places.of("ann"):
                assert places.locked()
                with pytest.raises(TimeoutError):
                    await asyncio.wait_for(places.enter("bob"), 0.01)
        assert not places.locked()

    asyncio.run(run())


def test_who_goes_away_gives_the_place_to_the_next() -> None:
    places = AskingPlaces(1)
    served: list[str] = []

    async def run() -> None:
        await places.enter("first")
        gone = asyncio.create_task(ask(places, "gone", served))
        stays = asyncio.create_task(ask(places, "stays", served))
        await asyncio.sleep(0)
        places.leave()
        gone.cancel()  # it has been given the place, and has not taken it yet
        await stays

    asyncio.run(run())
    assert served == ["stays"]
    assert not places.locked()
