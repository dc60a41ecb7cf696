"""Results as a person at a terminal sees them, and as a program gets them."""

import json
import re
import subprocess
from pathlib import Path

import pytest

from journeys.command import COMMAND, HANDBOOK, environment, ombud, on_terminal, workspace

HOTELS = (
    "# Hotels\n\nThe **cap** for a hotel night depends on the city, and it includes the local taxes but "
    "never the breakfast.\n\n| City | Cap for a hotel night |\n| --- | --- |\n| Paris | 220 euros |\n"
    "| Lyon | 130 euros |\n"
)
QUESTION = "What is the cap for a hotel night in Paris?"
COLUMNS = 60


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = workspace(tmp_path_factory.mktemp("home"), files={**HANDBOOK, "hotels.md": HOTELS})
    assert ombud("sync", "docs", cwd=made).code == 0
    return made


def without_codes(sent: str) -> str:
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", sent)


@pytest.mark.parametrize(
    ("verb", "first"), [("ask", "Opening the index"), ("search", "Searching the documents")]
)
def test_at_a_terminal_results_are_rendered(home: Path, verb: str, first: str) -> None:
    code, sent = on_terminal(verb, QUESTION, cwd=home, columns=COLUMNS)
    assert code == 0, sent
    # What is being done was said, and then wiped; a later step may be too short to be seen.
    assert f"{first} …" in without_codes(sent)
    assert "\x1b[2K" in sent
    shown = without_codes(sent.rpartition("\x1b[2K")[2])
    assert "…" not in shown
    assert "220 euros" in shown
    # A table is one, and bold words are bold.
    assert "| --- |" not in shown
    assert "**" not in shown
    assert re.search("[─━]{5}", shown)
    assert "\x1b[1m" in sent
    assert "docs/hotels.md" in shown
    assert max(len(line) for line in shown.split("\n")) <= COLUMNS


def test_lines_break_between_words(home: Path) -> None:
    _, sent = on_terminal("search", QUESTION, "-k", 1, cwd=home, columns=COLUMNS)
    shown = without_codes(sent.rpartition("\x1b[2K")[2])
    words = set(re.findall(r"\w+", HOTELS))
    assert {"includes", "depends", "breakfast"} <= words & set(re.findall(r"\w+", shown))


@pytest.mark.parametrize("verb", ["ask", "search"])
def test_who_pipes_results_gets_markdown_and_nothing_else(home: Path, verb: str) -> None:
    piped = ombud(verb, QUESTION, cwd=home)
    assert (piped.code, piped.err) == (0, "")
    assert "\x1b" not in piped.out
    assert "| --- | --- |" in piped.out
    assert "| Paris | 220 euros" in piped.out


def test_json_at_a_terminal_is_json_alone(home: Path) -> None:
    code, sent = on_terminal("ask", QUESTION, "--json", cwd=home)
    assert code == 0
    assert "\x1b" not in sent
    assert sent.startswith("{")


@pytest.mark.parametrize(
    ("variables", "encoding"),
    [
        ({"PYTHONIOENCODING": "cp1252"}, "cp1252"),
        ({"PYTHONIOENCODING": "latin-1"}, "latin-1"),
        ({"PYTHONUTF8": "0", "LC_ALL": "C", "PYTHONCOERCECLOCALE": "0"}, "ascii"),
    ],
)
def test_output_works_where_unicode_cannot_be_written(
    home: Path, variables: dict[str, str], encoding: str
) -> None:
    question = "Gibt es eine Übernachtung in Paris → was ist die cap for a hotel night?"
    for options in ((), ("--json",)):
        command = [*COMMAND, "ask", question, *options]
        ended = subprocess.run(command, cwd=home, env=environment(variables), capture_output=True)
        assert ended.returncode == 0, ended.stderr
        written = ended.stdout.decode(encoding)
        assert "220 euros" in written
        if options:
            json.loads(written)


def test_an_error_at_a_terminal_is_said_alone(tmp_path: Path) -> None:
    home = workspace(tmp_path, "[store]\nurl = 'nodb://host/db'\n")
    code, sent = on_terminal("ask", QUESTION, cwd=home)
    assert code == 2
    shown = without_codes(sent.rpartition("\x1b[2K")[2])
    assert shown.strip().startswith("Error: store.url cannot be used")


def test_a_search_takes_knobs_of_the_plan(home: Path) -> None:
    for words in (("--plan", "k=1"), ("--plan", "k=3", "-k", "1")):
        found = ombud("search", "hotel night", *words, "--json", cwd=home).json
        assert len(found["hits"]) == 1
    trace = ombud("search", "hotel night", "--plan", "mode=sparse", "--json", cwd=home).json[
        "trace"
    ]
    assert trace["plan"]["mode"] == "sparse"
    wrong = ombud("search", "hotel night", "--plan", "kk=1", cwd=home)
    assert (wrong.code, "kk" in wrong.err) == (2, True)


def test_the_version_is_said(tmp_path: Path) -> None:
    said = ombud("--version", cwd=tmp_path)
    assert (said.code, said.err) == (0, "")
    assert re.fullmatch(r"ombud \d+\.\d+\.\d+\S*\n", said.out)


def test_documents_are_listed_under_a_head(home: Path) -> None:
    head, *lines = ombud("documents", "list", cwd=home).out.splitlines()
    assert head.split() == ["id", "country", "uri", "until", "title"]
    assert len(lines) == 6
    (leave,) = [line for line in lines if "gb/leave" in line]
    for name, value in (("country", "GB"), ("uri", "docs/gb/leave.md"), ("title", "Annual leave")):
        assert leave[head.index(name) :].startswith(value)


@pytest.mark.parametrize("columns", ["60", "80", "120"])
@pytest.mark.parametrize("verbs", [(), ("lab",), ("audit",), ("lab", "run"), ("sync",)])
def test_help_is_not_cut(tmp_path: Path, verbs: tuple[str, ...], columns: str) -> None:
    told = ombud(*verbs, "--help", cwd=tmp_path, env={"COLUMNS": columns})
    assert told.code == 0
    assert not re.search(r"\w\.\.\.", told.out)
    assert "…" not in told.out
    assert max(len(line) for line in told.out.split("\n")) <= int(columns)
