"""What is indexed is what is there: adds, updates, moves, deletes, failures, with a real parser,
store and index."""

import asyncio
import email
import io
from datetime import date
from email.message import EmailMessage
from email.policy import SMTP
from hashlib import sha256
from pathlib import Path
from typing import Any

import docx
import numpy as np
import pytest

from ingest.shelf import Shelf, counts, long_text
from ombud.app import Workspace, asking, library
from ombud.errors import Busy, NotFound
from ombud.index import blocking
from ombud.ingest import sync_sources
from ombud.models import Embedder
from ombud.sources import FolderSource, Ref
from ombud.store import acquire_lease, bury_documents, document_ids
from ombud.types import Person

LEAVE = "# Annual leave\n\nEmployees have 26 days of paid annual leave.\n"
TRAVEL = "# Travel\n\nHotels are reimbursed up to the cap of the city.\n"
PDF = (
    b"%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Kids[3 0 R]/"
    b"Count 1>>endobj\n"
    b"3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 300 100]/Contents 4 0 R/Resources<</Font<</F "
    b"5 0 R>>>>>>endobj\n"
    b"4 0 obj<</Length 66>>stream\nBT /F 12 Tf 20 50 Td "
    b"(Parental leave lasts eighteen weeks.) Tj ET\nendstream endobj\n"
    b"5 0 obj<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>endobj\ntrailer<</Root 1 0 R>>\n"
)


def test_first_sync_adds_and_the_second_finds_nothing_to_do(shelf: Shelf) -> None:
    shelf.write("gb/leave.md", LEAVE)
    shelf.write(
        "travel.html", "<h1>Travel</h1><p>Hotels are reimbursed up to the cap of the city.</p>"
    )
    shelf.write("notes.txt", "The canteen opens at noon.")
    shelf.write("parental.pdf", PDF)
    assert counts(shelf.sync()) == {"added": 4}
    before, version = shelf.snapshot(), shelf.workspace.engine.version()
    assert counts(shelf.sync()) == {"unchanged": 4}
    assert shelf.snapshot() == before
    assert shelf.workspace.engine.version() == version
    assert shelf.indexed() == {"gb/leave.md", "travel.html", "notes.txt", "parental.pdf"}
    assert "eighteen weeks" in shelf.document("parental.pdf").text


def test_with_and_without_parser_processes_the_index_is_the_same(tmp_path: Path) -> None:
    kept = []
    for processes in (3, 0):
        shelf = Shelf(tmp_path / str(processes), documents={"processes": processes})
        for number in range(12):
            shelf.write(f"{number:02}.md", long_text(number, 2))
        shelf.write("parental.pdf", PDF)
        shelf.write("broken.pdf", b"%PDF-1.7 nothing more")
        report = shelf.sync()
        assert counts(report) == {"added": 13, "failed": 1}
        kept.append((report.failed, shelf.snapshot()))
        shelf.workspace.close()
    assert kept[0] == kept[1]


ODD = "C# - 50% of what? & why #"
"""A file's name of letters that have a meaning in addresses."""


def test_files_of_any_name_are_read_whatever_their_format(shelf: Shelf) -> None:
    said = "The canteen opens at noon."
    mail = f"Subject: Canteen\nContent-Type: text/plain\n\n{said}\n"
    files: dict[str, str | bytes] = {
        f"{ODD}.md": f"{said}\n",
        f"{ODD}.TXT": said,
        f"{ODD}.html": f"<p>{said}</p>",
        f"{ODD}.csv": f"what,when\n{said},noon\n",
        f"{ODD}.eml": mail,
        f"{ODD}.docx": word_file(said),
        f"{ODD}.pdf": PDF,
        f"what? #1/100%25/{ODD}/leave.md": LEAVE,
        "notes.md#old.txt": f"Of old: {said}",
        "notes.txt?v=2.md": said,
    }
    for name, data in files.items():
        shelf.write(name, data)
    report = shelf.sync()
    assert not report.failed
    assert counts(report) == {"added": len(files)}
    assert shelf.documents() == shelf.indexed() == set(files)
    assert f"{ODD}.html" in shelf.found("when does the canteen open")
    assert shelf.document(f"{ODD}.md").title == "C# 50% of what? & why #"
    # What has another ending is still not read.
    shelf.write(f"{ODD}.png", b"x")
    shelf.write("photo.png?.pdf.png", b"x")
    report = shelf.sync()
    assert not report.failed
    assert counts(report) == {"unchanged": len(files)}
    shelf.remove(f"{ODD}.pdf")
    assert counts(shelf.sync()) == {"unchanged": len(files) - 1, "deleted": 1}


def word_file(text: str, struck: str = "") -> bytes:
    made, file = docx.Document(), io.BytesIO()
    made.add_paragraph(text).add_run(struck).font.strike = True
    made.save(file)
    return file.getvalue()


def test_identities_are_the_ones_of_the_contract(shelf: Shelf) -> None:
    shelf.write("gb/leave.md", LEAVE)
    shelf.sync()
    document = shelf.document("gb/leave.md")
    assert document.id == sha256(b"docs/gb/leave.md").hexdigest()[:16]
    assert document.digest == sha256(LEAVE.encode()).hexdigest()
    for chunk in shelf.chunks():
        assert chunk.id.startswith(document.id + "-")
        assert document.text[chunk.start : chunk.end] == chunk.text


def test_a_changed_file_replaces_what_was_indexed_of_it(shelf: Shelf) -> None:
    shelf.write("leave.md", LEAVE)
    shelf.write("travel.md", TRAVEL)
    shelf.sync()
    shelf.write("leave.md", LEAVE.replace("26", "28"))
    assert counts(shelf.sync()) == {"updated": 1, "unchanged": 1}
    texts = [c.text for c in shelf.chunks() if c.uri == "docs/leave.md"]
    assert texts == ["Employees have 28 days of paid annual leave."]


def test_a_document_that_became_shorter_leaves_no_chunk_behind(shelf: Shelf) -> None:
    shelf.write("long.md", long_text(0, 12))
    shelf.sync()
    assert len(shelf.chunks()) > 5
    shelf.write("long.md", "# Part\n\nOne rule is left.\n")
    shelf.sync()
    assert [c.text for c in shelf.chunks()] == ["One rule is left."]


def test_a_deleted_file_is_gone_from_search_store_and_index(shelf: Shelf) -> None:
    shelf.write("leave.md", LEAVE)
    shelf.write("travel.md", TRAVEL)
    shelf.sync()
    gone = shelf.document("leave.md").id
    shelf.remove("leave.md")
    assert counts(shelf.sync()) == {"deleted": 1, "unchanged": 1}
    assert shelf.documents() == shelf.indexed() == {"travel.md"}
    assert shelf.found("annual leave") == set()
    with pytest.raises(NotFound):
        library.document(shelf.workspace, gone, None)


def test_a_renamed_file_counts_as_moved(shelf: Shelf) -> None:
    shelf.write("leave.md", LEAVE)
    shelf.write("travel.md", TRAVEL)
    shelf.sync()
    (shelf.folder / "gb").mkdir()
    (shelf.folder / "leave.md").rename(shelf.folder / "gb" / "annual.md")
    assert counts(shelf.sync()) == {"moved": 1, "unchanged": 1}
    assert shelf.documents() == shelf.indexed() == {"gb/annual.md", "travel.md"}


def test_a_copy_is_no_document_until_the_original_is_gone(shelf: Shelf) -> None:
    shelf.write("b.md", LEAVE)
    shelf.sync()
    shelf.write("a.md", LEAVE)
    report = shelf.sync()
    assert counts(report) == {"unchanged": 1}
    assert [(one.uri, one.why) for one in report.left_out] == [
        ("docs/a.md", "it is a copy of docs/b.md")
    ]
    assert shelf.found("annual leave") == {"b.md"}
    shelf.remove("b.md")
    assert counts(shelf.sync()) == {"moved": 1}
    assert shelf.documents() == shelf.indexed() == {"a.md"}


def test_a_copy_with_metadata_or_a_format_of_its_own_is_a_document(shelf: Shelf) -> None:
    for name in ("gb/leave.md", "fr/leave.md", "leave.txt", "leave.md"):
        shelf.write(name, LEAVE)
    shelf.write("fr/ombud.yaml", "defaults: {country: FR}\n")
    shelf.write("gb/ombud.yaml", "files: {leave.md: {country: GB}}\n")
    assert counts(shelf.sync()) == {"added": 4}


def test_a_rule_that_is_superseded_by_name_is_no_copy(shelf: Shelf) -> None:
    shelf.write("a.md", LEAVE)
    shelf.write("old/leave.md", LEAVE)
    new = {"supersedes": "docs/old/leave.md", "effective_from": "2026-01-01"}
    shelf.write("new.md", "# Annual leave\n\nNow there are 30 days.\n", **new)
    shelf.sync()
    assert shelf.document("old/leave.md").effective_to == date(2025, 12, 31)


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("empty.pdf", b""),
        ("empty.md", b""),
        ("blank.txt", b" \n\n "),
        ("broken.pdf", b"%PDF-1.7\n1 0 obj << /Type /Catalog"),
        ("not-a.docx", b"PK\x03\x04 not really"),
        ("front.md", b"---\ntitle: [unclosed\n---\nText.\n"),
        ("country.md", b"---\ncountry: NO\n---\nText.\n"),
        ("audience.md", b"---\naudience: managers\n---\nText.\n"),
        ("dates.md", b"---\neffective_from: 2025-06-01\neffective_to: 2025-05-31\n---\nText.\n"),
        ("alias.md", b"---\na: &a [x]\ntitle: *a\n---\nText.\n"),
        ("only-front.md", b"---\ntitle: Nothing else\n---\n"),
    ],
)
def test_one_bad_document_is_one_line_and_stops_nothing(
    shelf: Shelf, name: str, data: bytes
) -> None:
    shelf.write("a-good.md", LEAVE)
    shelf.write(name, data)
    shelf.write("z-good.md", TRAVEL)
    report = shelf.sync()
    assert counts(report) == {"added": 2, "failed": 1}
    assert not report.ok
    (failure,) = report.failed
    assert failure.uri == f"docs/{name}"
    assert failure.reason.endswith((".", "?"))
    assert shelf.indexed() == {"a-good.md", "z-good.md"}
    assert counts(shelf.sync()) == {"unchanged": 2, "failed": 1}


def test_dates_the_wrong_way_round_are_named(shelf: Shelf) -> None:
    shelf.write("a.md", LEAVE, effective_from="2025-06-01", effective_to="2025-05-31")
    (failure,) = shelf.sync().failed
    assert "2025-05-31" in failure.reason
    assert "2025-06-01" in failure.reason


def test_one_day_in_force_is_allowed(shelf: Shelf) -> None:
    shelf.write("a.md", LEAVE, effective_from="2025-06-01", effective_to="2025-06-01")
    assert counts(shelf.sync()) == {"added": 1}


def test_a_folder_and_a_broken_link_named_like_documents(shelf: Shelf) -> None:
    (shelf.folder / "folder.md").mkdir()
    shelf.write("folder.md/inside.md", LEAVE)
    (shelf.folder / "broken.md").symlink_to("nowhere.md")
    report = shelf.sync()
    assert [f.uri for f in report.failed] == ["docs/broken.md"]
    assert shelf.indexed() == {"folder.md/inside.md"}


def test_a_document_that_turns_bad_keeps_what_was_indexed(shelf: Shelf) -> None:
    shelf.write("leave.md", LEAVE)
    shelf.write("travel.md", TRAVEL)
    shelf.sync()
    before = shelf.snapshot()
    shelf.write("leave.md", b"")
    shelf.write("travel.md", TRAVEL, audience="managers")
    assert counts(shelf.sync()) == {"failed": 2}
    assert shelf.snapshot() == before


def test_a_file_larger_than_the_limit_is_not_even_read(tmp_path: Path) -> None:
    shelf = Shelf(tmp_path, documents={"size_mb": 1})
    with (shelf.folder / "huge.txt").open("wb") as file:
        file.truncate(2 * 2**20)
    (failure,) = shelf.sync().failed
    assert "larger than 1 MB" in failure.reason
    shelf.workspace.close()


def test_kinds_that_are_not_read_are_named(shelf: Shelf) -> None:
    for name in ("a.xyz", "b.xyz", "LICENSE", "c.MD", "~$c.docx", "d.pdf.part", "Thumbs.db"):
        shelf.write(name, "# Text\n\nSome words.")
    report = shelf.sync()
    assert {one.uri: one.why for one in report.left_out} == {
        "docs/LICENSE": "its name has no ending",
        "docs/a.xyz": "there is no parser for `.xyz`",
        "docs/b.xyz": "there is no parser for `.xyz`",
    }
    assert report.ok
    assert shelf.documents() == {"c.MD"}


def test_what_was_left_out_of_a_document_is_reported(shelf: Shelf) -> None:
    shelf.write("pay.docx", word_file("Pay is monthly.", struck="Pay is weekly."))
    report = shelf.sync()
    (lost,) = report.lost
    assert (lost.uri, lost.loss.struck) == ("docs/pay.docx", 1)
    assert report.ok
    assert all("weekly" not in chunk.model_dump_json() for chunk in shelf.chunks())
    again = shelf.sync()
    assert (again.lost, again.incomplete) == ((), 1)
    shelf.remove("pay.docx")
    assert shelf.sync(allow_deletes=True).incomplete == 0


def test_hidden_files_stay_hidden(shelf: Shelf) -> None:
    shelf.write(".draft.md", LEAVE)
    shelf.write(".git/notes.md", LEAVE)
    assert counts(shelf.sync()) == {}
    assert shelf.chunks() == []


# Too many deletions -------------------------------------------------------------------------------


def twenty(shelf: Shelf) -> list[str]:
    names = [f"{n:02}.md" for n in range(20)]
    for name in names:
        shelf.write(name, f"# Rule {name}\n\nThe rule in {name} is kept.\n")
    assert counts(shelf.sync()) == {"added": 20}
    return names


def test_when_most_documents_vanish_none_is_deleted(shelf: Shelf) -> None:
    names = twenty(shelf)
    before = shelf.snapshot()
    shelf.remove(*names[5:])
    report = shelf.sync()
    assert not report.ok
    assert counts(report) == {"unchanged": 5}
    assert "15 of 20" in report.note
    assert "--allow-deletes" in report.note
    assert shelf.snapshot() == before
    assert counts(shelf.sync(allow_deletes=True)) == {"deleted": 15, "unchanged": 5}
    assert shelf.documents() == shelf.indexed() == set(names[:5])


def test_half_may_vanish_and_one_more_may_not(shelf: Shelf) -> None:
    for n in range(22):
        shelf.write(f"{n}.md", f"# Rule\n\nRule number {n}.\n")
    shelf.sync()
    shelf.remove(*[f"{n}.md" for n in range(12)])
    assert shelf.sync().note
    shelf.write("0.md", "# Rule\n\nRule number 0.\n")
    assert counts(shelf.sync()) == {"deleted": 11, "unchanged": 11}


def test_ten_may_vanish_whatever_their_share(shelf: Shelf) -> None:
    for n in range(11):
        shelf.write(f"{n}.md", f"# Rule\n\nRule number {n}.\n")
    shelf.sync()
    shelf.remove(*[f"{n}.md" for n in range(10)])
    assert counts(shelf.sync()) == {"deleted": 10, "unchanged": 1}


def test_an_emptied_folder_loses_nothing(shelf: Shelf) -> None:
    names = twenty(shelf)
    before = shelf.snapshot()
    shelf.remove(*names)
    assert "20 of 20" in shelf.sync().note
    assert shelf.snapshot() == before
    assert counts(shelf.sync(allow_deletes=True)) == {"deleted": 20}
    assert shelf.chunks() == []


def test_a_small_emptied_folder_loses_nothing_either(shelf: Shelf) -> None:
    shelf.write("only.md", "# Rule\n\nThe only rule.\n")
    shelf.sync()
    shelf.remove("only.md")
    assert "1 of 1" in shelf.sync().note
    assert counts(shelf.sync(allow_deletes=True)) == {"deleted": 1}


def test_renaming_everything_is_no_loss(shelf: Shelf) -> None:
    for name in twenty(shelf):
        (shelf.folder / name).rename(shelf.folder / f"new-{name}")
    assert counts(shelf.sync()) == {"moved": 20}


@pytest.mark.parametrize("allow", [False, True])
def test_a_folder_that_is_missing_changes_nothing(shelf: Shelf, allow: bool) -> None:
    twenty(shelf)
    before = shelf.snapshot()
    shelf.folder.rename(shelf.home / "elsewhere")
    report = shelf.sync(allow_deletes=allow)
    assert not report.ok
    assert "does not exist" in report.note
    assert shelf.snapshot() == before
    (shelf.home / "elsewhere").rename(shelf.folder)
    assert counts(shelf.sync()) == {"unchanged": 20}


def test_a_broken_sidecar_changes_nothing(shelf: Shelf) -> None:
    shelf.write("leave.md", LEAVE, country="GB")
    shelf.sync()
    before = shelf.snapshot()
    shelf.write("ombud.yaml", "defaults: {contry: GB}")
    shelf.write("travel.md", TRAVEL)
    report = shelf.sync()
    assert "`contry`" in report.note
    assert "`country`" in report.note
    assert shelf.snapshot() == before


def test_only_the_synced_source_loses_documents(shelf: Shelf) -> None:
    shelf.write("leave.md", LEAVE)
    shelf.sync()
    other = shelf.home / "other"
    other.mkdir()
    (other / "travel.md").write_text(TRAVEL)
    (report,) = sync_sources(shelf.workspace.ingest, [FolderSource("other", other)])
    assert counts(report) == {"added": 1}
    shelf.remove("leave.md")
    (report,) = sync_sources(shelf.workspace.ingest, [FolderSource("other", other)])
    assert counts(report) == {"unchanged": 1}
    assert {d.uri for d in library.documents(shelf.workspace, None)} == {
        "docs/leave.md",
        "other/travel.md",
    }


def test_one_source_that_fails_does_not_stop_the_next(shelf: Shelf) -> None:
    shelf.write("leave.md", LEAVE)
    sources = [FolderSource("gone", shelf.home / "gone"), FolderSource("docs", shelf.folder)]
    gone, docs = sync_sources(shelf.workspace.ingest, sources)
    assert (gone.ok, docs.ok) == (False, True)
    assert shelf.indexed() == {"leave.md"}


# Interrupted, competing ---------------------------------------------------------------------------


def test_a_second_sync_is_told_who_is_at_it_and_changes_nothing(shelf: Shelf) -> None:
    shelf.write("leave.md", LEAVE)
    with acquire_lease(shelf.workspace.store, "sync") as lease:
        with pytest.raises(Busy) as busy:
            shelf.sync()
        assert f"process {lease.owner.split(':')[1]}" in str(busy.value)
        assert shelf.documents() == set()
    assert counts(shelf.sync()) == {"added": 1}


def test_a_sync_that_loses_its_lease_writes_nothing_more(shelf: Shelf) -> None:
    class Thief(FolderSource):
        def list(self) -> list[Ref]:
            with shelf.workspace.store.write() as db:
                db.exec_driver_sql("UPDATE lease SET owner = 'elsewhere:1:x', fence = fence + 1")
            return super().list()

    shelf.write("leave.md", LEAVE)
    with pytest.raises(Busy, match="lost to another process"):
        sync_sources(shelf.workspace.ingest, [Thief("docs", shelf.folder)])
    assert shelf.documents() == set()


def test_a_file_that_vanishes_between_listing_and_reading_fails_alone(shelf: Shelf) -> None:
    class Vanishing(FolderSource):
        reads = 0

        def read(self, ref: Ref) -> bytes:
            data = super().read(ref)
            if ref.uri == "docs/leave.md" and data:
                Path(ref.place).unlink()  # there when it is compared, gone when it is parsed
            return data

    shelf.write("leave.md", LEAVE)
    shelf.write("travel.md", TRAVEL)
    (report,) = sync_sources(shelf.workspace.ingest, [Vanishing("docs", shelf.folder)])
    assert [f.uri for f in report.failed] == ["docs/leave.md"]
    assert shelf.indexed() == {"travel.md"}
    assert counts(shelf.sync()) == {"unchanged": 1}


def test_chunks_that_no_document_owns_are_dropped(shelf: Shelf) -> None:
    """A sync killed between the commit of the index and the one of the store."""
    shelf.write("leave.md", LEAVE)
    shelf.sync()
    before, identity = shelf.snapshot(), shelf.document("leave.md").id
    with shelf.workspace.store.write() as db:
        db.exec_driver_sql("DELETE FROM document")
    assert shelf.in_rows(identity)
    assert counts(shelf.sync()) == {"added": 1}
    assert shelf.snapshot() == before


def test_chunks_of_a_file_that_went_meanwhile_are_dropped(shelf: Shelf) -> None:
    shelf.write("leave.md", LEAVE)
    shelf.write("travel.md", TRAVEL)
    shelf.sync()
    with shelf.workspace.store.write() as db:
        db.exec_driver_sql("DELETE FROM document")
    shelf.remove("leave.md")
    shelf.sync()
    assert shelf.indexed() == {"travel.md"}


def test_a_deletion_that_was_begun_is_finished(shelf: Shelf) -> None:
    """A deletion killed after its tombstone: hidden at once, gone after the next sync."""
    shelf.write("leave.md", LEAVE)
    shelf.write("travel.md", TRAVEL)
    shelf.sync()
    gone = shelf.document("leave.md").id
    bury_documents(shelf.workspace.store, [gone])
    shelf.remove("leave.md")
    assert shelf.documents() == {"travel.md"}
    assert shelf.in_rows(gone)
    shelf.sync()
    assert not shelf.in_rows(gone)


def test_an_index_that_was_deleted_is_built_anew(shelf: Shelf, tmp_path: Path) -> None:
    shelf.write("leave.md", LEAVE)
    shelf.sync()
    before = shelf.snapshot()
    blocking(shelf.workspace.engine.delete([shelf.document("leave.md").id]))
    assert counts(shelf.sync()) == {"updated": 1}
    assert shelf.snapshot() == before


def test_an_error_nobody_foresaw_ends_the_sync_and_frees_the_lease(shelf: Shelf) -> None:
    class Exploding(FolderSource):
        reads = 0

        def read(self, ref: Ref) -> bytes:
            self.reads += 1
            if self.reads > 40:
                raise RuntimeError("boom")
            return super().read(ref)

    for n in range(40):
        shelf.write(f"{n}.md", f"# Rule\n\nRule number {n}.\n")
    with pytest.raises(RuntimeError, match="boom"):
        sync_sources(shelf.workspace.ingest, [Exploding("docs", shelf.folder)])
    assert counts(shelf.sync()) == {"added": 40}


def test_progress_is_told_to_the_end(shelf: Shelf) -> None:
    for n in range(3):
        shelf.write(f"{n}.md", f"# Rule\n\nRule number {n}.\n")
    told: list[tuple[str, int, int]] = []
    sync_sources(
        shelf.workspace.ingest,
        [FolderSource("docs", shelf.folder)],
        on_progress=lambda *step: told.append(step),
    )
    assert [step for step in told if step[0] == "compare"] == [("compare", n, 3) for n in (1, 2, 3)]
    assert ("index", 3, 3) in told


def test_many_chunks_are_committed_in_several_batches(shelf: Shelf) -> None:
    for n in range(30):
        shelf.write(f"{n:02}.md", long_text(n, 25))
    done: list[int] = []
    sync_sources(
        shelf.workspace.ingest,
        [FolderSource("docs", shelf.folder)],
        on_progress=lambda step, now, _: done.append(now) if step == "index" else None,
    )
    assert len(done) > 1
    assert done == sorted(done)
    assert done[-1] == 30
    kept = document_ids(shelf.workspace.store)
    assert kept == blocking(shelf.workspace.engine.documents())
    assert len(kept) == 30


# Without an embedder, and with the real one -------------------------------------------------------


@pytest.fixture(scope="module")
def minilm(tmp_path_factory: pytest.TempPathFactory) -> Any:
    workspace = Workspace(tmp_path_factory.mktemp("model"), {"models": {"embedder": "minilm"}})
    assert workspace.embedder
    return workspace.embedder


def test_vectors_of_the_real_model_survive_changed_facts(tmp_path: Path, minilm: Embedder) -> None:
    shelf = Shelf(tmp_path, "minilm")
    shelf.write("leave.md", LEAVE)
    shelf.write("travel.md", TRAVEL)
    shelf.sync()
    ids = [c.id for c in shelf.chunks()]
    before = blocking(shelf.workspace.engine.vectors(ids))
    assert {v.shape[1] for v in before.values()} == {384}
    shelf.write("ombud.yaml", "files: {leave.md: {country: GB, audience: {roles: [manager]}}}")
    assert counts(shelf.sync()) == {"updated": 1, "unchanged": 1}
    after = blocking(shelf.workspace.engine.vectors(ids))
    assert before.keys() == after.keys() == set(ids)
    assert all(np.array_equal(before[i], after[i]) for i in ids)
    manager = Person(country="GB", roles=("manager",))
    evidence, _ = asyncio.run(
        asking.search(shelf.workspace, "vacation time off", manager, mode="dense")
    )
    assert evidence.hits[0].chunk.uri == "docs/leave.md"
    evidence, _ = asyncio.run(
        asking.search(shelf.workspace, "vacation", Person(country="FR"), mode="dense")
    )
    assert "docs/leave.md" not in {h.chunk.uri for h in evidence.hits}
    shelf.workspace.close()


def test_a_text_the_model_cannot_read_is_searched_by_words(
    tmp_path: Path, minilm: Embedder
) -> None:
    shelf = Shelf(tmp_path, "minilm")
    shelf.write(
        "ja.md",
        "# 年次有給休暇\n\n従業員は毎年二十日の年次有給休暇を取得できます。\n",
        language="ja",
        country="JP",
    )
    shelf.write("leave.md", LEAVE)
    assert counts(shelf.sync()) == {"added": 2}
    by_uri = {c.uri: c.id for c in shelf.chunks()}
    vectors = blocking(shelf.workspace.engine.vectors(list(by_uri.values())))
    assert vectors.keys() == {by_uri["docs/leave.md"]}
    assert "ja.md" in shelf.found("年次有給休暇", "JP")
    shelf.workspace.close()


def lose_lease(shelf: Shelf) -> None:
    """As if the process had been paused for so long that another took over."""
    with shelf.workspace.store.write() as db:
        db.exec_driver_sql("UPDATE lease SET owner = 'other:1:x', fence = fence + 1, expires = 0")


def test_what_was_written_after_another_took_over_is_read_again(shelf: Shelf) -> None:
    """The index knows no lease: a process that wakes up in its write ends that write."""
    shelf.write("leave.md", LEAVE)
    shelf.write("travel.md", TRAVEL)
    shelf.sync()
    wanted = shelf.snapshot()
    shelf.write("leave.md", LEAVE.replace("26", "20"))
    engine = shelf.workspace.newest_engine

    class Paused(type(engine)):  # type: ignore[misc]
        async def upsert(self, documents: Any, rows: Any) -> None:
            lose_lease(shelf)
            await super().upsert(documents, rows)

    engine.__class__ = Paused
    with pytest.raises(Busy, match="lost to another process"):
        shelf.sync()
    engine.__class__ = Paused.__mro__[1]
    assert any("20 days" in text for text, _ in shelf.snapshot().values())
    shelf.write("leave.md", LEAVE)
    assert counts(shelf.sync()) == {"updated": 1, "unchanged": 1}
    assert shelf.snapshot() == wanted


def test_what_was_deleted_before_a_paused_process_woke_up_stays_deleted(shelf: Shelf) -> None:
    shelf.write("leave.md", LEAVE)
    shelf.write("travel.md", TRAVEL)
    shelf.sync()
    shelf.write("leave.md", LEAVE.replace("26", "20"))
    document_id = shelf.document("leave.md").id
    engine = shelf.workspace.newest_engine

    class Paused(type(engine)):  # type: ignore[misc]
        async def upsert(self, documents: Any, rows: Any) -> None:
            lose_lease(shelf)
            await asyncio.to_thread(library.delete_document, shelf.workspace, document_id)
            await super().upsert(documents, rows)

    engine.__class__ = Paused
    with pytest.raises(Busy, match="lost to another process"):
        shelf.sync()
    assert shelf.indexed() == {"travel.md"}
    assert shelf.documents() == {"travel.md"}


def letter(*attached: tuple[str, str], subject: str = "Travel rules") -> bytes:
    made = EmailMessage(policy=SMTP)
    made["Subject"] = subject
    made["From"] = "hr@example.org"
    made.set_content("The rules are attached.")
    for name, words in attached:
        made.add_attachment(words, filename=name)
    return bytes(made)


CLASSES = ("classes.csv", "Distance;Class\nbelow 4 hours;second\nabove 4 hours;first\n")
HOTELS = ("hotels.md", "# Hotels\n\nA hotel in Porto costs up to 120 euros.\n")


def test_attachments_live_and_go_with_their_message(shelf: Shelf) -> None:
    shelf.write("mail/rules.eml", letter(CLASSES, HOTELS, ("app.exe", "MZ")))
    report = shelf.sync()
    assert counts(report) == {"added": 3}
    assert report.lost[0].loss.attachments == ("app.exe",)
    inside = {"mail/rules.eml/classes.csv", "mail/rules.eml/hotels.md"}
    assert shelf.documents() == shelf.indexed() == {"mail/rules.eml", *inside}
    assert "above 4 hours" in shelf.document("mail/rules.eml/classes.csv").text
    assert counts(shelf.sync()) == {"unchanged": 3}
    shelf.write("mail/rules.eml", letter(CLASSES))
    assert counts(shelf.sync()) == {"updated": 2, "deleted": 1}
    assert shelf.indexed() == {"mail/rules.eml", "mail/rules.eml/classes.csv"}
    shelf.write("other.txt", "Another file.")
    shelf.sync()
    shelf.remove("mail/rules.eml")
    assert counts(shelf.sync()) == {"unchanged": 1, "deleted": 2}
    assert shelf.indexed() == {"other.txt"}


def test_an_attached_message_is_read_with_all_that_is_attached_to_it(shelf: Shelf) -> None:
    inner = email.message_from_bytes(letter(CLASSES, subject="Classes"), policy=SMTP)
    outer = EmailMessage(policy=SMTP)
    outer["Subject"] = "FW: Classes"
    outer.set_content("see below")
    outer.add_attachment(inner)
    shelf.write("forward.eml", bytes(outer))
    assert counts(shelf.sync()) == {"added": 3}
    assert "forward.eml/Classes.eml/classes.csv" in shelf.indexed()


def test_attachments_have_the_readers_of_their_message(shelf: Shelf) -> None:
    shelf.write("mail/rules.eml", letter(HOTELS))
    shelf.sync()
    assert not shelf.document("mail/rules.eml/hotels.md").audience
    shelf.write("mail/ombud.yaml", "defaults: {country: PT, audience: {roles: [manager]}}\n")
    shelf.sync()
    for uri in ("mail/rules.eml", "mail/rules.eml/hotels.md"):
        assert shelf.document(uri).audience == {"roles": ("manager",)}
        assert shelf.document(uri).countries == ("PT",)
    assert {chunk.audience["roles"] for chunk in shelf.chunks()} == {("manager",)}


def test_an_attachment_that_cannot_be_read_is_a_failure_and_a_loss(shelf: Shelf) -> None:
    shelf.write("rules.eml", letter(HOTELS, ("plan.pdf", "nothing of a PDF")))
    report = shelf.sync()
    assert [failed.uri for failed in report.failed] == ["docs/rules.eml/plan.pdf"]
    assert shelf.document("rules.eml").loss.attachments == ("plan.pdf",)
    assert shelf.indexed() == {"rules.eml", "rules.eml/hotels.md"}


def test_a_draft_that_is_attached_does_not_answer(shelf: Shelf) -> None:
    draft = "---\nstatus: draft\naudience: {roles: [guest]}\n---\n# New\n\nIt is 300 euros.\n"
    shelf.write("rules.eml", letter(("new.md", draft)))
    shelf.sync()
    assert shelf.document("rules.eml/new.md").status == "draft"
    assert not shelf.document("rules.eml/new.md").audience
