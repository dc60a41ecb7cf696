"""Our packages in `plugins/`: they register like anybody's, and are named where they are missing."""

import importlib.metadata
import tomllib
from pathlib import Path

import pytest

from journeys.command import ombud, workspace
from ombud import registry
from ombud.errors import MissingExtra
from ombud.handoff import open_desk
from ombud.index import open_engine
from ombud.settings import HandoffSettings

ROOT = Path(__file__).parents[2]


@pytest.fixture
def without_plugins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "entry_points", lambda: importlib.metadata.EntryPoints())
    monkeypatch.syspath_prepend(str(tmp_path))  # what was found on the old path is remembered


@pytest.mark.parametrize(
    ("kind", "name", "package"),
    [
        (kind, name, package)
        for kind, packages in registry.OWN_PACKAGES.items()
        for name, package in packages.items()
    ],
)
def test_a_package_registers_its_part(kind: str, name: str, package: str) -> None:
    written = (ROOT / "plugins" / package / "pyproject.toml").read_text(encoding="utf-8")
    project = tomllib.loads(written)["project"]
    assert project["name"] == package
    assert list(project["entry-points"]) == [f"ombud.{kind}"]
    assert registry.distribution_of(kind, name) == package
    assert callable(registry.find(kind, name, {}))


@pytest.mark.usefixtures("without_plugins")
def test_a_desk_without_its_package_names_it() -> None:
    with pytest.raises(MissingExtra, match="desk `matrix` needs the package `ombud-matrix`") as no:
        open_desk(HandoffSettings(desk="matrix"))
    assert no.value.hint == "In a checkout of ombud: pip install ./plugins/ombud-matrix"


@pytest.mark.usefixtures("without_plugins")
def test_an_engine_without_its_package_names_it() -> None:
    with pytest.raises(MissingExtra, match="engine `milvus` needs the package `ombud-milvus`"):
        open_engine("milvus:http://127.0.0.1:19530", fingerprint="", dimension=0)


@pytest.mark.usefixtures("without_plugins")
def test_commands_in_a_workspace_name_the_package(tmp_path: Path) -> None:
    home = workspace(tmp_path, '[index]\nengine = "milvus"\nurl = "http://127.0.0.1:19530"\n')
    searched = ombud("search", "leave", cwd=home)
    assert searched.code == 2
    assert "pip install ./plugins/ombud-milvus" in searched.err
