"""A real Chromium, and what an accessibility checker finds on a page."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
PATIENCE = 60_000
"""Milliseconds until a page counts as one that never does what is waited for: the machine may be
busy."""
playwright.expect.set_options(timeout=PATIENCE)
BROWSERS = (Path("/usr/bin/chromium-headless-shell"), Path("/usr/bin/chromium"))
"""The first has the engine of the second without what surrounds a page, which took half of all."""
CHROMIUM = next(filter(Path.exists, BROWSERS), BROWSERS[-1])
needs_chromium = pytest.mark.skipif(not CHROMIUM.exists(), reason=f"{CHROMIUM} is not installed")
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]
AXE = "axe-core@4.11"
AXE_RUN = "axe.run({resultTypes: ['violations']}).then((told) => told.violations)"
"""What passes is neither looked at closely nor sent."""

Page = Any
NewPage = Callable[..., Page]


def findings(page: Page, axe: str) -> list[str]:
    page.evaluate(axe)  # outside the page's own policy, which would not let it in
    found = page.evaluate(AXE_RUN)
    return [f"{one['id']}: {node['html'][:160]}" for one in found for node in one["nodes"]]


def fits(page: Page) -> bool:
    return bool(page.evaluate("document.documentElement.scrollWidth <= innerWidth"))


def ask(page: Page, question: str) -> Page:
    """Asks, waits for the finished answer and returns its turn."""
    before = page.locator(".turn .badge").count()
    page.get_by_label("Your question").fill(question)
    page.keyboard.press("Enter")
    playwright.expect(page.locator(".turn .badge")).to_have_count(before + 1)
    return page.locator(".turn").last
