"""Who is let in: only this machine, only its own pages, only small requests."""

import asyncio
import logging
import threading
from collections.abc import Iterator
from contextlib import closing

import httpx
import pytest

from ombud.app import Workspace, asking, library
from ombud.errors import BadSetting, SetupError
from ombud.types import Answer, Question
from ombud.web import serve
from ombud.web.guard import is_loopback
from ombud.web.server import prepare
from web.running import running

QUESTION = {"question": "How many days of annual leave do I have?"}


@pytest.mark.parametrize(
    "host", ["localhost", "localhost:8321", "127.0.0.1:80", "127.9.9.9", "[::1]:8321"]
)
def test_loopback_names_are_served(client: httpx.Client, host: str) -> None:
    assert client.get("/healthz", headers={"host": host}).status_code == 200


@pytest.mark.parametrize(
    "host",
    ["evil.example", "evil.example:8321", "10.0.0.1", "localhost.evil.example", "127.0.0.1:x"],
)
def test_other_names_are_refused(client: httpx.Client, host: str) -> None:
    response = client.get("/healthz", headers={"host": host})
    assert response.status_code == 400
    assert response.headers["content-type"] == "application/problem+json"
    assert "content-security-policy" in response.headers


@pytest.mark.parametrize(
    "headers",
    [{"origin": "http://evil.example"}, {"origin": "null"}, {"sec-fetch-site": "cross-site"}],
)
def test_a_page_of_another_site_may_not_post(client: httpx.Client, headers: dict[str, str]) -> None:
    assert client.post("/api/v1/ask", json=QUESTION, headers=headers).status_code == 403


def test_its_own_page_may_post(client: httpx.Client, address: str) -> None:
    headers = {"origin": address, "sec-fetch-site": "same-origin"}
    assert (
        client.post("/api/v1/search", json={"query": "leave"}, headers=headers).status_code == 200
    )


def test_a_large_request_is_refused_with_and_without_its_length(client: httpx.Client) -> None:
    large = b'{"query": "' + b"x" * 1_100_000 + b'"}'

    def pieces() -> Iterator[bytes]:
        yield large

    for content in (large, pieces()):
        response = client.post(
            "/api/v1/search", content=content, headers={"content-type": "application/json"}
        )
        assert response.status_code == 413
        assert response.json()["status"] == 413


@pytest.mark.parametrize("path", ["/", "/healthz", "/api/v1/documents", "/nothing"])
def test_every_response_is_guarded(client: httpx.Client, path: str) -> None:
    headers = client.get(path).headers
    policy = headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "require-trusted-types-for 'script'" in policy
    assert "unsafe" not in policy
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "same-origin"
    assert headers["cache-control"] == "no-store"


def fail_inside(workspace: Workspace) -> str:
    raise RuntimeError("the secret inside")


def test_what_nobody_foresaw_keeps_its_inside(
    workspace: Workspace, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(library, "why_not_ready", fail_inside)
    with running(workspace) as url, caplog.at_level(logging.ERROR):
        response = httpx.get(f"{url}/readyz")
    assert response.status_code == 500
    assert response.headers["content-type"] == "application/problem+json"
    assert "content-security-policy" in response.headers
    assert "secret" not in response.text
    # The log says where it came from; the words of an error may be those of who asked.
    assert "RuntimeError" in caplog.text
    assert "in fail_inside" in caplog.text
    assert "secret inside" not in caplog.text.replace('raise RuntimeError("the secret inside")', "")


@pytest.fixture
def stopped(monkeypatch: pytest.MonkeyPatch) -> threading.Event:
    """Set when an answer that never comes was stopped."""
    event = threading.Event()

    async def answer_never(workspace: Workspace, question: Question, **options: object) -> Answer:
        on_event = options["on_event"]
        if callable(on_event):
            on_event("status", {"step": "search"})
        try:
            await asyncio.Event().wait()
        finally:
            event.set()
        raise AssertionError

    monkeypatch.setattr(asking, "ask", answer_never)
    return event


def test_a_reader_who_leaves_stops_the_work(workspace: Workspace, stopped: threading.Event) -> None:
    with running(workspace) as url:
        headers = {"accept": "text/event-stream"}
        with httpx.stream("POST", f"{url}/api/v1/ask", json=QUESTION, headers=headers) as response:
            assert next(response.iter_lines()) == "event: status"
        assert stopped.wait(10)


def test_a_client_without_a_stream_who_leaves_stops_the_work_too(
    workspace: Workspace, stopped: threading.Event
) -> None:
    with running(workspace) as url:
        with pytest.raises(httpx.ReadTimeout):
            httpx.post(f"{url}/api/v1/ask", json=QUESTION, timeout=httpx.Timeout(10, read=0.2))
        assert stopped.wait(10)


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.5", "example.org", ""])
def test_only_this_machine_may_be_listened_on(workspace: Workspace, host: str) -> None:
    with pytest.raises(SetupError) as refused:
        serve(workspace, host, 0)
    assert refused.value.hint


def test_a_taken_port_is_said_with_a_hint(workspace: Workspace, address: str) -> None:
    with pytest.raises(SetupError, match="Cannot listen") as refused:
        prepare(workspace, "127.0.0.1", int(address.rsplit(":", 1)[1]))
    assert "--port" in refused.value.hint


def test_the_version_six_loopback_has_brackets() -> None:
    assert is_loopback("[::1]")
    assert not is_loopback("[::2]:80")


# Inside another page ------------------------------------------------------------------------------


def ancestors(response: httpx.Response) -> str:
    policy = response.headers["content-security-policy"]
    return next(part for part in policy.split("; ") if part.startswith("frame-ancestors"))


def test_only_named_origins_may_show_it_in_a_frame(workspace: Workspace, address: str) -> None:
    assert ancestors(httpx.get(address)) == "frame-ancestors 'self'"
    flags = {**workspace.flags, "server": {"embed_origins": ["https://intranet.example.com"]}}
    with closing(Workspace(workspace.home, flags)) as own, running(own) as url:
        shown = httpx.get(url, params={"embed": "1"})
        assert ancestors(shown) == "frame-ancestors 'self' https://intranet.example.com"
        assert '<body class="chat embedded">' in shown.text
        assert '<body class="chat">' in httpx.get(url).text


@pytest.mark.parametrize(
    "origin", ["*", "https://a.example; script-src *", "a.example", "https://a.example/x"]
)
def test_what_is_no_origin_gets_into_no_header(workspace: Workspace, origin: str) -> None:
    with pytest.raises(BadSetting, match="is no origin"):
        Workspace(workspace.home, {"server": {"embed_origins": [origin]}})
