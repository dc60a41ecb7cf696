"""Two hundred people at once: does anybody get an error, how long do they wait, does memory grow?

    page       from opening the chat until its page and all files it loads are there
    claim      from sending a question until the first sentence of its answer
    answer     until the whole of it
    memory     of the server, once everybody has a page and a socket open and every question was
               asked for every country; after half of the time; at the end

Each signs in with a cookie of their own, has a socket open, and asks one question after another
with a pause of --pause seconds on average. One real `ombud serve` on SQLite with the sample
handbook and its vectors; everybody is in this process, on the same cores, so that what they
themselves cost is in the times. With --bursts N everybody asks one question at the same moment
instead, so many times, and the server's health is asked for all the while.
Run: python people.py [--people N] [--seconds N] [--pause N] [--bursts N]
"""

import argparse
import asyncio
import json
import random
import re
import sys
import time
from collections.abc import Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import httpx
from conversations import resident, sample_home, served
from record import keep, percentile, print_table, say
from websockets.asyncio.client import connect

from ombud.app import Workspace, people, signing_in
from ombud.types import Person

SETTINGS = """
[server]
requests_per_minute = 0
[identity]
kind = "local"
[[source]]
type = "folder"
name = "handbook"
path = "handbook"
"""
COUNTRIES = ("GB", "DE", "FR", "US")
QUESTIONS = (
    "How many days of annual leave do I get?",
    "Can I work from home, and how often?",
    "What may a hotel cost on a business trip?",
    "How long is my notice period?",
    "how much paid leave do new parents get",
    "Which gifts may I accept?",
    "What do I do when I am ill?",
    "Do I get a company car?",
)
Times = dict[str, list[float]]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--people", type=int, default=200)
    parser.add_argument("--seconds", type=int, default=120)
    parser.add_argument("--pause", type=float, default=30.0)
    parser.add_argument("--bursts", type=int, default=0)
    given = parser.parse_args()
    with sample_home(SETTINGS) as home:
        cookies = sign_in(home, given.people)
        with served(home) as (pid, address):
            asyncio.run(measure(pid, address, cookies, given))


def sign_in(home: Path, count: int) -> list[str]:
    workspace = Workspace(home)
    cookies: list[str] = []
    for number in range(count):
        person = Person(country=COUNTRIES[number % len(COUNTRIES)])
        account = people.add_person(workspace, f"person{number}", person, [])
        cookies.append(signing_in.open_browser(workspace, account))
    workspace.close()
    return cookies


async def measure(
    pid: int, address: str, cookies: Sequence[str], given: argparse.Namespace
) -> None:
    times: Times = {"page": [], "claim": [], "answer": []}
    errors: list[str] = []
    chance = random.Random(7)
    async with AsyncExitStack() as stack:
        browsers = [await open_browser(stack, address, cookie, times) for cookie in cookies]
        for browser in browsers[: len(COUNTRIES)]:
            for question in QUESTIONS:
                await ask(browser, question, {"claim": [], "answer": []})
        memory = [resident(pid) / 1000]
        say(f"{len(browsers)} people are there; the server has {memory[0]:.0f} MB")
        for number in range(given.bursts):
            await burst(number, browsers, address, times, errors)
            memory.append(resident(pid) / 1000)
        for _ in range(0 if given.bursts else 2):
            until = time.perf_counter() + given.seconds / 2
            asking = [
                ask_until(until, browser, times, errors, pause=given.pause, seed=chance.random())
                for browser in browsers
            ]
            await asyncio.gather(*asking)
            memory.append(resident(pid) / 1000)
    rows: list[list[object]] = []
    record: dict[str, Any] = {"people": len(cookies), "errors": len(errors)}
    for name, seconds in times.items():
        middle, slow = percentile(seconds, 0.5), percentile(seconds, 0.95)
        rows.append([name, len(seconds), f"{middle * 1000:.0f}", f"{slow * 1000:.0f}"])
        record |= {f"{name}_p50": round(middle, 4), f"{name}_p95": round(slow, 4)}
    print_table(("what", "n", "p50 ms", "p95 ms"), rows)
    print(f"errors: {len(errors)} {errors[:3]}")
    print(f"memory: {', then '.join(f'{one:.0f} MB' for one in memory)}")
    record["memory_mb"] = list(map(round, memory))
    keep("people", record, n=len(times["answer"]))
    if errors:
        sys.exit(1)


async def open_browser(
    stack: AsyncExitStack, address: str, cookie: str, times: Times
) -> httpx.AsyncClient:
    """The page with all its files, and a socket that waits."""
    client = httpx.AsyncClient(
        base_url=f"http://{address}", cookies={"ombud_login": cookie}, timeout=60
    )
    await stack.enter_async_context(client)
    began = time.perf_counter()
    page = await client.get("/", headers={"accept": "text/html"})
    page.raise_for_status()
    files = set(re.findall(r'(?:src|href)="(/static/[^"]+)"', page.text))
    for reply in await asyncio.gather(*map(client.get, files)):
        reply.raise_for_status()
    times["page"].append(time.perf_counter() - began)
    headers = {"cookie": f"ombud_login={cookie}"}
    await stack.enter_async_context(connect(f"ws://{address}/live", additional_headers=headers))
    return client


async def burst(
    number: int,
    browsers: Sequence[httpx.AsyncClient],
    address: str,
    times: Times,
    errors: list[str],
) -> None:
    """Each asks once, all at the same moment."""

    async def once(place: int) -> None:
        question = QUESTIONS[(7 * place + number) % len(QUESTIONS)]
        try:
            await ask(browsers[place], question, times)
        except (httpx.HTTPError, ValueError) as failed:
            errors.append(f"{type(failed).__name__}: {failed}"[:200])

    async def look() -> None:
        async with httpx.AsyncClient(base_url=f"http://{address}", timeout=60) as client:
            while True:
                began = time.perf_counter()
                try:
                    reply = await client.get("/healthz")
                    reply.raise_for_status()
                except httpx.HTTPError as failed:
                    errors.append(f"health: {failed}"[:200])
                times.setdefault("health", []).append(time.perf_counter() - began)
                await asyncio.sleep(0.25)

    looking = asyncio.create_task(look())
    await asyncio.gather(*map(once, range(len(browsers))))
    looking.cancel()


async def ask_until(
    until: float,
    client: httpx.AsyncClient,
    times: Times,
    errors: list[str],
    *,
    pause: float,
    seed: float,
) -> None:
    chance = random.Random(seed)
    while True:
        left = until - time.perf_counter()
        rest = chance.expovariate(1 / pause)
        if rest > left:
            return
        await asyncio.sleep(rest)
        try:
            await ask(client, chance.choice(QUESTIONS), times)
        except (httpx.HTTPError, ValueError) as failed:
            errors.append(f"{type(failed).__name__}: {failed}"[:200])


async def ask(client: httpx.AsyncClient, question: str, times: Times) -> None:
    began = time.perf_counter()
    has_claim = False
    async with client.stream("POST", "/chat/ask", json={"question": question}) as reply:
        reply.raise_for_status()
        name = ""
        async for line in reply.aiter_lines():
            name = line.removeprefix("event: ") if line.startswith("event: ") else name
            if name == "claim" and not has_claim:
                has_claim = True
                times["claim"].append(time.perf_counter() - began)
            if name == "error" and line.startswith("data: "):
                raise ValueError(json.loads(line.removeprefix("data: "))["detail"])
    if name != "answer":
        raise ValueError("no answer came")
    times["answer"].append(time.perf_counter() - began)


if __name__ == "__main__":
    main()
