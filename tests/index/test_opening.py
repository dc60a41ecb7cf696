"""Indexes by url: who opens what, and calls from code that does not wait."""

import asyncio
import os
from pathlib import Path

import pytest

from index.makers import chunk, row
from ombud.errors import EngineError, UnknownName
from ombud.index import Engine, blocking, open_backend, open_engine


def opened(url: str) -> Engine:
    return open_engine(url, fingerprint="", dimension=0)


def test_a_scheme_that_no_engine_has_names_those_that_there_are(tmp_path: Path) -> None:
    with pytest.raises(UnknownName, match="granite") as wrong:
        opened(f"granite://{tmp_path}")
    assert "lance" in wrong.value.hint


@pytest.mark.parametrize("name", ["index", "my index #1", "50%20?x=1"])
def test_a_place_is_taken_as_it_is_written(tmp_path: Path, name: str) -> None:
    blocking(opened(f"lance://{tmp_path}/{name}").upsert(["d"], [row(chunk("d"))]))
    assert [folder.name for folder in tmp_path.iterdir()] == [name]
    assert blocking(opened(f"lance://{tmp_path}/{name}").chunk_ids()) == ["d-0"]


def test_a_relative_place_is_one_of_the_working_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    blocking(opened("lance:below/index").upsert(["d"], [row(chunk("d"))]))
    assert blocking(opened(f"lance://{tmp_path}/below/index").chunk_ids()) == ["d-0"]


def test_the_size_is_that_of_all_files(tmp_path: Path) -> None:
    url = f"lance://{tmp_path}"
    blocking(opened(url).upsert(["d"], [row(chunk("d"))]))
    files = [file for file in tmp_path.rglob("*") if file.is_file()]
    assert open_backend(url).size() == sum(file.stat().st_size for file in files) > 0


def test_a_call_may_be_waited_for_where_a_loop_runs_already(tmp_path: Path) -> None:
    engine = opened(f"lance://{tmp_path}")

    async def both_ways() -> tuple[list[str], list[str]]:
        await engine.upsert(["d"], [row(chunk("d"))])
        return await engine.chunk_ids(), blocking(engine.chunk_ids())

    assert asyncio.run(both_ways()) == (["d-0"], ["d-0"])


def test_what_a_call_raises_arrives_where_it_is_waited_for(tmp_path: Path) -> None:
    engine = opened(f"lance://{tmp_path}")
    blocking(engine.upsert(["d"], [row(chunk("d"))]))
    for file in (tmp_path / "chunks.lance" / "data").iterdir():
        file.unlink()
    with pytest.raises(EngineError, match="cannot be read"):
        blocking(opened(f"lance://{tmp_path}").get(["d-0"]))


def test_waiting_for_the_loop_inside_it_is_an_error_and_no_deadlock(tmp_path: Path) -> None:
    engine = opened(f"lance://{tmp_path}")

    async def waits_inside() -> list[str]:
        return blocking(engine.chunk_ids())

    with pytest.raises(RuntimeError, match="inside the loop"):
        blocking(waits_inside())


@pytest.mark.parametrize(
    ("url", "named"),
    [
        ("az://container/ombud", "AZURE_STORAGE_ACCOUNT_NAME"),
        ("s3://bucket/ombud", "AWS_ACCESS_KEY_ID"),
        ("ftp://host/ombud", "Known: s3://, az://, gs://"),
    ],
)
def test_storage_that_lets_nobody_in_is_said_with_the_keys_that_it_wants(
    url: str, named: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in os.environ:
        if name.startswith(("AWS_", "AZURE_", "GOOGLE_")):
            monkeypatch.delenv(name)
    # Nobody listens there: neither storage nor a machine that would say who it is.
    monkeypatch.setenv("AWS_ENDPOINT", "http://127.0.0.1:9")
    monkeypatch.setenv("AWS_EC2_METADATA_SERVICE_ENDPOINT", "http://127.0.0.1:9")
    with pytest.raises(EngineError) as refused:
        opened(f"lance:{url}")
    assert named in refused.value.hint + refused.value.detail
