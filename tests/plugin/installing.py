"""Packages with plugins, installed as pip leaves them, without pip and without a network."""

import tomllib
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).parent / "ombud-example"


def install(package: Path, where: Path, patch: pytest.MonkeyPatch) -> None:
    """Puts a source tree with a pyproject.toml on the path, and its .dist-info beside it.

    where: an empty folder."""
    project = tomllib.loads((package / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    info = where / f"{project['name'].replace('-', '_')}-{project['version']}.dist-info"
    info.mkdir(parents=True)
    metadata = f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n"
    (info / "METADATA").write_text(metadata, encoding="utf-8")
    lines = []
    for group, entries in project["entry-points"].items():
        lines.append(f"[{group}]")
        lines += [f"{name} = {value}" for name, value in entries.items()]
    (info / "entry_points.txt").write_text("\n".join(lines), encoding="utf-8")
    patch.syspath_prepend(str(package))
    patch.syspath_prepend(str(where))
