"""When the small reader reads."""

import asyncio
import threading
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from app.conftest import Open
from ombud.app import Workspace, asking, sync_all
from ombud.models import ReaderPassage, open_reader
from ombud.types import Question

SETTINGS = '[[source]]\nname = "docs"\npath = "docs"\n'
RULE = "# Sickness\n\nA doctor's note is needed from the fourth day of illness.\n"


@pytest.fixture
def workspace(open_home: Open, tmp_path: Path) -> Workspace:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "sick.md").write_text(RULE, encoding="utf-8")
    opened = open_home(SETTINGS, models={"embedder": "minilm"})
    if opened.embedder is None:
        pytest.skip("the embedding model is not installed")
    sync_all(opened)
    return opened


def signals_of(workspace: Workspace, **plan: object) -> Mapping[str, float]:
    question = Question(text="when do i need a doctors note")
    return asyncio.run(asking.ask(workspace, question, plan=plan)).trace.signals


@pytest.mark.parametrize("wanted", ["always", "never"])
def test_a_question_may_ask_for_the_reader(workspace: Workspace, wanted: str) -> None:
    assert ("read_best" in signals_of(workspace, reader=wanted)) == (wanted == "always")


def test_it_reads_where_confidence_is_near_the_threshold(workspace: Workspace) -> None:
    confidence = signals_of(workspace, reader="never")["confidence"]
    assert "read_best" in signals_of(workspace, abstain=confidence)
    assert "read_best" in signals_of(workspace, abstain=confidence - 0.04)
    assert "read_best" not in signals_of(workspace, abstain=confidence - 0.06)


class Held(list[ReaderPassage]):
    """Passages that come when they may."""

    def __init__(self) -> None:
        super().__init__([ReaderPassage("Sickness", [RULE])])
        self.asked = threading.Event()
        self.may_come = threading.Event()

    def __iter__(self) -> Iterator[ReaderPassage]:
        self.asked.set()
        self.may_come.wait()
        return super().__iter__()


def test_behind_others_a_question_does_without(tmp_path: Path) -> None:
    reader = open_reader(tmp_path, threads=1)
    if reader is None:
        pytest.skip("the embedding model is not installed")
    first = Held()
    with ThreadPoolExecutor() as pool:
        reading = pool.submit(reader.read_in_turn, "a note?", first, 60.0)
        first.asked.wait()
        second = [ReaderPassage("Sickness", [RULE])]
        assert reader.read_in_turn("a note?", second, 0.0) is None
        first.may_come.set()
        assert reading.result() is not None
    assert reader.read_in_turn("a note?", second, 0.0) is not None
