"""The guide "Evaluate your own RAG in ten minutes", done as it says; the pytest plugin and the
GitHub Action that it ends with."""

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import entry_points
from pathlib import Path
from xml.etree import ElementTree

import pytest
import yaml
from typer.testing import CliRunner

from ombud.cli import console
from ombud.cli.verbs import app
from until import wait_until

ROOT = Path(__file__).parents[2]
GUIDE = (ROOT / "docs/guides/your-own-rag.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```$", GUIDE, re.MULTILINE | re.DOTALL)
NAMES = ("handbook.md", "rag.py", "cases.csv")
SERVING = "http://127.0.0.1:8765"


def texts() -> list[str]:
    return [text for kind, text in BLOCKS if kind == "text"]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(console.state, "home", None)
    for name in ("OMBUD_HOME", "OMBUD_TARGET__URL"):
        monkeypatch.delenv(name, raising=False)
    for name, text in zip(NAMES, texts(), strict=False):
        assert f"ave as `{name}`" in GUIDE
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


def ombud(line: str, url: str = SERVING) -> tuple[int, str]:
    words = shlex.split(line.replace(SERVING, url))[1:]
    result = CliRunner().invoke(app, words)
    assert isinstance(result.exception, SystemExit | None), result.exc_info
    return result.exit_code, result.output


@contextmanager
def serving(folder: Path, *changes: tuple[str, str]) -> Iterator[str]:
    """The guide's server on a port of its own, its text changed as the guide says."""
    text = (folder / "rag.py").read_text(encoding="utf-8")
    for before, after in changes:
        assert before in text
        text = text.replace(before, after)
    text = text.replace('"127.0.0.1", 8765', '"127.0.0.1", 0')
    text = text.replace(
        'HTTPServer(("127.0.0.1", 0), Rag).serve_forever()',
        'server = HTTPServer(("127.0.0.1", 0), Rag)\n'
        'Path("port").write_text(str(server.server_port))\nserver.serve_forever()',
    )
    (folder / "port").unlink(missing_ok=True)
    (folder / "served.py").write_text(text, encoding="utf-8")
    with subprocess.Popen(
        [sys.executable, "served.py"], cwd=folder, stderr=subprocess.DEVNULL
    ) as process:
        try:
            wait_until(process, lambda: bool((folder / "port").exists() and port(folder)))
            yield f"http://127.0.0.1:{port(folder)}"
        finally:
            process.kill()


def port(folder: Path) -> str:
    return (folder / "port").read_text()


def commands() -> list[str]:
    found = []
    for kind, text in BLOCKS:
        if kind == "sh":
            found += text.splitlines()
    return found


def test_the_guide_goes_as_it_says(folder: Path) -> None:
    init, first, second, compare, report, gate, third, failing, export, again = commands()
    assert ombud(init)[0] == 0
    (table,) = [text for kind, text in BLOCKS if kind == "toml"]
    settings = folder / "ombud.toml"
    whole = settings.read_text(encoding="utf-8") + table
    with serving(folder) as url:
        settings.write_text(whole.replace(SERVING, url), encoding="utf-8")
        code, printed = ombud(first, url)
        assert code == 0
        assert "21/21" in printed
    with serving(folder, ("K = 1", "K = 5")) as url:
        settings.write_text(whole.replace(SERVING, url), encoding="utf-8")
        assert ombud(second, url)[0] == 0
    code, printed = ombud(compare)
    row = next(line for line in printed.splitlines() if line.startswith("| recall@5"))
    assert (row.split(" | ")[1:4], code) == (["52\xa0%", "90\xa0%", "+38.1"], 0)
    assert ".90 of the cases, one in .52" in GUIDE
    assert ombud(report)[0] == 0
    assert "recall@5" in (folder / "report.html").read_text(encoding="utf-8")
    assert ombud(gate)[0] == 0
    assert ElementTree.parse(folder / "gate.xml").getroot().get("failures") == "0"
    with serving(folder, ("K = 1", "K = 5"), ("-len(", "len(")) as url:
        settings.write_text(whole.replace(SERVING, url), encoding="utf-8")
        assert ombud(third, url)[0] == 0
    code, printed = ombud(failing)
    assert code == 1
    assert "* recall@5 went from" in printed
    assert (ombud(export)[0], ombud(again)[0]) == (0, 0)


def test_what_the_table_leaves_out_is_not_measured(folder: Path) -> None:
    ombud("ombud init .")
    with serving(folder) as url:
        (folder / "rag.toml").write_text(f'[target]\nurl = "{url}"\n', encoding="utf-8")
        code, printed = ombud("ombud lab run cases.csv --target rag.toml")
    assert code == 0
    assert "recall@5, mrr: not measured: the target gives no ids." in printed


FUNCTION = """
def answer(question):
    best = sorted(SECTIONS, key=lambda one: -len(words(question) & words(" ".join(one))))[:K]
    return {"answer": best[0][1], "contexts": [text for _, text in best],
            "ids": [title for title, _ in best]}
"""


def as_module(folder: Path) -> None:
    text = (folder / "rag.py").read_text(encoding="utf-8").partition("class Rag")[0]
    (folder / "own.py").write_text(text.replace("K = 1", "K = 5") + FUNCTION, encoding="utf-8")


def environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), "."])}


def run_pytest(folder: Path, text: str) -> str:
    (folder / "test_own.py").write_text(text, encoding="utf-8")
    # A package that was installed before the plugin was added has no entry point for it.
    is_installed = any(point.name == "ombud" for point in entry_points(group="pytest11"))
    plugin = [] if is_installed else ["-p", "ombud.cli.lab.pytest_plugin"]
    words = ["-m", "pytest", "-q", "-rA", *plugin, "-p", "no:randomly"]
    done = subprocess.run(
        [sys.executable, *words, "test_own.py"],
        cwd=folder, env=environment(), capture_output=True, text=True, check=False,
    )  # fmt: skip
    return done.stdout + done.stderr


def test_the_plugin_makes_cases_tests_and_gates(folder: Path) -> None:
    as_module(folder)
    ombud("ombud init .")
    assert ombud("ombud lab run cases.csv --target own:answer --name baseline")[0] == 0
    written = texts()[-1].replace(f'"{SERVING}"', '"own:answer"')
    assert "pytest.mark.ombud" in written
    printed = run_pytest(folder, written)
    assert "20 passed" in printed
    assert "2 failed" in printed
    assert "PASSED test_own.py::test_nothing_fell" in printed
    (folder / "own.py").write_text(
        (folder / "own.py").read_text().replace("-len(", "len("), encoding="utf-8"
    )
    assert "FAILED test_own.py::test_nothing_fell - Failed: recall@5" in run_pytest(folder, written)


def test_a_test_without_a_marker_is_told_what_it_needs(folder: Path) -> None:
    printed = run_pytest(folder, "def test_one(ombud_case):\n    pass\n")
    assert "needs a marker: @pytest.mark.ombud" in printed


def test_the_action_gates_against_the_file_of_a_baseline(folder: Path) -> None:
    as_module(folder)
    action = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
    script = action["runs"]["steps"][-1]["run"]
    (folder / "bin").mkdir()
    shim = folder / "bin" / "ombud"
    shim.write_text(f'#!/bin/sh\nexec {sys.executable} -m ombud "$@"\n', encoding="utf-8")
    shim.chmod(0o755)
    given = {name: one.get("default", "") for name, one in action["inputs"].items()}
    given |= {"cases": "cases.csv", "target": "own:answer", "metrics": "recall@5,token_f1"}
    variables = {}
    for name, value in action["runs"]["steps"][-1]["env"].items():
        variables[name] = given[re.sub(r"\W|inputs\.", "", value)]
    path = f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}"

    def run() -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["bash", "-c", script], cwd=folder, env={**environment(), **variables, "PATH": path},
            capture_output=True, text=True, check=False,
        )  # fmt: skip

    first = run()
    assert first.returncode == 0, first.stderr
    (folder / "candidate.jsonl").rename(folder / "baseline.jsonl")
    (folder / "own.py").write_text(
        (folder / "own.py").read_text().replace("-len(", "len("), encoding="utf-8"
    )
    second = run()
    assert second.returncode == 1, second.stderr
    failed = ElementTree.parse(folder / "ombud-gate.xml").getroot().get("failures")
    assert failed == "2"  # recall and likeness
