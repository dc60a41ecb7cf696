"""Daily budgets per person and per group: when one is used up, people get quotes, and are told."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from answer.asking import LEAVE, ask, company
from answer.faulty import Faulty, misbehaving, ok
from answer.test_outages import QUOTE, works, workspace
from ombud.app import Workspace
from ombud.messages import message
from ombud.types import Answer, Person

COMPOSING = {"roles": {"verify": "none", "strategy": "none"}, "prices": {"openai:a": (1.0, 1.0)}}
ONE_CALL = 0.00001
"""US dollars that a single call uses up."""


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    made = company(tmp_path_factory.mktemp("home"))
    yield made.workspace.home
    made.workspace.close()


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Faulty]:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with misbehaving(lambda asked: ok(works(asked))) as running:
        yield running


def asked(opened: Workspace, person: str, *groups: str) -> Answer:
    return ask(opened, LEAVE, Person(id=person, country="GB", groups=groups))


def opened(home: Path, server: Faulty, **budgets: Any) -> Workspace:
    return workspace(home, server.url, **COMPOSING, **budgets)


def is_composed(answer: Answer) -> bool:
    return answer.trace.path == "composed"


def is_quoted(answer: Answer, owner: str) -> bool:
    """Tell whether the answer was quoted for want of money, with a notice and a trace that say
    so."""
    (note,) = [note for note in answer.trace.degraded if note.startswith("model: ")]
    says_so = answer.text.endswith(f"_{message('answer.budget_spent')}_")
    return says_so and QUOTE in answer.text and f"budget of {owner}" in note


def test_a_person_whose_budget_is_used_up_gets_quotes_and_others_go_on(
    home: Path, server: Faulty
) -> None:
    desk = opened(home, server, person_budget=ONE_CALL)
    assert is_composed(asked(desk, "ana"))
    assert is_quoted(asked(desk, "ana"), "the person")
    assert is_composed(asked(desk, "ben"))
    assert len(server.asked) == 2
    desk.close()
    again = opened(home, server, person_budget=ONE_CALL)  # another process counts on
    assert is_quoted(asked(again, "ana"), "the person")
    again.close()


def test_a_group_shares_its_budget(home: Path, server: Faulty) -> None:
    desk = opened(home, server, group_budgets={"contractors": ONE_CALL})
    assert is_composed(asked(desk, "cleo", "contractors"))
    assert is_quoted(asked(desk, "dan", "staff", "contractors"), "a group of theirs")
    assert is_composed(asked(desk, "eve", "staff"))
    desk.close()


@pytest.mark.parametrize("language", ["de", "fr", "es", "nl"])
def test_the_notice_is_there_in_every_language(language: str) -> None:
    assert message("answer.budget_spent", language) != message("answer.budget_spent")
