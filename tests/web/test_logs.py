"""Lines of JSON for whoever collects logs: what happened, never what anybody asked."""

import io
import json
import logging
from collections.abc import Iterator
from contextlib import closing

import httpx
import pytest

from ombud.app import Workspace
from ombud.web.logs import ACCESS, write_json
from web.running import running

SECRET = "my-secret-illness"


@pytest.fixture
def written() -> Iterator[io.StringIO]:
    """What the loggers of this process write, put back as they were."""
    root = logging.getLogger()
    before = (root.handlers, root.level, ACCESS.level)
    stream = io.StringIO()
    write_json(stream)
    yield stream
    root.handlers = before[0]
    root.setLevel(before[1])
    ACCESS.setLevel(before[2])


def test_each_request_is_a_line_with_its_route(workspace: Workspace, written: io.StringIO) -> None:
    flags = {**workspace.flags, "server": {"log": "json"}}
    with closing(Workspace(workspace.home, flags)) as own, running(own) as url:
        httpx.get(f"{url}/healthz")
        httpx.get(f"{url}/documents/{SECRET}", params={"q": SECRET})
        httpx.post(f"{url}/api/v1/ask", json={"question": SECRET}, timeout=30)
    lines = [json.loads(line) for line in written.getvalue().splitlines()]
    asked = {(one["method"], one["route"], one["status"]) for one in lines if "route" in one}
    assert ("GET", "/healthz", 200) in asked
    assert ("GET", "/documents/{document_id}", 404) in asked
    assert ("POST", "/api/v1/ask", 200) in asked
    assert SECRET not in written.getvalue()
    assert all(line["at"].endswith("+00:00") for line in lines)


def test_a_failure_says_where_and_not_what(written: io.StringIO) -> None:
    try:
        raise ValueError(f"cannot store {SECRET}")
    except ValueError:
        logging.getLogger("ombud.test").exception("It failed\nin two lines")
    (line,) = written.getvalue().splitlines()
    told = json.loads(line)
    assert (told["level"], told["logger"]) == ("error", "ombud.test")
    assert "builtins.ValueError" in told["error"]
    assert "test_logs.py" in told["error"]
    assert SECRET not in line
