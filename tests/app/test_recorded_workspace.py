"""A workspace made at 09380920 after an upgrade. Its index was not recorded, as after a loss."""

import asyncio
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from ingest.shelf import Shelf
from ombud.app import replay_answer
from ombud.store import graph_stats, list_answers
from recorded import lay_recorded_store


@pytest.fixture
def shelf(tmp_path: Path) -> Iterator[Shelf]:
    lay_recorded_store(tmp_path / ".ombud")
    (tmp_path / "docs").mkdir()
    (tmp_path / "ombud.toml").write_text('[models]\nembedder = "none"\n', encoding="utf-8")
    shelf = Shelf.at(tmp_path)
    with closing(shelf.workspace):
        yield shelf


def test_old_answers_are_replayed_with_what_is_no_longer_there(shelf: Shelf) -> None:
    replays = [
        asyncio.run(replay_answer(shelf.workspace, kept.id))
        for kept in list_answers(shelf.workspace.store)
    ]
    assert len(replays) == 7
    assert all(replay.compared for replay in replays)
    with_passages = [replay for replay in replays if replay.evidence_then]
    assert len(with_passages) == 6
    for replay in with_passages:
        assert not replay.same
        assert {document["state"] for document in replay.documents} <= {"changed", "cut otherwise"}


def test_the_next_sync_drops_triplets_made_by_rules(shelf: Shelf) -> None:
    assert graph_stats(shelf.workspace.store)["triplets"] == 12
    shelf.write("new.md", "# New\n\nA page.")
    assert shelf.sync().added == 1
    assert graph_stats(shelf.workspace.store)["triplets"] == 0
