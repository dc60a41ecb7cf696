"""`python -m research.studies` on a small handbook, as somebody without a chat model runs it."""

import sqlite3
from contextlib import closing
from pathlib import Path
from xml.etree import ElementTree

import pytest

from journeys.command import ombud, workspace
from journeys.test_lab import PAGES, line
from research.studies.carrying import STUDIES
from research.tests.command import research

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Twelve pages, each the evidence of three cases."""
    made = workspace(tmp_path_factory.mktemp("studies"), files=PAGES)
    (made / "cases.jsonl").write_text("\n".join(line(n) for n in range(36)), encoding="utf-8")
    assert ombud("sync", "docs", cwd=made).code == 0
    return made


def test_a_study_writes_its_report_and_asks_nothing_twice(home: Path) -> None:
    study = ("studies", "eva", "cases.jsonl", "--out", "eva.md")
    told = research(*study, cwd=home)
    assert told.code == 0, told
    assert "Wrote eva.md." in told.out
    report = (home / "eva.md").read_text(encoding="utf-8")
    assert report.startswith("# Eva: strategies by priority")
    assert "| first that works | needs a chat model | needs a chat model |" in report
    assert "| the question itself | 1.000 " in report
    # Quotes are the same each time.
    assert "## Two runs of “the question itself”" in report
    assert "| 0 | 0.000 |" in report
    assert "not run here" in report
    runs = _runs(home)
    assert research(*study, cwd=home).code == 0
    assert _runs(home) == runs


def test_a_search_alone_and_its_chart(home: Path) -> None:
    words = ("--search", "--split", "dev", "--tag", "desk", "--out", "wombat.md")
    told = research("studies", "wombat", "cases.jsonl", *words, cwd=home)
    assert told.code == 0, told
    report = (home / "wombat.md").read_text(encoding="utf-8")
    assert "cases of cases.jsonl, tagged desk." in report
    assert "citation_recall" not in report.split("## Notes")[0].split("## Figure 3")[1]
    assert "![Figure 3: quote_recall@10](wombat-figure-3.svg)" in report
    ElementTree.parse(home / "wombat-figure-3.svg")


def test_hypa_as_json_and_what_is_no_study(home: Path) -> None:
    told = research("studies", "hypa", "cases.jsonl", "--json", "--out", "hypa.md", cwd=home)
    assert told.code == 0, told
    assert "| TF-IDF with SVM (the study) | .86 | .92 |" in (home / "hypa.md").read_text(
        encoding="utf-8"
    )
    rows = {row["label"]: row for row in told.json["rows"]}
    assert rows["3-class: k"]["paper"] == [".7723", ".7940", "4.0409", ".7621"]
    assert rows["3-class: k, Q"]["run"] is None
    assert rows["3-class: k, K, S"]["run"] is None
    verdicts = {claim["said"]: claim["here"] for claim in told.json["claims"]}
    assert verdicts["It reads fewer words (3 classes)."] == "holds"
    listed = research("studies", "--help", cwd=home)
    assert all(f"\n    {name} " in listed.out for name in STUDIES)
    wrong = research("studies", "ragas", "cases.jsonl", cwd=home)
    assert wrong.code == 2
    assert "There are: wombat, natwest, eva, hypa, persona." in wrong.err


def _runs(home: Path) -> list[tuple[str, str]]:
    """Id and state of every run that is kept."""
    with closing(sqlite3.connect(home / ".ombud/store.sqlite")) as store:
        return sorted(store.execute("select id, state from lab_run"))
