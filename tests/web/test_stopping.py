"""A server that is told to stop while it answers, and what it logs meanwhile."""

import json
import signal
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx
import pytest

from answer.faulty import Faulty, completion, misbehaving, ok
from journeys.command import ombud, start
from journeys.command import workspace as new_workspace
from ombud.app import Workspace
from ombud.web import server as web_server
from web.running import running

QUESTION = {"question": "How many days of annual leave do I get?", "person": {"country": "GB"}}
STREAMED = {"accept": "text/event-stream"}


class Held:
    """A model's server that keeps every request until it is let go."""

    def __init__(self) -> None:
        self.was_asked, self.may_answer = threading.Event(), threading.Event()

    def reply(self, asked: dict[str, Any]) -> Any:
        self.was_asked.set()
        self.may_answer.wait(60)
        return ok(completion(asked, '{"standalone": "", "outcome": "denied"}'))


@pytest.fixture
def held() -> Held:
    return Held()


@pytest.fixture
def model(held: Held, monkeypatch: pytest.MonkeyPatch) -> Iterator[Faulty]:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with misbehaving(held.reply) as server:
        yield server
        held.may_answer.set()


def asks(model: Faulty) -> dict[str, Any]:
    return {"models": {"embedder": "none", "chat": "openai:a", "base_url": model.url}}


def test_an_answer_that_takes_too_long_ends_as_come_back_later(
    workspace: Workspace, held: Held, model: Faulty, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(web_server, "GRACE", 0.2)
    with closing(Workspace(workspace.home, asks(model))) as own, ThreadPoolExecutor() as threads:
        with running(own) as url:
            whole = threads.submit(
                lambda: httpx.post(f"{url}/api/v1/ask", json=QUESTION, timeout=60)
            )
            stream = threads.submit(
                lambda: httpx.post(f"{url}/api/v1/ask", json=QUESTION, headers=STREAMED, timeout=60)
            )
            assert held.was_asked.wait(30)
        response = whole.result(60)
        assert response.status_code == 503
        assert int(response.headers["retry-after"]) > 0
        assert response.json()["status"] == 503
        *_, event, data = stream.result(60).text.strip().splitlines()
        assert event == "event: error"
        assert json.loads(data.removeprefix("data: "))["status"] == 503


@pytest.mark.slow
def test_an_answer_in_flight_is_finished_and_every_line_of_the_log_is_json(
    tmp_path: Path, held: Held, model: Faulty
) -> None:
    home = new_workspace(tmp_path)
    assert ombud("sync", "docs", cwd=home).code == 0
    env = {
        "OMBUD_SERVER__LOG": "json",
        "OMBUD_MODELS__CHAT": "openai:a",
        "OMBUD_MODELS__BASE_URL": model.url,
        "PYTHONWARNINGS": "always",
    }
    with start("serve", "--port", "0", cwd=home, env=env) as process, ThreadPoolExecutor() as pool:
        assert process.stderr
        lines: list[str] = []
        for line in process.stderr:
            lines.append(line)
            if "answers at" in line:
                break
        url = json.loads(lines[-1])["message"].split()[-1]
        assert httpx.get(f"{url}/nothing-here").status_code == 404
        asked = pool.submit(lambda: httpx.post(f"{url}/api/v1/ask", json=QUESTION, timeout=60))
        assert held.was_asked.wait(30)
        process.send_signal(signal.SIGTERM)
        held.may_answer.set()
        assert asked.result(60).status_code == 200
        out, err = process.communicate(timeout=60)
    assert process.returncode == -signal.SIGTERM
    assert out == ""
    lines += err.splitlines()
    kinds = {json.loads(line)["logger"] for line in lines}
    assert {"ombud.server", "ombud.access"} <= kinds
