"""A small OpenAI-compatible server that answers as it is told."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class Handler(BaseHTTPRequestHandler):
    server: "Server"

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.asked.append(
            {"path": self.path, "authorization": self.headers["Authorization"]} | asked
        )
        body = self.server.body if self.server.body is not None else self.reply(asked)
        self.send_response(self.server.status)
        self.send_header("Content-Type", self.server.kind)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("x-should-retry", "false")
        if self.server.location:
            self.send_header("Location", self.server.location)
        self.end_headers()
        self.wfile.write(body)

    def reply(self, asked: dict[str, Any]) -> bytes:
        if self.path.endswith("/embeddings"):
            data = [
                {"object": "embedding", "index": n, "embedding": [float(len(text)), 4.0, 0.0]}
                for n, text in enumerate(asked["input"])
            ]
            usage = {"prompt_tokens": 3, "total_tokens": 3}
            return json.dumps(
                {"object": "list", "model": asked["model"], "data": data, "usage": usage}
            ).encode()
        if self.path.endswith("/rerank"):
            found = [
                {"index": n, "relevance_score": len(text) / 100}
                for n, text in enumerate(asked["documents"])
            ]
            found.sort(key=lambda one: -one["relevance_score"])
            return json.dumps({"id": "x", "results": found[: asked["top_n"]], "meta": {}}).encode()
        said: dict[str, Any] = {"role": "assistant", "content": self.server.said}
        if asked.get("tools"):
            call = {"name": asked["tools"][0]["function"]["name"], "arguments": self.server.said}
            said = {"role": "assistant", "content": None}
            said["tool_calls"] = [{"id": "c", "type": "function", "function": call}]
        whole = {"id": "x", "object": "chat.completion", "created": 1, "model": asked["model"]}
        whole["choices"] = [{"index": 0, "finish_reason": "stop", "message": said}]
        usage = {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}
        return json.dumps(whole | {"usage": usage}).encode()

    def log_message(self, *_: Any) -> None:
        pass


class Server(ThreadingHTTPServer):
    """asked: every request body with its path. said: what the chat model says. body: sent instead
    of any reply."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.asked: list[dict[str, Any]] = []
        self.said = '{"word": "yes"}'
        self.body: bytes | None = None
        self.status, self.kind = 200, "application/json"
        self.location = ""

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/v1"


@contextmanager
def serving() -> Iterator[Server]:
    with Server() as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()
