"""Plugins that do the wrong thing: one sentence with the package's name, and the rest goes on."""

import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from journeys.command import ombud, start, workspace
from plugin.installing import install

CODE = """
import threading

from ombud.settings import PluginSource
from ombud.sources import Ref

class NoOpening(PluginSource):
    def open(self, home):
        raise KeyError("the key")

class NoSource(PluginSource):
    def open(self, home):
        return None

class NoList(PluginSource):
    def open(self, home):
        return self
    def list(self):
        return None
    def read(self, ref):
        return b""

class WrongList(NoList):
    def list(self):
        return ["a.md"]

class NoBytes(NoList):
    def list(self):
        return [Ref(uri=self.name + "/a.md", place="a.md", size=0, facts={})]
    def read(self, ref):
        return "a text"

class NoRead(NoBytes):
    def read(self, ref):
        raise RuntimeError("fell over")

def read_nothing(data, pages):
    return None

def read_and_end(data, pages):
    raise SystemExit(3)

class Stuck:
    fingerprint = "stuck"
    dimension = 4
    languages = None
    def __init__(self, *arguments):
        pass
    def embed(self, texts):
        return self.read(texts)
    def read(self, texts):
        print("begun", flush=True)
        threading.Event().wait()
    def count(self, text):
        return len(text.split())

def cut_nothing(document, settings, count, embed):
    return None

METRIC = 5
"""
PROJECT = """
[project]
name = "ombud-broken"
version = "1.0"
[project.entry-points."ombud.source"]
noopening = "ombud_broken_parts:NoOpening"
nosource = "ombud_broken_parts:NoSource"
nolist = "ombud_broken_parts:NoList"
wronglist = "ombud_broken_parts:WrongList"
nobytes = "ombud_broken_parts:NoBytes"
noread = "ombud_broken_parts:NoRead"
[project.entry-points."ombud.parser"]
nothing = "ombud_broken_parts:read_nothing"
ending = "ombud_broken_parts:read_and_end"
gone = "ombud_broken_parts:not_there"
[project.entry-points."ombud.chunker"]
nothing = "ombud_broken_parts:cut_nothing"
[project.entry-points."ombud.embedder"]
stuck = "ombud_broken_parts:Stuck"
[project.entry-points."ombud.metric"]
five = "ombud_broken_parts:METRIC"
"""
BY_WORDS = '[models]\nembedder = "none"\n'
FOLDER = '[[source]]\nname = "docs"\npath = "docs"\n'


@pytest.fixture(scope="module", autouse=True)
def installed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The folders that a process needs on its path to see the package."""
    package = tmp_path_factory.mktemp("package")
    (package / "ombud_broken_parts.py").write_text(CODE, encoding="utf-8")
    (package / "pyproject.toml").write_text(PROJECT, encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        packages = tmp_path_factory.mktemp("site-packages")
        install(package, packages, patch)
        yield os.pathsep.join([str(packages), str(package), os.environ.get("PYTHONPATH", "")])
    sys.modules.pop("ombud_broken_parts", None)


@pytest.mark.parametrize("kind", ["noopening", "nosource"])
def test_a_source_that_does_not_open_is_named_with_its_package(tmp_path: Path, kind: str) -> None:
    source = f'[[source]]\nname = "team"\ntype = "{kind}"\n'
    synced = ombud("sync", cwd=workspace(tmp_path, f"{BY_WORDS}{FOLDER}{source}"))
    assert synced.code == 2
    assert f"Error: The source `{kind}` of the package `ombud-broken` " in synced.err


@pytest.mark.parametrize("kind", ["nolist", "wronglist", "nobytes", "noread"])
def test_a_source_that_fails_costs_itself_and_the_others_are_synced(
    tmp_path: Path, kind: str
) -> None:
    source = f'[[source]]\nname = "team"\ntype = "{kind}"\n'
    home = workspace(tmp_path, f"{BY_WORDS}{source}{FOLDER}")
    synced = ombud("sync", "--json", cwd=home)
    team, docs = synced.json["sources"]
    told = team["note"] + "".join(failure["reason"] for failure in team["failed"])
    assert f"The source `{kind}` of the package `ombud-broken` " in told
    assert docs["added"] > 0
    assert synced.code == 1


def test_a_parser_that_fails_costs_its_files_and_is_named_with_its_package(tmp_path: Path) -> None:
    endings = ("nothing", "ending", "gone")
    files = {f"docs/a.{ending}": "A text." for ending in endings}
    files["docs/leave.md"] = "# Leave\n\nYou have 26 days of leave."
    home = workspace(tmp_path, f"{BY_WORDS}{FOLDER}", files=files)
    (report,) = ombud("sync", "--json", cwd=home).json["sources"]
    assert report["added"] == 1
    assert len(report["failed"]) == len(endings)
    for failure in report["failed"]:
        ending = failure["uri"].rpartition(".")[2]
        assert f"The parser `{ending}` of the package `ombud-broken` " in failure["reason"]


def test_a_chunker_that_fails_is_named_with_its_package(tmp_path: Path) -> None:
    home = workspace(tmp_path, f'{BY_WORDS}{FOLDER}[index]\nchunker = "nothing"\n')
    synced = ombud("sync", cwd=home)
    assert synced.code == 2
    assert "The chunker `nothing` of the package `ombud-broken` failed: TypeError" in synced.err


def test_a_metric_that_is_none_hides_no_others(tmp_path: Path) -> None:
    home = workspace(tmp_path, BY_WORDS)
    (home / "cases.jsonl").write_text('{"id": "a", "question": "Why?"}\n', encoding="utf-8")
    run = ombud("lab", "run", "cases.jsonl", "--metrics", "latencie", cwd=home)
    assert run.code == 2
    assert "Did you mean `latency`?" in run.err


def test_ctrl_c_does_not_wait_for_an_embedder_that_never_comes_back(
    tmp_path: Path, installed: str
) -> None:
    home = workspace(tmp_path, FOLDER)
    variables = {"OMBUD_MODELS__EMBEDDER": "stuck", "PYTHONPATH": installed}
    with start("sync", cwd=home, env=variables) as process:
        try:
            assert process.stdout
            assert process.stdout.readline() == "begun\n"
            os.killpg(process.pid, signal.SIGINT)
            _, err = process.communicate(timeout=60)
        finally:
            process.kill()
    assert process.returncode == 130
    assert err.endswith("Stopped. Nothing is lost; the next run goes on.\n")
