"""The copy of the index that a check asks: what was embedded is not embedded again."""

from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from app.conftest import Open
from ombud.app import DraftChoices, Workspace, sync_all
from ombud.app.publishing.drafts import read_drafts
from ombud.app.publishing.shadow import overlay
from ombud.errors import Busy, SourceError
from ombud.index import blocking
from ombud.ingest import reading
from ombud.ingest.rows import rows_of
from ombud.store import acquire_lease, find_document

TOML = '[[source]]\nname = "docs"\npath = "docs"\n'


@pytest.fixture
def shelf(open_home: Open, tmp_path: Path) -> Workspace:
    (tmp_path / "docs").mkdir()
    for n in range(5):
        text = f"# Rule {n}\n\nDoor {n} of the house stays shut after {n + 5} in the evening.\n"
        (tmp_path / "docs" / f"rule-{n}.md").write_text(text)
    workspace = open_home(TOML, models={"embedder": "minilm"})
    sync_all(workspace)
    return workspace


def draft_of(workspace: Workspace, name: str = "new.md", text: str = "") -> Any:
    path = workspace.home / name
    path.write_text(text or "# Rule 3\n\nDoor 3 of the house stays shut after 9 in the evening.\n")
    return read_drafts(workspace, [path], DraftChoices(on=date(2027, 1, 1)))


def silent(*_: object) -> None: ...


def test_only_drafts_are_embedded_and_vectors_are_copied(
    shelf: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    embedded: list[str] = []
    make = rows_of

    def counted(documents: Any, chunks: Any, *more: Any) -> Iterator[Any]:
        embedded.extend(chunk.uri for chunk in chunks)
        return make(documents, chunks, *more)

    monkeypatch.setattr(reading, "rows_of", counted)
    ids = blocking(shelf.engine.chunk_ids())
    version = shelf.engine.version()
    with overlay(shelf, draft_of(shelf), silent) as shadow:
        assert embedded == ["docs/new.md"]
        assert len(blocking(shadow.engine.chunk_ids())) == len(ids) + 1 == 6
        ours = blocking(shelf.engine.vectors(ids))
        theirs = blocking(shadow.engine.vectors(ids))
        for chunk_id in ids:
            assert np.array_equal(ours[chunk_id], theirs[chunk_id])
        ended = find_document(shadow.store, "docs/rule-3.md").effective_to
        assert ended == date(2026, 12, 31)
    assert shelf.engine.version() == version
    assert find_document(shelf.store, "docs/rule-3.md").effective_to is None


def test_an_index_that_keeps_changing_is_not_copied_in_pieces(
    shelf: Workspace, tmp_path: Path
) -> None:
    def change(step: str, done: int, total: int) -> None:
        if step == "copy":
            document = find_document(shelf.store, "docs/rule-1.md")
            blocking(shelf.engine.revise(document))

    with pytest.raises(Busy, match="changes faster"), overlay(shelf, draft_of(shelf), change):
        pass
    assert list((shelf.data / "lab" / "checks").iterdir()) == []


def test_a_copy_that_is_at_work_is_left_alone(shelf: Workspace) -> None:
    drafts = draft_of(shelf)
    with overlay(shelf, drafts, silent) as first, overlay(shelf, drafts, silent) as second:
        assert first.data != second.data
        assert len(blocking(first.engine.chunk_ids())) == 6


def test_a_check_waits_for_no_sync(shelf: Workspace) -> None:
    with acquire_lease(shelf.store, "sync"), overlay(shelf, draft_of(shelf), silent) as shadow:
        assert len(blocking(shadow.engine.chunk_ids())) == 6


def test_an_empty_draft_is_named(shelf: Workspace) -> None:
    drafts = draft_of(shelf, "empty.md", "---\ntitle: Nothing\n---\n")
    with (
        pytest.raises(SourceError, match=r"empty.md cannot be indexed"),
        overlay(shelf, drafts, silent),
    ):
        pass
    assert list((shelf.data / "lab" / "checks").iterdir()) == []
