"""An OpenAI-compatible server that misbehaves as it is told."""

import json
import re
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Reply = tuple[int, bytes | Iterator[bytes], dict[str, str]]
"""Status, body, headers beside the usual. A body in pieces is sent as they come, and broken off
where they raise."""


class Handler(BaseHTTPRequestHandler):
    server: "Faulty"

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.asked.append(asked)
        if self.server.silent:
            self.server.over.wait(60)
            return
        status, body, headers = self.server.reply(asked)
        if not isinstance(body, bytes):
            self._stream(body, headers)
            return
        self.send_response(status)
        for name, value in (
            {"Content-Type": "application/json", "Content-Length": str(len(body))} | headers
        ).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)
        if self.server.lingering:
            self.wfile.flush()
            self.server.over.wait(60)

    def _stream(self, pieces: Iterator[bytes], headers: dict[str, str]) -> None:
        """Ended by the end of the connection, as in HTTP/1.0; one that breaks off promised more."""
        self.send_response(200)
        for name, value in ({"Content-Type": "text/event-stream"} | headers).items():
            self.send_header(name, value)
        self.end_headers()
        for piece in pieces:
            self.wfile.write(piece)
            self.wfile.flush()

    def log_message(self, *_: Any) -> None:
        pass


class Faulty(ThreadingHTTPServer):
    """asked: every request. reply: what is answered. silent: nothing is, until the server ends.
    lingering: it goes silent after what it has sent."""

    daemon_threads = True

    def __init__(self, reply: Callable[[dict[str, Any]], Reply]) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.asked: list[dict[str, Any]] = []
        self.reply, self.over = reply, threading.Event()
        self.silent, self.lingering = False, False

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/v1"

    def handle_error(self, *_: Any) -> None:
        pass  # the client went away, as it should


@contextmanager
def misbehaving(reply: Callable[[dict[str, Any]], Reply]) -> Iterator[Faulty]:
    with Faulty(reply) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        try:
            yield server
        finally:
            server.over.set()
            server.shutdown()
            thread.join()


def prompt(asked: dict[str, Any]) -> str:
    """The user's message of a request."""
    return str(next(m["content"] for m in asked["messages"] if m["role"] == "user"))


def label(asked: dict[str, Any], text: str) -> str:
    """The label of the passage that holds `text`: the last one opened before it."""
    return str(re.findall(r'<passage label="(\w+)"', prompt(asked).partition(text)[0])[-1])


def completion(asked: dict[str, Any], said: str, **message: Any) -> dict[str, Any]:
    """A chat completion whose content, or whose call of the asked-for tool, is `said`."""
    whole: dict[str, Any] = {"role": "assistant", "content": said}
    if asked.get("tools"):
        call = {"name": asked["tools"][0]["function"]["name"], "arguments": said}
        whole = {"role": "assistant", "content": None}
        whole["tool_calls"] = [{"id": "c1", "type": "function", "function": call}]
    return {
        "id": "x",
        "object": "chat.completion",
        "created": 1,
        "model": asked["model"],
        "choices": [{"index": 0, "finish_reason": "stop", "message": whole | message}],
        "usage": {"prompt_tokens": 50, "completion_tokens": 5, "total_tokens": 55},
    }


def events(
    asked: dict[str, Any], pieces: Iterable[str], usage: tuple[int, int] | None = (50, 5)
) -> Iterator[bytes]:
    """The stream of a chat completion that says these pieces, each an event of its own."""
    tool = asked["tools"][0]["function"]["name"] if asked.get("tools") else ""

    def event(choices: list[Any], **more: Any) -> bytes:
        whole = {
            "id": "x",
            "object": "chat.completion.chunk",
            "created": 1,
            "model": asked["model"],
        }
        return b"data: " + json.dumps(whole | {"choices": choices} | more).encode() + b"\n\n"

    def delta(said: dict[str, Any], why: str | None = None) -> bytes:
        return event([{"index": 0, "delta": said, "finish_reason": why}])

    if tool:
        first = {
            "index": 0,
            "id": "c1",
            "type": "function",
            "function": {"name": tool, "arguments": ""},
        }
        yield delta({"role": "assistant", "tool_calls": [first]})
    for piece in pieces:
        yield delta(
            {"tool_calls": [{"index": 0, "function": {"arguments": piece}}]}
            if tool
            else {"content": piece}
        )
    yield delta({}, "tool_calls" if tool else "stop")
    if usage:
        sums = {
            "prompt_tokens": usage[0],
            "completion_tokens": usage[1],
            "total_tokens": sum(usage),
        }
        yield event([], usage=sums)
    yield b"data: [DONE]\n\n"


def streamed(asked: dict[str, Any], said: str | Iterable[str], **how: Any) -> Reply:
    """A completion as it was asked for: whole, or as a stream, three letters at a time where no
    pieces are given."""
    if not asked.get("stream"):
        return ok(completion(asked, said if isinstance(said, str) else "".join(said)))
    pieces = [said[n : n + 3] for n in range(0, len(said), 3)] if isinstance(said, str) else said
    return 200, events(asked, pieces, **how), {}


def broken(asked: dict[str, Any], pieces: Iterable[str], *, noticed: bool = True) -> Reply:
    """A stream that says these pieces and then is no more. noticed: the client can tell that more
    should have come."""

    def until() -> Iterator[str]:
        yield from pieces
        raise ConnectionAbortedError

    return 200, events(asked, until()), {"Content-Length": "1000000"} if noticed else {}


def ok(body: Any) -> Reply:
    return 200, body if isinstance(body, bytes) else json.dumps(body).encode(), {}
