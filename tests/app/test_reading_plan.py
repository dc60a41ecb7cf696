"""A plan that wants the small reader gets it, whatever the workspace's own plan says."""

import asyncio
from pathlib import Path

import pytest

from app.conftest import Open
from ombud.app import asking, sync_all
from ombud.types import Question

SETTINGS = '[[source]]\nname = "docs"\npath = "docs"\n'
RULE = "# Sickness\n\nA doctor's note is needed from the fourth day of illness.\n"


@pytest.mark.parametrize("wanted", [True, False])
def test_a_question_may_ask_for_the_reader(open_home: Open, tmp_path: Path, wanted: bool) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "sick.md").write_text(RULE, encoding="utf-8")
    workspace = open_home(SETTINGS, models={"embedder": "minilm"})
    if workspace.embedder is None:
        pytest.skip("the embedding model is not installed")
    sync_all(workspace)
    question = Question(text="when do i need a doctors note")
    answer = asyncio.run(asking.ask(workspace, question, plan={"reader": wanted}))
    assert ("read_best" in answer.trace.signals) == wanted
