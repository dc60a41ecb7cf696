"""When the small reader reads."""

import asyncio
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path

import pytest

from app.conftest import Open, open_with_vectors
from ombud.app import Workspace, asking
from ombud.models.embed.minilm import WEIGHTS_SHA256
from ombud.models.reader.reader import DELTA_SHA256
from ombud.types import Question

RULE = "# Sickness\n\nA doctor's note is needed from the fourth day of illness.\n"


@pytest.fixture
def workspace(open_home: Open, tmp_path: Path) -> Workspace:
    return open_with_vectors(open_home, tmp_path, RULE)


def signals_of(workspace: Workspace, **plan: object) -> Mapping[str, float]:
    question = Question(text="when do i need a doctors note")
    return asyncio.run(asking.ask(workspace, question, plan=plan)).trace.signals


@pytest.mark.parametrize("wanted", ["always", "never"])
def test_a_question_may_ask_for_the_reader(workspace: Workspace, wanted: str) -> None:
    assert ("read_best" in signals_of(workspace, reader=wanted)) == (wanted == "always")


def test_it_reads_unless_it_is_told_otherwise(workspace: Workspace) -> None:
    assert "read_best" in signals_of(workspace)


def test_it_may_read_only_where_confidence_is_near_the_threshold(workspace: Workspace) -> None:
    confidence = signals_of(workspace, reader="never")["confidence"]
    assert "read_best" in signals_of(workspace, reader="unsure", abstain=confidence)
    assert "read_best" in signals_of(workspace, reader="unsure", abstain=confidence - 0.04)
    assert "read_best" not in signals_of(workspace, reader="unsure", abstain=confidence - 0.06)


@pytest.mark.parametrize("wanted", ["always", "unsure"])
def test_of_many_questions_at_once_few_are_read(workspace: Workspace, wanted: str) -> None:
    confidence = signals_of(workspace, reader="never")["confidence"]
    with ExitStack() as others:
        while others.enter_context(workspace.reading_place(served=True)):
            pass
        beside = signals_of(workspace, reader=wanted, abstain=confidence)
        assert "read_best" not in beside
        assert beside["unread"] == 1.0
    assert "read_best" in signals_of(workspace, reader=wanted, abstain=confidence)


def test_one_that_cannot_be_opened_costs_no_answer(
    workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = tmp_path / "cache" / "ombud"
    cache.mkdir(parents=True)
    graph = f"reader-{WEIGHTS_SHA256[:12]}-{DELTA_SHA256[:12]}.int8.onnx"
    (cache / graph).write_bytes(b"half a graph")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert workspace.reader is None
    assert "read_best" not in signals_of(workspace, reader="always")
