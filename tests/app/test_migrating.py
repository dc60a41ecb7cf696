"""A workspace moves: store into PostgreSQL, index into object storage or Milvus."""

import subprocess
import sys
from pathlib import Path

import pytest

from index.places import PLACES, place_for
from ingest.shelf import Shelf, long_text
from ombud.app import migrate
from ombud.app.backups.migrating import migrate_index
from ombud.errors import BadRequest, EngineError, StoreError
from ombud.index import Engine, Row, blocking, open_engine
from ombud.store import count_rows, list_documents, open_store
from store.places import database

MIGRATE = """
import sys
from pathlib import Path
from ombud.app import Workspace
from ombud.app.backups import migrating
migrating.BATCH = 2
workspace = Workspace(Path(sys.argv[1]))
say = lambda step, done, total: print(step, done, total, flush=True)
migrating.migrate_index(workspace, sys.argv[2], sys.argv[3], say)
"""


@pytest.fixture
def filled(tmp_path: Path) -> Shelf:
    shelf = Shelf(tmp_path)
    for number in range(8):
        shelf.write(f"{number}.md", long_text(number, 2))
    shelf.sync()
    return shelf


def test_a_store_goes_into_postgresql_row_by_row(filled: Shelf, tmp_path: Path) -> None:
    with database("postgresql") as url:
        done = migrate(filled.workspace, url)
        other = open_store(url, tmp_path)
        assert list_documents(other) == list_documents(filled.workspace.store)
        assert done.moved == sum(count_rows(other).values()) > 16
        assert f'url = "{url}"' in done.settings
        assert migrate(filled.workspace, url) == done
        with other.write() as db:
            db.exec_driver_sql("UPDATE document SET uri = 'elsewhere' WHERE uri = 'docs/3.md'")
        with pytest.raises(StoreError, match="2 rows of `document` are not the same"):
            migrate(filled.workspace, url)
        other.close()


@pytest.mark.parametrize("kind", [place for place in PLACES if place != "lance"])
def test_an_index_goes_over_passage_by_passage(kind: str, filled: Shelf, tmp_path: Path) -> None:
    engine_name, _, url = place_for(kind, tmp_path).partition(":")
    other = open_engine(f"{engine_name}:{url}", fingerprint="", dimension=0)
    ids = sorted(blocking(filled.workspace.engine.documents()))
    half = blocking(filled.workspace.engine.rows(ids[:3]))
    odd = [row._replace(chunk=row.chunk.model_copy(update={"document_id": "gone"})) for row in half]
    blocking(
        other.upsert(
            ["gone"], [odd[0]._replace(chunk=odd[0].chunk.model_copy(update={"id": "gone-0"}))]
        )
    )
    blocking(other.upsert(ids[:3], half))
    copied: list[int] = []
    done = migrate_index(
        filled.workspace,
        engine_name,
        url,
        lambda step, _, total: copied.append(total) if step == "copy" else None,
    )
    assert copied == [5]
    assert done.moved == len(filled.chunks())
    assert blocking(other.documents()) == blocking(filled.workspace.engine.documents())
    chunk_ids = blocking(other.chunk_ids())
    assert blocking(other.get(chunk_ids)) == blocking(filled.workspace.engine.get(chunk_ids))


@pytest.mark.slow
@pytest.mark.parametrize("kind", [place for place in PLACES if place != "lance"])
def test_a_migration_that_is_killed_goes_on_and_is_compared_passage_by_passage(
    kind: str, filled: Shelf, tmp_path: Path
) -> None:
    (tmp_path / "ombud.toml").write_text('[models]\nembedder = "none"\n')
    engine_name, _, url = place_for(kind, tmp_path).partition(":")
    child = subprocess.Popen(
        [sys.executable, "-c", MIGRATE, str(tmp_path), engine_name, url],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert child.stdout
    for line in child.stdout:
        if line.startswith("copy 4"):
            break
    child.kill()
    child.communicate()
    copied: list[int] = []

    def go_on() -> int:
        return migrate_index(
            filled.workspace,
            engine_name,
            url,
            lambda step, _, total: copied.append(total) if step == "copy" else None,
        ).moved

    assert go_on() == len(filled.chunks())
    assert copied
    assert copied[0] < 8  # documents; the others were there
    other = open_engine(f"{engine_name}:{url}", fingerprint="", dimension=0)
    wanted = sorted(blocking(filled.workspace.engine.documents()))
    assert by_id(other, wanted) == by_id(filled.workspace.engine, wanted)

    rows = blocking(other.rows(wanted[:1]))
    changed = rows[0].chunk.model_copy(update={"text": "something else"})
    blocking(other.upsert(wanted[:1], [rows[0]._replace(chunk=changed), *rows[1:]]))
    with pytest.raises(EngineError, match="1 documents are not the same"):
        go_on()
    go_on()
    assert by_id(other, wanted) == by_id(filled.workspace.engine, wanted)


def by_id(engine: Engine, documents: list[str]) -> dict[str, Row]:
    return {row.chunk.id: row for row in blocking(engine.rows(documents))}


def test_a_url_of_neither_is_said(filled: Shelf) -> None:
    with pytest.raises(BadRequest, match="`ftp` is no place"):
        migrate(filled.workspace, "ftp://host/x")
