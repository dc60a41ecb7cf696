"""Google Drive as a source, against a Drive that keeps to the public reference."""

from collections.abc import Callable, Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

import docx
import pytest
from cryptography.hazmat.primitives.asymmetric import rsa

from copies import lay_store
from ingest.shelf import Shelf, counts
from ombud.app import Workspace, check_all, library
from ombud.errors import SourceError
from ombud.ingest import SyncReport, sync_sources
from ombud.settings import DriveFolders
from ombud.sources import Ref, Source, open_source
from ombud.sources import client as http
from ombud.sources.drive.access import NOBODY
from ombud.types import Person
from sources.drive.google import FOLDER, Drive, Entry, Grant, serving

DOC = "application/vnd.google-apps.document"
STAFF = {"type": "group", "role": "reader", "emailAddress": "Staff@example.com"}
ANA = {"type": "user", "role": "writer", "emailAddress": "ana@example.com"}


def document(text: str) -> bytes:
    made, data = docx.Document(), BytesIO()
    made.add_paragraph(text)
    made.save(data)
    return data.getvalue()


@pytest.fixture(autouse=True)
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    waited: list[float] = []
    monkeypatch.setattr(http, "sleep", waited.append)
    monkeypatch.setenv("NO_PROXY", "*")
    return waited


@pytest.fixture
def drive(monkeypatch: pytest.MonkeyPatch) -> Iterator[Drive]:
    """HR/ with Leave.md, Travel (a Doc), a form, and Pay/ with Bonus.md; Elsewhere/ beside it."""
    entries = {
        "hr": Entry("HR", "my-drive", FOLDER, grants=(STAFF,)),
        "pay": Entry("Pay", "hr", FOLDER),
        "else": Entry("Elsewhere", "my-drive", FOLDER),
        "leave": Entry("Leave.md", "hr", data=b"# Leave\n\nTwenty-six days of leave.\n"),
        "travel": Entry("Travel", "hr", DOC, document("Trains are booked in Tally.")),
        "form": Entry("Survey", "hr", "application/vnd.google-apps.form"),
        "bonus": Entry("Bonus.md", "pay", data=b"# Bonus\n\nPaid in May.\n", grants=(ANA,)),
    }
    with serving(Drive(entries, shared={"0AB": "Handbook"})) as made:
        monkeypatch.setenv("DRIVE_KEY", made.service_account())
        yield made


@pytest.fixture
def shelf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Shelf]:
    monkeypatch.delenv("OMBUD_HOME", raising=False)
    made = Shelf(tmp_path)
    yield made
    made.workspace.close()


def source(drive: Drive, **settings: Any) -> Source:
    values = {"folders": ("hr",), "api": drive.url, **settings}
    return open_source(DriveFolders(name="hr", **values), Path())


def listed(drive: Drive, **settings: Any) -> dict[str, Ref]:
    return {ref.uri: ref for ref in source(drive, **settings).list()}


def synced(shelf: Shelf, drive: Drive) -> SyncReport:
    (report,) = sync_sources(shelf.workspace.ingest, [source(drive)])
    return report


def visible(shelf: Shelf, *groups: str) -> set[str]:
    person = Person(groups=groups)
    return {found.title for found in library.documents(shelf.workspace, person)}


def failing(work: Callable[[], Any]) -> SourceError:
    with pytest.raises(SourceError) as failed:
        work()
    assert "PRIVATE KEY" not in f"{failed.value} {failed.value.hint}"
    return failed.value


def test_files_and_documents_are_listed_by_their_ids(drive: Drive) -> None:
    opened = source(drive, groups={"staff@example.com": "employees"})
    refs = {ref.uri: ref for ref in opened.list()}
    assert {uri: ref.name for uri, ref in refs.items()} == {
        "hr/leave.md": "HR/Leave.md",
        "hr/travel.docx": "HR/Travel",
        "hr/bonus.md": "HR/Pay/Bonus.md",
    }
    assert refs["hr/leave.md"].facts["audience"] == {"groups": ("employees",)}
    assert refs["hr/bonus.md"].facts["audience"]["groups"] == (
        "drive-user:ana@example.com",
        "employees",
    )
    assert [one.uri for one in opened.left_out] == ["HR/Survey"]  # type: ignore[attr-defined]
    assert opened.read(refs["hr/travel.docx"]) == drive.entries["travel"].data


def test_the_index_follows_the_drive(shelf: Shelf, drive: Drive) -> None:
    assert counts(synced(shelf, drive)) == {"added": 3}
    assert counts(synced(shelf, drive)) == {"unchanged": 3}
    assert visible(shelf, "staff@example.com") == {"Leave", "Travel", "Bonus"}
    assert visible(shelf) == set()
    drive.change("leave", parent="pay")
    assert counts(synced(shelf, drive)) == {"unchanged": 3}
    drive.change("leave", data=b"# Leave\n\nThirty days.\n", version=2)
    assert counts(synced(shelf, drive)) == {"updated": 1, "unchanged": 2}
    drive.change("hr", grants=(ANA,))
    synced(shelf, drive)
    assert visible(shelf, "staff@example.com") == set()
    assert visible(shelf, "drive-user:ana@example.com") == {"Leave", "Travel", "Bonus"}
    drive.change("travel", trashed=True)
    assert counts(synced(shelf, drive))["deleted"] == 1
    drive.change("bonus", parent="else")
    assert counts(synced(shelf, drive))["deleted"] == 1
    assert visible(shelf, "drive-user:ana@example.com") == {"Leave"}
    drive.change("leave", hidden=True)
    synced(shelf, drive)
    assert visible(shelf, "drive-user:ana@example.com") == set()


@pytest.mark.parametrize(
    ("grant", "readers"),
    [
        ({"type": "anyone", "role": "reader", "allowFileDiscovery": True}, {}),
        ({"type": "anyone", "role": "reader", "allowFileDiscovery": False}, NOBODY),
        ({"type": "anyone", "role": "reader"}, NOBODY),
        (
            {"type": "domain", "role": "reader", "domain": "X.com", "allowFileDiscovery": True},
            {"groups": ("drive-domain:x.com",)},
        ),
        ({"type": "domain", "role": "reader", "domain": "x.com"}, NOBODY),
        ({**STAFF, "type": "circle"}, NOBODY),
        ({**STAFF, "role": "previewer"}, NOBODY),
        ({**STAFF, "deleted": True}, NOBODY),
        ({**STAFF, "view": "published"}, NOBODY),
        ({**ANA, "pendingOwner": True}, NOBODY),
        ({**STAFF, "expirationTime": "2020-01-01T00:00:00Z"}, NOBODY),
        ({**STAFF, "expirationTime": "soon"}, NOBODY),
        ({**STAFF, "expirationTime": "2099-01-01T00:00:00Z"}, {"groups": ("staff@example.com",)}),
        ({"type": "group", "role": "reader", "emailAddress": "*"}, NOBODY),
    ],
)
def test_what_is_not_known_to_allow_reading_grants_nothing(
    drive: Drive, grant: Grant, readers: dict[str, tuple[str, ...]]
) -> None:
    drive.change("hr", grants=(grant,))
    assert listed(drive)["hr/leave.md"].facts["audience"] == readers


def test_links_and_domains_count_if_the_settings_say_so(drive: Drive) -> None:
    drive.change("hr", grants=({"type": "domain", "role": "reader", "domain": "x.com"},))
    settings = {"links": True, "groups": {"x.com": "*"}}
    assert listed(drive, **settings)["hr/leave.md"].facts["audience"] == {}


def test_what_moves_while_it_is_listed_is_not_lost(drive: Drive) -> None:
    drive.entries["deep"] = Entry("Deep", "else", FOLDER)
    drive.entries["note"] = Entry("Note.md", "deep", data=b"# Note\n")

    def move() -> None:
        drive.change("leave", parent="pay")
        drive.change("deep", parent="hr")
        drive.change("travel", trashed=True)
        del drive.entries["bonus"]
        drive.changes.append("bonus")

    drive.during_listing = move
    assert set(listed(drive)) == {"hr/leave.md", "hr/note.md"}


def test_a_shared_drive_is_found_by_name(drive: Drive) -> None:
    drive.entries["rules"] = Entry("Rules.md", "0AB", data=b"# Rules\n", grants=(STAFF,))
    refs = listed(drive, folders=(), drives=("Handbook",))
    assert [ref.name for ref in refs.values()] == ["Handbook/Rules.md"]
    assert "Wiki" in str(failing(source(drive, folders=(), drives=("Wiki",)).list))
    assert "there" in str(failing(source(drive, folders=("gone",)).list))


def test_too_many_requests_are_waited_for(drive: Drive, waits: list[float]) -> None:
    drive.limited = 2
    assert len(listed(drive)) == 3
    assert waits == [1.0, 2.0]
    drive.limited = 1000
    # Not taken for permissions that are hidden.
    assert "pause" in str(failing(source(drive).list))


def test_what_disappears_meanwhile_concerns_that_file_only(drive: Drive) -> None:
    opened = source(drive)
    (leave,) = [ref for ref in opened.list() if ref.uri == "hr/leave.md"]
    drive.gone.add("leave")
    assert "gone" in str(failing(lambda: opened.read(leave)))
    assert listed(drive)["hr/leave.md"].facts["audience"] == NOBODY
    drive.gone.clear()
    drive.change("leave", version=2)
    assert "changed" in str(failing(lambda: opened.read(leave)))


def test_a_token_that_runs_out_is_renewed(drive: Drive) -> None:
    opened = source(drive)
    opened.list()
    drive.tokens.clear()
    assert len(opened.list()) == 3
    assert drive.given == 2


def test_a_refresh_token_is_as_good_as_a_service_account(
    drive: Drive, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DRIVE_KEY", drive.refresh_token())
    assert len(listed(drive)) == 3


@pytest.mark.parametrize("kind", ["missing", "no JSON", "other key", "other token"])
def test_a_wrong_key_is_told_with_its_variable(
    drive: Drive, monkeypatch: pytest.MonkeyPatch, kind: str, tmp_path: Path
) -> None:
    keys = {
        "missing": "",
        "no JSON": "-----BEGIN PRIVATE KEY",
        "other key": drive.service_account(rsa.generate_private_key(65537, 2048)),
        "other token": drive.refresh_token("refresh-2"),
    }
    block = f'[[source]]\ntype = "drive"\nname = "hr"\nfolders = ["hr"]\napi = "{drive.url}"\n'
    (tmp_path / "ombud.toml").write_text(f'[models]\nembedder = "none"\n{block}')
    lay_store(tmp_path)
    workspace = Workspace(tmp_path)
    (well,) = [check for check in check_all(workspace) if check.name == "sources"]
    assert well.ok
    assert "HR" in well.said
    monkeypatch.setenv("DRIVE_KEY", keys[kind])
    failed = failing(source(drive).list)
    assert "DRIVE_KEY" in f"{failed} {failed.hint}"
    (check,) = [check for check in check_all(workspace) if check.name == "sources"]
    assert not check.ok
    assert "DRIVE_KEY" in f"{check.said} {check.hint}"
    workspace.close()
