"""Answers take turns, fail in mid-stream, and end when the server does."""

import asyncio
import json
import signal
import subprocess
import sys
import threading

import httpx
import pytest

from ombud.app import Workspace, asking
from ombud.errors import ModelUnavailable
from ombud.types import Answer, Question
from web.running import running

QUESTION = {"question": "How many days of annual leave do I have?"}
STREAMED = {"accept": "text/event-stream"}
SERVE = """
import sys
from pathlib import Path
from ombud.app import Workspace, asking
from ombud.web import serve
try:
    serve(Workspace(Path(sys.argv[1])), "localhost", 0, lambda url: print(url, flush=True))
except KeyboardInterrupt:
    print("stopped")
"""


async def break_off(workspace: Workspace, question: Question, **options: object) -> Answer:
    """Stands in for `asking.ask`: fails after its first event."""
    on_event = options["on_event"]
    if callable(on_event):  # nobody listens where the whole answer is waited for
        on_event("status", {"step": "compose"})
    raise ModelUnavailable("The chat model does not answer.", hint="Try again in a minute.")


def test_more_questions_than_places_wait_their_turn(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    let_go = threading.Event()

    async def wait(workspace: Workspace, question: Question, **options: object) -> Answer:
        on_event = options["on_event"]
        assert callable(on_event)
        on_event("status", {"step": "search"})
        await asyncio.to_thread(let_go.wait, 30)
        return Answer(outcome="denied", text=question.text)

    monkeypatch.setattr(asking, "ask", wait)
    with (
        running(Workspace(workspace.home, {"server": {"concurrency": 1}})) as url,
        httpx.Client(base_url=url, headers=STREAMED, timeout=30) as client,
        client.stream("POST", "/api/v1/ask", json=QUESTION) as first,
    ):
        lines = first.iter_lines()
        assert [next(lines), next(lines)] == ["event: status", 'data: {"step": "search"}']
        with client.stream("POST", "/api/v1/ask", json=QUESTION) as second:
            waiting = second.iter_lines()
            assert [next(waiting), next(waiting)] == ["event: status", 'data: {"step": "wait"}']
            let_go.set()
            assert "event: answer" in list(lines)
            assert "event: answer" in list(waiting)


def test_a_failure_in_mid_stream_is_an_event(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(asking, "ask", break_off)
    with running(workspace) as url:
        said = httpx.post(f"{url}/api/v1/ask", json=QUESTION, headers=STREAMED).text
        plain = httpx.post(f"{url}/api/v1/ask", json=QUESTION)
    *_, event, data = said.strip().splitlines()
    assert event == "event: error"
    problem = json.loads(data.removeprefix("data: "))
    assert problem == plain.json()
    assert (plain.status_code, problem["hint"]) == (503, "Try again in a minute.")


def test_ctrl_c_ends_the_server_quietly(workspace: Workspace) -> None:
    command = [sys.executable, "-c", SERVE, str(workspace.home)]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as server:
        assert server.stdout
        url = server.stdout.readline().strip()
        assert httpx.get(f"{url}/healthz").status_code == 200
        server.send_signal(signal.SIGINT)
        out, err = server.communicate(timeout=30)
    assert server.returncode == 0
    assert out == "stopped\n"
    assert "Traceback" not in err
