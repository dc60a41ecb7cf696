"""Models of the settings: roles, in a file and in the environment."""

from pathlib import Path

import pytest

from ombud.errors import BadSetting
from ombud.settings import FILE, ModelSettings, load


def of(home: Path, text: str) -> ModelSettings:
    (home / FILE).write_text(text, encoding="utf-8")
    return load(home).models


def test_one_model_stands_without_brackets(tmp_path: Path) -> None:
    models = of(
        tmp_path,
        '[models.roles]\nstrategy = "openai:small"\ncompose = ["openai:large", "azure:large"]\n',
    )
    assert models.roles == {
        "strategy": ("openai:small",),
        "compose": ("openai:large", "azure:large"),
    }


def test_a_misspelt_role_is_an_error_that_lists_them(tmp_path: Path) -> None:
    with pytest.raises(BadSetting, match=r"models\.roles\.composer") as wrong:
        of(tmp_path, '[models.roles]\ncomposer = "openai:small"\n')
    assert "'compose'" in f"{wrong.value} {wrong.value.hint}"


def test_sensitive_messages_go_to_no_remote_model_unless_said(tmp_path: Path) -> None:
    assert of(tmp_path, "").sensitive == "never"
    with pytest.raises(BadSetting, match=r"models\.sensitive") as wrong:
        of(tmp_path, '[models]\nsensitive = "sometimes"\n')
    assert "redacted" in f"{wrong.value} {wrong.value.hint}"


@pytest.mark.parametrize(
    ("name", "value", "role", "models"),
    [
        ("OMBUD_MODELS__ROLES__COMPOSE", "openai:a", "compose", ("openai:a",)),
        (
            "OMBUD_MODELS__ROLES__RERANK",
            '["openai:a", "openai:b"]',
            "rerank",
            ("openai:a", "openai:b"),
        ),
        ("OMBUD_MODELS__ROLES", '{"extract": "openai:a"}', "extract", ("openai:a",)),
    ],
)
def test_a_variable_names_them_too(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str, role: str, models: tuple[str, ...]
) -> None:
    monkeypatch.setenv(name, value)
    assert {str(key): named for key, named in load().models.roles.items()} == {role: models}


@pytest.mark.parametrize(
    "line",
    [
        "retries = -1",
        "concurrency = 0",
        "daily_budget = -1",
    ],
)
def test_numbers_that_mean_nothing_are_refused(tmp_path: Path, line: str) -> None:
    with pytest.raises(BadSetting, match=line.partition(" ")[0]):
        of(tmp_path, f"[models]\n{line}\n")
