"""Sources that are cut in their own way."""

from pathlib import Path
from typing import Any

import pytest

from ingest.shelf import Shelf, counts, long_text
from ombud.app import Workspace, library
from ombud.errors import BadSetting
from ombud.ingest import SyncReport, sync_sources
from ombud.sources import FolderSource, Ref
from ombud.types import Chunk


class Versioned(FolderSource):
    """A source that says what has not changed, so that it is not read."""

    def list(self) -> list[Ref]:
        return [ref._replace(version="1") for ref in super().list()]


class Home:
    """Two folders with one long document each; every sync opens the workspace with settings of its
    own."""

    def __init__(self, home: Path) -> None:
        self.home = home
        for name in ("rules", "notes"):
            (home / name).mkdir()
            (home / name / "long.md").write_text(long_text(1, 6))

    def sync(
        self,
        kind: type[FolderSource] = FolderSource,
        index: dict[str, Any] | None = None,
        **chunkers: str,
    ) -> tuple[list[SyncReport], dict[str, list[Chunk]]]:
        """chunkers: name of a source -> its own chunker. Returns reports and chunks of rules and
        notes."""
        places = [
            {"name": n, "path": n, "chunker": chunkers.get(n, "")} for n in ("rules", "notes")
        ]
        flags = {"models": {"embedder": "none"}, "source": places, "index": index or {}}
        workspace = Workspace(self.home, flags)
        try:
            reports = sync_sources(
                workspace.ingest, [kind(n, self.home / n) for n in ("rules", "notes")]
            )
            found = sorted(library.passages(workspace), key=lambda c: c.start)
        finally:
            workspace.close()
        return reports, {n: [c for c in found if c.uri.startswith(n)] for n in ("rules", "notes")}


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    monkeypatch.delenv("OMBUD_HOME", raising=False)
    return Home(tmp_path)


@pytest.mark.parametrize("kind", [FolderSource, Versioned])
def test_a_source_is_cut_by_its_own_chunker_and_a_change_of_it_cuts_only_that_source_anew(
    home: Home, kind: type[FolderSource]
) -> None:
    _, before = home.sync(kind)
    assert len(before["rules"]) == len(before["notes"]) > 1
    reports, after = home.sync(kind, rules="fixed")
    assert [counts(report) for report in reports] == [{"updated": 1}, {"unchanged": 1}]
    assert [c.text.startswith("Document 1\n") for c in after["rules"]] == [True]
    assert after["notes"] == before["notes"]
    reports, again = home.sync(kind, rules="fixed")
    assert [counts(report) for report in reports] == [{"unchanged": 1}] * 2
    assert again == after
    reports, back = home.sync(kind)
    assert [counts(report) for report in reports] == [{"updated": 1}, {"unchanged": 1}]
    assert back == before


def test_only_settings_that_its_chunker_reads_cut_a_source_anew(home: Home) -> None:
    pattern = {"pattern": r"(?m)^Part \d"}
    _, before = home.sync(index=pattern, rules="pattern")
    assert [c.text.split("\n")[0] for c in before["rules"][:3]] == [
        "Document 1",
        "Part 0",
        "Part 1",
    ]
    reports, _ = home.sync(index=pattern | {"percentile": 50, "overlap_tokens": 9}, rules="pattern")
    assert [counts(report) for report in reports] == [{"unchanged": 1}] * 2
    reports, after = home.sync(index={"pattern": r"(?m)^Part [135]"}, rules="pattern")
    assert [counts(report) for report in reports] == [{"updated": 1}, {"unchanged": 1}]
    assert len(after["rules"]) < len(before["rules"])
    reports, _ = home.sync(index=pattern | {"chunk_tokens": 64}, rules="pattern")
    assert [counts(report) for report in reports] == [{"updated": 1}] * 2


@pytest.mark.parametrize("chunker", ["semantic", "pattern"])
def test_a_chunker_that_cannot_work_says_so_and_changes_nothing(home: Home, chunker: str) -> None:
    _, before = home.sync()
    with pytest.raises(BadSetting, match=f"The chunker `{chunker}` needs"):
        home.sync(rules=chunker)
    _, after = home.sync()
    assert after == before


def test_semantic_chunks_are_cut_by_the_workspaces_embedder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OMBUD_HOME", raising=False)
    shelf = Shelf(tmp_path, embedder="minilm", index={"chunker": "semantic"})
    leave = (
        "Annual leave is twenty six days. You ask for your leave by mail. Your manager "
        "grants the vacation. "
    )
    printer = (
        "The printer is out of toner. Paper jams are freed at the back. Print jobs wait in "
        "its queue."
    )
    shelf.write("mixed.md", leave + printer)
    shelf.sync()
    assert {c.text for c in shelf.chunks()} == {leave.strip(), printer}
    shelf.workspace.close()
