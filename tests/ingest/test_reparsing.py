"""A newer version reads the files of an index again, once; what old answers cite can still be
opened."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from ingest.shelf import Shelf, counts
from ombud.app import asking, library, record_folder, report_line, sync_all, sync_progress
from ombud.documents import parsing
from ombud.errors import NotFound
from ombud.ingest import changes
from ombud.store import RecordedSource
from ombud.types import Answer, Question

TRAIN = "# Commuting\n\nEach commuter gets ~~40~~ 55 euros a month for the train.\n"
WRONG = "Each commuter gets ~~40~~ 55 euros a month for the train."
RIGHT = "Each commuter gets 55 euros a month for the train."


@pytest.fixture
def shelf(tmp_path: Path) -> Iterator[Shelf]:
    """Read by a version whose reader of Markdown knew no struck words."""
    made = Shelf(tmp_path, documents={"processes": 0}, plan={"abstain": 0.01})
    made.write("train.md", TRAIN)
    with pytest.MonkeyPatch.context() as before:
        before.setattr(parsing, "PARSED_BY", "1")
        before.setattr(changes, "PARSED_BY", "1")
        before.setitem(parsing.PARSERS, "md", "ombud.documents.plain:read")
        parsing.find_parser.cache_clear()
        assert counts(made.sync()) == {"added": 1}
    parsing.find_parser.cache_clear()
    yield made
    made.workspace.close()


def answer_of(shelf: Shelf) -> Answer:
    asked = Question(text="How many euros does a commuter get for the train?")
    return asyncio.run(asking.ask(shelf.workspace, asked))


def test_files_are_read_again_once(shelf: Shelf) -> None:
    assert "~~40~~" in shelf.document("train.md").text
    report = shelf.sync()
    assert (counts(report), report.reread) == ({"updated": 1}, 1)
    assert "40" not in shelf.document("train.md").text
    again = shelf.sync()
    assert (counts(again), again.reread) == ({"unchanged": 1}, 0)


def test_a_citation_opens_the_text_that_it_counts_in(shelf: Shelf) -> None:
    (old,) = answer_of(shelf).citations
    shelf.sync()
    (new,) = answer_of(shelf).citations
    assert old.digest == new.digest
    for cited, said in ((old, WRONG), (new, RIGHT)):
        found = library.document(shelf.workspace, cited.document_id, None, cited.version)
        assert cited.quote == found.text[cited.start : cited.end] == said
    shelf.remove("train.md")
    assert counts(shelf.sync(allow_deletes=True)) == {"deleted": 1}
    for cited in (old, new):
        with pytest.raises(NotFound):
            library.document(shelf.workspace, cited.document_id, None, cited.version)


def test_syncs_of_a_server_say_so(shelf: Shelf) -> None:
    workspace, place = shelf.workspace, RecordedSource("docs", str(shelf.folder))
    record_folder(workspace.settings, workspace.store, place, workspace.home)
    (report,) = sync_all(workspace)
    assert "1 read again" in report_line(report)
    (note,) = sync_progress(workspace.store)["notes"]
    assert "docs: 1 read again" in note
