"""`ombud doctor` and rerankers: whether what plans rerank with is there, loads and answers."""

from pathlib import Path

import pytest

from app.conftest import Open
from models.cross_encoders import make_folder
from models.serving import Server, serving
from ombud.app import Workspace, check_all
from ombud.app.checks import Check

PLAN = '[plan]\nreranker = "cross-encoder"\n'
KINDS = {"cohere": "COHERE_API_KEY", "jina": "JINA_API_KEY"}


@pytest.fixture(autouse=True)
def _keyless(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "COHERE_API_KEY", "CO_API_KEY", "JINA_API_KEY"):
        monkeypatch.delenv(name, raising=False)


def reranker(workspace: Workspace, ask: bool = False) -> Check:
    (found,) = [check for check in check_all(workspace, ask) if check.name == "reranker"]
    return found


def endpoint(open_home: Open, server: Server, kind: str = "jina", plan: str = PLAN) -> Workspace:
    return open_home(f'{plan}[models]\nreranker = "{kind}:own"\nreranker_url = "{server.url}"\n')


def test_none_is_well_where_no_plan_wants_one(open_home: Open) -> None:
    assert reranker(open_home()) == Check("reranker", True, "none")


@pytest.mark.parametrize("layer", ["plan", "country.GB.plan", "persona.employee.plan"])
def test_a_plan_that_wants_one_in_vain(open_home: Open, layer: str) -> None:
    found = reranker(open_home(f'[{layer}]\nreranker = "cross-encoder"\n'))
    assert found == Check(
        "reranker", False, "none, but a plan has reranker = cross-encoder", "Set models.reranker."
    )


@pytest.mark.parametrize("name", ["listwise", "pointwise"])
def test_a_plan_that_wants_a_chat_model_in_vain(open_home: Open, name: str) -> None:
    found = reranker(open_home(f'[plan]\nreranker = "{name}"\n'))
    assert (found.ok, found.said) == (False, f"The plan's {name} has no chat model.")
    assert "models.chat" in found.hint
    with serving() as server:
        chat = f'[models]\nchat = "openai:a"\nbase_url = "{server.url}"\n'
        assert reranker(open_home(f'[plan]\nreranker = "{name}"\n{chat}')) == Check(
            "reranker", True, name
        )


# A folder -----------------------------------------------------------------------------------------


def test_a_folder_is_loaded_and_scores(open_home: Open, tmp_path: Path) -> None:
    folder = make_folder(tmp_path / "tiny")
    found = reranker(open_home(f'{PLAN}[models]\nreranker = "folder:{folder}"\n'))
    assert found.ok
    assert found.said.startswith(f"folder:{folder} scored 2 texts in ")
    assert found.said.endswith(" s")
    assert found.hint == ""


def test_a_folder_that_no_plan_uses(open_home: Open, tmp_path: Path) -> None:
    found = reranker(open_home(f'[models]\nreranker = "folder:{make_folder(tmp_path / "tiny")}"\n'))
    assert found.ok
    assert found.hint == 'No plan uses it: set plan.reranker = "cross-encoder".'


@pytest.mark.parametrize("lost", ["model.onnx", "tokenizer.json"])
def test_a_folder_that_lacks_a_file(open_home: Open, tmp_path: Path, lost: str) -> None:
    folder = make_folder(tmp_path / "tiny")
    (folder / lost).unlink()
    found = reranker(open_home(f'{PLAN}[models]\nreranker = "folder:{folder}"\n'))
    assert not found.ok
    assert lost in found.said
    assert "models.reranker" in found.hint


def test_a_folder_whose_graph_is_none(open_home: Open, tmp_path: Path) -> None:
    folder = make_folder(tmp_path / "tiny")
    (folder / "model.onnx").write_bytes(b"no graph")
    found = reranker(open_home(f'{PLAN}[models]\nreranker = "folder:{folder}"\n'))
    assert not found.ok
    assert found.hint


# A service ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_a_service_is_called_only_when_it_is_asked_for(
    kind: str, open_home: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(KINDS[kind], "secret-key-7f3a")
    with serving() as server:
        workspace = endpoint(open_home, server, kind)
        found = reranker(workspace)
        assert server.asked == []
        assert found == Check(
            "reranker", True, f"{kind}:own at {server.url}, not called", "--ask calls it."
        )
        found = reranker(workspace, ask=True)
        assert [asked["model"] for asked in server.asked] == ["own"]
    assert found.ok
    assert found.said.startswith(f"{kind}:own scored 2 texts in ")
    assert found.said.endswith(", price not known")


def test_a_service_that_refuses_the_key(open_home: Open) -> None:
    with serving() as server:
        server.status = 401
        found = reranker(endpoint(open_home, server), ask=True)
    assert (found.ok, found.said) == (False, "The reranker `jina:own` answered with HTTP 401.")
    assert "JINA_API_KEY" in found.hint


def test_a_service_of_another_protocol(open_home: Open) -> None:
    with serving() as server:
        server.body = b"<html>"
        found = reranker(endpoint(open_home, server), ask=True)
    assert not found.ok
    assert "another form" in found.said


def test_a_service_that_is_away(open_home: Open) -> None:
    with serving() as server:
        workspace = endpoint(open_home, server)
    found = reranker(workspace, ask=True)
    assert not found.ok
    assert "cannot be reached" in found.said
    assert "models.reranker_url" in found.hint


def test_a_service_without_its_key_fails_its_check_only(open_home: Open) -> None:
    checks = {
        check.name: check
        for check in check_all(open_home(f'{PLAN}[models]\nreranker = "cohere:own"\n'))
    }
    assert not checks["reranker"].ok
    assert "needs a key" in checks["reranker"].said
    assert checks["store"].ok
    assert checks["chat model"].ok
