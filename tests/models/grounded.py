"""An OpenAI-compatible server that says of what was recorded only what its prompt bears out.

One model for whatever asks it: it looks at the text that it was sent, never at who sent it. A
statement is said when the sentences that it needs stand there; when none can be said, it says that
the documents do not answer, in the form that is asked for (plain text, or claims with labels)."""

import json
import re
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from html import unescape
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

from models.replaying import completion, role_of
from ombud.lab import normalise

REFUSAL = "The documents do not answer this question."
TAG = re.compile(r"</?[a-zA-Z][^<>]*>")
PASSAGE = re.compile(
    r'<passage label="(?P<label>\w+)"(?:[^>"]|"[^"]*")*>\n(?P<body>.*?)\n</passage>', re.DOTALL
)
"""A title may hold `>`."""
WORD = re.compile(r"\w+")


class Statement(NamedTuple):
    """What was recorded for a question, sentence by sentence."""

    text: str
    needs: Sequence[Sequence[str]]
    """Quotes: one of each group has to stand in the prompt. Without groups it is never said."""


class Script(NamedTuple):
    """What the model has to say to one question."""

    statements: Sequence[Statement] = ()
    understanding: Mapping[str, Any] | None = None
    """Said where the question is to be understood for a search."""
    invented: str = ""
    """Said in the place of the refusal, whatever the prompt holds."""

    def say(self, prompt: str) -> list[Statement]:
        """What can be said to who sends this; empty: that the documents do not answer."""
        held = plain(prompt)
        told = [one for one in self.statements if one.needs and _stands(one, held)]
        return told or ([Statement(self.invented, ())] if self.invented else [])


def plain(text: str) -> str:
    """What two writings of the same sentence share: neither marks, nor tags, nor letter case."""
    return normalise(TAG.sub(" ", unescape(text))).casefold()


def _stands(one: Statement, held: str) -> bool:
    return all(any(plain(quote) in held for quote in group) for group in one.needs)


class Call(NamedTuple):
    body: Mapping[str, Any]
    told: Sequence[str]
    """Statements that were said; nothing is told by who understands or repairs."""
    seconds: float
    """That the server took for it, which is no time of who asks."""


class Grounded(ThreadingHTTPServer):
    """script: of the question that is asked now; calls: those since it was."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.script, self.calls = Script(), list[Call]()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"

    def turn_to(self, script: Script) -> None:
        self.script, self.calls = script, []

    def answer(self, body: Mapping[str, Any]) -> tuple[Mapping[str, Any] | str | None, list[str]]:
        """What is sent back (None: nothing was recorded for it), and the statements in it."""
        texts = [str(message.get("content") or "") for message in body["messages"]]
        # Where nothing was recorded, a question is ordinary.
        role = role_of(body, texts[0])
        if role == "understand":
            return self.script.understanding, []
        if role == "triage":
            return {"label": (self.script.understanding or {}).get("triage", "ordinary")}, []
        if role == "repair":
            return {"claims": []}, []
        prompt = "\n\n".join(texts)
        told = self.script.say(prompt)
        said = [one.text for one in told]
        if role == "compose":
            return _draft(told, prompt), said
        if body.get("tools") or body.get("response_format"):
            return None, []
        return " ".join(said) or REFUSAL, said


def _draft(told: Sequence[Statement], prompt: str) -> Mapping[str, Any]:
    """The form of an answer by claims, each with the labels of the passages that it stands on."""
    if not told:
        return {"outcome": "denied", "claims": []}
    passages = {match["label"]: match["body"] for match in PASSAGE.finditer(prompt)}
    claims = [{"text": one.text, "passages": _labels(one, passages)} for one in told]
    return {"outcome": "full", "claims": claims}


def _labels(one: Statement, passages: Mapping[str, str]) -> list[str]:
    """Without a passage that holds what it needs, the one that shares the most words with it."""
    quotes = [plain(quote) for group in one.needs for quote in group]
    held = {label: plain(body) for label, body in passages.items()}
    found = [label for label, body in held.items() if any(quote in body for quote in quotes)]
    if found or not passages:
        return found
    words = set(WORD.findall(one.text.casefold()))
    shared = {
        label: len(words & set(WORD.findall(body.casefold()))) for label, body in passages.items()
    }
    return [max(shared, key=lambda label: shared[label])]


class _Handler(BaseHTTPRequestHandler):
    server: Grounded

    def do_POST(self) -> None:
        began = time.perf_counter()
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        said, told = self.server.answer(body)
        whole = {"error": {"message": "not recorded"}} if said is None else completion(body, said)
        is_stream = said is not None and body.get("stream")
        sent = _streamed(whole) if is_stream else json.dumps(whole)
        # Before anything is sent: who gets the answer may look at once.
        self.server.calls.append(Call(body, told, time.perf_counter() - began))
        kind = "text/event-stream" if is_stream else "application/json"
        self._send(404 if said is None else 200, kind, sent)

    def _send(self, status: int, kind: str, text: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(text.encode())))
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, *_: Any) -> None:
        pass


def _streamed(whole: Mapping[str, Any]) -> str:
    """The same as server-sent events: one piece, the end, `[DONE]`."""
    (choice,) = whole["choices"]
    head = {**whole, "object": "chat.completion.chunk"}
    first = {"index": 0, "delta": choice["message"], "finish_reason": None}
    last = {"index": 0, "delta": {}, "finish_reason": choice["finish_reason"]}
    events = [{**head, "choices": [first], "usage": None}, {**head, "choices": [last]}]
    return "".join(f"data: {json.dumps(one)}\n\n" for one in events) + "data: [DONE]\n\n"


@contextmanager
def serve() -> Iterator[Grounded]:
    with Grounded() as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        try:
            yield server
        finally:
            server.shutdown()
