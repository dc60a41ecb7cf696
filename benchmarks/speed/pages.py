"""How heavy is each page, and how soon is it ready?

    kB         on the wire, with every file that the page loads
    ready      from the start of the navigation until the page and its modules are loaded and have
               run (`loadEventEnd`), in Chromium with an empty cache

One real `ombud serve` on SQLite with the sample handbook and its vectors, in a process of its own;
Chromium is on the same cores.
Targets: the chat <= 32 kB and ready within 1 s, every other page <= 60 kB.
Run: python pages.py [--times N]
"""

import argparse
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).parents[2] / "tests"))
import httpx
from conversations import OMBUD, serve
from first_claim import ARGUMENTS
from record import ROOT, keep, percentile, print_table, say, verdict

from web.weighing import weigh

SETTINGS = """
[server]
requests_per_minute = 0
person_requests_per_minute = 0
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
    home = Path(tempfile.mkdtemp(prefix="ombud-bench-"))
    try:
        shutil.copytree(ROOT / "sample/handbook", home / "handbook")
        (home / "ombud.toml").write_text(SETTINGS, encoding="utf-8")
        say("syncing the sample handbook")
        subprocess.run([OMBUD, "--home", str(home), "sync"], check=True, capture_output=True)
        process, address = serve(home)
        try:
            measure(f"http://{address}", times)
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(30)
    finally:
        shutil.rmtree(home, ignore_errors=True)


def measure(address: str, times: int) -> None:
    from playwright.sync_api import sync_playwright

    rows: list[list[object]] = []
    with httpx.Client(base_url=address, timeout=60) as client, sync_playwright() as driver:
        known = client.get("/admin/documents").text
        texts = re.findall(r'href="(/admin/documents/[^"]+)"', known)[:1]
        browser = driver.chromium.launch(executable_path="/usr/bin/chromium", args=ARGUMENTS)
        for path in (*PAGES, *texts):
            kilobytes = weigh(client, path) / 1_000
            waits = [ready(browser, address + path) for _ in range(times)]
            half, most = percentile(waits, 0.5), percentile(waits, 0.95)
            is_chat = path == "/"
            said = f"{verdict(kilobytes, CHAT if is_chat else OTHERS)}"
            if is_chat:
                said += f", ready {verdict(most, READY)}"
            name = "/admin/documents/ID" if path in texts else path
            rows.append([name, f"{kilobytes:.1f}", f"{half:.0f}", f"{most:.0f}", said])
            record = {"page": name, "kb": round(kilobytes, 1)}
            keep("pages", record | {"p50_ms": round(half), "p95_ms": round(most)}, n=times)
        browser.close()
    print_table(["page", "kB", "ready p50 ms", "p95 ms", "target"], rows)


def ready(browser: Any, address: str) -> float:
    """Milliseconds, in a fresh profile."""
    context = browser.new_context()
    page = context.new_page()
    page.goto(address, wait_until="load")
    page.wait_for_timeout(50)  # the event has begun, and not ended
    waited = page.evaluate("performance.getEntriesByType('navigation')[0].loadEventEnd")
    context.close()
    return float(waited)


if __name__ == "__main__":
    main(sys.argv[1:])
