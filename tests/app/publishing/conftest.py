"""Pages of the sample handbook in an index of words only, made once and copied."""

import asyncio
import shutil
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import date
from pathlib import Path

import pytest

from copies import copy_of
from ombud.app import Workspace, asking, configured_sources
from ombud.ingest import sync_sources
from ombud.types import Answer, Person, Question

SAMPLE = Path(__file__).parents[3] / "sample"
FLAGS = {"models": {"embedder": "none"}, "plan": {"abstain": 0.4}}
DAY = date(2027, 1, 1)
PAGES = {
    "de": "ombud.yaml urlaub.md reisekosten-de.md arbeitszeit.html",
    "fr": "ombud.yaml conges-payes-rtt.md frais-et-titres-restaurant.md maternite-paternite.md",
    "gb": "ombud.yaml annual-leave.md expenses-gb.md flexible-working.md pension.md",
    "us": "ombud.yaml parental-leave.md pto-and-holidays.md travel-us.md sick-leave-and-std.md",
    "global/work": "ombud.yaml annual-leave.md equipment.md extended-leave.md remote-work.html "
    "family-leave-floor-2023.md family-leave-floor.md travel-2025.md travel-2026.md wellbeing.md",
}
"""Folder -> files: those that drafts replace, and what is said beside them in each country. A check
reads and asks the whole handbook twice, so it takes four times as long with all 82."""
Write = Callable[..., Path]


def _make(folder: Path) -> None:
    for file in ("ombud.toml", "contacts.toml", "glossary.csv"):
        shutil.copy(SAMPLE / file, folder)
    for place, names in PAGES.items():
        (folder / "handbook" / place).mkdir(parents=True)
        for name in names.split():
            shutil.copy(SAMPLE / "handbook" / place / name, folder / "handbook" / place)
    _sync(folder)


def _make_whole(folder: Path) -> None:
    left_out = shutil.ignore_patterns(".ombud", "drafts")
    shutil.copytree(SAMPLE, folder, dirs_exist_ok=True, ignore=left_out)
    _sync(folder)


def _sync(folder: Path) -> None:
    with closing(Workspace(folder, FLAGS)) as workspace:
        sources = configured_sources(workspace.settings, workspace.home, workspace.store)
        sync_sources(workspace.ingest, sources)


@pytest.fixture
def handbook(tmp_path: Path) -> Iterator[Workspace]:
    copy_of("indexed pages", _make, tmp_path / "home")
    with closing(Workspace(tmp_path / "home", FLAGS)) as opened:
        yield opened


@pytest.fixture
def whole_handbook(tmp_path: Path) -> Iterator[Workspace]:
    """All 82 files, for what depends on how common words are."""
    copy_of("indexed sample", _make_whole, tmp_path / "home")
    with closing(Workspace(tmp_path / "home", FLAGS)) as opened:
        yield opened


@pytest.fixture
def rewrite(tmp_path: Path) -> Write:
    """A page of the handbook with other words and no first day, outside of the handbook."""

    def write(page: str, *changes: tuple[str, str], name: str = "") -> Path:
        text = (SAMPLE / "handbook" / page).read_text(encoding="utf-8")
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
