"""The sample handbook in an index of words only, made once and copied."""

import asyncio
import shutil
from collections.abc import Callable, Iterator
from datetime import date
from pathlib import Path

import pytest

from copies import copy_of
from ombud.app import Workspace, asking, configured_sources
from ombud.ingest import sync_sources
from ombud.types import Answer, Person, Question

SAMPLE = Path(__file__).parents[3] / "sample"
FLAGS = {"models": {"embedder": "none"}}
DAY = date(2027, 1, 1)
Write = Callable[..., Path]


def _make(folder: Path) -> None:
    shutil.copytree(
        SAMPLE, folder, dirs_exist_ok=True, ignore=shutil.ignore_patterns(".ombud", "drafts")
    )
    workspace = Workspace(folder, FLAGS)
    sources = configured_sources(workspace.settings, workspace.home, workspace.store)
    sync_sources(workspace.ingest, sources)
    workspace.close()


@pytest.fixture
def handbook(tmp_path: Path) -> Iterator[Workspace]:
    copy_of("indexed sample", _make, tmp_path / "home")
    opened = Workspace(tmp_path / "home", FLAGS)
    yield opened
    opened.close()


@pytest.fixture
def rewrite(handbook: Workspace, tmp_path: Path) -> Write:
    """A page of the handbook with other words and no first day, outside of the handbook."""

    def write(page: str, *changes: tuple[str, str], name: str = "") -> Path:
        text = (handbook.home / "handbook" / page).read_text(encoding="utf-8")
        kept = [
            line
            for line in text.splitlines(keepends=True)
            if not line.startswith(("effective_from:", "supersedes:", "status:"))
        ]
        text = "".join(kept)
        for before, after in changes:
            assert before in text
            text = text.replace(before, after)
        path = tmp_path / "desk" / (name or Path(page).name)
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    return write


def ask(workspace: Workspace, text: str, country: str, day: date) -> Answer:
    question = Question(text=text, asker=Person(country=country), as_of=day)
    return asyncio.run(asking.ask(workspace, question, keep=False))


def tree(folder: Path) -> dict[str, bytes]:
    """Every file below, by its path."""
    files: dict[str, bytes] = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            files[path.relative_to(folder).as_posix()] = path.read_bytes()
    return files
