"""How much of a question's time is our own code, when a chat model writes the answer?

A server that speaks OpenAI's protocol runs in a process of its own and answers at once: it
understands the question as it stands and claims the first sentence of a passage. What remains of a
question when the server's time is taken away is ours, pydantic-ai and the HTTP client included.
Asked are questions of the sample's cases over the sample handbook, each once, after some that are
not timed; nothing is written to the store.

    one call         `Chat.reply` by itself, with the prompt and the type of an answer
    around the calls the steps `strategy` and `compose`: prompts, both calls, the check of the
    claims, citations own code         the same without what pydantic-ai and the HTTP client take
    for both calls, as `one call` has it streamed         as around the calls, where claims are
    shown while they are written; the answer comes in events of
                     four letters, all at once: what they cost together, which is spent while a real
                     model still writes
    search, signals  what else a question needs: finding passages; measuring whether they answer it
    whole question   everything from question to answer

Wall time is what an asker waits; CPU time of our process is what it would be on a machine that does
nothing else.
Target: own code p50 <= 25 ms. Run: python answering.py [--questions N]
"""

import argparse
import asyncio
import json
import multiprocessing
import re
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from multiprocessing.connection import Connection
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

from record import ROOT, keep, percentile, print_table, say, verdict

from ombud.app import Workspace, asking
from ombud.lab import read_cases, split_of
from ombud.models import Chat
from ombud.types import Question

WARM_UP = 20
TARGET = 25.0
CALLS = 2
"""Of a model for an answer: the question understood, the claims written."""
WHAT = (
    "one call",
    "around the calls",
    "own code",
    "streamed",
    "search",
    "signals",
    "whole question",
)
LETTERS = 4
PASSAGE = re.compile(r'<passage label="(\w+)"[^\n]*>\n(.*?)\n</passage>', re.DOTALL)
SENTENCE = re.compile(r"^(\w[^|\n]{30,300}?[.;:])(?:\s|$)", re.MULTILINE)
"""A line's first sentence, of which a claim can be made."""
SEARCH = ("adapt", "graph", "embed", "search", "fuse", "rerank")


def main(arguments: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--questions", type=int, default=150, help="how many are timed")
    count = parser.parse_args(arguments).questions
    ours, theirs = multiprocessing.Pipe()
    process = multiprocessing.get_context("spawn").Process(
        target=_serve, args=(theirs,), daemon=True
    )
    process.start()
    with tempfile.TemporaryDirectory(prefix="ombud-bench-") as home:
        workspace = _workspace(Path(home), f"http://127.0.0.1:{ours.recv()}/v1")
        rows = asyncio.run(_measure(workspace, questions(count + WARM_UP), _spent(ours)))
        workspace.close()
    process.kill()
    printed = []
    for name, timed in rows.items():
        wall, cpu = [1000 * t.wall for t in timed], [1000 * t.cpu for t in timed]
        p50, p95 = percentile(wall, 0.5), percentile(wall, 0.95)
        said = f"<= {TARGET:.0f} {verdict(p50, TARGET)}" if name == "own code" else ""
        cells = [percentile(cpu, share) for share in (0.5, 0.95)] if any(cpu) else []
        printed.append(
            [
                name,
                f"{p50:.1f}",
                f"{p95:.1f}",
                *([f"{cell:.1f}" for cell in cells] or ["", ""]),
                said,
            ]
        )
        keep("answering", {"what": name, "p50_ms": round(p50, 2), "p95_ms": round(p95, 2),
                           "cpu_p50_ms": round(cells[0], 2) if cells else None}, len(timed))  # fmt: skip
    print_table(["what", "p50 ms", "p95 ms", "CPU p50", "CPU p95", "target"], printed)


class Timed(NamedTuple):
    """Seconds, without the server's."""

    wall: float
    cpu: float = 0.0


async def _measure(
    workspace: Workspace, questions: Sequence[Question], spent: Callable[[], float]
) -> dict[str, list[Timed]]:
    rows: dict[str, list[Timed]] = {name: [] for name in WHAT}
    for number, question in enumerate(questions):
        spent()
        began, used = time.perf_counter(), time.process_time()
        answer = await asking.ask(workspace, question, keep=False)
        whole = Timed(time.perf_counter() - began, time.process_time() - used)
        served, trace = spent(), answer.trace
        if number < WARM_UP or "compose/default" not in trace.prompts:
            continue
        spent()
        streamed = (
            await asking.ask(workspace, question, keep=False, on_event=lambda *_: None)
        ).trace.seconds
        rows["streamed"].append(Timed(streamed["strategy"] + streamed["compose"] - spent()))
        rows["whole question"].append(Timed(whole.wall - served, whole.cpu))
        rows["around the calls"].append(
            Timed(trace.seconds["strategy"] + trace.seconds["compose"] - served)
        )
        rows["search"].append(Timed(sum(trace.seconds.get(step, 0.0) for step in SEARCH)))
        rows["signals"].append(Timed(trace.seconds["signals"]))
    say(
        f"the model wrote {len(rows['signals'])} of {len(questions) - WARM_UP} answers; the others do not count"
    )
    chat = workspace.answering.chat
    assert chat
    rows["one call"] = await _calls(chat, len(rows["whole question"]), spent)
    library = CALLS * median(timed.wall for timed in rows["one call"])
    rows["own code"] = [Timed(timed.wall - library) for timed in rows["around the calls"]]
    return rows


async def _calls(chat: Chat, count: int, spent: Callable[[], float]) -> list[Timed]:
    from ombud.answer.proof.drafts import Draft

    prompt = (
        '<passage label="G1" title="Leave">\nEveryone has 26 days of leave.\n</passage>\n'
        + "word " * 4000
    )
    timed = []
    for number in range(count + WARM_UP):
        spent()
        began, used = time.perf_counter(), time.process_time()
        await chat.reply("Be brief.", prompt, Draft, temperature=0.0, seconds=60)
        taken = Timed(time.perf_counter() - began, time.process_time() - used)
        if number >= WARM_UP:
            timed.append(Timed(taken.wall - spent(), taken.cpu))
    return timed


def _workspace(home: Path, url: str) -> Workspace:
    ombud = str(Path(sys.executable).parent / "ombud")
    say("syncing the sample handbook")
    for command in (("init", home), ("--home", home, "sync", ROOT / "sample/handbook")):
        subprocess.run([ombud, *map(str, command)], check=True, capture_output=True)
    return Workspace(home, {"models": {"chat": "openai:instant", "base_url": url}})


def questions(most: int) -> list[Question]:
    cases = [
        case
        for path in sorted((ROOT / "sample/cases").glob("*.jsonl"))
        for case in read_cases(path)
    ]
    chosen = [case for case in cases if case.expect == "answer" and split_of(case.id) != "sealed"]
    return [
        Question(text=c.question, asker=c.person)
        for c in chosen[:: max(1, len(chosen) // most)][:most]
    ]


# The server ---------------------------------------------------------------------------------------


def _spent(pipe: Connection) -> Callable[[], float]:
    """Seconds that the server worked since it was last asked."""

    def ask() -> float:
        pipe.send("spent")
        return float(pipe.recv())

    return ask


def _serve(pipe: Connection) -> None:
    worked = [0.0]

    class Instant(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True  # else headers and body wait for each other

        def parse_request(self) -> bool:
            self.began = time.perf_counter()
            return super().parse_request()

        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            streams = bool(asked.get("stream"))
            body = (
                b"".join(events(completion(asked)))
                if streams
                else json.dumps(completion(asked)).encode()
            )
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream" if streams else "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)
            worked[0] += time.perf_counter() - self.began

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Instant)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    pipe.send(server.server_port)
    while pipe.recv():
        pipe.send(worked[0])
        worked[0] = 0.0


def events(whole: dict[str, Any]) -> Iterator[bytes]:
    """A completion as it is streamed, `LETTERS` at a time."""
    message = whole["choices"][0]["message"]
    (call,) = message.get("tool_calls") or [None]
    text = call["function"]["arguments"] if call else message["content"]
    said: list[dict[str, Any]] = []
    for start in range(0, len(text), LETTERS):
        piece = text[start : start + LETTERS]
        one: dict[str, Any] | None = (
            {"index": 0, "function": {"arguments": piece}} if call else None
        )
        if call and one and not start:
            one |= {
                "id": "c",
                "type": "function",
                "function": {**call["function"], "arguments": piece},
            }
        said.append({"tool_calls": [one]} if one else {"content": piece})
    rows: list[dict[str, Any]] = [
        {"choices": [{"index": 0, "delta": one, "finish_reason": None}]} for one in said
    ]
    rows.append({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
    rows.append({"choices": [], "usage": whole["usage"]})
    for row in rows:
        event = {
            "id": "x",
            "object": "chat.completion.chunk",
            "created": 1,
            "model": whole["model"],
            **row,
        }
        yield b"data: " + json.dumps(event).encode() + b"\n\n"
    yield b"data: [DONE]\n\n"


def completion(asked: dict[str, Any], claims: int = 1) -> dict[str, Any]:
    """A completion that understands a question as it stands, or claims the first sentence of as
    many passages."""
    text = str(next(m["content"] for m in asked["messages"] if m["role"] == "user"))
    said: dict[str, Any] = {
        "standalone": text.strip().splitlines()[-1][:300],
        "passage": "",
        "keywords": [],
    }
    if passages := PASSAGE.findall(text):
        quoted = [(label, found[1]) for label, body in passages if (found := SENTENCE.search(body))]
        drafted = [
            {"text": text, "passages": [label]}
            for label, text in (quoted or [("G1", "?")])[:claims]
        ]
        said = {"claims": drafted, "outcome": "full"}
    message: dict[str, Any] = {"role": "assistant", "content": json.dumps(said)}
    if asked.get("tools"):
        call = {"name": asked["tools"][0]["function"]["name"], "arguments": json.dumps(said)}
        message = {"role": "assistant", "content": None}
        message["tool_calls"] = [{"id": "c", "type": "function", "function": call}]
    usage = {
        "prompt_tokens": len(text) // 4,
        "completion_tokens": 40,
        "total_tokens": len(text) // 4 + 40,
    }
    choice = {"index": 0, "finish_reason": "stop", "message": message}
    return {"id": "x", "object": "chat.completion", "created": 1, "model": asked["model"], "choices": [choice],
            "usage": usage}  # fmt: skip


if __name__ == "__main__":
    main(sys.argv[1:])
