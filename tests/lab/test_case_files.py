"""Folders of cases, ids, and records of RAGAS's shape."""

from pathlib import Path
from typing import Any

import pytest

from lab.files import GOOD, failure, file, lines
from ombud.errors import LabError
from ombud.lab import read_cases
from ombud.types import Case, Passage, Reference


def test_a_folder_is_all_its_files_in_the_order_of_their_names(tmp_path: Path) -> None:
    file(tmp_path, lines({"id": "b", "question": "b"}), "b.jsonl")
    file(tmp_path, "id,question\na,a\n", "A.CSV")
    file(tmp_path, "id\tquestion\nc\tc\n", "c.tsv")
    file(tmp_path, "not cases", "README.md")
    file(tmp_path, b"\x00\x05\x16\x07\xff", "._b.jsonl")  # what a Mac puts beside a file
    (tmp_path / "below").mkdir()
    file(tmp_path / "below", lines({"id": "d", "question": "d"}), "d.jsonl")
    assert [one.id for one in read_cases(tmp_path)] == ["a", "b", "c"]


def test_a_folder_with_the_same_id_twice_names_both_files(tmp_path: Path) -> None:
    file(tmp_path, lines(GOOD), "a.jsonl")
    file(tmp_path, "id,question\n1,x\n", "b.csv")
    message, _ = failure(tmp_path)
    assert message == f"/b.csv, line 2: id `1` was used before ({tmp_path / 'a.jsonl'}, line 1)."


def test_folders_without_cases(tmp_path: Path) -> None:
    assert failure(tmp_path)[0] == ": no cases in it."
    (tmp_path / "odd.jsonl").mkdir()
    assert "cannot be read: Is a directory" in failure(tmp_path)[0]


@pytest.mark.parametrize("mark", ["\n", "\r", "\t", "\0", "\u2028", "\u200b", "\x1b[31m"])
def test_an_id_is_one_line_that_prints(tmp_path: Path, mark: str) -> None:
    said = ", line 1: `id` has a line end or another character that does not print."
    assert failure(file(tmp_path, lines(GOOD | {"id": f"a{mark}b"})))[0] == said


def test_the_united_kingdom_is_gb(tmp_path: Path) -> None:
    message, _ = failure(file(tmp_path, lines(GOOD | {"person": {"country": "UK"}})))
    assert message == ", line 1: `person.country` is not an ISO country code such as GB."


def test_a_number_of_too_many_digits_is_said_and_no_crash(tmp_path: Path) -> None:
    assert failure(file(tmp_path, f'{{"id": {"9" * 5000}}}'))[0].startswith(
        ", line 1: not valid JSON: "
    )


RECORD = {
    "user_input": "How much leave?",
    "reference": "26 days",
    "response": "x",
    "retrieved_contexts": ["y"],
}


def test_ragas_records_are_cases(tmp_path: Path) -> None:
    named = {
        "id": "r1",
        "reference_contexts": ["quote", "more"],
        "reference_context_ids": ["hr/leave.md", 7],
    }
    first, second = read_cases(
        file(tmp_path, lines(RECORD | named, {"user_input": "Pay?", "reference": None}))
    )
    evidence = (Passage(document="hr/leave.md", quote="quote"), Passage(document="7", quote="more"))
    assert first == Case(
        id="r1",
        question="How much leave?",
        references=(Reference(text="26 days"),),
        evidence=evidence,
    )
    assert (second.question, second.references, second.evidence) == ("Pay?", (), ())


def test_a_record_without_an_id_gets_that_of_its_question(tmp_path: Path) -> None:
    (record,) = read_cases(file(tmp_path, lines(RECORD)))
    (row,) = read_cases(file(tmp_path, "question\nHow much leave?\n", "c.csv"))
    (other,) = read_cases(file(tmp_path, lines(RECORD | {"reference": "27 days"}), "o.jsonl"))
    assert record.id == other.id == row.id  # and with it the split
    (zero,) = read_cases(file(tmp_path, lines(RECORD | {"id": 0}), "z.jsonl"))
    assert zero.id == "0"


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"user_input": 7}, "`user_input` is not a text."),
        ({"user_input": " "}, "`question` is empty."),
        ({"reference": 26}, "`reference` is not a text."),
        (
            {"reference_contexts": "quote", "reference_context_ids": "doc"},
            "`reference_contexts` is not a list",
        ),
        (
            {"reference_contexts": ["quote"], "reference_context_ids": [None]},
            "`reference_context_ids` is not a list",
        ),
        (
            {"reference_contexts": [None], "reference_context_ids": ["doc"]},
            "`reference_contexts` is not a list",
        ),
        (
            {"reference_contexts": ["quote"], "reference_context_ids": [" "]},
            "`evidence.0.document` is empty.",
        ),
        ({"id": {}}, "`id` is not a text."),
        ({"id": "a\nb"}, "`id` has a line end"),
    ],
)
def test_records_of_another_shape(tmp_path: Path, fields: dict[str, Any], said: str) -> None:
    assert failure(file(tmp_path, lines(RECORD, RECORD | {"id": "2"} | fields)))[0].startswith(
        f", line 2: {said}"
    )


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ("NaN,25 days", r"line 3: `question` is NaN: a value was lost"),
        ("How many days?,nan", r"line 3: `answer` is nan"),
        (",25 days", r"line 3: `question` is empty"),
    ],
)
def test_lost_values_of_a_csv_are_errors_that_name_the_line(
    tmp_path: Path, row: str, said: str
) -> None:
    file = tmp_path / "cases.csv"
    file.write_text(f"question,answer\nWhat is NaN?,A word.\n{row}\n")
    with pytest.raises(LabError, match=said):
        read_cases(file)
