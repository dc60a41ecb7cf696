"""What `ombud doctor` finds."""

import shutil
from pathlib import Path

import pytest

from app.conftest import Open
from ombud.app import Workspace, check_all, record_folder
from ombud.app.checks import Check
from ombud.ingest import sync_sources
from ombud.store import RecordedSource


def checked(workspace: Workspace) -> dict[str, Check]:
    return {check.name: check for check in check_all(workspace)}


def fill(workspace: Workspace) -> Workspace:
    docs = workspace.home / "docs"
    docs.mkdir()
    (docs / "a.md").write_text("# Leave\n\nEvery employee has 26 days of paid leave in the year.\n")
    sync_sources(
        workspace.ingest,
        [
            record_folder(
                workspace.settings, workspace.store, RecordedSource(name="", path=str(docs))
            )
        ],
    )
    return workspace


def test_a_filled_workspace_is_well(open_home: Open) -> None:
    found = checked(fill(open_home()))
    assert [name for name, check in found.items() if not check.ok] == []
    assert "1 documents" in found["store"].said
    assert "1 passages (en)" in found["index"].said
    assert found["sources"].said == "docs"
    assert "quotes" in found["chat model"].said


def test_an_empty_workspace_says_what_to_do(open_home: Open) -> None:
    found = checked(open_home())
    assert {name for name, check in found.items() if not check.ok} == {"index", "sources"}
    assert "ombud sync" in found["index"].hint
    assert "ombud sync" in found["sources"].hint


def test_the_real_model_says_what_it_reads(open_home: Open) -> None:
    found = checked(open_home(models={"embedder": "minilm"}))["embedder"]
    assert found.ok
    assert "384 dimensions" in found.said


def test_a_model_nobody_knows_fails_its_check_only(open_home: Open) -> None:
    found = checked(open_home(models={"embedder": "minilmm"}))
    assert not found["embedder"].ok
    assert "minilm" in found["embedder"].hint
    assert found["store"].ok
    assert not found["index"].ok


def test_a_damaged_index_is_found(open_home: Open, tmp_path: Path) -> None:
    fill(open_home()).close()
    table = tmp_path / ".ombud" / "index" / "chunks.lance"
    shutil.rmtree(table / "data")
    found = checked(open_home())
    assert found["store"].ok
    assert not found["index"].ok
    assert "cannot be read" in found["index"].said
    assert "ombud index rebuild" in found["index"].hint


def test_a_store_that_is_no_database(open_home: Open, tmp_path: Path) -> None:
    (tmp_path / ".ombud").mkdir()
    (tmp_path / ".ombud" / "store.sqlite").write_text("this is no database " * 100)
    found = checked(open_home())["store"]
    assert not found.ok
    assert found.hint


@pytest.mark.parametrize(
    "url",
    [
        "postgresql+psycopg://ombud:secret@127.0.0.1:1/none",
        "postgresql+psycopg://127.0.0.1:1/none?user=ombud&password=secret",
        "sqlite:///file:none/store.sqlite?uri=true&password=secret",
        "nodb://ombud:secret@host/db",
    ],
)
def test_passwords_of_the_store_are_not_printed(open_home: Open, url: str) -> None:
    for check in check_all(open_home(store={"url": url})):
        assert "secret" not in check.said + check.hint


def test_where_requests_to_models_go_is_listed(
    open_home: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HTTP_PROXY", "NO_PROXY", "no_proxy"):
        monkeypatch.setenv(name, "")
    monkeypatch.setenv("HTTP_PROXY", "http://me:secret@proxy.example:3128")
    models = {
        "chat": "openai:own",
        "base_url": "http://127.0.0.1:8001/v1",
        "reranker": "jina:pairs",
        "reranker_url": "http://rerank.example",
    }
    found = checked(open_home(models=models))
    traffic = found["request routes"].said
    assert "openai:own directly to 127.0.0.1:8001" in traffic
    assert "jina:pairs through the proxy" in traffic
    assert "proxy.example:3128" in traffic
    assert "secret" not in traffic
    assert "jina:pairs" in found["privacy"].said
    assert "openai:own" not in found["privacy"].said


def test_flags_and_experiments_are_listed(open_home: Open) -> None:
    assert checked(open_home())["flags"].said == "one plan for everyone"
    text = """
        [country.GB.plan]
        k = 9
        [persona.employee.plan]
        k = 7
        [experiment.hyde]
        share = 0.125
        countries = ["gb", "IE"]
        [experiment.old]
        share = 0.5
        off = true
    """
    check = checked(open_home(text))["flags"]
    assert check.ok
    assert check.said == (
        "the plan changes for country GB, persona employee; experiments: hyde (12.5 % of people in GB, IE), old (off)"
    )


def test_own_prompts_are_listed_and_wrong_ones_fail(open_home: Open, tmp_path: Path) -> None:
    workspace = open_home()
    assert checked(workspace)["prompts"].said == "as shipped"
    folder = tmp_path / "prompts" / "compose"
    folder.mkdir(parents=True)
    (folder / "default.txt").write_text("Answer for $organisation.")
    assert checked(workspace)["prompts"].said == "your own compose/default"
    (folder / "default.txt").write_text("Answer for $organization.")
    check = checked(workspace)["prompts"]
    assert not check.ok
    assert (
        "prompts/compose/default.txt is not used: `compose` has no placeholder $organization."
        in check.said
    )
