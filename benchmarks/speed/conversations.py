"""What do live conversations cost a server?

    idle       memory of each of --open browsers that have a conversation on screen and wait; target
               60 kB
    delivery   from an employee's or advisor's sending of a message until the other side is told of
               it, while --active of these talk (a message of each every two seconds or so) and the
               rest wait; target 95 % within 250 ms
    answer     the same question asked within a conversation and without one, in turn; the median
               difference of pairs; target 5 ms

One real `ombud serve` on SQLite with the sample handbook, no vectors; all browsers are in this
process, on the same cores. Run: python conversations.py [--open N] [--active N] [--seconds N]
"""

import argparse
import asyncio
import json
import random
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Iterator
from contextlib import AsyncExitStack, contextmanager, suppress
from pathlib import Path
from statistics import median
from typing import Any

import httpx
from record import ROOT, keep, percentile, print_table, say, verdict
from websockets.asyncio.client import ClientConnection, connect

OMBUD = str(Path(sys.executable).parent / "ombud")
SETTINGS = """
[server]
requests_per_minute = 0
[models]
embedder = "none"
[[source]]
type = "folder"
name = "handbook"
path = "handbook"
"""
QUESTION = "How many days of annual leave do I have?"
PAUSE = 2.0
"""Seconds between two messages of a conversation, on average."""
MOST_WATCHED = 50
PAIRS = 200
API = "/api/v1"


class Browser:
    """A tab: a secret of its own, a conversation, a socket."""

    def __init__(self, client: httpx.AsyncClient, address: str) -> None:
        self._client, self._address = client, address
        self._headers = {"ombud-key": secrets.token_hex(16)}
        self.talk = ""

    async def begin(self) -> None:
        made = await self.post(f"{API}/conversations", {"person": {"country": "GB"}})
        self.talk = made["id"]

    async def post(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        response = await self._client.post(path, json=body, headers=self._headers)
        response.raise_for_status()
        return dict(response.json())

    async def watch(self, stack: AsyncExitStack) -> ClientConnection:
        socket = await stack.enter_async_context(
            connect(f"{self._address}/live", additional_headers=self._headers, compression=None)
        )
        await socket.send(json.dumps({"watch": self.talk, "after": 0}))
        await socket.recv()
        return socket


class Talk:
    """Both sides of one conversation, and when each message arrived."""

    def __init__(self) -> None:
        self.sent: dict[str, float] = {}
        self.seconds: list[float] = []

    def heard(self, told: str) -> None:
        now = time.perf_counter()
        for event in json.loads(told).get("events", ()):
            began = self.sent.pop(event.get("text", ""), None)
            if began is not None:
                self.seconds.append(now - began)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--open", type=int, default=1000)
    parser.add_argument("--active", type=int, default=50)
    parser.add_argument("--seconds", type=int, default=60)
    given = parser.parse_args()
    with sample_home(SETTINGS) as home, served(home) as (pid, address):
        asyncio.run(measure(pid, address, given))


@contextmanager
def sample_home(settings: str) -> Iterator[Path]:
    """A workspace of its own over the sample's handbook, synced, as long as the block lasts."""
    home = Path(tempfile.mkdtemp(prefix="ombud-bench-"))
    try:
        shutil.copytree(ROOT / "sample/handbook", home / "handbook")
        (home / "ombud.toml").write_text(settings, encoding="utf-8")
        subprocess.run([OMBUD, "--home", str(home), "sync"], check=True, capture_output=True)
        yield home
    finally:
        shutil.rmtree(home, ignore_errors=True)


@contextmanager
def served(home: Path) -> Iterator[tuple[int, str]]:
    """Process id and address of a server of the workspace, as long as the block lasts."""
    process, address = serve(home)
    try:
        yield process.pid, address
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(60)


def serve(home: Path) -> tuple[subprocess.Popen[bytes], str]:
    command = [OMBUD, "--home", str(home), "serve", "--port", "8399"]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    address = "127.0.0.1:8399"
    for _ in range(600):
        with suppress(httpx.HTTPError):
            if httpx.get(f"http://{address}/readyz", timeout=2).status_code == 200:
                return process, address
        time.sleep(0.1)
    raise SystemExit("the server does not come up")


async def measure(pid: int, address: str, given: argparse.Namespace) -> None:
    limits = httpx.Limits(max_connections=100, max_keepalive_connections=100)
    base = f"http://{address}"
    async with (
        httpx.AsyncClient(base_url=base, limits=limits, timeout=60) as client,
        AsyncExitStack() as stack,
    ):
        browsers = [Browser(client, f"ws://{address}") for _ in range(given.open)]
        for browser in browsers:
            await browser.begin()
        say(f"{given.open} conversations")
        before = resident(pid)
        sockets = [await browser.watch(stack) for browser in browsers]
        await asyncio.sleep(2)
        idle = (resident(pid) - before) / given.open
        say(f"{idle:.0f} kB for each idle connection")
        active = list(zip(browsers, sockets, strict=True))[: given.active]
        seconds = await talk(client, address, active, stack, given.seconds)
        say(f"{len(seconds)} messages")
        pairs = await answers(browsers[-1], client)
    p50, p95 = (percentile(seconds, share) * 1000 for share in (0.5, 0.95))
    more = median(with_one - without for without, with_one in pairs) * 1000
    without = median(one for one, _ in pairs) * 1000
    print_table(
        ("", f"{given.open:,} open, {given.active} active", "target", ""),
        (
            ("memory of an idle connection", f"{idle:.0f} kB", "60 kB", verdict(idle, 60)),
            ("message told, median", f"{p50:.0f} ms", "", ""),
            ("message told, 95 %", f"{p95:.0f} ms", "250 ms", verdict(p95, 250)),
            ("answer without conversation", f"{without:.1f} ms", "", ""),
            ("answer within one", f"{more:+.1f} ms", "+5 ms", verdict(more, 5)),
        ),
    )
    figures = {"open": given.open, "active": given.active, "idle_kb": idle, "p50_ms": p50}
    figures |= {"p95_ms": p95, "answer_ms": without, "more_ms": more, "pairs": len(pairs)}
    keep("conversations", figures, len(seconds))


def resident(pid: int) -> float:
    """kB."""
    for line in Path(f"/proc/{pid}/status").read_text(encoding="utf-8").splitlines():
        if line.startswith("VmRSS"):
            return float(line.split()[1])
    raise SystemExit("the server has gone")


async def talk(
    client: httpx.AsyncClient,
    address: str,
    active: list[tuple[Browser, ClientConnection]],
    stack: AsyncExitStack,
    seconds: int,
) -> list[float]:
    """Seconds from sending to being told, of every message of both sides."""
    cookies = {"cookie": "ombud_advisor=advisor"}
    await client.post(f"{API}/desk/sign-in", json={"advisor": "advisor"})
    desks: list[ClientConnection] = []
    for begin in range(0, len(active), MOST_WATCHED):
        desk = await stack.enter_async_context(
            connect(f"ws://{address}/live", additional_headers=cookies, compression=None)
        )
        await desk.send(json.dumps({"desk": True}))
        for browser, _ in active[begin : begin + MOST_WATCHED]:
            handoff = f"{API}/conversations/{browser.talk}/handoff"
            await browser.post(handoff, {"reason": "asked"})
            await client.post(f"{API}/desk/{browser.talk}/claim", json={}, headers=cookies)
            await desk.send(json.dumps({"watch": browser.talk, "after": 0}))
        desks.append(desk)
    await asyncio.sleep(3)
    to_advisors, to_employees = Talk(), Talk()
    hearing = [asyncio.create_task(hear(desk, to_advisors)) for desk in desks]
    hearing += [asyncio.create_task(hear(socket, to_employees)) for _, socket in active]
    end = time.perf_counter() + seconds

    async def chat(browser: Browser) -> None:
        chance = random.Random(browser.talk)
        while time.perf_counter() < end:
            await asyncio.sleep(chance.uniform(0, 2 * PAUSE))
            for other, path in (
                (to_advisors, f"{API}/conversations/{browser.talk}/messages"),
                (to_employees, f"{API}/desk/{browser.talk}/messages"),
            ):
                text = str(uuid.uuid4())
                other.sent[text] = time.perf_counter()
                body = {"id": text, "text": text}
                if other is to_advisors:
                    await browser.post(path, body)
                else:
                    await client.post(path, json=body, headers=cookies)

    await asyncio.gather(*(chat(browser) for browser, _ in active))
    await asyncio.sleep(1)
    for task in hearing:
        task.cancel()
    lost = len(to_advisors.sent) + len(to_employees.sent)
    if lost:
        raise SystemExit(f"{lost} messages were never told")
    return to_advisors.seconds + to_employees.seconds


async def hear(socket: ClientConnection, conversation: Talk) -> None:
    async for told in socket:
        conversation.heard(str(told))


async def answers(browser: Browser, client: httpx.AsyncClient) -> list[tuple[float, float]]:
    """Seconds of the same question, without a conversation and within one."""
    pairs: list[tuple[float, float]] = []
    for number in range(PAIRS + 20):
        taken: list[float] = []
        # A conversation of its own each time: its history would be another question.
        await browser.begin()
        for talk_id in ("", browser.talk):
            body: dict[str, Any] = {"question": QUESTION, "person": {"country": "GB"}}
            if talk_id:
                body |= {"conversation_id": talk_id, "message_id": str(uuid.uuid4())}
            began = time.perf_counter()
            await browser.post(f"{API}/ask", body)
            taken.append(time.perf_counter() - began)
        if number >= 20:
            pairs.append((taken[0], taken[1]))
    return pairs


if __name__ == "__main__":
    main()
