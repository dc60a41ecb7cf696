"""Rebuilding while serving, progress that others see, folders that are watched."""

import asyncio
import threading
from pathlib import Path
from typing import Any

import pytest

from app.conftest import Open
from ombud.app import (
    Workspace,
    asking,
    configured_sources,
    index_stats,
    rebuild_workspace,
    run_sync,
    sync_all,
    sync_progress,
    watch,
)
from ombud.errors import Busy, EngineError
from ombud.store import acquire_lease, save_progress
from ombud.types import Person

TOML = '[[source]]\nname = "docs"\npath = "docs"\n'


def shelf(open_home: Open, home: Path, count: int = 6) -> Workspace:
    (home / "docs").mkdir()
    for n in range(count):
        text = f"# Rule {n}\n\nRule {n} of the house says that door {n} stays shut after {n + 5} in the evening.\n"
        (home / "docs" / f"rule-{n}.md").write_text(text, encoding="utf-8")
    workspace = open_home(TOML)
    assert [report.added for report in sync_all(workspace)] == [count]
    return workspace


def found(workspace: Workspace) -> list[str]:
    evidence, _ = asyncio.run(
        asking.search(workspace, "When does door 3 stay shut?", Person(), k=3)
    )
    return [hit.chunk.id for hit in evidence.hits]


def test_a_server_goes_over_to_the_rebuilt_index_without_a_pause(
    open_home: Open, tmp_path: Path
) -> None:
    shelf(open_home, tmp_path)
    server, operator = open_home(TOML), open_home(TOML)
    before = found(server)
    stop, seen = threading.Event(), []

    def ask() -> None:
        while not stop.is_set():
            seen.append(found(server))

    asker = threading.Thread(target=ask)
    asker.start()
    made = rebuild_workspace(operator)
    stop.set()
    asker.join()
    assert (made.documents, made.chunks, made.missing) == (6, 6, ())
    assert seen.count(before) == len(seen) > 0
    assert found(server) == before
    assert index_stats(server)["generation"] == "g2"
    assert [report.unchanged for report in sync_all(operator)] == [6]


def test_the_generation_before_is_kept_for_those_who_read_it_and_the_one_before_that_is_not(
    open_home: Open, tmp_path: Path
) -> None:
    workspace = shelf(open_home, tmp_path)
    for _ in range(2):
        rebuild_workspace(workspace)
    names = {entry.name for entry in (tmp_path / ".ombud" / "index").iterdir()}
    assert names == {"g2", "g3"}


def test_a_rebuild_that_was_killed_leaves_the_old_index_and_no_trace_in_the_next(
    open_home: Open, tmp_path: Path
) -> None:
    workspace = shelf(open_home, tmp_path)
    before = found(workspace)

    def die(step: str, done: int, total: int) -> None:
        if step == "optimise":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        rebuild_workspace(workspace, die)
    assert found(workspace) == before
    assert index_stats(workspace)["generation"] == "."
    assert rebuild_workspace(workspace).documents == 6
    assert index_stats(workspace)["passages"] == 6


def test_another_embedder_is_refused_until_the_index_is_rebuilt(
    open_home: Open, tmp_path: Path
) -> None:
    shelf(open_home, tmp_path)
    other = open_home(TOML, models={"embedder": "minilm"})
    with pytest.raises(EngineError, match="was built with the embedder `none`") as refused:
        found(other)
    assert "ombud index rebuild" in refused.value.hint
    assert rebuild_workspace(other).documents == 6
    assert found(other)
    assert index_stats(other)["embedder"].startswith("minilm")


def test_a_sync_and_a_rebuild_take_turns(open_home: Open, tmp_path: Path) -> None:
    workspace = shelf(open_home, tmp_path)
    with acquire_lease(workspace.store, "sync"), pytest.raises(Busy):
        rebuild_workspace(workspace)
    assert sync_progress(workspace.store)["state"] == "done"


def test_progress_is_seen_from_elsewhere_and_names_what_failed(
    open_home: Open, tmp_path: Path
) -> None:
    workspace = shelf(open_home, tmp_path)
    (tmp_path / "docs" / "broken.pdf").write_bytes(b"%PDF-1.4 nonsense")
    (tmp_path / "docs" / "new.md").write_text(
        "# New\n\nSomething new is said here.\n", encoding="utf-8"
    )
    seen: list[dict[str, Any]] = []

    def look(step: str, done: int, total: int) -> None:
        seen.append(sync_progress(open_home(TOML).store))

    run_sync(
        workspace,
        configured_sources(workspace.settings, tmp_path, workspace.store),
        on_progress=look,
    )
    running = [said for said in seen if said["state"] == "running"]
    assert {"step", "done", "total", "per_second", "seconds_left"} <= running[-1].keys()
    ended = sync_progress(workspace.store)
    assert ended["state"] == "done"
    assert [failure["uri"] for failure in ended["failed"]] == ["docs/broken.pdf"]


def test_a_sync_that_was_killed_is_not_said_to_run_for_ever(
    open_home: Open, tmp_path: Path
) -> None:
    workspace = shelf(open_home, tmp_path)
    assert sync_progress(open_home(TOML).store)["state"] == "done"
    save_progress(workspace.store, "sync", {"state": "running", "at": 1_000_000.0})
    assert sync_progress(workspace.store)["state"] == "killed"


def test_a_change_in_a_watched_folder_is_a_turn(open_home: Open, tmp_path: Path) -> None:
    workspace = shelf(open_home, tmp_path)
    stop = threading.Event()
    turns = watch(workspace, stop)
    next(turns)
    write = threading.Timer(
        0.3, (tmp_path / "docs" / "late.md").write_text, ["# Late\n\nA late rule.\n"]
    )
    write.start()
    next(turns)
    assert [report.added for report in sync_all(workspace)] == [1]
    stop.set()
    assert next(turns, None) is None
