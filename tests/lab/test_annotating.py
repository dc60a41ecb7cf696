"""Answers for people to rate: blind, drawn once for all raters, and read back cell by cell."""

import json
from pathlib import Path
from typing import Any

import pytest

from lab.keeping import home_with, told
from lab.makers import case, cites, hit, says
from ombud.errors import BadRequest
from ombud.lab import (
    RecordedRun,
    agreement,
    annotation_key,
    annotation_sheet,
    criteria_set,
    draw_tasks,
    ratings_text,
    read_key,
    read_ratings,
    read_rubrics,
)
from ombud.lab.people.criteria import criteria_sets
from ombud.lab.people.ratings import read_sheet, sheet_text
from ombud.types import Observation, Run

NATWEST = criteria_set("natwest")


def answered(run: str, size: int = 6, **fields: Any) -> RecordedRun:
    seen = []
    for number in range(size):
        asked = case(id=f"c{number}", question=f"Question {number}?", references=("26 days",))
        answer = says(f"{run} says {number}.", cites("You have 26 days."))
        seen.append(Observation(case=asked, answer=answer))
    made = Run(id=run, name=f"name of {run}", dataset="d.jsonl", cases=size, **fields)
    return RecordedRun(made, tuple(seen), ())


def filled(path: Path, rater: str, values: dict[str, str]) -> None:
    """The sheet with the same values on each line."""
    rows = [dict(row.cells) | values | {"rater": rater} for row in read_sheet(path, ("item",))]
    path.write_text(sheet_text(tuple(rows[0]), rows), encoding="utf-8")


def test_a_sheet_tells_neither_run_nor_case_nor_score() -> None:
    runs = [answered("r1"), answered("r2")]
    tasks = draw_tasks(runs)
    sheet = annotation_sheet(tasks, NATWEST)
    assert len(tasks) == 12
    for hidden in ("name of", "r1,", "r2,", "c0", "score"):
        assert hidden not in sheet
    key = json.loads(annotation_key(tasks, NATWEST))
    assert {row["run"] for row in key["items"].values()} == {"r1", "r2"}
    assert [task.item for task in draw_tasks(runs)] == [task.item for task in tasks]


def test_runs_are_drawn_on_the_same_cases_and_raters_have_their_own_order() -> None:
    runs = [answered("r1"), answered("r2", size=5)]
    tasks = draw_tasks(runs, 3, seed=4)
    by_run = [{task.case for task in tasks if task.run == run} for run in ("r1", "r2")]
    assert len(by_run[0]) == 3
    assert by_run[0] == by_run[1]
    assert "c5" not in by_run[0]
    orders = []
    for rater in ("ann", "bob"):
        lines = annotation_sheet(tasks, NATWEST, rater).splitlines()[1:]
        orders.append([line.partition(",")[0] for line in lines])
    assert sorted(orders[0]) == sorted(orders[1])
    assert orders[0] != orders[1]


def test_what_was_cited_is_shown_and_else_what_was_found() -> None:
    asked = case(id="c1")
    cited = Observation(case=asked, answer=says("26.", cites("You have 26 days.")))
    found = Observation(case=case(id="c2"), answer=says("No."), hits=(hit("A rule."),))
    run = RecordedRun(Run(id="r", name="r", dataset="d", cases=2), (cited, found), ())
    shown = {task.case: task.passages for task in draw_tasks([run])}
    assert shown == {"c1": "[1] hr/leave.md: You have 26 days.", "c2": "[1] hr/leave.md: A rule."}


def test_a_run_without_answers_has_nothing_to_rate() -> None:
    empty = RecordedRun(Run(id="r", name="r", dataset="d"), (Observation(case=case()),), ())
    with pytest.raises(BadRequest, match="no case was answered in all of these runs"):
        draw_tasks([empty])


def test_people_and_judges_read_the_same_words() -> None:
    assert list(NATWEST.criteria) == [
        *("faithfulness", "truthfulness", "relevance"),
        *("completeness", "fluency", "bias"),
    ]
    assert NATWEST.criteria["bias"] == read_rubrics()["natwest.bias"]
    assert "5: even-handed" in NATWEST.guide()
    pairs = criteria_sets()["hypa"]
    assert pairs.rates == "pairs"
    assert [sorted(rubric.levels) for rubric in pairs.criteria.values()] == [[0, 1]] * 6


def test_empty_and_impossible_cells_are_named_and_are_no_ratings(tmp_path: Path) -> None:
    tasks = draw_tasks([answered("r1", size=2)])
    path = tmp_path / "an.csv"
    path.write_text(annotation_sheet(tasks, NATWEST), encoding="utf-8")
    filled(path, "ann", {"faithfulness": "5", "truthfulness": "6", "bias": "4,0", "note": "ok"})
    items = json.loads(annotation_key(tasks, NATWEST))["items"]
    result = read_ratings([path], NATWEST.levels, items)
    assert [(one.criterion, one.value, one.kind) for one in result.ratings[:2]] == [
        ("faithfulness", 5.0, "simple"),
        ("bias", 4.0, "simple"),
    ]
    assert [cell.why for cell in result.wrong] == ["6 is none of 1, 2, 3, 4, 5"] * 2
    assert len(result.missing) == 2 * 3
    assert {cell.place for cell in result.missing} == {"an.csv, line 2", "an.csv, line 3"}
    assert set(result.notes.values()) == {"ok"}


def test_what_two_raters_gave_is_what_agree_reads(tmp_path: Path) -> None:
    tasks = draw_tasks([answered("r1", size=3)])
    items = json.loads(annotation_key(tasks, NATWEST))["items"]
    sheets = []
    for rater, value in (("ann", "4"), ("bob", "5")):
        path = tmp_path / f"{rater}.csv"
        path.write_text(annotation_sheet(tasks, NATWEST, rater), encoding="utf-8")
        filled(path, rater, dict.fromkeys(NATWEST.criteria, value) | {"fluency": "3"})
        sheets.append(path)
    result = read_ratings(sheets, NATWEST.levels, items)
    table = tmp_path / "ratings.csv"
    table.write_text(ratings_text(result), encoding="utf-8")
    by_name = {one.criterion: one for one in agreement(read_ratings([table]).ratings)}
    assert by_name["fluency"].percentage.value == 1.0
    assert by_name["bias"].percentage.value == 0.0
    assert (by_name["bias"].items, by_name["bias"].raters) == (3, 2)
    assert "r1,c0" in table.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"item": "nobody"}, "line 2: the item `nobody` is not in the key"),
        ({"rater": "", "bias": "5"}, "line 2: no rater is named"),
    ],
)
def test_a_line_that_cannot_be_placed_is_named(
    tmp_path: Path, changes: dict[str, str], sentence: str
) -> None:
    tasks = draw_tasks([answered("r1", size=1)])
    items = json.loads(annotation_key(tasks, NATWEST))["items"]
    path = tmp_path / "an.csv"
    path.write_text(annotation_sheet(tasks, NATWEST, "ann"), encoding="utf-8")
    filled(path, changes.get("rater", "ann"), changes)
    with pytest.raises(BadRequest, match=sentence):
        read_ratings([path], NATWEST.levels, items)


def test_sheets_come_back_from_any_spreadsheet(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    rows = [{"item": "1", "text": "=1+1"}, {"item": "2", "text": '- a\n- b; "c"'}]
    path.write_text(sheet_text(("item", "text"), rows), encoding="utf-8")
    assert "'=1+1" in path.read_text(encoding="utf-8")
    assert [dict(row.cells) for row in read_sheet(path, ("item",))] == rows
    path.write_text("item;text\r\n1;a,b\r\n\r\n", encoding="utf-8-sig")
    assert [dict(row.cells) for row in read_sheet(path, ("item",))] == [
        {"item": "1", "text": "a,b"}
    ]


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"text\na\n", "no column `item`"),
        (b"item,item\n1,2\n", "two columns are called `item`"),
        (b"item\n1,2\n", "line 2: 2 cells under 1 headers"),
        (b"item\n\xff\n", "not UTF-8"),
    ],
)
def test_what_is_no_sheet_is_said(tmp_path: Path, content: bytes, sentence: str) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(content)
    with pytest.raises(BadRequest, match=sentence):
        read_sheet(path, ("item",))


def test_what_is_no_key_is_said(tmp_path: Path) -> None:
    path = tmp_path / "a.key.json"
    for content in ("", "[]", '{"items": 1, "criteria": "natwest"}'):
        path.write_text(content, encoding="utf-8")
        with pytest.raises(BadRequest, match="is no key"):
            read_key(path)


# The command --------------------------------------------------------------------------------------


def test_the_command_writes_a_sheet_a_rater_and_reads_them_back(tmp_path: Path) -> None:
    home = home_with(tmp_path, answered("r1", size=3, state="done"))
    out = home / "an.csv"
    written = told(home, "annotate", "r1", "--raters", "ann,bob", "--sample", "2", "--out", out)
    assert written["items"] == 2
    assert "natwest.bias" in Path(written["guide"]).read_text(encoding="utf-8")
    for sheet in written["sheets"]:
        filled(Path(sheet), Path(sheet).suffixes[0][1:], dict.fromkeys(NATWEST.criteria, "4"))
    ratings = home / "ratings.csv"
    read = told(home, "annotate", "--read", *written["sheets"], "--out", ratings)
    assert (read["ratings"], read["missing"], read["wrong"]) == (2 * 2 * 6, [], [])
    for files in ([ratings], written["sheets"]):
        (first, *_) = told(home, "agree", *files)["criteria"]
        assert (first["items"], first["percentage"]["value"]) == (2, 1.0)
