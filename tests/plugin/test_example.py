"""A plugin package, from installation to an answer: its parts are named as built-in ones are."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from journeys.command import Result, ombud, workspace
from ombud.errors import BadSetting, SetupError
from ombud.settings import load
from plugin.installing import EXAMPLE, install
from sources.confluence.site import TOKEN, Attached, Wiki, WikiPage, standing

GUIDE = Path(__file__).parents[2] / "docs/guides/plugins.md"
SETTINGS = """
[models]
embedder = "none"
[plan]
abstain = 0.05
[[source]]
type = "notes"
name = "team"
country = "GB"
[source.notes]
"leave.memo" = '''Annual leave
Employees have 26 days of annual leave.'''
"parking.md" = "# Parking\\n\\nParking costs 3 pounds a day."
"""
CASE = {
    "id": "vacation",
    "question": "How many days of vacation do employees have?",
    "person": {"country": "GB"},
    "references": [{"text": "26 days"}],
    "evidence": [
        {"document": "team/leave.memo", "quote": "Employees have 26 days of annual leave."}
    ],
}


@pytest.fixture(scope="module", autouse=True)
def _installed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        install(EXAMPLE, tmp_path_factory.mktemp("site-packages"), patch)
        yield


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return workspace(tmp_path_factory.mktemp("home"), SETTINGS)


@pytest.fixture(scope="module")
def synced(home: Path, _installed: None) -> Result:
    return ombud("sync", "--json", cwd=home)


def test_a_source_and_a_parser_of_a_plugin_are_synced(home: Path, synced: Result) -> None:
    assert synced.code == 0, synced.err
    (report,) = synced.json["sources"]
    assert (report["name"], report["added"], report["failed"]) == ("team", 2, [])
    found = ombud("search", "days of annual leave", "--country", "GB", "--json", cwd=home)
    first = found.json["hits"][0]
    assert first["uri"] == "team/leave.memo"
    assert first["title"] == "Annual leave"
    assert first["text"] == "Employees have 26 days of annual leave."


def test_a_question_is_searched_for_by_a_strategy_of_a_plugin(home: Path, synced: Result) -> None:
    asked = ("ask", CASE["question"], "--country", "GB", "--json")
    answer = ombud(*asked, "--plan", "strategies=synonyms", cwd=home).json
    strategies = [query["strategy"] for query in answer["trace"]["queries"]]
    assert strategies == ["synonyms", "own words"]
    assert "annual leave" in answer["trace"]["queries"][0]["text"]
    assert [citation["uri"] for citation in answer["citations"]] == ["team/leave.memo"]


def test_an_unknown_strategy_names_those_of_plugins_too(home: Path, synced: Result) -> None:
    failed = ombud("ask", "Why?", "--plan", "strategies=synonym", cwd=home)
    assert failed.code == 2
    assert "Did you mean `synonyms`?" in failed.err


def test_a_run_is_scored_with_a_metric_of_a_plugin(home: Path, synced: Result) -> None:
    (home / "cases.jsonl").write_text(json.dumps(CASE), encoding="utf-8")
    run = ombud("lab", "run", "cases.jsonl", "--metrics", "sentences,length", "--json", cwd=home)
    assert run.code == 0, run.err
    means = {row["metric"]: row["mean"] for row in run.json["metrics"]}
    assert means["sentences"] >= 1
    assert set(means) == {"sentences", "length"}


def test_an_attachment_is_read_by_a_parser_of_a_plugin(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = Attached("desks.memo", b"Desks\nA desk is booked for 5 days at most.")
    page = WikiPage("1", "Handbook", "<p>Welcome.</p>", files=(file,))
    monkeypatch.setenv("NO_PROXY", "*")
    with standing(Wiki([page], cloud=False)) as wiki:
        source = f'[[source]]\ntype = "confluence"\nname = "wiki"\nurl = "{wiki.url}"\n'
        home = workspace(tmp_path / "home", f'[models]\nembedder = "none"\n{source}')
        env = {"CONFLUENCE_TOKEN": TOKEN, "NO_PROXY": "*"}
        synced = ombud("sync", "--json", cwd=home, env=env)
    assert [source["failed"] for source in synced.json["sources"]] == [[]]
    found = ombud("search", "how long is a desk booked", "--json", cwd=home)
    assert found.json["hits"][0]["uri"] == "wiki/HR/1/desks.memo"


@pytest.mark.parametrize(
    ("text", "said", "hint"),
    [
        ('type = "notse"', "source.0.type = 'notse' is no kind of source.", "`notes`"),
        ('type = "notes"\nnoets = {}', "`source.0.noets` in ombud.toml is not a", "`notes`"),
        ('type = "notes"', "`source.0.notes` is missing", ""),
        ('type = "notes"\nnotes = 3', "source.0.notes = 3", ""),
    ],
)
def test_settings_of_a_plugin_are_checked_as_those_of_ours(
    tmp_path: Path, text: str, said: str, hint: str
) -> None:
    (tmp_path / "ombud.toml").write_text(f'[[source]]\nname = "team"\n{text}\n', encoding="utf-8")
    with pytest.raises(BadSetting) as wrong:
        load(tmp_path)
    assert said in str(wrong.value)
    assert hint in wrong.value.hint


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("1 / 0", "of the package `ombud-broken` does not load: ZeroDivisionError"),
        ("Broken = dict", "of the package `ombud-broken` is no PluginSource"),
    ],
)
def test_a_broken_source_is_named_with_its_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: str, said: str
) -> None:
    package = tmp_path / "package"
    package.mkdir()
    entry = '[project.entry-points."ombud.source"]\nbroken = "ombud_broken:Broken"\n'
    project = f'[project]\nname = "ombud-broken"\nversion = "1.0"\n{entry}'
    (package / "pyproject.toml").write_text(project, encoding="utf-8")
    (package / "ombud_broken.py").write_text(code, encoding="utf-8")
    install(package, tmp_path / "site-packages", monkeypatch)
    monkeypatch.delitem(__import__("sys").modules, "ombud_broken", raising=False)
    text = '[[source]]\nname = "team"\ntype = "broken"\n'
    (tmp_path / "ombud.toml").write_text(text, encoding="utf-8")
    with pytest.raises(SetupError) as wrong:
        load(tmp_path)
    assert said in str(wrong.value)


def test_the_guide_shows_what_the_package_holds() -> None:
    guide = GUIDE.read_text(encoding="utf-8")
    code = (EXAMPLE / "ombud_example.py").read_text(encoding="utf-8")
    definitions = re.split(r"\n\n\n", code.partition("SYNONYMS")[2])[1:]
    assert len(definitions) == 6
    for definition in definitions:
        assert definition.strip() in guide
    entries = (EXAMPLE / "pyproject.toml").read_text(encoding="utf-8")
    for line in re.findall(r"^\[project\.entry-points.*\n.*", entries, re.MULTILINE):
        assert line in guide
