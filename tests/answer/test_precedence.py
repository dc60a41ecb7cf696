"""Which of two rules counts: said to a chat model, enforced on what it claims, told to people."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from answer.asking import GB, NOBODY, Script, ask, claim, company, draft, label, with_model
from ombud.app import Workspace

LEAVE = "How many days of paid annual leave do full-time employees have?"
LOCAL = "Full-time employees have 26 days of paid annual leave."
EVERYWHERE = "Full-time employees have 25 days of paid annual leave."


def leave(days: int) -> str:
    rule = f"Full-time employees have {days} days of paid annual leave each calendar year."
    return f"# Annual leave\n\n{rule}\n"


FILES: dict[str, tuple[str, dict[str, str]]] = {
    "gb.md": (leave(26), {"title": "Leave in Great Britain", "country": "GB", "topic": "leave"}),
    "all.md": (leave(25), {"title": "Leave worldwide", "topic": "leave"}),
}


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    shelf = company(tmp_path_factory.mktemp("home"), files=FILES, plan={"abstain": 0.0})
    yield shelf.workspace
    shelf.workspace.close()


def test_a_model_is_told_which_rule_counts(home: Workspace) -> None:
    script = Script(lambda p: draft(claim(LOCAL, label(p, "26 days"))))
    ask(with_model(home, script.chat), LEAVE)
    section = script.prompts[0].partition("=== Where passages differ ===\n")[2]
    assert section.startswith('On "')
    assert "L1 counts and G1 does not: it is the rule of the asker's country." in section


def test_the_overridden_rule_is_not_given_as_the_rule(home: Workspace) -> None:
    script = Script(
        lambda p: draft(claim(EVERYWHERE, label(p, "25 days"))),
        lambda p: draft(claim(LOCAL, "L1")),
    )
    answer = ask(with_model(home, script.chat), LEAVE)
    assert "what L1 says counts instead" in script.prompts[1]
    assert [one.text for one in answer.claims] == [LOCAL]


def test_both_may_be_said_together(home: Workspace) -> None:
    both = "In Great Britain you have 26 days; elsewhere employees have 25 days of annual leave."

    def write(prompt: str) -> Any:
        return draft(claim(both, label(prompt, "26 days"), label(prompt, "25 days")))

    answer = ask(with_model(home, Script(write).chat), LEAVE)
    assert [one.text for one in answer.claims] == [both]


def test_where_only_the_global_rule_is_read_it_counts(home: Workspace) -> None:
    script = Script(lambda p: draft(claim(EVERYWHERE, label(p, "25 days"))))
    answer = ask(with_model(home, script.chat), LEAVE, NOBODY)
    assert [one.text for one in answer.claims] == [EVERYWHERE]
    assert "Where passages differ" not in script.prompts[0]


def test_two_documents_of_one_standing_that_disagree_are_named(tmp_path: Path) -> None:
    files = {
        "a.md": (leave(25), {"title": "Staff handbook"}),
        "b.md": (leave(28), {"title": "Welcome booklet"}),
    }
    shelf = company(tmp_path, files=files, plan={"abstain": 0.0})
    answer = ask(shelf.workspace, LEAVE, GB)
    assert "Two documents disagree: “" in answer.text
    assert "“Staff handbook” says 25 days" in answer.text
    assert "“Welcome booklet” says 28 days" in answer.text
    assert ".md" not in answer.text
    shelf.workspace.close()


def test_the_later_of_two_versions_counts(tmp_path: Path) -> None:
    files = {
        "old.md": (leave(25), {"title": "Leave", "effective_from": "2020-01-01"}),
        "new.md": (leave(28), {"title": "Leave", "effective_from": "2025-01-01"}),
    }
    shelf = company(tmp_path, files=files, plan={"abstain": 0.0})
    answer = ask(shelf.workspace, LEAVE, GB)
    assert answer.text.startswith(
        "**28 days**: the later page counts, the one before it says 25 days."
    )
    assert "disagree" not in answer.text
    shelf.workspace.close()
