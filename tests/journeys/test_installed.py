"""The package as a wheel installs it, without the repository."""

import json
import re
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from journeys.command import environment

pytestmark = pytest.mark.slow
OMBUD = (sys.executable, "-m", "ombud")
REPOSITORY = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with what the wheel holds."""
    folder = tmp_path_factory.mktemp("wheel")
    pip = [sys.executable, "-m", "pip"]
    subprocess.run([*pip, "wheel", "--quiet", "--no-deps", "-w", folder, REPOSITORY], check=True)
    (wheel,) = folder.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder / "site")
    return folder / "site"


def variables_of(installed: Path) -> dict[str, str]:
    return environment({"PYTHONPATH": str(installed), "OMBUD_MODELS__EMBEDDER": "minilm"})


@pytest.fixture
def address(installed: Path, tmp_path: Path) -> Iterator[str]:
    variables = variables_of(installed)
    command = [*OMBUD, "demo", "--port", "0"]
    with subprocess.Popen(
        command, cwd=tmp_path, env=variables, stdout=subprocess.PIPE, text=True
    ) as server:
        assert server.stdout is not None
        started = next(filter(None, (re.search(r"http://\S+", line) for line in server.stdout)))
        yield started[0]
        server.terminate()
        server.communicate()


def test_the_demo_answers_with_vectors_and_a_source(
    address: str, installed: Path, tmp_path: Path
) -> None:
    asked = "How many days of annual leave do I get?"
    question = {"question": asked, "person": {"country": "GB"}}
    answer = httpx.post(f"{address}/api/v1/ask", json=question, timeout=60).json()
    assert "26 days" in answer["text"]
    assert answer["citations"][0]["title"].startswith("Annual leave")
    searched = subprocess.run(
        [*OMBUD, "--home", "ombud-demo", "search", asked, "--country", "GB", "--json"],
        cwd=tmp_path,
        env=variables_of(installed),
        capture_output=True,
        check=True,
    )
    hits = json.loads(searched.stdout)["hits"]
    assert any("GB/dense/standard" in hit["found_by"] for hit in hits)
