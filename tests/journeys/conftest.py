"""One browser for a module, and axe-core as npm has it."""

import shutil
import subprocess
from collections.abc import Iterator
from typing import Any

import pytest

from journeys.browsers import ARGUMENTS, AXE, CHROMIUM, PATIENCE, NewPage, Page, playwright


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with playwright.sync_playwright() as started:
        opened = started.chromium.launch(executable_path=str(CHROMIUM), args=ARGUMENTS)
        yield opened
        opened.close()


@pytest.fixture(scope="session")
def axe(tmp_path_factory: pytest.TempPathFactory) -> str:
    npm = shutil.which("npm")
    if not npm:
        pytest.skip("npm, which would get axe-core, is not installed")
    folder = tmp_path_factory.mktemp("axe")
    options = ["--no-audit", "--no-fund", "--ignore-scripts"]
    command = [npm, "install", "--prefix", str(folder), *options, AXE]
    try:
        subprocess.run(command, check=True, capture_output=True, timeout=120)
    except (subprocess.SubprocessError, OSError) as failed:
        pytest.skip(f"axe-core could not be had: {failed}")
    return (folder / "node_modules" / "axe-core" / "axe.min.js").read_text(encoding="utf-8")


@pytest.fixture
def new_page(browser: Any, address: str) -> Iterator[NewPage]:
    """Opens the chat in a fresh profile; the test fails when the page complained on its console."""
    contexts, complaints = [], list[str]()

    def open_page(complaining: bool = False, **options: Any) -> Page:
        context = browser.new_context(**({"reduced_motion": "reduce"} | options))
        context.grant_permissions(["clipboard-read", "clipboard-write"], origin=address)
        context.set_default_timeout(PATIENCE)
        contexts.append(context)
        page = context.new_page()
        if not complaining:
            page.on("pageerror", lambda error: complaints.append(str(error)))
            page.on(
                "console",
                lambda said: complaints.append(said.text) if said.type == "error" else None,
            )
        page.goto(address)
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert complaints == []
