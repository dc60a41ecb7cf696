"""A single word opens the page that it names."""

from collections.abc import Iterator

import pytest

from answer.asking import GB, ask, company
from ombud.app import Workspace

PENSION = """\
# Pension plan

The plan is open to everybody who has worked here for a month.

## Contributions

You pay four per cent of your salary and the company pays eight.

## Leaving the company

What has been paid in stays yours.
"""
FILES: dict[str, tuple[str, dict[str, str]]] = {
    "pension.md": (PENSION, {"topic": "pension"}),
    "leave.md": ("# Annual leave\n\n## Days\n\nYou have 26 days of leave a year.\n", {}),
    "travel.md": ("# Travel\n\n## Hotels\n\nHotels are booked in the travel tool.\n", {}),
}


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    shelf = company(tmp_path_factory.mktemp("home"), embedder="minilm", files=FILES)
    yield shelf.workspace
    shelf.workspace.close()


@pytest.mark.parametrize("word", ["pension", "Pensions?"])
def test_a_word_opens_the_page_that_it_names(home: Workspace, word: str) -> None:
    answer = ask(home, word, GB)
    assert (answer.outcome, answer.action) == ("full", "none")
    assert "The plan is open to everybody who has worked here for a month. [1]" in answer.text
    assert "- Contributions [2]\n- Leaving the company [3]" in answer.text
    quotes = [citation.quote for citation in answer.citations]
    assert quotes[1] == "You pay four per cent of your salary and the company pays eight."
    assert quotes[2] == "What has been paid in stays yours."


def test_only_questions_that_are_answered_are_suggested(home: Workspace) -> None:
    suggested = ask(home, "pension", GB).suggestions
    for question in suggested:
        assert ask(home, question, GB).outcome == "full"


def test_a_word_that_no_title_has_opens_no_page(home: Workspace) -> None:
    assert "On this page" not in ask(home, "hovercraft", GB).text
