"""The protocol against a real llama.cpp server; its tiny model need not answer well, only be
survived."""

from pathlib import Path

import httpx

from answer.asking import LEAVE, ask, company


def test_it_speaks_the_protocol(llama: str, tmp_path: Path) -> None:
    assert httpx.get(llama.replace("/v1", "/health"), timeout=30).status_code == 200
    roles = {"strategy": "none"}
    models = {
        "embedder": "none",
        "chat": "openai:smollm2",
        "base_url": llama,
        "timeout_seconds": 20,
        "roles": roles,
    }
    shelf = company(tmp_path, plan={"abstain": 0.0, "k": 1}, models=models)
    answer = ask(shelf.workspace, LEAVE)
    failed = [said for said in answer.trace.degraded if said.startswith("model")]
    assert not any("cannot be reached" in said for said in failed)
    assert answer.trace.tokens_in > 0 or answer.trace.price is None
    assert answer.trace.seconds["compose"] > 0
    assert failed or answer.trace.model == "openai:smollm2"
    assert "26 days" in answer.text or answer.outcome == "denied" or answer.citations
    shelf.workspace.close()
