"""Does the memory of a server stay flat however much is asked?

One real `ombud serve` on SQLite with the sample handbook and its vectors, no model; eight people
ask one question after another, each question in words of its own: those of the cases that are not
sealed, in turn, each time with another sentence about the asker in front, so that nothing that is
kept by its text is met again. Memory is the server's resident set, read every --every questions.

Run: python memory.py [--asks N] [--every N]
"""

import argparse
import asyncio
import itertools
import sys
from collections.abc import Iterator

import httpx
from conversations import resident, sample_home, served
from people import COUNTRIES, SETTINGS, sign_in
from record import keep, print_table, say
from search import sample_questions

PEOPLE = 8
TEAMS = ("sales", "finance", "design", "support", "legal", "research", "logistics", "training")
ALL_CASES = 400


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--asks", type=int, default=20_000)
    parser.add_argument("--every", type=int, default=1_000)
    given = parser.parse_args()
    with sample_home(SETTINGS) as home:
        cookies = sign_in(home, max(PEOPLE, len(COUNTRIES)))
        with served(home) as (pid, address):
            asyncio.run(_measure(pid, address, cookies, given))


async def _measure(pid: int, address: str, cookies: list[str], given: argparse.Namespace) -> None:
    texts = _texts()
    rows: list[list[object]] = [[0, round(resident(pid) / 1000)]]
    errors: list[str] = []
    clients = [
        httpx.AsyncClient(
            base_url=f"http://{address}", cookies={"ombud_login": cookie}, timeout=120
        )
        for cookie in cookies
    ]
    for asked in range(given.every, given.asks + 1, given.every):
        now = list(itertools.islice(texts, given.every))
        parts = [now[number :: len(clients)] for number in range(len(clients))]
        await asyncio.gather(
            *(_ask_all(client, part, errors) for client, part in zip(clients, parts, strict=True))
        )
        rows.append([asked, round(resident(pid) / 1000)])
        say(f"{asked:,} asked, {rows[-1][1]} MB, {len(errors)} errors")
    for client in clients:
        await client.aclose()
    print_table(("asked", "MB"), rows)
    print(f"errors: {len(errors)} {errors[:3]}")
    keep("memory", {"memory_mb": [row[1] for row in rows], "errors": len(errors)}, n=given.asks)
    if errors:
        sys.exit(1)


def _texts() -> Iterator[str]:
    questions = [question.text for question in sample_questions(ALL_CASES)]
    for number in itertools.count():
        team = TEAMS[number % len(TEAMS)]
        about = f"I have been in the {team} team for {number} days."
        yield f"{about} {questions[number % len(questions)]}"


async def _ask_all(client: httpx.AsyncClient, texts: list[str], errors: list[str]) -> None:
    for text in texts:
        try:
            reply = await client.post("/chat/ask", json={"question": text})
            reply.raise_for_status()
            if "event: error" in reply.text:
                errors.append(reply.text[-200:])
        except httpx.HTTPError as failed:
            errors.append(f"{type(failed).__name__}: {failed}"[:200])


if __name__ == "__main__":
    main()
