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
    with_grades,
)
from ombud.lab.people.ratings import read_sheet, sheet_text
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
        row["value"] = grades.get(row["passage"], "")
    path.write_text(sheet_text(tuple(rows[0]), rows), encoding="utf-8")
    return path


def test_the_pool_holds_each_ungraded_passage_once_and_tells_no_run_and_no_rank() -> None:
    pool = pool_passages([run("r1", HITS), run("r2", HITS[::-1])], depth=3)
    # The first holds the case's evidence: it is graded already.
    assert {passage.passage for passage in pool} == {HITS[1].chunk.text, HITS[2].chunk.text}
    assert pool == pool_passages([run("r2", HITS[::-1]), run("r1", HITS)], depth=3)
    sheet = pool_sheet(pool)
    for hidden in ("r1", "r2", "name of", "rank", "score"):
        assert hidden not in sheet
    assert [passage.passage for passage in pool_passages([run("r1", HITS)], depth=2)] == [
        HITS[1].chunk.text
    ]


def test_grades_come_back_as_qrels_and_as_evidence_that_survives_recutting(tmp_path: Path) -> None:
    path = tmp_path / "pool.csv"
    path.write_text(pool_sheet(pool_passages([run("r1", HITS)], 3)), encoding="utf-8")
    given = {HITS[1].chunk.text: "1", HITS[2].chunk.text: "0"}
    found = read_grades([graded(path, given)])
    assert qrels_of_grades(found, [LEAVE]) == {"leave": {"hr/leave.md": 2, "canteen.md": 0}}
    (widened,) = with_grades([LEAVE], found)
    assert [(item.quote, item.grade) for item in widened.evidence] == [
        ("You have 26 days.", 2),
        ("- Part-timers have fewer.", 1),
    ]
    assert pool_passages([run("r1", HITS, widened)], 2) == ()


def test_grades_that_are_none_are_named_and_two_grades_for_one_passage_refused(
    tmp_path: Path,
) -> None:
    sheet = pool_sheet(pool_passages([run("r1", HITS)], 3))
    first, second = tmp_path / "a.csv", tmp_path / "b.csv"
    for path in (first, second):
        path.write_text(sheet, encoding="utf-8")
    wrong = read_grades([graded(first, {HITS[1].chunk.text: "3"})])
    assert wrong.ratings == ()
    assert wrong.wrong[0].why == "3 is none of 0, 1, 2"
    graded(first, {HITS[1].chunk.text: "1"})
    graded(second, {HITS[1].chunk.text: "2"})
    with pytest.raises(BadRequest, match="has the grades 1 and 2"):
        read_grades([first, second])


def test_a_grade_of_a_case_that_is_not_there_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "pool.csv"
    path.write_text(pool_sheet(pool_passages([run("r1", HITS)], 3)), encoding="utf-8")
    found = read_grades([graded(path, {HITS[1].chunk.text: "1"})])
    with pytest.raises(BadRequest, match="`leave` was graded and is not in the dataset"):
        with_grades([case(id="other")], found)


def test_the_command_pools_grades_and_says_what_is_left(tmp_path: Path) -> None:
    home = home_with(tmp_path, run("r1", HITS), run("r2", HITS[1:]))
    dataset = home / "cases.jsonl"
    dataset.write_text(
        '{"id": "leave", "question": "How much leave do I have?", "evidence": '
        '[{"document": "hr/leave.md", "quote": "You have 26 days."}]}',
        encoding="utf-8",
    )
    pool = home / "pool.csv"
    pooling = ("annotate", "r1", "r2", "--passages", "--depth", "3", "--out", pool)
    assert told(home, *pooling)["passages"] == 2
    graded(pool, {HITS[1].chunk.text: "2"})
    qrels, out = home / "qrels.txt", home / "more.jsonl"
    back = ("annotate", "--passages", "--read", pool)
    found = told(home, *back, "--out", qrels)
    assert (found["graded"], len(found["ungraded"])) == (1, 1)
    told(home, *back, "--cases", dataset, "--out", out)
    assert read_qrels(qrels) == {"leave": {"hr/leave.md": 2}}
    assert len(read_cases(out)[0].evidence) == 2
    assert "Evidence of which cases?" in said(home, *back, "--out", out, code=2)
    assert "Where should it go?" in said(home, *back, code=2)


def test_a_sheet_without_the_columns_it_was_written_with_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "pool.csv"
    renamed = pool_sheet(pool_passages([run("r1", HITS)], 3)).replace("document", "source", 1)
    path.write_text(renamed, encoding="utf-8")
    with pytest.raises(BadRequest, match="no column `document`"):
        read_grades([path])


def test_a_grade_of_the_judge_that_is_no_number_names_its_line(tmp_path: Path) -> None:
    sheet = tmp_path / "lowest.csv"
    rows = [{"item": "r1 c1", "run": "r1", "case": "c1", "value": "2", "grade": "NaN"}]
    sheet.write_text(sheet_text(("item", "value", "grade", "run", "case"), rows), encoding="utf-8")
    refused = said(
        home_with(tmp_path), "annotate", "--lowest", "m", "--read", sheet, code=BadRequest.exit_code
    )
    assert "lowest.csv, line 2: the judge's grade: `NaN` is no number" in refused
    sheet.write_text(sheet_text(("item", "value", "run", "case"), rows[:0]), encoding="utf-8")
    refused = said(
        tmp_path / "home", "annotate", "--lowest", "m", "--read", sheet, code=BadRequest.exit_code
    )
    assert "no column `grade`" in refused
