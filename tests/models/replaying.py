"""An OpenAI-compatible server that says what was recorded, by question and role.

The role is read off the form of the answer that is asked for, the question off the prompt. What is
not recorded is answered with 404, as a server says that does not know a model: nothing is made up.
"""

import json
import re
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from ombud.answer.proof.drafts import Draft

Said = Mapping[str, Any]
ROLES = {
    frozenset(
        {"standalone", "passage", "keywords", "contexts", "subquestions", "triage", "choices"}
    ): "understand",
    frozenset(Draft.model_fields): "compose",
    frozenset({"claims"}): "repair",
    frozenset({"label", "danger"}): "triage",
    frozenset({"keywords"}): "keywords",
    frozenset({"passage"}): "hyde",
    frozenset({"questions"}): "multi",
}
ASKED_FOR = {"step back": "stepback", "reformulate": "reformulate", "rewrite": "rewrite"}
"""Roles of one form, by a word of their instructions."""
FIELDS = {"keywords": "keywords", "hyde": "passage", "multi": "questions"}


WHOLE = frozenset({"understand", "triage", "compose", "repair", "verify"})
"""Roles whose recorded text is the whole form."""
QUESTION = re.compile(
    r"(?:=== Question ===\n|^Question: )(.+?)(?=\n\nNow give|\n\nClaim \d|\Z)", re.DOTALL
)
"""The question in what is said to who composes or repairs."""


def read_recorded(folder: Path) -> dict[str, dict[str, Any]]:
    """Question -> role -> what was said, from `given.jsonl` and `texts.jsonl`."""
    given = _lines(folder / "given.jsonl")
    said = {row["id"]: row for row in _lines(folder / "texts.jsonl")}
    return {row["question"]: said[row["id"]] for row in given}


def _lines(path: Path) -> list[dict[str, Any]]:
    if not path.exists():
        return []
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


class Handler(BaseHTTPRequestHandler):
    server: "Replay"

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        said = self.server.find(asked)
        if self.server.asked[-1][0] == "compose":
            time.sleep(self.server.seconds)
        body = json.dumps(
            completion(asked, said) if said is not None else {"error": {"message": "not recorded"}}
        )
        self.send_response(200 if said is not None else 404)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body.encode())))
        self.end_headers()
        self.wfile.write(body.encode())

    def log_message(self, *_: Any) -> None:
        pass


class Replay(ThreadingHTTPServer):
    """asked: (role, question) of every request, in the order of arrival; bodies: what was sent with
    each. case: what was recorded for the one question that is being asked, in whatever words it
    reaches the model; None: found by those words. fitted: makes what was recorded fit what is sent
    now, given role, prompt and text. seconds: what a draft takes."""

    daemon_threads = True

    def __init__(self, recorded: Mapping[str, Said]) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.recorded, self.asked = recorded, list[tuple[str, str]]()
        self.bodies: list[Mapping[str, Any]] = []
        self.case: Said | None = None
        self.fitted: Callable[[str, str, Said], Said] | None = None
        self.seconds = 0.0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"

    def find(self, asked: Mapping[str, Any]) -> Said | None:
        texts = [str(message["content"]) for message in asked["messages"]]
        role = role_of(asked, texts[0])
        question = _question(texts[-1], role)
        self.asked.append((role, question))
        self.bodies.append(asked)
        case = self.recorded.get(question, {}) if self.case is None else self.case
        said = case.get(role)
        if said is None:
            return None
        if self.fitted:
            said = self.fitted(role, texts[-1], said)
        return said if role in WHOLE else {FIELDS.get(role, "question"): said}


def _question(text: str, role: str) -> str:
    if role in {"compose", "repair"}:
        found = QUESTION.search(text)
        return found[1].strip() if found else ""
    return text.rpartition("Question:\n")[2].strip()


def role_of(asked: Mapping[str, Any], instructions: str) -> str:
    tools = asked.get("tools") or []
    form = (
        asked.get("response_format", {}).get("json_schema", {}).get("schema") if not tools else None
    )
    schema = tools[0]["function"]["parameters"] if tools else form or {}
    if "verdict" in json.dumps(schema):
        return "verify"
    role = ROLES.get(frozenset(schema.get("properties", {})))
    return role or next(
        (name for word, name in ASKED_FOR.items() if word in instructions.lower()), ""
    )


def completion(asked: Mapping[str, Any], said: Said | str) -> dict[str, Any]:
    text = said if isinstance(said, str) else json.dumps(said, ensure_ascii=False)
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
