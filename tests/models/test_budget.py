"""The day's budget: over HTTP, with a real store."""

import asyncio
from collections.abc import Iterator
from datetime import date
from pathlib import Path

import pytest

from answer.faulty import Faulty, misbehaving
from copies import open_copy
from models.test_roles import Word, says
from models.timing import Clock
from ombud.errors import BudgetSpent, StoreError
from ombud.models import Budget, Chat, ModelRoles
from ombud.settings import ModelSettings
from ombud.store import Spending, Store, add_spending, spent_on
from ombud.store.spending import read_spending

PRICE = (50 * 2 + 5 * 8) / 1e6
"""Of one call of gpt-4.1: 2.00 and 8.00 US dollars a million tokens (openai.com/api/pricing, April
2025)."""
FIRST, NEXT = date(2026, 1, 31), date(2026, 2, 1)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    opened = open_copy(tmp_path)
    yield opened
    opened.close()


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Faulty]:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with misbehaving(says) as running:
        yield running


class Day:
    today = FIRST


def opened(
    server: Faulty, store: Store, limit: float, clock: Clock, day: Day, *fallbacks: str
) -> Chat:
    models = ModelSettings(
        chat="openai:gpt-4.1", base_url=server.url, daily_budget=limit, fallbacks=fallbacks
    )
    purse = Budget(lambda: store, models, lambda: day.today, lambda: clock.now)
    chat = ModelRoles(models, purse, clock.timing).chat("compose")
    assert chat is not None
    return chat


def ask(chat: Chat) -> str:
    return asyncio.run(chat.reply("Be brief.", "Yes?", Word, temperature=0, seconds=60)).model


def test_what_is_spent_is_counted_and_ends_at_the_budget(server: Faulty, store: Store) -> None:
    day = Day()
    chat = opened(server, store, 1.5 * PRICE, Clock(), day)
    ask(chat)
    ask(chat)
    with pytest.raises(BudgetSpent, match="US dollars for models are spent") as spent:
        ask(chat)
    assert "models.daily_budget" in spent.value.hint
    assert len(server.asked) == 2
    (row,) = read_spending(store, "2026-01-31")
    assert row == Spending("openai:gpt-4.1", 2, 100, 10, row.price)
    assert row.price == pytest.approx(2 * PRICE)
    day.today = NEXT
    assert ask(chat) == "openai:gpt-4.1"


def test_another_process_spends_from_the_same_budget(server: Faulty, store: Store) -> None:
    clock = Clock()
    chat = opened(server, store, 1.5 * PRICE, clock, Day())
    ask(chat)
    add_spending(store, "2026-01-31", Spending("openai:o3", 1, 9, 9, PRICE))
    clock.now += 11
    with pytest.raises(BudgetSpent, match="spent"):
        ask(chat)
    assert len(server.asked) == 1


def test_a_model_without_a_price_stands_in_for_one_with(server: Faulty, store: Store) -> None:
    chat = opened(server, store, 0.5 * PRICE, Clock(), Day(), "openai:own-model")
    assert [ask(chat) for _ in range(2)] == ["openai:gpt-4.1", "openai:own-model"]
    assert spent_on(store, "2026-01-31") == pytest.approx(PRICE)


def test_without_a_budget_nothing_is_counted(server: Faulty, store: Store) -> None:
    ask(opened(server, store, 0, Clock(), Day()))
    assert read_spending(store, "2026-01-31") == []


def test_a_store_that_fails_loses_no_question(server: Faulty, store: Store) -> None:
    def broken() -> Store:
        raise StoreError("The store failed.")

    models = ModelSettings(chat="openai:gpt-4.1", base_url=server.url, daily_budget=1)
    chat = ModelRoles(models, Budget(broken, models, lambda: FIRST)).chat("compose")
    assert chat is not None
    assert ask(chat) == "openai:gpt-4.1"
