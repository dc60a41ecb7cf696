"""A workspace in one file and back: answers, conversations and the audit as they were; what is damaged
is refused, and nothing is left behind."""

import asyncio
import io
import tarfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from ombud.app import Workspace, asking, restore_backup, write_backup
from ombud.errors import BadRequest, StoreError
from ombud.store import count_rows, verify_chain
from ombud.types import Person, Question
from store.places import database
from web.running import make_workspace

ASKED = Question(text="How many days of annual leave do I have?", asker=Person(country="GB"))


def ask(workspace: Workspace) -> str:
    return asyncio.run(asking.ask(workspace, ASKED)).text


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    made = make_workspace(tmp_path / "home")
    yield made
    made.close()


@pytest.fixture
def kept(workspace: Workspace, tmp_path: Path) -> Path:
    """A backup of a workspace in which something was asked."""
    ask(workspace)
    (workspace.home / "prompts/compose").mkdir(parents=True)
    (workspace.home / "prompts/compose/gpt.txt").write_text("Answer kindly.", encoding="utf-8")
    (workspace.home / "elsewhere").symlink_to("/etc")
    file = tmp_path / "kept.tar.gz"
    write_backup(workspace, file)
    return file


def test_it_answers_as_before_and_the_chain_is_whole(
    workspace: Workspace, kept: Path, tmp_path: Path
) -> None:
    assert kept.stat().st_mode & 0o777 == 0o600
    home = tmp_path / "restored"
    done = restore_backup(kept, home)
    with closing(Workspace(home)) as again:
        before, after = count_rows(workspace.store), count_rows(again.store)
        # The walk along the chain has sealed what had waited for that.
        sealed = {"audit": before["audit"] + before["unsealed"], "unsealed": 0}
        assert after == {**before, **sealed}
        assert before["answer"] == 1
        assert ask(again) == ask(workspace)
        assert verify_chain(again.store).broken is None
        assert again.engine.version()
    assert (home / "prompts/compose/gpt.txt").read_text(encoding="utf-8") == "Answer kindly."
    assert not (home / "elsewhere").exists()
    assert done.documents == before["document"]
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


def test_what_is_written_while_it_is_made_does_not_tear_it(
    workspace: Workspace, tmp_path: Path
) -> None:
    for _ in range(3):
        ask(workspace)
        write_backup(workspace, tmp_path / "kept.tar.gz")
    restore_backup(tmp_path / "kept.tar.gz", tmp_path / "restored")
    with closing(Workspace(tmp_path / "restored")) as again:
        assert count_rows(again.store)["answer"] == 3


def rewritten(kept: Path, change: dict[str, bytes | None], more: dict[str, bytes]) -> Path:
    """The same archive with other contents; None leaves a file out."""
    other = kept.with_name("other.tar.gz")
    with tarfile.open(kept) as old, tarfile.open(other, "w:gz") as new:
        for entry in old:
            content = old.extractfile(entry)
            data = change.get(entry.name, content.read() if content else b"")
            if data is not None:
                more = {entry.name: data, **more}
        for name, data in more.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(data)
            new.addfile(entry, io.BytesIO(data))
    return other


@pytest.mark.parametrize(
    ("change", "more", "why"),
    [
        ({"ombud.toml": b"[plan]\nk = 1\n"}, {}, "`ombud.toml` is not as it was written"),
        ({".ombud/store.sqlite": None}, {}, "`.ombud/store.sqlite` is missing"),
        ({}, {"../evil.txt": b"x"}, "`../evil.txt` does not belong in it"),
        ({}, {"/etc/evil.txt": b"x"}, "does not belong in it"),
        ({"backup.json": None}, {}, "it has no manifest"),
        ({"backup.json": b"[]"}, {}, "it has no manifest"),
        ({"backup.json": b'{"form": 1, "store": "9999", "files": {}}'}, {}, "a newer version"),
    ],
)
def test_what_was_changed_is_refused_and_leaves_nothing(
    kept: Path, tmp_path: Path, change: dict[str, bytes | None], more: dict[str, bytes], why: str
) -> None:
    file = rewritten(kept, change, more)
    with pytest.raises(BadRequest, match=why):
        restore_backup(file, tmp_path / "restored")
    assert not (tmp_path / "restored").exists()
    assert not (tmp_path / "evil.txt").exists()
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


def test_a_file_that_was_cut_off_is_refused(kept: Path, tmp_path: Path) -> None:
    content = kept.read_bytes()
    kept.write_bytes(content[: len(content) // 2])
    with pytest.raises(BadRequest, match="is no whole backup"):
        restore_backup(kept, tmp_path / "restored")
    with pytest.raises(BadRequest, match="is no whole backup"):
        restore_backup(tmp_path / "nothing.tar.gz", tmp_path / "restored")


def test_nothing_is_written_over(kept: Path, workspace: Workspace, tmp_path: Path) -> None:
    with pytest.raises(BadRequest, match="is not empty"):
        restore_backup(kept, workspace.home)
    with pytest.raises(BadRequest, match="inside of what it keeps"):
        write_backup(workspace, workspace.home / ".ombud/kept.tar.gz")
    with pytest.raises(BadRequest, match="cannot be written"):
        write_backup(workspace, Path("/proc/kept.tar.gz"))


def test_into_a_database_and_back_into_a_file(workspace: Workspace, tmp_path: Path) -> None:
    ask(workspace)
    with database("postgresql") as url:
        toml = workspace.home / "ombud.toml"
        was = toml.read_text(encoding="utf-8")
        toml.write_text(f'{was}\n[store]\nurl = "{url}"\n', encoding="utf-8")
        write_backup(workspace, tmp_path / "file.tar.gz")
        restore_backup(tmp_path / "file.tar.gz", tmp_path / "on-postgresql")
        with closing(Workspace(tmp_path / "on-postgresql")) as moved:
            assert not (moved.home / ".ombud/store.sqlite").exists()
            first = count_rows(moved.store)
            assert first["answer"] == 1
            ask(moved)  # its counters go on
            assert verify_chain(moved.store).broken is None
            write_backup(moved, tmp_path / "database.tar.gz")
            with pytest.raises(StoreError, match="is not empty"):
                restore_backup(tmp_path / "file.tar.gz", tmp_path / "again")
    assert not (tmp_path / "again").exists()
