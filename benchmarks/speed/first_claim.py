"""How long after the model's first claim does it stand on the page?

    stream     from the moment in which a model has written the last letter of its first claim until
               `/chat/ask` has said that claim, proven and with its HTML
    browser    until it can be seen in Chromium

The model is a server that speaks OpenAI's protocol and writes three claims, each a sentence of a
passage that it was given, four letters at a time, with --pause milliseconds between them: about as
fast as hosted models. In between are the model client, the parser of the draft, the proof of the
claim, the server and the network of this machine. One real `ombud serve` on SQLite with the sample
handbook and its vectors; everything is on the same cores. A question that no model answers does not
count; where the first claim is not proven, the wait until the whole answer does.
Target: 100 ms. Run: python first_claim.py [--questions N] [--browser N] [--pause MS]
"""

import argparse
import json
import sys
import threading
import time
from collections.abc import Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import httpx
from answering import LETTERS, completion, events, questions
from conversations import sample_home, served
from record import keep, percentile, print_table, say, verdict

from ombud.types import Question

SETTINGS = """
[server]
requests_per_minute = 0
[models]
chat = "openai:scripted"
base_url = "{url}"
[[source]]
type = "folder"
name = "handbook"
path = "handbook"
"""
TARGET = 100.0
CLAIMS = 3
WARM_UP = 5
ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"]
WATCH = """() => { window.first = 0; new MutationObserver(() => {
  if (!window.first && document.querySelector(".turn:last-child .claim"))
    requestAnimationFrame(() => { window.first ||= Date.now() / 1000; });
}).observe(document.getElementById("log"), { childList: true, subtree: true }); }"""


class Writing(ThreadingHTTPServer):
    """A model that writes at a steady pace. claimed: when (`time.time()`) it had written the last
    first claim; 0 before."""

    daemon_threads = True

    def __init__(self, pause: float) -> None:
        super().__init__(("127.0.0.1", 0), _Pen)
        self.pause, self.claimed = pause, 0.0


class _Pen(BaseHTTPRequestHandler):
    server: Writing
    disable_nagle_algorithm = True

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        whole = completion(asked, CLAIMS)
        if not asked.get("stream"):
            self._whole(json.dumps(whole).encode())
            return
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        message = whole["choices"][0]["message"]
        calls = message.get("tool_calls")
        text = calls[0]["function"]["arguments"] if calls else message["content"]
        last = text.find('"]}') + 2 if '"claims"' in text else -1
        for number, event in enumerate(events(whole)):
            self.wfile.write(event)
            if last >= 0 and number == last // LETTERS:
                self.server.claimed = time.time()
            time.sleep(self.server.pause)

    def _whole(self, body: bytes) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        pass


def main(arguments: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--questions", type=int, default=100)
    parser.add_argument("--browser", type=int, default=30, help="of these, in Chromium")
    parser.add_argument("--pause", type=float, default=10.0)
    given = parser.parse_args(arguments)
    model = Writing(given.pause / 1000)
    threading.Thread(target=model.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{model.server_port}/v1"
    say("syncing the sample handbook")
    with sample_home(SETTINGS.format(url=url)) as home, served(home) as (_, address):
        asked = questions(given.questions + WARM_UP)
        measured = {"stream": streamed(f"http://{address}", asked, model)}
        if given.browser:
            few = asked[: given.browser + WARM_UP]
            measured["browser"] = browsed(f"http://{address}", few, model)
    show(measured, len(asked) - WARM_UP)


def show(measured: dict[str, list[float]], asked: int) -> None:
    rows: list[list[object]] = []
    for name, waits in measured.items():
        half, most = percentile(waits, 0.5), percentile(waits, 0.95)
        rows.append([name, len(waits), f"{half:.0f}", f"{most:.0f}", f"{max(waits):.0f}"])
        rows[-1].append(f"<= {TARGET:.0f} {verdict(most, TARGET)}")
        keep(
            "first_claim",
            {"what": name, "asked": asked, "p50_ms": round(half, 1), "p95_ms": round(most, 1)},
            n=len(waits),
        )
    print_table(["until", "n", "p50 ms", "p95 ms", "most ms", "target, p95"], rows)


def streamed(address: str, asked: Sequence[Question], model: Writing) -> list[float]:
    """Milliseconds until the stream says the claim."""
    waits: list[float] = []
    with httpx.Client(base_url=address, timeout=60) as client:
        for number, question in enumerate(asked):
            model.claimed = 0.0
            told = _first_claim(client, question)
            if number >= WARM_UP and model.claimed and told:
                waits.append(1000 * (told - model.claimed))
    say(f"{len(waits)} of {len(asked) - WARM_UP} questions got a claim of the model")
    return waits


def _first_claim(client: httpx.Client, question: Question) -> float:
    """When it came; 0 where it came with the whole answer, or not at all."""
    told, shown = 0.0, True
    body = {"question": question.text, "person": question.asker.model_dump(mode="json")}
    with client.stream("POST", "/chat/ask", json=body) as reply:
        reply.raise_for_status()
        for line in reply.iter_lines():
            if line == "event: claim" and not told:
                told = time.time()
            shown = shown and line != "event: error"
    return told if shown else 0.0


def browsed(address: str, asked: Sequence[Question], model: Writing) -> list[float]:
    """Milliseconds until the claim is in a frame that Chromium draws."""
    from playwright.sync_api import sync_playwright

    waits: list[float] = []
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path="/usr/bin/chromium", args=ARGUMENTS)
        page = browser.new_page()
        for number, question in enumerate(asked):
            page.goto(address)
            if question.asker.country:
                page.get_by_label("Country").select_option(question.asker.country)
            page.evaluate(WATCH)
            model.claimed = 0.0
            page.get_by_label("Your question").fill(question.text)
            page.keyboard.press("Enter")
            page.locator(".turn .badge").wait_for()
            told = float(page.evaluate("window.first"))
            if number >= WARM_UP and model.claimed and told:
                waits.append(1000 * (told - model.claimed))
            page.evaluate("localStorage.clear(); sessionStorage.clear()")
        browser.close()
    return waits


if __name__ == "__main__":
    main(sys.argv[1:])
