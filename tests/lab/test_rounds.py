"""A round before publishing: past questions drawn on a topic, rated by pairs of people, go or
no-go."""

import json
from collections import Counter
from contextlib import closing
from itertools import combinations
from pathlib import Path

import pytest
from scipy import stats

from lab.keeping import said, told
from lab.makers import case, gold
from ombud.app import Workspace
from ombud.errors import BadRequest, LabError
from ombud.lab import assign_raters, cases_text, choose_on_topic, criteria_set, wilson_interval
from ombud.lab.people.ratings import read_sheet, sheet_text
from web.running import make_workspace

NATWEST = list(criteria_set("natwest").criteria)


def test_every_two_raters_share_as_many_answers() -> None:
    assigned = assign_raters([f"i{n}" for n in range(60)], ["ann", "bob", "cem", "dan"])
    loads = Counter(rater for pair in assigned.values() for rater in pair)
    pairs = Counter(tuple(sorted(pair)) for pair in assigned.values())
    assert loads == {"ann": 30, "bob": 30, "cem": 30, "dan": 30}
    assert pairs == dict.fromkeys(combinations(("ann", "bob", "cem", "dan"), 2), 10)
    odd = assign_raters([f"i{n}" for n in range(50)], ["ann", "bob", "cem"])
    loads = Counter(rater for pair in odd.values() for rater in pair)
    assert max(loads.values()) - min(loads.values()) <= 1
    with pytest.raises(BadRequest, match="1 raters cannot give each answer 2 ratings"):
        assign_raters(["i"], ["ann", "ann"])


@pytest.mark.parametrize(("hits", "size"), [(0, 10), (10, 10), (45, 50), (1, 3)])
def test_wilsons_interval(hits: int, size: int) -> None:
    other = stats.binomtest(hits, size).proportion_ci(method="wilson")
    assert wilson_interval(hits, size) == pytest.approx((other.low, other.high))


def test_cases_are_on_a_topic_by_question_tag_or_document() -> None:
    cases = [
        case(id="asked", question="May I carry leave over?"),
        case(id="tagged", question="How long?", tags=("harvested", "annual-leave")),
        case(gold("26 days", uri="gb/annual_leave.md"), id="documented", question="How many days?"),
        case(id="other", question="What may a hotel cost?"),
    ]
    found = {one.id for one in choose_on_topic(cases, "annual leave", 9)}
    assert found == {"asked", "tagged", "documented"}
    assert len(choose_on_topic(cases, "leave", 2, seed=1)) == 2
    with pytest.raises(BadRequest, match="None of 4 questions is about `parking`"):
        choose_on_topic(cases, "parking", 9)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A workspace, and a file of cases about leave."""
    with closing(make_workspace(tmp_path / "home")) as made:
        questions = [f"How many days of annual leave has number {n}?" for n in range(40)]
        cases = [case(id=f"c{n}", question=text) for n, text in enumerate(questions)]
        (made.home / "past.jsonl").write_text(cases_text(cases), encoding="utf-8")
        return made.home


def begun(home: Path, folder: Path) -> None:
    given = ("--topic", "annual leave", "--sample", "20", "--from", home / "past.jsonl")
    made = told(home, "round", folder, *given, "--raters", "ann,bob,cem")
    assert made["questions"] == 20


def rated(folder: Path, values: dict[str, str]) -> None:
    """Each rater gives their value to everything."""
    for rater, value in values.items():
        path = folder / f"annotation.{rater}.csv"
        rows = [dict(row.cells) for row in read_sheet(path, ("item",))]
        for row in rows:
            row.update(dict.fromkeys(NATWEST, value))
        path.write_text(sheet_text(tuple(rows[0]), rows), encoding="utf-8")


def test_a_round_is_a_go_a_no_go_or_undecided(home: Path, tmp_path: Path) -> None:
    folder = tmp_path / "round"
    begun(home, folder)
    sheets = [read_sheet(folder / f"annotation.{rater}.csv", ("item",)) for rater in ("ann", "bob")]
    assert len(sheets[0]) + len(sheets[1]) in {26, 27}
    nothing = said(home, "round", folder, "--read", "--json", code=1)
    assert json.loads(nothing)["decision"] == "undecided"

    rated(folder, {"ann": "5", "bob": "4", "cem": "5"})
    good = told(home, "round", folder, "--read")
    assert (good["decision"], good["open"], good["concerns"]) == ("go", 0, [])
    # 20 of 20: the lower end of Wilson's interval is 0.839.
    assert good["shares"][0]["low"] == pytest.approx(0.8389, abs=1e-4)

    rated(folder, {"ann": "5", "bob": "2", "cem": "5"})
    poor = json.loads(said(home, "round", folder, "--read", "--json", code=1))
    assert poor["decision"] == "no-go"
    assert len(poor["concerns"]) == len(sheets[1])
    report = (folder / "report.md").read_text(encoding="utf-8")
    assert "**No-go." in report
    assert "| faithfulness | 7 of 20 |" in report or "| faithfulness | 6 of 20 |" in report
    assert f"## Responses of concern: {len(sheets[1])}" in report
    stricter = said(home, "round", folder, "--read", "--bar", "2", "--share", "0.99", code=1)
    assert "Undecided" in stricter


def test_what_a_round_needs_is_said(home: Path, tmp_path: Path) -> None:
    folder = tmp_path / "round"
    assert "rated by whom" in said(home, "round", folder, "--topic", "leave", code=2)
    assert "holds no round" in said(home, "round", folder, "--read", code=2)
    words = ("round", folder, "--topic", "leave", "--raters", "a,b")
    assert "have agreed" in said(home, *words, code=LabError.exit_code)
    settings = (home / "ombud.toml").read_text(encoding="utf-8")
    (home / "ombud.toml").write_text(f"{settings}[lab]\nharvest = true\n", encoding="utf-8")
    with closing(Workspace(home)) as opened:
        assert opened.settings.lab.harvest
    assert "None of 0 questions" in said(home, *words, code=2)
