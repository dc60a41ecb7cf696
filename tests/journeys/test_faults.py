"""Killed, interrupted, out of disk, two at a time: one clear sentence, nothing lost, the next run
goes on.

What is disturbed, or says that it is, is a process of its own; what comes before and after is not."""

import os
import shutil
import signal
import subprocess
from collections.abc import Callable, Iterator
from functools import cache
from itertools import count
from pathlib import Path

import pytest

from ingest.shelf import Shelf, Snapshot, long_text
from journeys.command import bare_workspace, ombud, ombud_process, start
from ombud.app import Workspace, library
from ombud.index import blocking
from ombud.store import acquire_lease, document_ids, unended_writes

pytestmark = pytest.mark.slow
DOCUMENTS = 60
SECTIONS = 22
BATCH = 512
"""Chunks of a commit; a sync of more can be killed between two."""
Undisturbed = Callable[[str], tuple[Path, Snapshot]]


def many(folder: Path, sections: int = SECTIONS) -> Path:
    """A folder whose sync takes several commits."""
    folder.mkdir(parents=True)
    for n in range(DOCUMENTS):
        (folder / f"{n:02}.md").write_text(long_text(n, sections))
    return folder


def kept(home: Path, embedder: str = "none") -> Snapshot:
    """Everything in the index, and that the store agrees with it."""
    shelf = Shelf(home, embedder)
    try:
        workspace = shelf.workspace
        assert document_ids(workspace.store) == blocking(workspace.engine.documents())
        for document in library.documents(workspace, None):
            assert library.document(workspace, document.id, None).text
        return shelf.snapshot()
    finally:
        shelf.workspace.close()


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Undisturbed:
    """Embedder -> (folder of documents, what a sync of it that nobody disturbed keeps)."""

    @cache
    def run(embedder: str) -> tuple[Path, Snapshot]:
        home = bare_workspace(tmp_path_factory.mktemp("undisturbed"), files={})
        docs = many(home / "docs", SECTIONS if embedder == "none" else 10)
        assert ombud("sync", docs, cwd=home, env={"OMBUD_MODELS__EMBEDDER": embedder}).code == 0
        snapshot = kept(home, embedder)
        assert len(snapshot) > BATCH
        assert all(vectors == (embedder == "minilm") for _, vectors in snapshot.values())
        return docs, snapshot

    return run


def versions(home: Path) -> int:
    """Commits of the index so far."""
    return len(list((home / ".ombud" / "index" / "chunks.lance" / "_versions").glob("*.manifest")))


def reached(process: subprocess.Popen[str], home: Path, commits: int) -> bool:
    """Waits until the index has so many commits, or the process ends before."""
    while versions(home) < commits:
        try:
            process.wait(0.005)
        except subprocess.TimeoutExpired:
            continue
        return False
    return True


def saved(home: Path) -> set[str]:
    """Documents that were acknowledged: their rows are in the store."""
    opened = Workspace(home, {"models": {"embedder": "none"}})
    try:
        return set(document_ids(opened.store))
    finally:
        opened.close()


def interrupted(home: Path) -> frozenset[str]:
    """Documents that a killed process was writing: its write may still end, for all we know."""
    opened = Workspace(home, {"models": {"embedder": "none"}})
    try:
        return unended_writes(opened.store)
    finally:
        opened.close()


@pytest.mark.parametrize(
    ("embedder", "kills"), [("none", (0, 1, 2, 1, 3, 2)), ("minilm", (1, 2, 1))]
)
def test_killed_again_and_again_it_ends_with_the_same(
    undisturbed: Undisturbed, tmp_path: Path, embedder: str, kills: tuple[int, ...]
) -> None:
    docs, whole = undisturbed(embedder)
    home, env = bare_workspace(tmp_path, files={}), {"OMBUD_MODELS__EMBEDDER": embedder}
    killed = 0
    for more in kills:
        before, commits = saved(home), versions(home) + more
        with start("sync", docs, "--json", cwd=home, env=env) as process:
            killed += reached(process, home, max(1, commits))
            process.kill()
            process.communicate(timeout=60)  # also the parser's end: it holds the same stderr
        assert saved(home) >= before
    assert killed >= 2
    untouched = saved(home) - interrupted(home)
    last = ombud("sync", docs, "--json", cwd=home, env=env)
    assert last.code == 0
    (report,) = last.json["sources"]
    assert report["unchanged"] == len(untouched)
    assert report["added"] + report["updated"] == DOCUMENTS - len(untouched)
    assert kept(home, embedder) == whole


def test_killed_while_updating_and_deleting(tmp_path: Path) -> None:
    home = bare_workspace(tmp_path / "a", files={})
    docs = many(home / "docs")
    assert ombud("sync", "docs", cwd=home).code == 0
    for n in range(DOCUMENTS):
        file = docs / f"{n:02}.md"
        if n % 6 == 0:
            file.unlink()
        else:
            file.write_text(long_text(n + 100, SECTIONS))
    calm = bare_workspace(tmp_path / "b", files={})
    shutil.copytree(docs, calm / "docs")
    assert ombud("sync", "docs", cwd=calm).code == 0
    for more in (1, 1, 2, 2):
        commits = versions(home) + more
        with start("sync", cwd=home) as process:
            reached(process, home, commits)
            process.kill()
            process.communicate(timeout=60)
        # What is not yet replaced is still whole: every search works in between.
        assert ombud("search", "who keeps this rule", "--json", cwd=home).json["hits"]
    assert ombud("sync", cwd=home).code == 0
    assert kept(home) == kept(calm)


@pytest.mark.parametrize("commits", [1, 3])
def test_ctrl_c_is_one_sentence_and_the_next_run_goes_on(tmp_path: Path, commits: int) -> None:
    home = bare_workspace(tmp_path, files={})
    many(home / "docs")
    with start("sync", "docs", "--json", cwd=home) as process:
        assert reached(process, home, commits)
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does: the parser gets it too
        out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert out == ""
    assert err == "Stopped. Nothing is lost; the next run goes on.\n"
    again = ombud("sync", "--json", cwd=home)
    assert again.code == 0
    (report,) = again.json["sources"]
    assert report["added"] + report["unchanged"] == DOCUMENTS
    assert len({uri for uri, _ in kept(home).values()}) == len(kept(home))


def test_ctrl_c_in_the_middle_of_a_batch(tmp_path: Path) -> None:
    home = bare_workspace(tmp_path)
    assert ombud("sync", "docs", cwd=home).code == 0
    (home / "b.jsonl").write_text('{"question": "annual leave"}\n' * 5000)
    for verb in ("search", "ask"):
        with start(verb, "--batch", "b.jsonl", cwd=home) as process:
            assert process.stdout
            line = process.stdout.readline()
            if line:
                os.killpg(process.pid, signal.SIGINT)
            _, err = process.communicate(timeout=60)
        assert line, err
        assert process.returncode == 130
        assert err == "Stopped. Nothing is lost; the next run goes on.\n"


def test_a_second_sync_says_who_is_at_it(tmp_path: Path) -> None:
    home = bare_workspace(tmp_path)
    assert ombud("sync", "docs", cwd=home).code == 0
    (home / "docs" / "travel.md").unlink()
    running = Workspace(home, {"models": {"embedder": "none"}})
    with acquire_lease(running.store, "sync"):
        people = ombud_process("sync", cwd=home)
        assert (people.code, people.out) == (3, "")
        assert f"process {os.getpid()}" in people.err
        script = ombud("sync", "--json", cwd=home)
        assert script.code == 3
        error = script.json["error"]
        assert error["type"] == "Busy"
        assert f"process {os.getpid()}" in error["message"]
        assert error["hint"]
        assert "220 euros" in ombud("search", "hotel costs", cwd=home).out
    running.close()
    assert ombud("sync", "--json", cwd=home).json["sources"][0]["deleted"] == 1


def test_two_syncs_at_once_are_one_sync(undisturbed: Undisturbed, tmp_path: Path) -> None:
    docs, whole = undisturbed("none")
    home = bare_workspace(tmp_path, files={})
    with (
        start("sync", docs, "--json", cwd=home) as first,
        start("sync", docs, "--json", cwd=home) as second,
    ):
        told = {process.pid: process.communicate(timeout=300) for process in (first, second)}
    codes = sorted((first.returncode, second.returncode))
    assert codes in ([0, 3], [0, 0]), told  # 0 and 0 where one was done before the other began
    assert kept(home) == whole


# Disk ---------------------------------------------------------------------------------------------


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system that can be made smaller and larger; skipped where mounting is not allowed."""
    disk = tmp_path / "disk"
    disk.mkdir()
    done = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=64m", "tmpfs", str(disk)], capture_output=True, text=True, check=False
    ) if shutil.which("mount") else None  # fmt: skip
    if done is None or done.returncode:
        pytest.skip("a file system of limited size can only be mounted by root")
    yield disk
    subprocess.run(["umount", "-l", str(disk)], check=True)


def remount(disk: Path, option: str) -> None:
    subprocess.run(["mount", "-o", f"remount,{option}", str(disk)], check=True, capture_output=True)


def fill(file: Path) -> None:
    """Writes until the disk is full."""
    with file.open("wb", buffering=0) as filling, pytest.raises(OSError, match="No space left"):
        any(filling.write(b"x" * 65536) == 0 for _ in count())


@pytest.mark.parametrize("size", ["64k", "256k", "1m", "2m"])
def test_a_full_disk_is_one_sentence_and_room_lets_it_go_on(
    small_disk: Path, undisturbed: Undisturbed, size: str
) -> None:
    docs, whole = undisturbed("none")
    bare_workspace(small_disk, files={})
    remount(small_disk, f"size={size}")
    full = ombud_process("sync", docs, cwd=small_disk)
    assert (full.code, full.out) == (1, "")
    sentence, hint = full.err.strip().splitlines()
    assert sentence.startswith("Error: ")
    assert "full" in sentence or "space" in sentence
    assert "space" in hint
    again = ombud("sync", docs, "--json", cwd=small_disk).json
    assert again["error"]["type"] in ("StoreError", "EngineError")
    remount(small_disk, "size=64m")
    assert ombud("sync", docs, cwd=small_disk).code == 0
    assert kept(small_disk) == whole


def test_what_was_indexed_is_found_while_the_disk_is_full(small_disk: Path) -> None:
    home = bare_workspace(small_disk)
    assert ombud("sync", "docs", cwd=home).code == 0
    many(home / "docs" / "more")
    fill(home / "filling")
    assert ombud_process("sync", cwd=home).code == 1
    found = ombud("search", "hotel costs", "--country", "GB", "--json", cwd=home)
    assert found.code == 0
    assert found.json["hits"][0]["uri"] == "docs/travel.md"
    (home / "filling").unlink()
    assert ombud("sync", cwd=home).code == 0
    assert "docs/more/00.md" in ombud("documents", "list", cwd=home).out


def test_a_read_only_disk_is_a_sentence(small_disk: Path) -> None:
    home = bare_workspace(small_disk)
    remount(small_disk, "ro")
    try:
        fresh = ombud_process("sync", "docs", cwd=home)
    finally:
        remount(small_disk, "rw")
    assert (fresh.code, fresh.out) == (1, "")
    assert fresh.err.startswith("Error: ")
    assert len(fresh.err.strip().splitlines()) == 2
