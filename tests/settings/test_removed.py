"""Workspaces and scripts that still use what was removed."""

import logging
from pathlib import Path

import pytest
import typer.main

from journeys.command import ombud
from ombud.cli import verbs
from ombud.errors import BadSetting
from ombud.settings import REMOVED_SETTINGS, load, merge_plan
from recorded import COMMANDS, SETTINGS

REMOVED = {
    "sync.bygone": "Nothing replaces it.",
    "oldsection": "Use [index].",
    "plan.bygone": "Set plan.k.",
    "plan.fusion=bygone": "The default is used.",
    "plan.strategies=bygone": "Leave it out.",
    "source.*.bygone": "Write it into the documents.",
}
TOML = """
[sync]
bygone = 1
[oldsection]
anything = true
[plan]
k = 7
fusion = "bygone"
strategies = ["standard", "bygone"]
[country.GB.plan]
bygone = [1]
k = 6
[[source]]
name = "docs"
path = "docs"
bygone = "x"
"""


@pytest.fixture
def removed(monkeypatch: pytest.MonkeyPatch) -> None:
    for key, sentence in REMOVED.items():
        monkeypatch.setitem(REMOVED_SETTINGS, key, sentence)


def test_removed_settings_are_ignored_with_a_warning_that_names_the_replacement(
    removed: None,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    del removed
    (tmp_path / "ombud.toml").write_text(TOML)
    monkeypatch.setenv("OMBUD_PLAN__BYGONE", "3")
    monkeypatch.setenv("OMBUD_OLDSECTION__ANYTHING", "3")
    with caplog.at_level(logging.WARNING):
        settings = load(tmp_path, {"plan": {"bygone": 2, "pool": 40}})
    assert (settings.plan.k, settings.plan.pool, settings.plan.fusion) == (7, 40, "combsum")
    assert settings.plan.strategies == ("standard",)
    assert settings.country["GB"].plan == {"k": 6}
    assert settings.source[0].name == "docs"
    for sentence in REMOVED.values():
        assert sentence in caplog.text
    assert "`country.GB.plan.bygone` in ombud.toml" in caplog.text
    assert "`plan.bygone` in the environment" in caplog.text


def test_a_removed_field_of_a_plan_in_a_request_is_ignored(removed: None) -> None:
    del removed
    assert merge_plan({"bygone": 1, "k": 3}).k == 3


def test_a_misspelt_setting_is_still_an_error(removed: None, tmp_path: Path) -> None:
    del removed
    (tmp_path / "ombud.toml").write_text("[plan]\nbigone = 1\n")
    with pytest.raises(BadSetting, match=r"`plan.bigone` in ombud.toml is not a setting"):
        load(tmp_path)


def test_every_setting_of_09380920_still_loads(tmp_path: Path) -> None:
    """A removed key needs an entry in REMOVED_SETTINGS."""
    (tmp_path / "ombud.toml").write_bytes(SETTINGS.read_bytes())
    assert load(tmp_path).general.timezone


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_of_09380920_exists_or_names_its_replacement(command: str) -> None:
    """A removed command needs an entry in REMOVED_COMMANDS of cli/verbs.py."""
    words = command.split()
    ways = (" ".join(words[:length]) for length in range(1, len(words) + 1))
    if any(way in verbs.REMOVED_COMMANDS for way in ways):
        return
    node = typer.main.get_command(verbs.app)
    for word in words:
        assert word in getattr(node, "commands", {}), f"`ombud {command}` is gone without an entry"
        node = node.commands[word]  # type: ignore[attr-defined]


def test_a_removed_command_names_its_replacement(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(verbs.REMOVED_COMMANDS, "lab bygone", "Use `ombud lab run`.")
    result = ombud("lab", "bygone", "--deep", cwd=tmp_path)
    assert result.code == 2
    assert "`ombud lab bygone` was removed" in result.err
    assert "ombud lab run" in result.err
