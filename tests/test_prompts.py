"""Prompts: the most specific file wins, and values are only values."""

from hashlib import sha256
from pathlib import Path

import pytest

from ombud.errors import UnknownName
from ombud.prompts import HERE, Prompt, digests, load

TASKS = sorted(folder.name for folder in HERE.iterdir() if (folder / "default.txt").is_file())


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "compose").mkdir()
    for stem in ("gpt", "gpt-4.1", "gpt-4.1-mini", "llama3"):
        (tmp_path / "compose" / f"{stem}.txt").write_text(f"{stem} says $word")
    return tmp_path


@pytest.mark.parametrize(
    ("model", "name"),
    [
        ("openai:gpt-4.1-mini", "compose/gpt-4.1-mini"),
        ("gpt-4.1-mini-2025-04-14", "compose/gpt-4.1-mini"),
        ("openai:gpt-4.1", "compose/gpt-4.1"),
        ("openai:gpt-4.1-nano", "compose/gpt-4.1"),
        ("openai:gpt-5", "compose/gpt"),
        ("openai:llama3:8b", "compose/llama3"),
        ("openai:o3", "compose/default"),
        ("anthropic/gpt", "compose/default"),
        ("", "compose/default"),
        ("openai:", "compose/default"),
    ],
)
def test_the_most_specific_file_wins(folder: Path, model: str, name: str) -> None:
    assert load("compose", model, folder).name == name


def test_a_model_never_leaves_the_folder_of_its_task(folder: Path) -> None:
    (folder / "secret.txt").write_text("secret")
    assert load("compose", "../secret", folder).name == "compose/default"


def test_without_an_override_the_shipped_words_are_taken(tmp_path: Path) -> None:
    shipped = (HERE / "compose" / "default.txt").read_text(encoding="utf-8")
    assert load("compose", "openai:gpt-4.1", tmp_path) == Prompt("compose/default", shipped)


def test_an_unknown_task_lists_the_known() -> None:
    with pytest.raises(UnknownName, match="No prompt is called `compse`") as wrong:
        load("compse")
    assert wrong.value.hint == "Known: compose, question, repair."


def test_values_are_never_read_as_templates() -> None:
    assert Prompt("x", "Hello $name.").fill(name="$other ${more}") == "Hello $other ${more}."


def test_a_missing_value_is_an_error() -> None:
    with pytest.raises(KeyError, match="name"):
        Prompt("x", "Hello $name.").fill(other="x")


def test_the_digest_is_that_of_the_text() -> None:
    # printf abc | sha256sum
    assert Prompt("x", "abc").digest == "ba7816bf8f01"
    assert load("compose").digest == sha256((HERE / "compose" / "default.txt").read_bytes()).hexdigest()[:12]


def test_every_shipped_prompt_has_its_digest() -> None:
    assert set(digests()) == {f"{task}/default" for task in TASKS}
    assert digests()["compose/default"] == load("compose").digest


@pytest.mark.parametrize("task", TASKS)
def test_every_shipped_prompt_can_be_filled(task: str) -> None:
    names = ("organisation", "date", "country", "roles", "grade", "local", "shared", "history", "question", "problems")
    filled = load(task).fill(**dict.fromkeys(names, "VALUE"))
    assert "$" not in filled
    assert "VALUE" in filled
