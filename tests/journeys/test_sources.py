"""A source from its first sync to its removal: renamed, moved, removed, and what old answers cite of
it afterwards."""

import json
import sqlite3
import tomllib
from pathlib import Path
from typing import Any

import httpx
import pytest

from journeys.command import Result, ombud, workspace
from ombud.app import Workspace, certify_deletion
from ombud.messages import message
from web.running import running

HOTELS = "What is paid for hotels on business trips?"
CAP = "Hotel costs on business trips are reimbursed up to 220 euros a night."


def asked(home: Path, *options: str) -> dict[str, Any]:
    return dict(ombud("ask", HOTELS, "--json", *options, cwd=home).json)


def uris(home: Path) -> set[str]:
    listed = ombud("documents", "list", "--json", cwd=home).json["documents"]
    return {one["uri"] for one in listed}


def holds(home: Path, words: str) -> bool:
    """Whether the store still has them."""
    files = (home / ".ombud").glob("store.sqlite*")
    return any(words.encode() in file.read_bytes() for file in files)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A workspace whose folder `docs` is synced."""
    workspace(tmp_path)
    assert ombud("sync", "docs", cwd=tmp_path).code == 0
    return tmp_path


def remove(home: Path, name: str = "docs") -> Result:
    return ombud("sources", "remove", name, "--json", cwd=home)


def test_a_renamed_folder_does_not_answer_twice(home: Path) -> None:
    (home / "docs").rename(home / "handbook")
    travel = home / "handbook" / "travel.md"
    travel.write_text(f"# Travel\n\n{CAP} Keep the bill.\n")
    synced = ombud("sync", "handbook", cwd=home)
    assert synced.code == 0
    assert "this was docs before" in synced.out
    assert {uri.partition("/")[0] for uri in uris(home)} == {"handbook"}
    assert {one["uri"] for one in asked(home)["citations"]} == {"handbook/travel.md"}
    again = ombud("sync", "--json", cwd=home)
    assert (again.code, len(again.json["sources"])) == (0, 1)


def test_a_folder_that_moved_keeps_its_name(home: Path) -> None:
    (home / "elsewhere").mkdir()
    (home / "docs").rename(home / "elsewhere" / "docs")
    synced = ombud("sync", "elsewhere/docs", "--json", cwd=home)
    assert synced.code == 0
    assert synced.json["sources"][0]["unchanged"] == 5
    assert ombud("sync", cwd=home).code == 0


def test_another_folder_of_the_same_name_is_another_source(home: Path) -> None:
    (home / "elsewhere" / "docs").mkdir(parents=True)
    assert ombud("sync", "elsewhere/docs", cwd=home).code == 2


def test_a_folder_with_little_of_a_missing_one_does_not_replace_it(home: Path) -> None:
    (home / "docs").rename(home / "unmounted")
    (home / "copy").mkdir()
    (home / "copy" / "travel.md").write_bytes((home / "unmounted" / "travel.md").read_bytes())
    synced = ombud("sync", "copy", cwd=home)
    assert len(uris(home)) == 6
    assert "5 documents of it still answer" in synced.err
    assert "ombud sources remove docs" in synced.err


def test_a_source_renamed_in_the_settings_does_not_answer_twice(tmp_path: Path) -> None:
    workspace(tmp_path)
    file = tmp_path / "ombud.toml"
    settings = file.read_text()
    for name in ("docs", "rules"):
        file.write_text(f'{settings}\n[[source]]\nname = "{name}"\npath = "docs"\n')
        assert ombud("sync", cwd=tmp_path).code == 0
    assert {uri.partition("/")[0] for uri in uris(tmp_path)} == {"rules"}


def test_a_removed_source_answers_no_longer_and_its_files_stay(home: Path) -> None:
    removed = remove(home)
    assert removed.json == {"removed": "docs", "documents": 5}
    assert uris(home) == set()
    assert asked(home)["outcome"] == "denied"
    assert (home / "docs" / "travel.md").is_file()
    assert "nothing to sync" in ombud("sync", cwd=home).err.lower()
    with sqlite3.connect(home / ".ombud" / "store.sqlite") as db:
        records = [json.loads(row[0]) for row in db.execute("SELECT record FROM audit")]
    db.close()
    assert any("source removed" in str(record) for record in records)
    assert ombud("audit", "verify", cwd=home).code == 0


def test_a_source_of_the_settings_goes_from_them_too_and_comments_stay(tmp_path: Path) -> None:
    workspace(tmp_path)
    file = tmp_path / "ombud.toml"
    other = '[[source]]\nname = "other"\npath = "docs/gb"\n'
    entry = '# The handbook of HR\n[[source]]\nname = "docs"\npath = "docs"\n'
    file.write_text(f"{file.read_text()}\n# Kept\n{entry}\n{other}")
    assert ombud("sync", cwd=tmp_path).code == 0
    assert remove(tmp_path).code == 0
    left = file.read_text()
    assert [one["name"] for one in tomllib.loads(left)["source"]] == ["other"]
    assert "# Kept" in left
    assert uris(tmp_path) == {"other/leave.md"}


def test_a_source_that_is_not_there_is_named_with_those_that_are(home: Path) -> None:
    wrong = ombud("sources", "remove", "dcos", cwd=home)
    assert wrong.code == 2
    assert "docs" in wrong.err


def test_what_old_answers_cite_of_a_removed_source_opens_until_it_is_purged(home: Path) -> None:
    (cited,) = asked(home)["citations"]
    remove(home)
    version = f"{cited['digest']}.{cited['parser']}"
    place = f"/api/v1/documents/{cited['document_id']}"
    page = f"/documents/{cited['document_id']}"
    opened = Workspace(home, {"models": {"embedder": "none"}})
    try:
        with running(opened) as address, httpx.Client(base_url=address, timeout=60) as client:
            found = client.get(place, params={"digest": version}).json()
            assert found["text"][cited["start"] : cited["end"]] == CAP
            shown = client.get(page, params={"digest": version})
            assert message("documents.removed") in shown.text
            assert client.get(place).status_code == 404
            assert certify_deletion(opened, cited["document_id"]).gone
            assert client.get(place, params={"digest": version}).status_code == 404
    finally:
        opened.close()


def test_texts_that_no_answer_cites_go_with_their_source(home: Path) -> None:
    asked(home)
    remove(home)
    assert holds(home, CAP)
    assert not holds(home, "31 days of annual leave")


def test_a_removed_source_can_be_added_again(home: Path) -> None:
    (cited,) = asked(home)["citations"]
    remove(home)
    synced = ombud("sync", "docs", "--json", cwd=home)
    assert synced.json["sources"][0]["added"] == 5
    (again,) = asked(home)["citations"]
    assert again == cited


def test_with_the_last_answer_that_cites_it_a_removed_text_goes(home: Path) -> None:
    asked(home)
    remove(home)
    assert holds(home, CAP)
    with sqlite3.connect(home / ".ombud" / "store.sqlite") as db:
        db.execute("UPDATE answer SET at = '2020-01-01T00:00:00+00:00'")
    db.close()
    assert ombud("audit", "expire", cwd=home).code == 0
    assert not holds(home, CAP)
