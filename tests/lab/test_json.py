"""What programs read is documented, name by name."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lab.keeping import home_with, told
from lab.recording import many, recorded

GUIDE = (Path(__file__).parents[2] / "docs/guides/quality.md").read_text(encoding="utf-8")
SECTION = GUIDE.partition("\n## What the lab prints for programs\n")[2]
NAMED = set(re.findall(r"`([a-z_]+)`", SECTION))
FREE = ("config", "left_out", "lost", "failed", "reasons")
"""Objects whose keys are values: settings, metrics, cases."""


def names(value: Any) -> Iterator[str]:
    if isinstance(value, list):
        for item in value:
            yield from names(item)
    if isinstance(value, dict):
        for key, item in value.items():
            yield key
            if key not in FREE:
                yield from names(item)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    cases = many(12, tags=("x",))
    before = recorded(cases, {"recall@5": [0.0] * 12}, id="r1")
    after = recorded(cases, {"recall@5": [1.0] * 11 + [0.0]}, id="r2")
    return home_with(tmp_path, before, after)


@pytest.mark.parametrize(
    "words",
    [
        ("compare", "r1", "r2"),
        ("report", "r1", "r2"),
        ("show", "r1"),
        ("gate", "--baseline", "r1", "--candidate", "r2"),
    ],
)
def test_every_name_is_documented(home: Path, words: tuple[str, ...]) -> None:
    found = set(names(told(home, *words)))
    assert found
    assert found - NAMED == set()


def test_a_report_holds_the_runs_and_what_changed(home: Path) -> None:
    report = told(home, "report", "r1", "r2")
    assert report["written"] == []
    assert [one["run"]["id"] for one in report["runs"]] == ["r1", "r2"]
    (compared,) = report["compared"]
    overall = compared["metrics"][0]
    assert (overall["group"], overall["pairs"], overall["better"]) == ("overall", 12, True)
    assert overall["difference"] == pytest.approx(11 / 12)
