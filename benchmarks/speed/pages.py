"""How heavy is each page, and how soon is it ready?

    kB         on the wire, with every file that the page loads
    ready      from the start of the navigation until the page and its modules are loaded and have
               run (`loadEventEnd`), in Chromium with an empty cache
    work       of that, processor time of the page's own thread: parsing, styles, layout, scripts. It
               tells what the page itself costs where other programs keep the cores busy
    server     processor time of `ombud serve` for the page and its files

One real `ombud serve` on SQLite with the sample handbook and its vectors, in a process of its own;
Chromium is on the same cores.
Targets: the chat <= 32 kB and ready within 1 s, every other page <= 60 kB.
Run: python pages.py [--times N]
"""

import argparse
import os
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

sys.path.append(str(Path(__file__).parents[2] / "tests"))
import httpx
from conversations import sample_home, served
from first_claim import ARGUMENTS
from record import keep, percentile, print_table, say, verdict

from web.weighing import weigh

SETTINGS = """
[server]
requests_per_minute = 0
[[source]]
type = "folder"
name = "handbook"
path = "handbook"
"""
PAGES = (
    "/",
    "/documents",
    "/desk",
    "/admin",
    "/admin/sources",
    "/admin/documents",
    "/admin/drafts",
    "/admin/prompts",
    "/admin/prompts/compose/default",
    "/admin/flags",
    "/admin/people",
    "/admin/audit",
    "/lab",
    "/playground",
)
CHAT, OTHERS, READY = 32.0, 60.0, 1_000.0


def main(arguments: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--times", type=int, default=20)
    times = parser.parse_args(arguments).times
    say("syncing the sample handbook")
    with sample_home(SETTINGS) as home, served(home) as (pid, address):
        measure(f"http://{address}", pid, times)


def measure(address: str, server: int, times: int) -> None:
    from playwright.sync_api import sync_playwright

    rows: list[list[object]] = []
    with httpx.Client(base_url=address, timeout=60) as client, sync_playwright() as driver:
        known = client.get("/admin/documents").text
        texts = re.findall(r'href="(/admin/documents/[^"]+)"', known)[:1]
        browser = driver.chromium.launch(executable_path="/usr/bin/chromium", args=ARGUMENTS)
        for path in (*PAGES, *texts):
            kilobytes = weigh(client, path) / 1_000
            before = processor_ms(server)
            loads = [ready(browser, address + path) for _ in range(times)]
            serving = (processor_ms(server) - before) / times
            waits = [load.ready for load in loads]
            half, most = percentile(waits, 0.5), percentile(waits, 0.95)
            work = percentile([load.work for load in loads], 0.5)
            is_chat = path == "/"
            said = f"{verdict(kilobytes, CHAT if is_chat else OTHERS)}"
            if is_chat:
                said += f", ready {verdict(most, READY)}"
            name = "/admin/documents/ID" if path in texts else path
            figures = [f"{half:.0f}", f"{most:.0f}", f"{work:.0f}", f"{serving:.0f}"]
            rows.append([name, f"{kilobytes:.1f}", *figures, said])
            record = {"page": name, "kb": round(kilobytes, 1), "work_ms": round(work)}
            record |= {"server_ms": round(serving), "p50_ms": round(half), "p95_ms": round(most)}
            keep("pages", record, n=times)
        browser.close()
    head = ["page", "kB", "ready p50 ms", "p95 ms", "work ms", "server ms", "target"]
    print_table(head, rows)


class Load(NamedTuple):
    """Milliseconds."""

    ready: float
    work: float


def ready(browser: Any, address: str) -> Load:
    """In a fresh profile."""
    context = browser.new_context()
    page = context.new_page()
    devtools = context.new_cdp_session(page)
    devtools.send("Performance.enable", {"timeDomain": "threadTicks"})
    page.goto(address, wait_until="load")
    page.wait_for_timeout(50)  # the event has begun, and not ended
    waited = page.evaluate("performance.getEntriesByType('navigation')[0].loadEventEnd")
    measured = devtools.send("Performance.getMetrics")["metrics"]
    work = next(one["value"] for one in measured if one["name"] == "TaskDuration")
    context.close()
    return Load(ready=float(waited), work=1_000 * float(work))


def processor_ms(pid: int) -> float:
    """What a process has taken so far, its threads included."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return 1_000 * (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


if __name__ == "__main__":
    main(sys.argv[1:])
