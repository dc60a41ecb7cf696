"""Who comes when, and how long it takes; counted by hand."""

from datetime import UTC, datetime, timedelta

from ombud.handoff import expected_wait, positions, suits
from ombud.settings import AdvisorSettings
from ombud.types import Person, Session

ANA = AdvisorSettings(id="ana", name="Ana", countries=("GB",))
TOM = AdvisorSettings(id="tom", name="Tom", topics=("pay",), countries=("DE",))
EVE = AdvisorSettings(id="eve", name="Eve")
START = datetime(2026, 11, 23, 9, tzinfo=UTC)


def waiting(
    name: str, minute: int, country: str = "", topic: str = "", wanted: str = ""
) -> Session:
    return Session(
        id=name,
        asker=Person(country=country or None),
        state="queued",
        topic=topic,
        wanted=wanted,
        since=START + timedelta(minutes=minute),
    )


def test_only_those_before_one_whom_the_same_advisors_take_count() -> None:
    queue = [
        waiting("c", 3, "DE", "pay"),
        waiting("a", 1, "GB"),
        waiting("b", 2, "GB"),
        waiting("d", 4, "DE", "pay"),
    ]
    assert positions(queue, [ANA, TOM]) == {"a": 1, "b": 2, "c": 1, "d": 2}
    # Whoever takes everything stands between them.
    assert positions(queue, [ANA, TOM, EVE]) == {"a": 1, "b": 2, "c": 3, "d": 4}


def test_whom_nobody_takes_waits_behind_everybody() -> None:
    queue = [waiting("a", 1, "GB"), waiting("x", 2, "FR"), waiting("b", 3, "GB")]
    assert positions(queue, [ANA]) == {"a": 1, "x": 2, "b": 3}


def test_one_who_is_wanted_by_name_is_for_nobody_else() -> None:
    wanted = waiting("a", 1, "DE", "leave", wanted="ana")
    assert [suits(one, wanted) for one in (ANA, TOM, EVE)] == [True, False, False]
    unknown = waiting("b", 1)
    assert all(suits(one, unknown) for one in (ANA, TOM, EVE))


def test_the_wait_is_the_median_for_each_round_of_advisors() -> None:
    waits = [60.0, 120.0, 180.0, 240.0, 6000.0]
    assert expected_wait(1, waits, 1) == 180.0
    assert expected_wait(4, waits, 2) == 360.0
    assert expected_wait(3, waits, 0) == 540.0
    assert expected_wait(1, waits[:4], 1) is None
