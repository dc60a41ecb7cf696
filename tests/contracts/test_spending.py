"""What every database must do for the daily budget."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from ombud.store import Spending, Store, add_spending, open_store, spent_by, spent_on
from ombud.store.spending import read_spending
from store.places import database

DAY = "2026-01-31"


@pytest.fixture(params=["sqlite", "postgresql"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    with database(request.param) as url:
        opened = open_store(url, tmp_path)
        yield opened
        opened.close()


def test_a_day_adds_up_by_model(store: Store) -> None:
    assert spent_on(store, DAY) == 0
    assert add_spending(store, DAY, Spending("a:small", 1, 100, 10, 0.25)) == 0.25
    assert add_spending(store, DAY, Spending("a:large", 1, 5, 5, 1.5)) == 1.75
    assert add_spending(store, DAY, Spending("a:small", 2, 100, 10, 0.5)) == 2.25
    assert add_spending(store, "2026-02-01", Spending("a:small", 1, 1, 1, 4.0)) == 4.0
    assert spent_on(store, DAY) == 2.25
    assert read_spending(store, DAY) == [
        Spending("a:large", 1, 5, 5, 1.5),
        Spending("a:small", 3, 200, 20, 0.75),
    ]


def test_nothing_is_lost_where_many_add_at_once(store: Store) -> None:
    with ThreadPoolExecutor(6) as threads:
        totals = list(
            threads.map(
                lambda _: add_spending(store, DAY, Spending("a:b", 1, 2, 1, 0.5)), range(24)
            )
        )
    assert max(totals) == spent_on(store, DAY) == 12.0
    assert read_spending(store, DAY) == [Spending("a:b", 24, 48, 24, 12.0)]


def test_more_tokens_than_a_small_number_holds_and_a_name_longer_than_its_column(
    store: Store,
) -> None:
    add_spending(store, DAY, Spending("a:" + "b" * 300, 1, 3_000_000_000, 3_000_000_000, 0.0))
    (row,) = read_spending(store, DAY)
    assert (len(row.model), row.tokens_in) == (200, 3_000_000_000)


def test_people_and_groups_add_up_apart_and_only_for_the_day(store: Store) -> None:
    call = Spending("a:small", 1, 100, 10, 0.25)
    add_spending(store, DAY, call, ["ana", "staff"])
    add_spending(store, DAY, call, ["staff", "ben"])
    assert spent_by(store, DAY, ["ana", "ben", "staff", "cleo"]) == {
        "ana": 0.25,
        "ben": 0.25,
        "staff": 0.5,
        "cleo": 0.0,
    }
    assert spent_on(store, DAY) == 0.5
    add_spending(store, "2026-02-01", call, ["ana"])
    assert spent_by(store, DAY, ["ana", "staff"]) == {"ana": 0.0, "staff": 0.0}
