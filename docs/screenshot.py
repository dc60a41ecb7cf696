"""Take the README's picture: the chat on the sample handbook, with a citation open, in headless Chromium.

Needs `make demo` to have indexed the sample, the test dependencies, and Debian's chromium.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

ROOT = Path(__file__).parents[1]
QUESTION = "How many days of annual leave do I get?"
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]


def main() -> None:
    command = [sys.executable, "-m", "ombud", "--home", str(ROOT / "sample"), "serve", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        url = next(iter(server.stdout or [])).split()[-1]
        try:
            _take(url, ROOT / "docs/chat.png")
        finally:
            server.terminate()


def _take(url: str, target: Path) -> None:
    with sync_playwright() as driver, tempfile.TemporaryDirectory() as profile:
        browser = driver.chromium.launch_persistent_context(
            profile,
            executable_path="/usr/bin/chromium",
            args=ARGUMENTS,
            viewport={"width": 1280, "height": 820},
            color_scheme="light",
        )
        page = browser.new_page()
        page.goto(url)
        page.get_by_label("Country").select_option("GB")
        page.get_by_role("textbox").fill(QUESTION)
        page.keyboard.press("Enter")
        page.get_by_role("button", name="Source 1").first.click()
        page.wait_for_selector("mark")
        page.wait_for_timeout(600)  # let the panel finish sliding in
        page.screenshot(path=str(target))
        browser.close()


if __name__ == "__main__":
    main()
