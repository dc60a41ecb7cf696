"""Two processes on one workspace: what one changes the other follows."""

import asyncio
import shutil
from pathlib import Path

import pytest

from ingest.shelf import Shelf
from ombud.app import Workspace, asking, library, rebuild_workspace
from ombud.app.audiences import SECONDS, SeenVersion
from ombud.errors import EngineError
from ombud.index import blocking
from ombud.types import Person, Question

LEAVE = "# Leave\n\nFor a TOIL claim, time off in lieu (TOIL), you have 30 days.\n"


@pytest.fixture
def shelf(tmp_path: Path) -> Shelf:
    return Shelf(tmp_path)


def replica(shelf: Shelf) -> Workspace:
    """As another server has it."""
    return Workspace(shelf.home, {"models": {"embedder": "none"}})


def texts(workspace: Workspace, query: str) -> list[str]:
    evidence, _ = asyncio.run(asking.search(workspace, query, Person(), k=5))
    return [hit.chunk.text for hit in evidence.hits]


def test_what_one_indexes_the_other_finds_with_its_abbreviations(shelf: Shelf) -> None:
    shelf.write("pay.md", "# Pay\n\nPay comes on the last day.\n")
    shelf.sync()
    other = replica(shelf)
    assert texts(other, "TOIL") == []
    shelf.write("leave.md", LEAVE)
    shelf.sync()
    assert any("30 days" in text for text in texts(other, "TOIL"))
    assert other.index.glossary.expansions("A TOIL claim", None) == ["time off in lieu"]
    rebuild_workspace(shelf.workspace)
    assert any("30 days" in text for text in texts(other, "TOIL"))
    shelf.remove("leave.md")
    shelf.sync()
    assert texts(other, "TOIL") == []
    other.close()
    shelf.workspace.close()


def test_where_the_index_is_missing_nobody_hears_that_nothing_says_so(shelf: Shelf) -> None:
    shelf.write("leave.md", LEAVE)
    shelf.sync()
    shelf.workspace.close()
    shutil.rmtree(shelf.home / ".ombud" / "index")
    other = replica(shelf)
    for failing in (
        lambda: texts(other, "leave"),
        lambda: asyncio.run(asking.ask(other, Question(text="How many days of leave are there?"))),
        lambda: library.why_not_ready(other),
    ):
        with pytest.raises(
            EngineError, match="the store has 1 documents, the index none"
        ) as missing:
            failing()
        assert missing.value.status == 503
    assert blocking(other.engine.chunk_ids()) == []
    other.close()


def test_what_is_in_memory_is_read_at_a_change_and_once_more_after_it() -> None:
    now = [0.0]
    seen = SeenVersion("1", lambda: now[0])
    asked = []
    for at, version in [(1.0, "1"), (2.0, "2"), (3.0, "2"), (2.0 + SECONDS, "2"), (60.0, "2")]:
        now[0] = at
        asked.append(seen.is_due(version))
    assert asked == [False, True, False, True, False]
