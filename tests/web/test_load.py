"""One person who asks for too much gets a clear answer, and everybody else theirs."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from websockets.sync.client import connect

from ombud.app import Workspace
from web.running import make_workspace, running

QUESTION = "How many days of annual leave do I have?"
STORY = "I moved from Lyon to Leeds last spring and my manager changed twice since then. " * 200


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("workspace")
    make_workspace(folder).close()
    return folder


@pytest.fixture(scope="module")
def address(home: Path) -> Iterator[str]:
    workspace = Workspace(home)
    with running(workspace) as url:
        yield url
    workspace.close()


@pytest.fixture
def thrifty(home: Path) -> Iterator[str]:
    """A server that lets each person use next to no CPU time."""
    workspace = Workspace(home, flags={"server": {"person_cpu_seconds": 0.001}})
    with running(workspace) as url:
        yield url
    workspace.close()


def turns(count: int, text: str = QUESTION) -> list[dict[str, str]]:
    roles = ("user", "assistant")
    return [{"role": roles[number % 2], "content": text} for number in range(count)]


def ask(address: str, key: str = "", **body: Any) -> httpx.Response:
    headers = {"ombud-key": key} if key else {}
    content = {"question": QUESTION, "person": {"country": "GB"}, **body}
    return httpx.post(f"{address}/api/v1/ask", json=content, headers=headers, timeout=60)


def complete(address: str, messages: list[dict[str, str]], **more: Any) -> httpx.Response:
    body = {"model": "ombud", "messages": messages, "metadata": {"country": "GB"}, **more}
    return httpx.post(f"{address}/v1/chat/completions", json=body, timeout=60)


@pytest.mark.parametrize(
    ("history", "limit"), [(turns(10_000, "x"), "500"), (turns(1, "x" * 500_000), "20000")]
)
def test_absurd_histories_are_refused_with_the_limit(
    address: str, history: list[dict[str, str]], limit: str
) -> None:
    response = ask(address, history=history)
    assert response.status_code == 422
    assert limit in response.json()["detail"]


@pytest.mark.parametrize(
    ("messages", "limit"),
    [(turns(10_000, "x"), "500"), ([*turns(2, "x" * 300_000), *turns(1)], "200,000")],
)
def test_completions_refuse_absurd_conversations_too(
    address: str, messages: list[dict[str, str]], limit: str
) -> None:
    response = complete(address, messages)
    assert response.status_code == 400
    assert limit in response.json()["error"]["message"]


def test_a_turn_of_a_megabyte_is_refused(address: str) -> None:
    assert ask(address, history=turns(1, "x" * 1_000_000)).status_code == 413
    assert complete(address, [*turns(2, "x" * 1_000_000), *turns(1)]).status_code == 413


def test_a_long_chat_is_answered(address: str) -> None:
    response = complete(address, [*turns(300), *turns(1)])
    assert response.status_code == 200
    assert "26 days" in response.json()["choices"][0]["message"]["content"]


def test_long_turns_are_answered(address: str) -> None:
    response = ask(address, history=turns(6, STORY))
    assert response.status_code == 200


def test_whoever_used_up_their_time_waits_and_a_colleague_does_not(thrifty: str) -> None:
    assert ask(thrifty, key="ann" * 12).status_code == 200
    refused = ask(thrifty, key="ann" * 12)
    assert refused.status_code == 429
    assert int(refused.headers["retry-after"]) >= 1
    assert refused.headers["retry-after"] in refused.json()["hint"]
    assert ask(thrifty, key="bob" * 12).status_code == 200


@pytest.mark.parametrize("stream", [False, True])
def test_completions_use_the_same_budget(thrifty: str, stream: bool) -> None:
    assert complete(thrifty, turns(1)).status_code == 200
    refused = complete(thrifty, turns(1), stream=stream)
    assert refused.status_code == 429
    assert int(refused.headers["retry-after"]) >= 1


def test_a_search_uses_the_same_budget(thrifty: str) -> None:
    body = {"query": QUESTION}
    assert httpx.post(f"{thrifty}/api/v1/search", json=body, timeout=60).status_code == 200
    assert httpx.post(f"{thrifty}/api/v1/search", json=body, timeout=60).status_code == 429


def test_a_live_socket_is_told_to_wait(thrifty: str) -> None:
    key = "eve" * 12
    assert ask(thrifty, key=key).status_code == 200
    with connect(
        thrifty.replace("http", "ws") + "/live", additional_headers={"ombud-key": key}
    ) as live:
        live.send(json.dumps({"ping": 1}))
        assert "error" in json.loads(live.recv(timeout=30))
