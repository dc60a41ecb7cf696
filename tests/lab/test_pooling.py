"""Passages of several runs graded by people: pooled blind, written as qrels, and what is still
ungraded."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from lab.keeping import home_with, said, told
from lab.makers import case, gold, hit
from ombud.errors import BadRequest
from ombud.lab import (
    RecordedRun,
    pool_passages,
    pool_sheet,
    qrels_of_grades,
    read_cases,
    read_grades,
    read_qrels,
    read_sheet,
    sheet_text,
    unjudged_share,
    with_grades,
)
from ombud.types import Case, Hit, Observation, Run

LEAVE = case(gold("You have 26 days."), id="leave")
HITS = (
    hit("You have 26 days. They end in March.", "hr/leave.md"),
    hit("- Part-timers have fewer.", "hr/leave.md", 40),
    hit("The canteen opens at 11.", "canteen.md"),
)


def run(name: str, hits: Sequence[Hit], asked: Case = LEAVE) -> RecordedRun:
    seen = Observation(case=asked, hits=tuple(hits))
    made = Run(id=name, name=f"name of {name}", dataset="d.jsonl", cases=1, state="done")
    return RecordedRun(made, (seen,), ())


def graded(path: Path, grades: dict[str, str]) -> Path:
    """The pool with a grade for each document's first word."""
    rows = [dict(row.cells) for row in read_sheet(path, ("item",))]
    for row in rows:
        row["grade"] = grades.get(row["passage"], "")
    path.write_text(sheet_text(tuple(rows[0]), rows), encoding="utf-8")
    return path


def test_the_pool_holds_each_ungraded_passage_once_and_tells_no_run_and_no_rank() -> None:
    pool = pool_passages([run("r1", HITS), run("r2", HITS[::-1])], depth=3)
    # The first holds the case's evidence: it is graded already.
    assert {passage.text for passage in pool} == {HITS[1].chunk.text, HITS[2].chunk.text}
    assert pool == pool_passages([run("r2", HITS[::-1]), run("r1", HITS)], depth=3)
    sheet = pool_sheet(pool)
    for hidden in ("r1", "r2", "name of", "rank", "score"):
        assert hidden not in sheet
    assert [passage.text for passage in pool_passages([run("r1", HITS)], depth=2)] == [
        HITS[1].chunk.text
    ]


def test_grades_come_back_as_qrels_and_as_evidence_that_survives_recutting(tmp_path: Path) -> None:
    path = tmp_path / "pool.csv"
    path.write_text(pool_sheet(pool_passages([run("r1", HITS)], 3)), encoding="utf-8")
    given = {HITS[1].chunk.text: "1", HITS[2].chunk.text: "0"}
    found = read_grades([graded(path, given)])
    assert qrels_of_grades(found.graded, [LEAVE]) == {"leave": {"hr/leave.md": 2, "canteen.md": 0}}
    (widened,) = with_grades([LEAVE], found.graded)
    assert [(item.quote, item.grade) for item in widened.evidence] == [
        ("You have 26 days.", 2),
        ("- Part-timers have fewer.", 1),
    ]
    assert pool_passages([run("r1", HITS, widened)], 2) == ()


def test_the_unjudged_share_falls_as_people_grade(tmp_path: Path) -> None:
    path = tmp_path / "pool.csv"
    recorded = run("r1", HITS)
    path.write_text(pool_sheet(pool_passages([recorded], 3)), encoding="utf-8")
    before = unjudged_share(recorded, 3, ())
    assert (before.unjudged, before.passages, before.cases) == (2, 3, 1)
    found = read_grades([graded(path, {HITS[2].chunk.text: "0"})])
    assert unjudged_share(recorded, 3, found.items).share == pytest.approx(1 / 3)
    assert found.ungraded == ("pool.csv, line 2",) or found.ungraded == ("pool.csv, line 3",)
    assert unjudged_share(run("empty", ()), 3, ()).share is None


def test_grades_that_are_none_are_named_and_two_grades_for_one_passage_refused(
    tmp_path: Path,
) -> None:
    sheet = pool_sheet(pool_passages([run("r1", HITS)], 3))
    first, second = tmp_path / "a.csv", tmp_path / "b.csv"
    for path in (first, second):
        path.write_text(sheet, encoding="utf-8")
    wrong = read_grades([graded(first, {HITS[1].chunk.text: "3"})])
    assert wrong.graded == ()
    assert "`3`" in wrong.wrong[0]
    graded(first, {HITS[1].chunk.text: "1"})
    graded(second, {HITS[1].chunk.text: "2"})
    with pytest.raises(BadRequest, match=r"b\.csv.* was graded 1 before"):
        read_grades([first, second])


def test_a_grade_of_a_case_that_is_not_there_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "pool.csv"
    path.write_text(pool_sheet(pool_passages([run("r1", HITS)], 3)), encoding="utf-8")
    found = read_grades([graded(path, {HITS[1].chunk.text: "1"})])
    with pytest.raises(BadRequest, match="`leave` was graded and is not in the dataset"):
        with_grades([case(id="other")], found.graded)


def test_the_command_pools_grades_and_says_what_is_left(tmp_path: Path) -> None:
    home = home_with(tmp_path, run("r1", HITS), run("r2", HITS[1:]))
    dataset = home / "cases.jsonl"
    dataset.write_text(
        '{"id": "leave", "question": "How much leave do I have?", "evidence": '
        '[{"document": "hr/leave.md", "quote": "You have 26 days."}]}',
        encoding="utf-8",
    )
    pool = home / "pool.csv"
    assert told(home, "grade", "r1", "r2", "--depth", "3", "--out", pool)["passages"] == 2
    graded(pool, {HITS[1].chunk.text: "2"})
    qrels, out = home / "qrels.txt", home / "more.jsonl"
    more = ("--cases", dataset, "--out", out, "--depth", "3")
    found = told(home, "grade", "r1", "r2", "--read", pool, "--qrels", qrels, *more)
    assert (found["graded"], len(found["ungraded"])) == (1, 1)
    assert [row["share"] for row in found["unjudged"]] == [pytest.approx(1 / 3), 0.5]
    assert read_qrels(qrels) == {"leave": {"hr/leave.md": 2}}
    assert len(read_cases(out)[0].evidence) == 2
    again = told(home, "grade", "r1", "--judged", pool, "--depth", "3", "--out", home / "next.csv")
    assert again["passages"] == 1
    assert "Unjudged at depth 3 in r1" in said(home, "grade", "r1", "--read", pool, *more)
    assert "Where should the grades go" in said(home, "grade", "--read", pool, code=2)
