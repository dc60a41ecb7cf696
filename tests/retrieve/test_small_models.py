"""What small models and servers of one's own do, over HTTP: lists without end, texts that find
nothing, silence."""

import asyncio
import json
import socketserver
import threading
from functools import partial
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest

from answer.asking import FILES, GB, LEAVE, company
from answer.faulty import Faulty, completion, misbehaving, ok
from answer.faulty import Reply as Sent
from ombud.app import Workspace, asking
from ombud.models import ModelRoles, recorded
from ombud.models.chat import roles
from ombud.models.chat.model_client import CallPolicy
from ombud.retrieve import classify_by_model
from ombud.settings import ModelSettings
from ombud.types import Evidence, Trace

FEW = {name: FILES[name] for name in ("leave-gb.md", "leave-floor.md", "dignity.md")}


@pytest.fixture(autouse=True)
def _keyless(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)


def saying(**said: Any) -> Any:
    """A server's answer to everything."""

    def reply(asked: dict[str, Any]) -> Sent:
        return ok(completion(asked, json.dumps(said)))

    return reply


def search(
    home: Path, server: Faulty, plan: dict[str, Any], **models: Any
) -> tuple[Evidence, Trace]:
    shelf = company(
        home,
        files=FEW,
        models={"embedder": "none", "chat": "openai:small", "base_url": server.url} | models,
    )
    found = look(shelf.workspace, plan)
    shelf.workspace.close()
    return found


def look(workspace: Workspace, plan: dict[str, Any]) -> tuple[Evidence, Trace]:
    return asyncio.run(asking.search(workspace, LEAVE, GB, plan=plan))


# Defects that a real llama.cpp server with 135M parameters has shown ------------------------------


def bounds(asked: dict[str, Any]) -> list[int]:
    """What a request says of the lists in its form."""
    form = asked["response_format"]["json_schema"]["schema"]["properties"]
    return [field["maxItems"] for field in form.values() if field["type"] == "array"]


@pytest.mark.parametrize(
    ("plan", "said", "most"),
    [
        ({"strategies": ["keywords"]}, {"keywords": ["annual leave"]}, 12),
        ({"strategies": ["understand"]}, {"standalone": "annual leave"}, 12),
        ({"strategies": ["multi"]}, {"questions": ["annual leave"]}, 20),
        ({"strategies": ["standard"], "reranker": "listwise"}, {"order": [1]}, 25),
    ],
)
def test_a_server_is_told_where_a_list_ends(
    tmp_path: Path, plan: dict[str, Any], said: dict[str, Any], most: int
) -> None:
    with misbehaving(saying(**said)) as server:
        search(tmp_path, server, plan)
    assert bounds(server.asked[0])[0] == most


def test_of_a_longer_list_the_first_are_taken(tmp_path: Path) -> None:
    with misbehaving(saying(keywords=[f"leave {n}" for n in range(200)])) as server:
        _, trace = search(tmp_path, server, {"strategies": ["keywords"]})
    assert trace.queries[0].text.count(",") == 11
    assert not any(said.startswith("strategy") for said in trace.degraded)


@pytest.mark.parametrize("mode", ["first", "all"])
def test_a_text_that_finds_nothing_leaves_the_question(tmp_path: Path, mode: str) -> None:
    plan = {"strategies": ["understand"], "strategy_mode": mode, "k": 3, "own_words": False}
    with misbehaving(saying(standalone="xyzzy-01-01", keywords=["xyzzy"])) as server:
        found, trace = search(tmp_path, server, plan)
    assert any("26 days" in hit.chunk.text for hit in found.hits)
    assert [query.strategy for query in trace.queries] == ["standard"]
    assert trace.degraded[0] == "strategy: understand found nothing, searched without it"
    assert trace.tokens_in == 50


def test_where_the_question_finds_nothing_either_nobody_is_blamed(tmp_path: Path) -> None:
    shelf = company(tmp_path, files=FEW)
    with misbehaving(saying(standalone="xyzzy")) as server:
        settings = ModelSettings(embedder="none", chat="openai:small", base_url=server.url)
        board = ModelRoles(settings)
        workspace = shelf.workspace
        workspace.__dict__["index"] = workspace.index._replace(chat=board.chat("strategy"))
        found, trace = asyncio.run(
            asking.search(workspace, "plugh frotz", GB, plan={"strategies": ["understand"]})
        )
        board.close()
    assert not found.hits
    assert not any(said.startswith("strategy") for said in trace.degraded)
    workspace.close()


def test_what_a_failed_call_came_to_stands_in_the_trace(tmp_path: Path) -> None:
    with misbehaving(lambda asked: ok(completion(asked, "no form at all"))) as server:
        _, trace = search(tmp_path, server, {"strategies": ["hyde"]}, chat="openai:gpt-4.1")
    assert trace.degraded[0].startswith("strategy: hyde failed (")
    assert "no valid JSON" in trace.degraded[0]
    assert (trace.tokens_in, trace.tokens_out) == (100, 10)  # asked once more
    assert trace.price == pytest.approx((100 * 2 + 10 * 8) / 1e6)


def test_a_call_that_ended_at_its_deadline_costs_nobody_knows_what(tmp_path: Path) -> None:
    with misbehaving(saying()) as server:
        server.silent = True
        _, trace = search(tmp_path, server, {"strategies": ["hyde"]}, search_seconds=0.1)
        server.over.set()
    assert (trace.tokens_in, trace.price) == (0, None)


def test_a_silent_reranker_costs_one_deadline_and_not_one_a_question(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(roles, "CallPolicy", partial(CallPolicy, breaker_failures=1))
    models = {
        "embedder": "none",
        "chat": "openai:small",
        "search_seconds": 0.5,
    }
    plan = {"strategies": ["standard"], "reranker": "listwise"}
    with misbehaving(saying(order=[1])) as server:
        shelf = company(tmp_path, files=FEW, models=models | {"base_url": server.url})
        look(shelf.workspace, plan)  # the first call of all loads the client
        before, server.silent = len(server.asked), True
        _, first = look(shelf.workspace, plan)
        _, second = look(shelf.workspace, plan)
        server.over.set()
        shelf.workspace.close()
    assert "rerank: listwise gave no order within 0 seconds, kept the order" in first.degraded
    assert "rerank: listwise failed (ModelUnavailable), kept the order" in second.degraded
    assert len(server.asked) == before + 1


def test_a_prompt_longer_than_the_context_says_so() -> None:
    body = {
        "error": {
            "code": 400,
            "message": "request (9630 tokens) …",
            "type": "exceed_context_size_error",
        }
    }
    with misbehaving(lambda _: (400, json.dumps(body).encode(), {})) as server, recorded() as calls:
        chat = ModelRoles(
            ModelSettings(embedder="none", chat="openai:small", base_url=server.url)
        ).chat("strategy")
        assert chat
        with pytest.raises(Exception, match="too long for it") as failed:
            asyncio.run(classify_by_model(LEAVE, 3, chat, seconds=30))
    assert failed.value.hint == "Lower plan.budget_tokens or plan.k."  # type: ignore[attr-defined]
    assert calls[0].failed == "HTTP 400: what it was given is too long for it"


class Keeping(BaseHTTPRequestHandler):
    """Keeps its connections open, as real servers do."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # else headers and body wait for each other
    gone = threading.Event()

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        body = json.dumps(completion(asked, '{"contexts": 2}')).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def finish(self) -> None:
        super().finish()
        self.gone.set()

    def log_message(self, *_: Any) -> None:
        pass


class Server(socketserver.ThreadingTCPServer):
    daemon_threads = True


def test_who_closes_lets_go_of_connections_and_may_ask_again() -> None:
    with Server(("127.0.0.1", 0), Keeping) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        url = f"http://127.0.0.1:{server.server_address[1]}/v1"
        board = ModelRoles(ModelSettings(embedder="none", chat="openai:small", base_url=url))
        chat = board.chat("strategy")
        assert chat
        for _ in range(2):
            assert asyncio.run(classify_by_model(LEAVE, 3, chat, seconds=30)).label == 1
            assert not Keeping.gone.is_set()
            board.close()
            assert Keeping.gone.wait(30)
            Keeping.gone.clear()
        server.shutdown()
