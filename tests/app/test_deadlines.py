"""One deadline for a whole answer, with real servers that accept and never reply, or stop halfway."""

import asyncio
import json
import time
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

import pytest

from answer.asking import GB, LEAVE, claim, company, draft
from answer.faulty import Faulty, completion, events, label, misbehaving, ok
from answer.test_outages import QUOTE, TRUE, WORDS, answered, composing
from ombud.app import Workspace, asking
from ombud.types import Answer, Question

DEADLINE = 4.0
LATEST = 20.0
"""Seconds for a busy machine; a single step that keeps its own time takes 60."""


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, Faulty]]:
    """A company indexed with the vectors of a server, and that server."""
    with misbehaving(reply) as server:
        folder = tmp_path_factory.mktemp("home")
        models = {"chat": "", "embedder": "openai:vectors", "base_url": server.url}
        made = company(folder, models=models, plan={"abstain": 0.0})
        made.workspace.close()
        yield made.home, server


@pytest.fixture(autouse=True)
def _keyless(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)


def kind(asked: dict[str, Any]) -> str:
    if "input" in asked:
        return "embedder"
    if "documents" in asked:
        return "reranker"
    if "borne_out" in str(asked):
        return "verify"
    return "compose" if composing(asked) else "strategy"


def reply(asked: dict[str, Any]) -> Any:
    """What each of them says when it works."""
    if kind(asked) == "embedder":
        vectors = [
            {"object": "embedding", "index": place, "embedding": [float(len(text)), 1.0]}
            for place, text in enumerate(asked["input"])
        ]
        usage = {"prompt_tokens": 1, "total_tokens": 1}
        return ok({"object": "list", "model": "m", "data": vectors, "usage": usage})
    if kind(asked) == "reranker":
        scores = [
            {"index": place, "relevance_score": -place} for place in range(len(asked["documents"]))
        ]
        return ok({"results": scores})
    if kind(asked) == "verify":
        return ok(completion(asked, json.dumps({"claims": [BORNE_OUT]})))
    written = draft(claim(TRUE, label(asked, "26 days"))) if composing(asked) else WORDS
    if asked.get("stream"):
        return 200, events(asked, [json.dumps(written)]), {}
    return ok(completion(asked, json.dumps(written)))


def opened(home: Path, url: str, **models: Any) -> Workspace:
    """The company whose every model is the server; each step by itself may take a minute."""
    given = {
        "embedder": "openai:vectors",
        "chat": "openai:a",
        "base_url": url,
        "reranker": "jina:pairs",
        "reranker_url": url,
        "timeout_seconds": DEADLINE,
        "search_seconds": 60,
    } | models
    plan = {"abstain": 0.0, "reranker": "cross-encoder"}
    workspace = Workspace(home, {"models": given, "plan": plan})
    _ = workspace.answering  # as a server does at its start
    workspace.warm(60)
    return workspace


def ask(workspace: Workspace, on_event: Any = None) -> Answer:
    async def asked() -> Answer:
        async with asyncio.timeout(LATEST):
            question = Question(text=LEAVE, asker=GB)
            return await asking.ask(workspace, question, on_event=on_event)

    began = time.monotonic()
    try:
        return asyncio.run(asked())
    finally:
        print(f"{time.monotonic() - began:.2f} s")


BORNE_OUT = {"number": 1, "verdict": "borne_out"}
SILENT = [
    {"compose"},
    {"strategy"},
    {"verify"},
    {"embedder"},
    {"reranker"},
    {"strategy", "embedder", "reranker", "compose", "verify"},
]


@pytest.mark.parametrize("silent", SILENT, ids=lambda parts: "+".join(sorted(parts)))
def test_whoever_is_silent_the_answer_is_there_in_time(
    home: tuple[Path, Faulty], silent: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, server = home

    def reply_or_hang(asked: dict[str, Any]) -> Any:
        if kind(asked) in silent:
            server.over.wait(60)
        return reply(asked)

    monkeypatch.setattr(server, "reply", reply_or_hang)
    workspace = opened(folder, server.url)
    answer = ask(workspace)
    workspace.close()
    if "compose" in silent:
        answered(answer)
    else:
        assert TRUE in answer.text
    if "embedder" in silent:
        assert any(note.startswith("dense: ") for note in answer.trace.degraded)


def test_half_a_stream_that_stops_is_an_answer_in_time(
    home: tuple[Path, Faulty], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, server = home

    def half(asked: dict[str, Any]) -> Any:
        if kind(asked) != "compose":
            return reply(asked)
        written = json.dumps(draft(claim(TRUE, label(asked, "26 days"))))
        whole = list(events(asked, [written[:20], written[20:]]))

        def hang() -> Iterator[bytes]:
            server.over.wait(60)
            yield b""

        return 200, chain(whole[:2], hang()), {}

    monkeypatch.setattr(server, "reply", half)
    workspace = opened(folder, server.url)
    answer = ask(workspace, on_event=lambda *_: None)
    workspace.close()
    assert QUOTE in answer.text


def test_a_server_that_is_busy_for_an_hour_is_not_waited_for(
    home: tuple[Path, Faulty], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, server = home

    def busy(asked: dict[str, Any]) -> Any:
        if kind(asked) == "compose":
            return 429, b"{}", {"retry-after": "3600"}
        return reply(asked)

    monkeypatch.setattr(server, "reply", busy)
    workspace = opened(folder, server.url)
    answered(ask(workspace))
    workspace.close()


def test_a_search_alone_ends_in_time(
    home: tuple[Path, Faulty], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, server = home
    workspace = opened(folder, server.url)
    assert workspace.embedder
    monkeypatch.setattr(server, "silent", True)

    async def searched() -> int:
        async with asyncio.timeout(LATEST):
            evidence, _ = await asking.search(workspace, LEAVE, GB)
            return len(evidence.hits)

    assert asyncio.run(searched())
    workspace.close()
