"""The second opinion of triage, as a workspace has it."""

import asyncio
from pathlib import Path

import pytest

from app.conftest import Open, open_with_vectors
from ombud.answer.triage import fine_tuned
from ombud.answer.triage.classifying import ALONE
from ombud.answer.triage.weights import WITH_VECTORS, load_triage_weights
from ombud.app import Workspace, asking
from ombud.errors import SetupError
from ombud.types import Answer, Question

RULE = "# Pay\n\nPay day is the 25th of each month.\n"
HALF_SAID = "Should I let the works doctor know that mornings have become pointless to me lately?"


@pytest.fixture
def workspace(open_home: Open, tmp_path: Path) -> Workspace:
    return open_with_vectors(open_home, tmp_path, RULE)


def answer_of(workspace: Workspace, text: str) -> Answer:
    return asyncio.run(asking.ask(workspace, Question(text=text)))


def sensitive(answer: Answer) -> float:
    return answer.trace.signals["triage_sensitive"]


def test_it_has_its_share_in_the_probability(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    both = answer_of(workspace, HALF_SAID)
    assert ALONE not in both.trace.degraded
    monkeypatch.setattr(fine_tuned, "LANGUAGE", "none")
    assert abs(sensitive(answer_of(workspace, HALF_SAID)) - sensitive(both)) > 0.05


def test_one_that_cannot_be_opened_is_told_and_costs_no_answer(
    workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = workspace.fine_tuned_triage
    assert found
    cache = tmp_path / "cache" / "ombud"
    cache.mkdir(parents=True)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delitem(vars(workspace), "_opening_fine_tuned")
    altered = tmp_path / "delta.npz"
    altered.write_bytes(fine_tuned.DELTA.read_bytes()[:-1] + b"x")
    monkeypatch.setattr(fine_tuned, "DELTA", altered)
    answer = answer_of(workspace, "when is pay day")
    assert ALONE in answer.trace.degraded
    assert "25th" in answer.text


def test_what_is_not_what_was_published_is_not_read(
    workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where the graph was made before it was altered, or it is gone."""
    cache = tmp_path / "models"
    assert fine_tuned.open_fine_tuned(cache)
    monkeypatch.setattr(fine_tuned, "DELTA", tmp_path / "delta.npz")
    with pytest.raises(SetupError, match="not what was published"):
        fine_tuned.open_fine_tuned(cache)
    (tmp_path / "delta.npz").write_bytes(b"PK")
    with pytest.raises(SetupError, match="not what was published"):
        fine_tuned.open_fine_tuned(cache)


def test_weights_of_ones_own_that_name_another_are_judged_by_the_first_alone(
    open_home: Open, tmp_path: Path
) -> None:
    text = WITH_VECTORS.read_text(encoding="utf-8")
    shipped = load_triage_weights(WITH_VECTORS).fine_tuned
    (tmp_path / "own.json").write_text(text.replace(shipped, "triage-older"), encoding="utf-8")
    opened = open_home(models={"embedder": "minilm"}, answer={"triage": "own.json"})
    assert ALONE in answer_of(opened, "when is pay day").trace.degraded


def test_weights_by_words_open_none(open_home: Open) -> None:
    opened = open_home(models={"embedder": "none"})
    assert opened.fine_tuned_triage is None
    assert "_opening_fine_tuned" not in vars(opened)
