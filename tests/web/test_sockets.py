"""What stands before a WebSocket, by a real server in front of one that repeats what it hears."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import pytest
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import ClientConnection, connect

from ombud.app import Workspace
from ombud.web.guard import LARGEST_MESSAGE, Failures, RequestGuard, SecurityHeaders
from ombud.web.live.secrets import key_of
from web.running import running


class Echo:
    """Says back what it hears, and remembers how each socket ended."""

    def __init__(self) -> None:
        self.opened = 0
        self.codes: list[int] = []
        self.ended = threading.Event()

    async def talk(self, live: WebSocket) -> None:
        self.opened += 1
        await live.accept()
        try:
            while True:
                await live.send_text(await live.receive_text())
        except WebSocketDisconnect as gone:
            self.codes.append(gone.code)
            # Whoever did not notice is not in the way.
            await live.send({"type": "websocket.send", "text": "still there?"})
        finally:
            self.ended.set()


async def hello(_request: Request) -> PlainTextResponse:
    return PlainTextResponse("hello")


@contextmanager
def served(echo: Echo, **limits: Any) -> Iterator[str]:
    """host:port of a server of two routes, behind the layers of ours."""
    routes = [WebSocketRoute("/live", echo.talk), Route("/", hello)]
    app = Starlette(routes=routes)
    app.add_middleware(Failures)
    app.add_middleware(RequestGuard, **limits)
    app.add_middleware(SecurityHeaders)
    config = uvicorn.Config(app, log_level="warning", ws="websockets-sansio", lifespan="off")
    server = uvicorn.Server(config)
    listening = socket.create_server(("127.0.0.1", 0))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    try:
        yield f"127.0.0.1:{listening.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(30)
        listening.close()


@pytest.fixture(scope="module")
def echo() -> Echo:
    return Echo()


@pytest.fixture(scope="module")
def address(echo: Echo) -> Iterator[str]:
    with served(echo) as where:
        yield where


def opened(where: str, **headers: str) -> ClientConnection:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return connect(f"ws://{where}/live", additional_headers=named, proxy=None)


def test_its_own_page_may_open_a_socket(address: str) -> None:
    for headers in ({}, {"origin": f"http://{address}", "sec_fetch_site": "same-origin"}):
        with opened(address, **headers) as live:
            live.send("hello")
            assert live.recv(20) == "hello"


@pytest.mark.parametrize(
    "headers",
    [{"origin": "http://evil.example"}, {"origin": "null"}, {"sec_fetch_site": "cross-site"}],
)
def test_a_page_of_another_site_may_not(echo: Echo, address: str, headers: dict[str, str]) -> None:
    before = echo.opened
    with pytest.raises(InvalidStatus, match="403"):
        opened(address, **headers)
    assert echo.opened == before


def test_another_host_name_may_not(echo: Echo, address: str) -> None:
    """What a rebinding DNS name would bring."""
    before = echo.opened
    host, port = address.split(":")
    reached = socket.create_connection((host, int(port)))
    with reached, pytest.raises(InvalidStatus, match="403"):
        connect(f"ws://evil.example:{port}/live", sock=reached)
    assert echo.opened == before


def test_too_many_sockets_are_refused_like_too_many_requests() -> None:
    echo = Echo()
    with served(echo, requests_per_minute=1, burst=2) as where:
        with opened(where), opened(where):
            pass
        with pytest.raises(InvalidStatus, match="403"):
            opened(where)
        assert echo.opened == 2
        assert httpx.get(f"http://{where}/").status_code == 429


def test_a_message_that_is_too_large_closes_the_socket() -> None:
    echo = Echo()
    with served(echo) as where, opened(where) as live:
        whole = "é" * (LARGEST_MESSAGE // 2)
        live.send(whole)
        assert live.recv(20) == whole
        live.send(whole + "!")
        with pytest.raises(ConnectionClosed) as closed:
            live.recv(20)
        assert closed.value.rcvd is not None
        assert closed.value.rcvd.code == 1009
        assert echo.ended.wait(20)
    assert echo.codes == [1009]


def test_too_many_messages_close_the_socket() -> None:
    echo = Echo()
    with served(echo, messages_per_minute=3) as where:
        with opened(where) as live:
            for _ in range(3):
                live.send("hello")
                assert live.recv(20) == "hello"
            live.send("hello")
            with pytest.raises(ConnectionClosed) as closed:
                live.recv(20)
            assert closed.value.rcvd is not None
            assert closed.value.rcvd.code == 1008
            assert echo.ended.wait(20)
        # Another socket counts for itself.
        with opened(where) as live:
            live.send("hello")
            assert live.recv(20) == "hello"


def test_requests_are_limited_and_told_when_to_come_again() -> None:
    with served(Echo(), requests_per_minute=2, burst=3) as where:
        replies = [httpx.get(f"http://{where}/") for _ in range(4)]
    assert [reply.status_code for reply in replies] == [200, 200, 200, 429]
    refused = replies[-1]
    assert refused.headers["content-type"] == "application/problem+json"
    assert refused.headers["retry-after"] in {"29", "30"}
    assert "content-security-policy" in refused.headers
    assert refused.json()["status"] == 429


def test_who_floods_leaves_the_others_of_the_same_address_theirs() -> None:
    with served(
        Echo(), requests_per_minute=1, burst=60, person_per_minute=1, owner=key_of
    ) as where:
        flood = [
            httpx.get(f"http://{where}/", headers={"cookie": "ombud_key=ann"}) for _ in range(40)
        ]
        flood += [httpx.get(f"http://{where}/", headers={"ombud-key": "ann"}) for _ in range(60)]
        calm = httpx.get(f"http://{where}/", headers={"cookie": "ombud_key=bob"})
        # Other names are no way around the limit of the address.
        masked = [
            httpx.get(f"http://{where}/", headers={"ombud-key": str(n)}).status_code
            for n in range(40)
        ]
    assert [reply.status_code for reply in flood] == [200] * 30 + [429] * 70
    assert flood[-1].json()["title"] == "Too Many Requests"
    assert "this browser" in flood[-1].json()["detail"]
    assert calm.status_code == 200
    assert masked == [200] * 29 + [429] * 11


def test_the_settings_count_and_no_header_makes_a_client_another_one(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OMBUD_SERVER__REQUESTS_PER_MINUTE", "1")
    monkeypatch.setenv("OMBUD_SERVER__BURST", "2")
    limited = Workspace(workspace.home)
    headers = {"x-forwarded-for": "10.1.1.1", "forwarded": "for=10.1.1.1"}
    with running(limited) as url:
        statuses = [httpx.get(f"{url}/healthz").status_code for _ in range(3)]
        statuses.append(httpx.get(f"{url}/healthz", headers=headers).status_code)
    limited.close()
    assert statuses == [200, 200, 429, 429]
