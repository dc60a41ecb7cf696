"""A judge gates once people were asked whether it is any good, and only where it is."""

import csv
from dataclasses import replace
from pathlib import Path

import pytest

from lab.keeping import home_with, said, told
from lab.makers import case, cites, says
from lab.recording import many, recorded
from ombud.errors import LabError
from ombud.lab import RecordedRun, check_gate, criteria_set
from ombud.store import StoredAlignment
from ombud.types import Observation, Run, Score

METRIC = "natwest.faithfulness"
LOWEST = ("--lowest", METRIC)
CASES = many(30)


def judged(*alignments: StoredAlignment) -> RecordedRun:
    run = recorded(CASES, {"recall@5": [1.0] * 30, METRIC: [4.0] * 30})
    return replace(run, versions={METRIC: frozenset({("gpt", 7)})}, alignments=alignments)


def kept(spearman: float | None, items: int = 40, version: int = 7) -> StoredAlignment:
    return StoredAlignment(METRIC, "gpt", version, "faithfulness", items, spearman)


@pytest.mark.parametrize(
    ("alignments", "why"),
    [
        ((), "nobody has held gpt against people"),
        ((kept(0.9, version=6),), "nobody has held gpt against people"),
        ((kept(0.9, items=29),), "on 29 answers, 30 are needed"),
        ((kept(0.59),), "gpt reaches 0.59 with people, the bar is 0.60"),
        ((kept(None),), "gpt reaches nothing with people"),
    ],
)
def test_a_judge_below_the_bar_cannot_gate(
    alignments: tuple[StoredAlignment, ...], why: str
) -> None:
    run = judged(*alignments)
    verdict = check_gate(run, run)
    assert verdict.checked == ("recall@5",)
    assert why in verdict.left_out[METRIC]
    with pytest.raises(LabError, match=why) as refused:
        check_gate(run, run, [METRIC])
    assert f"lab align --labels FILE --metric {METRIC}" in refused.value.hint
    assert check_gate(run, run, [METRIC], judge_bar=0).passed


def test_one_that_reaches_it_does() -> None:
    run = judged(kept(0.6, version=6), kept(0.6))
    verdict = check_gate(run, run)
    assert set(verdict.checked) == {"recall@5", METRIC}
    assert not verdict.left_out


def graded(run: str, grades: list[float]) -> RecordedRun:
    """A run with an answer a case, each with a grade by a judge."""
    seen: list[Observation] = []
    scores: list[Score] = []
    for number, grade in enumerate(grades):
        asked = case(id=f"c{number:02}", question=f"Question {number}?", references=("26 days",))
        answer = says(f"{run} says {number}.", cites("You have 26 days."))
        seen.append(Observation(case=asked, answer=answer))
        scores.append(Score(case_id=asked.id, metric=METRIC, value=grade, by="gpt"))
        scores.append(Score(case_id=asked.id, metric="recall@5", value=1.0))
    made = Run(id=run, name=run, dataset="d.jsonl", cases=len(grades), state="done")
    return RecordedRun(made, tuple(seen), tuple(scores))


def write(path: Path, rows: list[dict[str, str]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0].keys())
        writer.writeheader()
        writer.writerows(rows)


@pytest.mark.parametrize(("turned", "looked"), [(False, True), (True, False)])
def test_what_align_finds_of_rated_answers_decides_at_the_gate(
    tmp_path: Path, turned: bool, looked: bool
) -> None:
    grades = [float(1 + number % 5) for number in range(40)]
    home = home_with(tmp_path, graded("r1", grades))
    assert f"Not looked at: {METRIC}, for nobody has held gpt" in said(
        home, "gate", "--baseline", "r1"
    )
    sheet = home / "sheet.csv"
    told(home, "annotate", "r1", "--raters", "ann", "--out", sheet)
    path = home / "sheet.ann.csv"
    with path.open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        number = int(row["question"].split()[1].rstrip("?"))
        value = grades[number]
        for name in row:
            if name in criteria_set("natwest").criteria:
                row[name] = str(int(6 - value if turned else value))
        row["rater"] = "ann"
    write(path, rows)
    ratings = home / "ratings.csv"
    told(home, "annotate", "--read", path, "--out", ratings)
    told(home, "align", "--labels", ratings, "--metric", METRIC)
    shown = said(home, "gate", "--baseline", "r1")
    assert (f"Not looked at: {METRIC}, for gpt reaches -1.00" in shown) != looked
    assert (f"Looked at {METRIC}" in shown) == looked


# Grades that people check --------------------------------------------------------------------------


def test_the_lowest_grades_come_back_confirmed_or_corrected(tmp_path: Path) -> None:
    home = home_with(tmp_path, graded("r1", [5.0, 1.0, 4.0, 2.0, 3.0]))
    sheet = home / "low.csv"
    assert told(home, "annotate", "r1", *LOWEST, "--sample", "3", "--out", sheet) == {
        "grades": 3,
        "file": str(sheet),
    }
    with sheet.open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [(row["case"], row["grade"], row["judge"]) for row in rows] == [
        ("c01", "1", "gpt"),
        ("c03", "2", "gpt"),
        ("c04", "3", "gpt"),
    ]
    rows[0] |= {"value": "1"}
    rows[1] |= {"value": "4,5", "note": "it is all there"}
    write(sheet, rows)
    found = told(home, "annotate", *LOWEST, "--read", sheet)
    assert (found["corrected"], found["checked"]) == (1, 2)
    # Wilson's interval of 1 in 2, as in any table of it.
    assert (found["low"], found["high"]) == (
        pytest.approx(0.0945, abs=1e-4),
        pytest.approx(0.9055, abs=1e-4),
    )
    shown = said(home, "annotate", *LOWEST, "--read", sheet)
    assert f"r1 c03, {METRIC}: 2 should be 4.5: it is all there" in shown


def test_a_value_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    home = home_with(tmp_path, graded("r1", [1.0, 2.0]))
    sheet = home / "low.csv"
    told(home, "annotate", "r1", *LOWEST, "--out", sheet)
    with sheet.open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    rows[0] |= {"value": "good"}
    write(sheet, rows)
    assert "line 2: `good` is no number" in said(home, "annotate", *LOWEST, "--read", sheet, code=2)
    nobody = said(home, "annotate", "r1", "--lowest", "recall@5", "--out", sheet, code=2)
    assert "No judge gave `recall@5`" in nobody
