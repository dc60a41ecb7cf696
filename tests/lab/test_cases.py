import json
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab.files import GOOD, failure, file, lines
from ombud.lab import read_cases
from ombud.lab.cases.files import cases_text
from ombud.types import Case, Message, Passage, Person, Reference

FULL = Case(
    id="c-1",
    question="And in a leap year?\u2028Really?",
    type="conversational",
    person=Person(country="GB", roles=("engineer",), grade="B"),
    history=(Message(role="user", content="How much leave?"),),
    as_of=date(2024, 2, 29),
    expect="answer",
    references=(Reference(text="26 days", persona="employee"),),
    evidence=(Passage(document="hr/leave.md", quote="In leap years | 26 |", grade=1, page=3),),
    tags=("typo",),
)


def test_round_trip(tmp_path: Path) -> None:
    cases = (FULL, Case(id="c-2", question="Short?", type="off_topic", expect="deny"))
    (tmp_path / "out.jsonl").write_text(cases_text(cases), encoding="utf-8")
    assert read_cases(tmp_path / "out.jsonl") == cases
    short = json.loads((tmp_path / "out.jsonl").read_text().split("\n")[1])
    assert short == {"id": "c-2", "question": "Short?", "type": "off_topic", "expect": "deny"}


@given(question=st.text(min_size=1).filter(str.strip), tags=st.lists(st.text()))
def test_any_text_survives(
    tmp_path_factory: pytest.TempPathFactory, question: str, tags: list[str]
) -> None:
    path = tmp_path_factory.mktemp("cases") / "any.jsonl"
    cases = (Case(id="c", question=question, tags=tuple(tags)),)
    path.write_text(cases_text(cases), encoding="utf-8")
    assert read_cases(path) == cases


def test_blank_lines_bom_and_windows_line_ends(tmp_path: Path) -> None:
    text = (
        "\ufeff"
        + lines({"id": "1", "question": "a"})
        + "\r\n\r\n"
        + lines({"id": "2", "question": "b"})
        + "\r\n"
    )
    assert [case.id for case in read_cases(file(tmp_path, text))] == ["1", "2"]


def with_evidence(fields: dict[str, Any]) -> dict[str, Any]:
    return GOOD | {"evidence": [{"document": "d"} | fields]}


@pytest.mark.parametrize(
    ("row", "said", "hint"),
    [
        (GOOD | {"expcet": "deny"}, "`expcet` is not a field.", "Did you mean `expect`?"),
        (
            with_evidence({"qoute": "q"}),
            "`evidence.0.qoute` is not a field (1 more in",
            "Did you mean `quote`?",
        ),
        (
            GOOD | {"person": {"contry": "GB"}},
            "`person.contry` is not a field.",
            "Did you mean `country`?",
        ),
        ({"id": "1"}, "`question` is missing.", ""),
        (GOOD | {"references": [{}]}, "`references.0.text` is missing.", ""),
        (
            GOOD | {"expect": "maybe"},
            "`expect`: input should be",
            "'answer', 'deny', 'clarify' or 'handoff'",
        ),
        (
            with_evidence({"quote": "q", "grade": 3}),
            "`evidence.0.grade`: input should be 1 or 2",
            "It takes 1 or 2.",
        ),
        (GOOD | {"as_of": "31.12.2024"}, "`as_of`: input should be a valid date", ""),
        (GOOD | {"id": 7}, "`id`: input should be a valid string", ""),
        (GOOD | {"id": " "}, "`id` is empty.", ""),
        (GOOD | {"question": ""}, "`question` is empty.", ""),
        (GOOD | {"person": {"country": "gb"}}, "`person.country` is not an ISO country code", ""),
        (with_evidence({"document": "", "quote": "q"}), "`evidence.0.document` is empty.", ""),
        (with_evidence({"quote": "q", "page": 0}), "`evidence.0.page` counts from 1.", ""),
        (GOOD | {"question": "\ud800"}, "half a character", "UTF-8"),
        ([1], "not a JSON object.", ""),
    ],
)
def test_errors_name_file_line_and_field(tmp_path: Path, row: Any, said: str, hint: str) -> None:
    message, hinted = failure(file(tmp_path, lines({"id": "0", "question": "fine"}, row)))
    assert message.startswith(f", line 2: {said}")
    assert hint in hinted


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"id": "1",}', ", line 1: not valid JSON: "),
        ("[" * 100_000, ", line 1: not valid JSON: "),
        (b'{"id": "\xff"}', ": not UTF-8 (byte 8)"),
        ("", ": no cases in it"),
        (lines(GOOD, {"id": "2", "question": "b"}, GOOD), ", line 3: id `1` was used before ("),
    ],
)
def test_broken_files(tmp_path: Path, text: str | bytes, said: str) -> None:
    assert failure(file(tmp_path, text))[0].startswith(said)


def test_a_repeated_id_says_where_it_was_first(tmp_path: Path) -> None:
    assert "cases.jsonl, line 1)" in failure(file(tmp_path, lines(GOOD, GOOD)))[0]


def test_files_that_are_no_cases(tmp_path: Path) -> None:
    assert "cannot be read" in failure(tmp_path / "missing.jsonl")[0]
    message, hint = failure(file(tmp_path, "x", "cases.xlsx"))
    assert "not a format" in message
    assert ".jsonl, .csv" in hint


def test_csv_with_aliases(tmp_path: Path) -> None:
    header = "Question ID,User Input,Ground-Truth,Labels,Country,Question Type"
    text = header + '\r\n7,"How, much?",25 days,a; b,gb,Rule Conclusion\r\n\r\n'
    (case,) = read_cases(file(tmp_path, text, "cases.csv"))
    assert case == Case(
        id="7",
        question="How, much?",
        references=(Reference(text="25 days"),),
        tags=("a", "b"),
        person=Person(country="GB"),
        type="rule_conclusion",
    )


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_csv_delimiters_and_evidence(tmp_path: Path, delimiter: str) -> None:
    rows = [
        ["question", "expected answer", "document", "quote", "page"],
        ["Leave?", "25", "hr/leave.pdf", "25 days", "2"],
    ]
    path = file(tmp_path, "\n".join(delimiter.join(row) for row in rows), "cases.csv")
    (case,) = read_cases(path)
    assert case.evidence == (Passage(document="hr/leave.pdf", quote="25 days", page=2),)
    assert case.expect == "answer"


def test_a_csv_id_follows_from_the_question(tmp_path: Path) -> None:
    one = read_cases(file(tmp_path, "question\nfirst\nsecond\n", "a.csv"))
    two = read_cases(file(tmp_path, "question\nsecond\nthird\n", "b.csv"))
    assert one[1].id == two[0].id
    assert len({case.id for case in one + two}) == 3
    assert "was used before" in failure(file(tmp_path, "question\nsame\nsame\n", "c.csv"))[0]


def test_what_a_csv_row_expects(tmp_path: Path) -> None:
    text = (
        "question,type,expect\na,unanswerable,\nb,sensitive,\nc,vague,\nd,double,\ne,simple,Deny\n"
    )
    assert [c.expect for c in read_cases(file(tmp_path, text, "c.csv"))] == [
        "deny",
        "handoff",
        "clarify",
        "answer",
        "deny",
    ]


@pytest.mark.parametrize(
    ("text", "said", "hint"),
    [
        ("question,anwser\na,b\n", ", line 1: `anwser` is not a column.", "Did you mean `answer`?"),
        ("question,query\na,b\n", ", line 1: two columns mean `question`.", ""),
        ("answer\nb\n", ", line 1: no `question` column.", "Columns: question"),
        ("question,answer\na,b\nc,d,e\n", ", line 3: 3 cells under 2 headers.", ""),
        ('question,answer\n"a\nb",c\n,d\n', ", line 4: `question` is empty.", ""),
        ("question,type\na,silly\n", ", line 2: `type`: input should be", "simple"),
        ("question,country\na,Britain\n", ", line 2: `person.country` is not", ""),
        ("question,quote\na,b\n", ", line 2: `quote` without `document`.", ""),
        ("question,page,document\na,x,d\n", ", line 2: `evidence.0.page`: ", ""),
        ('question\n"a\n', ", line 2: not valid CSV", ""),
        ("", ": no cases in it.", ""),
    ],
)
def test_broken_csv(tmp_path: Path, text: str, said: str, hint: str) -> None:
    message, hinted = failure(file(tmp_path, text, "cases.csv"))
    assert message.startswith(said)
    assert hint in hinted
