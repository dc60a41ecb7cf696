"""A request that is never sent to its end does not hold its connection."""

import asyncio
import socket
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest

from ombud.web import server

from .running import make_workspace, running

HEAD = b"POST /api/v1/ask HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n"


WHOLE = b"GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n"


@pytest.fixture
def impatient(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[socket.socket]:
    """A connection to a server that waits .3 seconds for the rest of a request."""
    monkeypatch.setattr(server, "WAIT", 0.3)
    with running(make_workspace(tmp_path)) as address:
        place = urlsplit(address)
        with socket.create_connection((place.hostname, place.port), timeout=20) as connection:
            yield connection


def read_on(connection: socket.socket) -> bytes:
    """All that comes until the other side closes."""
    said = b""
    while piece := connection.recv(10_000):
        said += piece
    return said


@pytest.mark.parametrize(
    "sent",
    [
        b"",
        b"GET /healthz HTTP/1.1\r\nhost: loc",
        HEAD + b'content-length: 100\r\n\r\n{"question": "How many',
        HEAD + b'transfer-encoding: chunked\r\n\r\n5\r\n{"que\r\n',
    ],
    ids=["nothing", "half a head", "half a body", "a chunk"],
)
def test_a_half_sent_request_is_given_up(impatient: socket.socket, sent: bytes) -> None:
    impatient.sendall(sent)
    assert impatient.recv(1000) == b""


def test_a_part_that_comes_while_another_is_answered_is_given_up_too(
    impatient: socket.socket,
) -> None:
    impatient.sendall(WHOLE)
    impatient.settimeout(1)
    with pytest.raises(TimeoutError):  # idle is not half-sent: it stays open
        read_on(impatient)
    impatient.settimeout(20)
    impatient.sendall(5 * WHOLE + WHOLE[:30])
    said = read_on(impatient)
    assert said.count(b"HTTP/1.1 200") == 5


def test_a_request_that_comes_after_another_is_given_up_too(impatient: socket.socket) -> None:
    impatient.sendall(WHOLE)
    assert impatient.recv(10_000).startswith(b"HTTP/1.1 200")
    impatient.sendall(WHOLE + WHOLE[:30])
    assert b"HTTP/1.1 200" in read_on(impatient)


def test_the_end_of_a_reply_does_not_wait_until_its_beginning_has_come(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Waiting for it (Nagle) costs 40 ms a reply on a connection that is kept."""
    waits: list[bool] = []

    class Noting(server.PatientProtocol):
        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
            connection = transport.get_extra_info("socket")
            waits.append(not connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))
            super().connection_made(transport)

    monkeypatch.setattr(server, "PatientProtocol", Noting)
    with running(make_workspace(tmp_path)) as address:
        assert httpx.get(f"{address}/healthz").status_code == 200
    assert waits
    assert not any(waits)
