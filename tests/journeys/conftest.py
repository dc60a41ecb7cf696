"""One browser for a module, and axe-core as npm has it."""

import shutil
import subprocess
from collections.abc import Iterator
from typing import Any

import pytest

from journeys.browsers import ARGUMENTS, AXE, CHROMIUM, playwright


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
