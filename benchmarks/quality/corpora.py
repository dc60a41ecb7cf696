"""Workspaces over public material: indexed once in .bench/, then brought up to date by a sync like
any other."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from record import ROOT, SHARED, say

from ombud.app import Workspace, configured_sources
from ombud.app.asking import resolve
from ombud.ingest import sync_sources
from ombud.types import Case, Question

BENCH = ROOT / ".bench"
DATA = SHARED.parent
"""Public data, where it lies beside the repository."""
PAGES = """[[source]]
name = "pages"
path = "pages"
"""


def open_corpus(name: str, toml: str) -> Workspace:
    """The workspace .bench/NAME with these settings, its index brought to what its sources hold
    now."""
    home = BENCH / name
    home.mkdir(parents=True, exist_ok=True)
    (home / "ombud.toml").write_text(toml, encoding="utf-8")
    workspace = Workspace(home)
    sources = configured_sources(workspace.settings, workspace.home, workspace.store)
    for report in sync_sources(workspace.ingest, sources, allow_deletes=True, on_progress=tell):
        counts = f"{report.added} added, {report.unchanged} unchanged"
        say(f"{report.name}: {counts}, {len(report.failed)} failed")
    return workspace


def open_pages(name: str, pages: Mapping[str, str]) -> Workspace:
    """A workspace over Markdown pages made from texts: name without .md -> text; their uris are
    pages/NAME.md.

    All pages have the same title, which therefore tells nothing: else it would be the file's name.
    """
    folder = BENCH / name / "pages"
    wanted = {
        f"{page}.md": f"---\ntitle: Passage\n---\n\n{text.strip()}\n"
        for page, text in pages.items()
    }
    for old in folder.rglob("*.md"):
        if old.relative_to(folder).as_posix() not in wanted:
            old.unlink()
    for place, text in wanted.items():
        file = folder / place
        if not file.is_file() or file.read_text(encoding="utf-8") != text:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
    return open_corpus(name, PAGES)


def tell(step: str, done: int, total: int) -> None:
    if step != "score" and done % 100 == 0:
        say(f"{step} {done}/{total}")


def needs(path: Path) -> bool:
    """Whether this material is there; else a line says that its part is left out."""
    if not path.exists():
        say(f"nothing in {path}: its part is left out")
    return path.exists()


def as_read(
    recorded: Mapping[str, Any], workspace: Workspace, cases: Iterable[Case]
) -> dict[str, Any]:
    """What was recorded for a question, found by what reaches the model of it too: without slips
    and short forms. A model that does not know a question is taken for one that is out of order,
    and not asked the next."""
    known = dict(recorded)
    for case in cases:
        if case.question not in recorded:
            continue
        question = Question(text=case.question, asker=case.person, history=case.history)
        known[resolve(workspace, question).text] = recorded[case.question]
    return known
