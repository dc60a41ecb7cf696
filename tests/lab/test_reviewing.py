"""Proposed pairs: accepted, put right or rejected by people, before they count."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from lab.keeping import home_with, said, told
from lab.makers import case, gold, hit
from lab.recording import many, recorded
from ombud.errors import BadRequest, LabError
from ombud.lab import (
    Reviewed,
    cases_text,
    check_gate,
    read_cases,
    read_reviews,
    review_sheet,
    review_tasks,
    unreviewed,
)
from ombud.lab.people.ratings import read_sheet, sheet_text
from ombud.types import Case

MADE = ("synthetic", "heading")


def proposed(number: int) -> Case:
    quote = f"Rule {number}."
    return case(
        gold(quote), id=f"c{number}", question=f"Q{number}?", references=(f"A{number}.",), tags=MADE
    )


CASES = [proposed(number) for number in range(4)]


def reviewed(
    folder: Path, *sheets: Mapping[str, Mapping[str, str]], cases: list[Case] | None = None
) -> Reviewed:
    """sheets: case -> what is filled in, each of another person."""
    paths = []
    for number, given in enumerate(sheets):
        path = folder / f"reviewer{number}.csv"
        path.write_text(review_sheet(review_tasks(cases or CASES)), encoding="utf-8")
        rows = [dict(row.cells) for row in read_sheet(path, ("item",))]
        for row in rows:
            row.update(given.get(row["item"], {}))
        path.write_text(sheet_text(tuple(rows[0]), rows), encoding="utf-8")
        paths.append(path)
    return read_reviews(paths, cases or CASES)


def test_accepted_edited_rejected_and_open_pairs(tmp_path: Path) -> None:
    found = reviewed(
        tmp_path,
        {
            "c0": {"decision": "Accept", "faithful": "1", "clear": "0"},
            "c1": {"question": "What is Q1?", "answer": "Better."},
            "c2": {"decision": "reject", "clear": "0"},
        },
    )
    first, second = found.accepted
    assert first == CASES[0].model_copy(update={"tags": (*MADE, "accepted")})
    assert (second.id, second.question) == ("c1", "What is Q1?")
    assert second.references[0].text == "Better."
    assert second.tags == (*MADE, "accepted", "edited")
    assert (found.rejected, found.open, found.disputed) == (("c2",), ("c3",), ())
    assert found.shares() == {"faithful": (1, 1), "clear": (0, 2)}


def test_pairs_on_which_people_differ_are_not_accepted(tmp_path: Path) -> None:
    found = reviewed(
        tmp_path,
        {"c0": {"decision": "accept"}, "c1": {"decision": "accept"}, "c2": {"question": "A?"}},
        {"c0": {"decision": "reject"}, "c1": {"decision": "accept"}, "c2": {"question": "B?"}},
    )
    assert [one.id for one in found.accepted] == ["c1"]
    assert found.disputed == ("c0", "c2")


def test_what_is_neither_a_decision_nor_an_answer_is_named(tmp_path: Path) -> None:
    (wrong,) = reviewed(tmp_path, {"c0": {"decision": "accept", "clear": "5"}}).wrong
    assert wrong == ("reviewer0.csv, line 2", "c0", "clear", "5 is none of 0, 1")
    with pytest.raises(BadRequest, match="line 2: `fine` is no decision"):
        reviewed(tmp_path, {"c0": {"decision": "fine"}})
    with pytest.raises(BadRequest, match="line 3: the question is gone"):
        reviewed(tmp_path, {"c1": {"decision": "accept", "question": ""}})
    with pytest.raises(BadRequest, match="line 2: the case `x` is not in the dataset"):
        reviewed(tmp_path, {"c0": {"item": "x"}})


def test_a_pair_stands_beside_the_passage_that_holds_it() -> None:
    chunks = [hit("Another rule.").chunk, hit("Head. Rule 0. Tail.", trail=("Part 1",)).chunk]
    first, second = review_tasks(CASES[:2], chunks)
    assert first.passage == "Part 1\nHead. Rule 0. Tail."
    assert second.passage == "Rule 1."
    done = CASES[0].model_copy(update={"tags": (*MADE, "accepted")})
    assert [task.case.id for task in review_tasks([done, CASES[1]])] == ["c1"]


def test_synthetic_cases_gate_once_they_are_accepted() -> None:
    metrics = {"recall@5": [1.0] * 12}
    accepted = many(12, tags=(*MADE, "accepted"))
    assert unreviewed(accepted) == ()
    assert check_gate(recorded(accepted, metrics), recorded(accepted, metrics)).passed
    made = many(12, tags=MADE)
    with pytest.raises(LabError, match="12 of 12 cases are synthetic or harvested and nobody"):
        check_gate(recorded(made, metrics), recorded(made, metrics))
    ungated = check_gate(recorded(made, metrics), recorded(made, metrics), allow_unreviewed=True)
    assert ungated.passed


def test_the_command_gates_unreviewed_cases_only_when_told_to(tmp_path: Path) -> None:
    made = recorded(many(3, tags=MADE), {"recall@5": [1.0] * 3})
    home = home_with(tmp_path, made)
    refused = said(home, "gate", "--baseline", "r1", code=LabError.exit_code)
    assert "--unreviewed" in refused
    assert "PASS" in said(home, "gate", "--baseline", "r1", "--unreviewed")


def test_the_command_writes_a_sheet_and_keeps_what_was_accepted(tmp_path: Path) -> None:
    home = home_with(tmp_path)
    dataset, sheet, out = home / "made.jsonl", home / "review.csv", home / "good.jsonl"
    dataset.write_text(cases_text(CASES), encoding="utf-8")
    assert told(home, "review", dataset, "--out", sheet)["pairs"] == 4
    rows = [dict(row.cells) for row in read_sheet(sheet, ("item",))]
    rows[0] |= {"decision": "accept", "rater": "ann"}
    rows[1] |= {"decision": "reject", "rater": "ann"}
    rows[2] |= {"question": "Q1, edited?", "rater": "ann"}
    sheet.write_text(sheet_text(tuple(rows[0]), rows), encoding="utf-8")
    found = told(home, "review", dataset, "--read", sheet, "--out", out)
    assert (found["accepted"], found["edited"]) == (["c0", "c2"], ["c2"])
    assert (found["rejected"], found["open"]) == (["c1"], ["c3"])
    assert [one.question for one in read_cases(out)] == ["Q0?", "Q1, edited?"]
