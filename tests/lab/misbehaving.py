"""A server that answers what a test tells it to, in the order told; the last answer stays. And how
to ask it."""

import asyncio
import json
import threading
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple, TypeVar

from ombud.lab import RemoteTarget
from ombud.types import Answer, Person, Question

Result = TypeVar("Result")
LEAVE = Question(text="How many days of annual leave do I have?", asker=Person(country="GB"))


class Reply(NamedTuple):
    body: bytes | str | Any = ""
    """Sent as it is, or as JSON when it is neither bytes nor text."""
    status: int = 200
    headers: Mapping[str, str] = {}
    cut: bool = False
    """Announce more than is sent, and hang up."""


HANG_UP = Reply(status=0)


class Misbehaving(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, replies: list[Reply]) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.replies = replies
        self.asked: list[tuple[str, dict[str, str], Any]] = []
        """(path, headers, body) of every request."""

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Clients hang up too."""


class _Handler(BaseHTTPRequestHandler):
    server: Misbehaving

    def do_GET(self) -> None:
        size = int(self.headers.get("content-length", 0))
        sent = json.loads(self.rfile.read(size)) if size else None
        self.server.asked.append((self.path, {k.lower(): v for k, v in self.headers.items()}, sent))
        reply = (
            self.server.replies.pop(0) if len(self.server.replies) > 1 else self.server.replies[0]
        )
        if reply is HANG_UP or not reply.status:
            self.connection.close()
            return
        text = reply.body if isinstance(reply.body, bytes | str) else json.dumps(reply.body)
        raw = text.encode() if isinstance(text, str) else text
        self.send_response(reply.status)
        for name, value in reply.headers.items():
            self.send_header(name, value)
        self.send_header("content-length", str(len(raw) + 100 * reply.cut))
        self.end_headers()
        self.wfile.write(raw)

    do_POST = do_GET  # noqa: N815 - its name there

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - its name there
        pass


@contextmanager
def answering(*replies: Reply) -> Iterator[Misbehaving]:
    with Misbehaving(list(replies)) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


def done(target: RemoteTarget, work: Callable[[], Awaitable[Result]]) -> Result:
    async def go() -> Result:
        try:
            return await work()
        finally:
            await target.aclose()

    return asyncio.run(go())


def ask(url: str, question: Question = LEAVE, **options: Any) -> Answer:
    target = RemoteTarget(url, **options)
    return done(target, lambda: target.ask(question, {"k": 3}))
