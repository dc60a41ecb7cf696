"""Answers take turns, fail in mid-stream, and end when the server does."""

import asyncio
import json
import signal
import subprocess
import sys
import threading
from pathlib import Path

import httpx

from ombud.app import Workspace
from ombud.errors import ModelUnavailable
from ombud.types import Answer, Question
from web.running import running

QUESTION = {"question": "How many days of annual leave do I have?"}
STREAMED = {"accept": "text/event-stream"}
SERVE = """
import sys
from pathlib import Path
from ombud.app import Workspace
from ombud.web import serve
try:
    serve(Workspace(Path(sys.argv[1])), "localhost", 0, lambda url: print(url, flush=True))
except KeyboardInterrupt:
    print("stopped")
"""


class Patient(Workspace):
    """Begins an answer, and ends it when it is let."""

    def __init__(self, home: Path) -> None:
        super().__init__(home, {"server": {"concurrency": 1}})
        self.let = threading.Event()

    async def ask(self, question: Question, **options: object) -> Answer:
        tell = options["tell"]
        assert callable(tell)
        tell("status", {"step": "search"})
        await asyncio.to_thread(self.let.wait, 30)
        return Answer(outcome="denied", text=question.text)


class Breaking(Workspace):
    async def ask(self, question: Question, **options: object) -> Answer:
        tell = options["tell"]
        if callable(tell):  # nobody listens where the whole answer is waited for
            tell("status", {"step": "compose"})
        raise ModelUnavailable("The chat model does not answer.", hint="Try again in a minute.")


def test_more_questions_than_places_wait_their_turn(workspace: Workspace) -> None:
    patient = Patient(workspace.home)
    with (
        running(patient) as url,
        httpx.Client(base_url=url, headers=STREAMED, timeout=30) as client,
        client.stream("POST", "/api/v1/ask", json=QUESTION) as first,
    ):
        lines = first.iter_lines()
        assert [next(lines), next(lines)] == ["event: status", 'data: {"step": "search"}']
        with client.stream("POST", "/api/v1/ask", json=QUESTION) as second:
            waiting = second.iter_lines()
            assert [next(waiting), next(waiting)] == ["event: status", 'data: {"step": "wait"}']
            patient.let.set()
            assert "event: answer" in list(lines)
            assert "event: answer" in list(waiting)


def test_a_failure_in_mid_stream_is_an_event(workspace: Workspace) -> None:
    with running(Breaking(workspace.home)) as url:
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
