"""What a source says of its documents before they are read: it spares reading, and it may hide."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from ingest.shelf import Shelf, counts
from ombud.errors import SourceError
from ombud.index import blocking
from ombud.ingest import SyncReport, sync_sources
from ombud.settings import Folder
from ombud.sources import FolderSource, Ref, folder, open_source

LEAVE = "# Leave\n\nEverybody has 26 days of leave.\n"
TRAVEL = "# Travel\n\nA hotel costs 120 euros at most.\n"


class Watched:
    """The folder, with every reading noted; `broken` files cannot be read, `facts` are added to
    theirs."""

    chunker = ""

    def __init__(
        self, inner: FolderSource, broken: Mapping[str, Mapping[str, Any]] | None = None
    ) -> None:
        self.name, self._inner, self._broken = inner.name, inner, broken or {}
        self.read_names: list[str] = []

    def list(self) -> list[Ref]:
        return [self._said(ref) for ref in self._inner.list()]

    def _said(self, ref: Ref) -> Ref:
        more = self._broken.get(ref.uri)
        return ref if more is None else ref._replace(facts=dict(ref.facts) | dict(more), version="")

    def read(self, ref: Ref) -> bytes:
        self.read_names.append(ref.uri)
        if ref.uri in self._broken:
            raise SourceError("The site does not say who may read it.")
        return self._inner.read(ref)


@pytest.fixture(autouse=True)
def _settled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files may be trusted at once: nothing here writes twice within a tick."""
    monkeypatch.setattr(folder, "SETTLED", -1.0)


def run(shelf: Shelf, **broken: Mapping[str, Any]) -> tuple[list[str], SyncReport]:
    named = {f"docs/{name}.md": facts for name, facts in broken.items()}
    source = Watched(FolderSource("docs", shelf.folder), named)
    (report,) = sync_sources(shelf.workspace.ingest, [source])
    return source.read_names, report


def test_what_has_not_changed_is_not_read(shelf: Shelf) -> None:
    shelf.write("leave.md", LEAVE)
    shelf.write("travel.md", TRAVEL)
    assert counts(run(shelf)[1]) == {"added": 2}
    names, report = run(shelf)
    assert (names, counts(report)) == ([], {"unchanged": 2})
    shelf.write("travel.md", TRAVEL.replace("120", "140"))
    names, report = run(shelf)
    assert (set(names), counts(report)) == ({"docs/travel.md"}, {"updated": 1, "unchanged": 1})
    assert shelf.found("hotel") >= {"travel.md"}


def test_changed_metadata_outside_of_the_file_is_seen(shelf: Shelf) -> None:
    shelf.write("leave.md", LEAVE)
    run(shelf)
    shelf.write("ombud.yaml", "defaults: {country: GB}")
    assert counts(run(shelf)[1]) == {"updated": 1}
    assert shelf.document("leave.md").countries == ("GB",)


def test_a_file_that_was_only_touched_is_read_once_and_is_unchanged(shelf: Shelf) -> None:
    shelf.write("leave.md", LEAVE)
    run(shelf)
    shelf.write("leave.md", LEAVE)
    names, report = run(shelf)
    assert (names, counts(report)) == (["docs/leave.md"], {"unchanged": 1})
    assert run(shelf)[0] == []


def test_a_file_written_just_now_is_read_again(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(folder, "SETTLED", 3600.0)
    shelf.write("leave.md", LEAVE)
    run(shelf)
    assert run(shelf)[0] == ["docs/leave.md"]


def test_a_passage_that_left_the_index_is_brought_back(shelf: Shelf) -> None:
    shelf.write("leave.md", LEAVE)
    run(shelf)
    blocking(shelf.workspace.engine.delete([shelf.document("leave.md").id]))
    assert counts(run(shelf)[1]) == {"updated": 1}
    assert shelf.found("leave") == {"leave.md"}


def test_who_may_no_longer_read_a_page_loses_it_even_while_the_page_cannot_be_read(
    shelf: Shelf,
) -> None:
    shelf.write("leave.md", LEAVE)
    run(shelf)
    assert shelf.found("leave") == {"leave.md"}
    _, report = run(shelf, leave={"audience": {"groups": ("nobody",)}})
    assert [failure.uri for failure in report.failed] == ["docs/leave.md"]
    assert shelf.found("leave") == set()
    assert shelf.found("leave", groups=("nobody",)) == {"leave.md"}
    # Readable again, it is as it was.
    assert counts(run(shelf)[1]) == {"updated": 1}
    assert shelf.found("leave") == {"leave.md"}


def test_a_source_is_opened_by_its_kind(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "leave.md").write_text(LEAVE, encoding="utf-8")
    source = open_source(Folder(name="hr", path=Path("docs"), country="GB"), tmp_path)
    (ref,) = source.list()
    assert (ref.uri, dict(ref.facts)) == ("hr/leave.md", {"countries": ("GB",)})
