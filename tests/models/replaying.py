"""An OpenAI-compatible server that says what was recorded, by question and role.

The role is read off the form of the answer that is asked for, the question off the prompt. What is
not recorded is answered with 404, as a server says that does not know a model: nothing is made up.
"""

import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

Said = Mapping[str, Any]
ROLES = {
    frozenset(
        {"standalone", "passage", "keywords", "contexts", "subquestions", "triage", "choices"}
    ): "understand",
    frozenset({"keywords"}): "keywords",
    frozenset({"passage"}): "hyde",
    frozenset({"questions"}): "multi",
}
ASKED_FOR = {"step back": "stepback", "reformulate": "reformulate", "rewrite": "rewrite"}
"""Roles of one form, by a word of their instructions."""
FIELDS = {"keywords": "keywords", "hyde": "passage", "multi": "questions"}


def read_recorded(folder: Path) -> dict[str, dict[str, Any]]:
    """Question -> role -> what was said, from `given.jsonl` and `texts.jsonl`."""
    given = [
        json.loads(line)
        for line in (folder / "given.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    texts = [
        json.loads(line)
        for line in (folder / "texts.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    said = {row["id"]: row for row in texts}
    return {row["question"]: said[row["id"]] for row in given}


class Handler(BaseHTTPRequestHandler):
    server: "Replay"

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        said = self.server.find(asked)
        body = json.dumps(
            _completion(asked, said) if said is not None else {"error": {"message": "not recorded"}}
        )
        self.send_response(200 if said is not None else 404)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body.encode())))
        self.end_headers()
        self.wfile.write(body.encode())

    def log_message(self, *_: Any) -> None:
        pass


class Replay(ThreadingHTTPServer):
    """asked: (role, question) of every request, in the order of arrival."""

    daemon_threads = True

    def __init__(self, recorded: Mapping[str, Said]) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.recorded, self.asked = recorded, list[tuple[str, str]]()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"

    def find(self, asked: Mapping[str, Any]) -> Said | None:
        texts = [str(message["content"]) for message in asked["messages"]]
        question = texts[-1].rpartition("Question:\n")[2].strip()
        role = _role(asked, texts[0])
        self.asked.append((role, question))
        said = self.recorded.get(question, {}).get(role)
        if said is None:
            return None
        return said if role == "understand" else {FIELDS.get(role, "question"): said}


def _role(asked: Mapping[str, Any], instructions: str) -> str:
    tools = asked.get("tools") or []
    form = (
        asked.get("response_format", {}).get("json_schema", {}).get("schema") if not tools else None
    )
    schema = tools[0]["function"]["parameters"] if tools else form or {}
    role = ROLES.get(frozenset(schema.get("properties", {})))
    return role or next(
        (name for word, name in ASKED_FOR.items() if word in instructions.lower()), ""
    )


def _completion(asked: Mapping[str, Any], said: Said) -> dict[str, Any]:
    text = json.dumps(said, ensure_ascii=False)
    message: dict[str, Any] = {"role": "assistant", "content": text}
    if tools := asked.get("tools"):
        call = {"name": tools[0]["function"]["name"], "arguments": text}
        calls = [{"id": "c", "type": "function", "function": call}]
        message = {"role": "assistant", "content": None, "tool_calls": calls}
    tokens = {"prompt_tokens": 100, "completion_tokens": 50, "total_tokens": 150}
    choice = {"index": 0, "finish_reason": "stop", "message": message}
    head = {"id": "x", "object": "chat.completion", "created": 1, "model": asked["model"]}
    return head | {"choices": [choice], "usage": tokens}


@contextmanager
def replay(recorded: Mapping[str, Said]) -> Iterator[Replay]:
    with Replay(recorded) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        try:
            yield server
        finally:
            server.shutdown()
