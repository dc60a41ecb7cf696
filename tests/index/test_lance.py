"""What only LanceDB has: damaged tables, writers that meet, an index of vectors."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from index.makers import EVERYTHING, chunk, ids, row
from ombud.errors import Conflict, EngineError
from ombud.index import Row, blocking, open_engine
from ombud.index.engines.lance import LanceEngine
from ombud.index.engines.lance_indexes import VECTOR_INDEX_FROM


def made(folder: Path, dimension: int = 0) -> LanceEngine:
    return LanceEngine(folder, fingerprint="f" if dimension else "", dimension=dimension)


def test_a_damaged_table_says_what_to_do(tmp_path: Path) -> None:
    engine = made(tmp_path)
    blocking(engine.upsert(["a"], [row(chunk("a"))]))
    for file in (tmp_path / "chunks.lance" / "data").iterdir():
        file.unlink()
    with pytest.raises(EngineError, match="cannot be read") as wrong:
        blocking(made(tmp_path).get(["a-0"]))
    assert "ombud index rebuild" in wrong.value.hint


def test_a_table_that_is_none_cannot_be_opened(tmp_path: Path) -> None:
    made(tmp_path)
    for file in (tmp_path / "chunks.lance" / "_versions").iterdir():
        file.write_bytes(b"not a manifest")
    with pytest.raises(EngineError, match="cannot be opened"):
        made(tmp_path)


def refuse(times: int) -> Callable[[], str]:
    """A commit that meets another writer so often."""
    left = [times]

    def commit() -> str:
        left[0] -= 1
        if left[0] >= 0:
            raise RuntimeError("lance error: Commit conflict for version 7")
        return "done"

    return commit


def test_a_writer_that_met_another_tries_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ombud.index.engines.lance.time.sleep", lambda _: None)
    engine = made(tmp_path)
    assert engine._write(refuse(7)) == "done"
    with pytest.raises(Conflict, match="keeps writing") as wrong:
        engine._write(refuse(8))
    assert wrong.value.retryable


def test_the_index_of_vectors_ranks_as_a_scan_does(tmp_path: Path) -> None:
    """Above the size where the index is built; against numpy."""
    engine, rng = made(tmp_path, 8), np.random.default_rng(1)
    vectors = rng.normal(size=(VECTOR_INDEX_FROM, 8))
    vectors = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)
    rows = [Row(chunk("d", n), "s", "x", vector[None]) for n, vector in enumerate(vectors)]
    blocking(engine.upsert(["d"], rows))
    blocking(engine.maintain())
    assert "vector_idx" in {i.name for i in engine._chunks.list_indices()}
    asked = vectors[7]
    (found,) = blocking(engine.search("", asked, EVERYTHING, 10, "dense"))
    assert ids(found) == [f"d-{n}" for n in np.argsort(-(vectors @ asked))[:10]]


def test_counts_are_kept_within_bounds(tmp_path: Path) -> None:
    engine = made(tmp_path)
    blocking(engine.upsert(["a"], [row(chunk("a", text="leave"))]))
    engine._counts = {(0, str(n)): 0 for n in range(50_001)}
    assert blocking(engine.stats(["leave"])).documents_with == {"leave": 1}
    assert len(engine._counts) == 1


def test_many_chunks_are_fetched_and_deleted_in_batches(tmp_path: Path) -> None:
    engine = open_engine(f"lance://{tmp_path}", fingerprint="", dimension=0)
    documents = [f"d{n}" for n in range(1100)]
    blocking(engine.upsert(documents, [row(chunk(d)) for d in documents]))
    assert len(blocking(engine.get([f"{d}-0" for d in documents]))) == 1100
    blocking(engine.delete(documents[:1050]))
    assert sorted(blocking(engine.documents())) == sorted(documents[1050:])
