"""Local servers that speak as OpenAI (Responses), Anthropic (Messages) and Google (Gemini) do, as
far as their own clients are used: whole replies and streams, refusals, replies cut short."""

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

PIECE = 9
"""Characters of a piece of a stream."""
Event = tuple[str, Mapping[str, Any]]


class Said(NamedTuple):
    """What the model says, whichever provider it is of."""

    text: str
    ends: str = "whole"
    """Or `cut` (too long) or `refused`."""
    noise: str = ""
    """A thought or a remark that comes before the text, where the provider knows of such."""
    cached: int = 0
    """Of the 70 tokens in, those that the provider had read before."""


class Wire(NamedTuple):
    name: str
    """In the settings."""
    environment: Callable[[str], dict[str, str]]
    """From the server's address."""
    whole: Callable[[Said], Mapping[str, Any]]
    stream: Callable[[Said], Iterator[Event]]


def pieces(text: str) -> list[str]:
    return [text[start : start + PIECE] for start in range(0, len(text), PIECE)]


# OpenAI, Responses --------------------------------------------------------------------------------


def openai_whole(said: Said) -> dict[str, Any]:
    content: dict[str, Any] = {"type": "output_text", "text": said.text, "annotations": []}
    if said.ends == "refused":
        content = {"type": "refusal", "refusal": "I cannot help with that."}
    message = {
        "id": "m1",
        "type": "message",
        "role": "assistant",
        "status": "completed",
        "content": [content],
    }
    output = [message]
    if said.noise:
        thought = {"type": "summary_text", "text": said.noise}
        output = [{"id": "r1", "type": "reasoning", "summary": [thought]}, message]
    cut = said.ends == "cut"
    return {
        "id": "resp1",
        "object": "response",
        "created_at": 1,
        "model": "gpt-4.1",
        "status": "incomplete" if cut else "completed",
        "incomplete_details": {"reason": "max_output_tokens"} if cut else None,
        "error": None,
        "output": output,
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "usage": {
            "input_tokens": 70,
            "output_tokens": 7,
            "total_tokens": 77,
            "input_tokens_details": {"cached_tokens": said.cached},
            "output_tokens_details": {"reasoning_tokens": 0},
        },
    }


def openai_stream(said: Said) -> Iterator[Event]:
    whole = openai_whole(said)
    begun = {**whole, "status": "in_progress", "output": []}
    message = {"id": "m1", "type": "message", "role": "assistant", "status": "in_progress"}
    place = {"item_id": "m1", "output_index": 0, "content_index": 0}
    yield "response.created", {"response": begun}
    yield "response.output_item.added", {"output_index": 0, "item": {**message, "content": []}}
    empty = {"type": "output_text", "text": "", "annotations": []}
    yield "response.content_part.added", {**place, "part": empty}
    if said.ends == "refused":
        yield "response.refusal.delta", {**place, "delta": "I cannot help with that."}
    else:
        for piece in pieces(said.text):
            yield "response.output_text.delta", {**place, "delta": piece, "logprobs": []}
    (item,) = [item for item in whole["output"] if item["type"] == "message"]
    yield "response.output_item.done", {"output_index": 0, "item": item}
    kind = "incomplete" if said.ends == "cut" else "completed"
    yield f"response.{kind}", {"response": whole}


# Anthropic, Messages ------------------------------------------------------------------------------

STOPS = {"whole": "end_turn", "cut": "max_tokens", "refused": "refusal"}


def anthropic_whole(said: Said) -> dict[str, Any]:
    content: list[dict[str, Any]] = [{"type": "text", "text": said.text}]
    if said.noise:
        content.insert(0, {"type": "thinking", "thinking": said.noise, "signature": "s"})
    if said.ends == "refused":
        content = []
    return {
        "id": "msg1",
        "type": "message",
        "role": "assistant",
        "model": "claude-sonnet-4-6",
        "content": content,
        "stop_reason": STOPS[said.ends],
        "stop_sequence": None,
        "usage": {
            "input_tokens": 70 - said.cached,
            "cache_read_input_tokens": said.cached,
            "output_tokens": 7,
        },
    }


def anthropic_stream(said: Said) -> Iterator[Event]:
    begun = {**anthropic_whole(said), "content": [], "stop_reason": None}
    yield "message_start", {"message": begun}
    if said.ends != "refused":
        yield "content_block_start", {"index": 0, "content_block": {"type": "text", "text": ""}}
        for piece in pieces(said.text):
            delta = {"type": "text_delta", "text": piece}
            yield "content_block_delta", {"index": 0, "delta": delta}
        yield "content_block_stop", {"index": 0}
    ending: dict[str, Any] = {"stop_reason": STOPS[said.ends], "stop_sequence": None}
    yield "message_delta", {"delta": ending, "usage": {"output_tokens": 7}}
    yield "message_stop", {}


# Google, Gemini -----------------------------------------------------------------------------------

FINISHES = {"whole": "STOP", "cut": "MAX_TOKENS", "refused": "SAFETY"}


def google_part(text: str, ends: str, noise: str = "", cached: int = 0) -> dict[str, Any]:
    candidate: dict[str, Any] = {"index": 0}
    if ends:
        candidate["finishReason"] = FINISHES[ends]
    if ends != "refused":
        parts: list[dict[str, Any]] = [{"text": text}]
        if noise:
            parts.insert(0, {"text": noise, "thought": True})
        candidate["content"] = {"role": "model", "parts": parts}
    usage = {"promptTokenCount": 70, "candidatesTokenCount": 7, "totalTokenCount": 77}
    usage["cachedContentTokenCount"] = cached
    return {
        "candidates": [candidate],
        "usageMetadata": usage,
        "modelVersion": "gemini-2.5-flash",
        "responseId": "g1",
    }


def google_whole(said: Said) -> dict[str, Any]:
    return google_part(said.text, said.ends, said.noise, said.cached)


def google_stream(said: Said) -> Iterator[Event]:
    if said.ends == "refused":
        yield "", google_part("", "refused")
        return
    *first, last = pieces(said.text)
    for piece in first:
        yield "", google_part(piece, "")
    yield "", google_part(last, said.ends)


# All ----------------------------------------------------------------------------------------------

WIRES = (
    Wire(
        "openai:gpt-4.1",
        lambda url: {"OPENAI_BASE_URL": f"{url}/v1", "OPENAI_API_KEY": "none"},
        openai_whole,
        openai_stream,
    ),
    Wire(
        "anthropic:claude-sonnet-4-6",
        lambda url: {"ANTHROPIC_BASE_URL": url, "ANTHROPIC_API_KEY": "none"},
        anthropic_whole,
        anthropic_stream,
    ),
    Wire(
        "google:gemini-2.5-flash",
        lambda url: {"GOOGLE_GEMINI_BASE_URL": url, "GOOGLE_API_KEY": "none"},
        google_whole,
        google_stream,
    ),
)


class WireServer(ThreadingHTTPServer):
    """asked: the body of every request, in the order of arrival."""

    daemon_threads = True

    def __init__(self, wire: Wire, said: Callable[[Mapping[str, Any]], Said]) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.wire = wire
        self.said = said
        self.asked: list[dict[str, Any]] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class _Handler(BaseHTTPRequestHandler):
    server: WireServer

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.asked.append(asked)
        said = self.server.said(asked)
        if asked.get("stream") or "streamGenerateContent" in self.path:
            self._stream(said)
            return
        body = json.dumps(self.server.wire.whole(said)).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _stream(self, said: Said) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        for number, (name, data) in enumerate(self.server.wire.stream(said)):
            fields = {"type": name, "sequence_number": number, **data} if name else data
            head = f"event: {name}\n" if name else ""
            self.wfile.write(f"{head}data: {json.dumps(fields)}\n\n".encode())
            self.wfile.flush()
        self.close_connection = True

    def log_message(self, *_: Any) -> None:
        pass


@contextmanager
def serving(wire: Wire, said: Callable[[Mapping[str, Any]], Said]) -> Iterator[WireServer]:
    with WireServer(wire, said) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        try:
            yield server
        finally:
            server.shutdown()
