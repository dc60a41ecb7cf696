from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from copies import lay_store
from ombud.app import Workspace, sync_all

Open = Callable[..., Workspace]


@pytest.fixture
def open_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Open]:
    """Opens `tmp_path` as a workspace with this ombud.toml; closed at the end."""
    monkeypatch.delenv("OMBUD_MODELS__EMBEDDER", raising=False)
    opened: list[Workspace] = []

    def open_it(toml: str = "", **flags: Any) -> Workspace:
        (tmp_path / "ombud.toml").write_text(toml, encoding="utf-8")
        lay_store(tmp_path)
        opened.append(Workspace(tmp_path, {"models": {"embedder": "none"}} | flags))
        return opened[-1]

    yield open_it
    for workspace in opened:
        workspace.close()


def open_with_vectors(open_home: Open, folder: Path, page: str) -> Workspace:
    """A workspace in `folder` with this page, synced; skips where MiniLM is not installed."""
    (folder / "docs").mkdir()
    (folder / "docs" / "page.md").write_text(page, encoding="utf-8")
    opened = open_home('[[source]]\nname = "docs"\npath = "docs"\n', models={"embedder": "minilm"})
    if opened.embedder is None:
        pytest.skip("the embedding model is not installed")
    sync_all(opened)
    return opened
