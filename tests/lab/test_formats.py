"""Datasets of other tools: what each writes becomes cases, and a fault names file and line."""

import json
from pathlib import Path
from typing import Any

import pytest

from lab.files import failure, file, lines
from ombud.errors import LabError
from ombud.lab import read_cases
from ombud.lab.cases.files import parse_columns

QUESTION = "How many days of leave do I have?"
MESSAGES = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "Hello"},
    {"role": "assistant", "content": "Hello, how can I help?"},
    {"role": "user", "content": QUESTION},
]
LANGFUSE = {
    "id": "item-1",
    "input": {"question": QUESTION},
    "expectedOutput": {"answer": "26 days."},
    "metadata": {"source": "leave.md"},
    "status": "ACTIVE",
}


@pytest.mark.parametrize(
    "row",
    [
        {"question": QUESTION, "answer": "no", "contexts": ["x"], "ground_truth": "26 days."},
        {"question": QUESTION, "contexts": ["x"], "ground_truths": ["26 days."]},
        {"user_input": QUESTION, "response": "no", "reference": "26 days."},
        {"inputs": {"question": QUESTION}, "outputs": {"answer": "26 days."}},
        {"inputs": {"messages": MESSAGES}, "outputs": {"output": "26 days."}},
        LANGFUSE,
        {"input": QUESTION, "expectedOutput": "26 days.", "id": "b"},
        {"id": "x", "input": {"query": QUESTION}, "output": {"messages": [
            {"role": "assistant", "content": [{"type": "text", "text": "26 days."}]}]}},
        {"input": json.dumps({"q": QUESTION}), "expected_output": "26 days."},
    ],
    ids=["ragas 0.1", "ragas lists", "ragas 0.2", "langsmith", "langsmith messages", "langfuse",
         "langfuse text", "phoenix", "langfuse json in text"],
)  # fmt: skip
@pytest.mark.parametrize("form", ["jsonl", "json"])
def test_records_of_other_tools(tmp_path: Path, row: dict[str, Any], form: str) -> None:
    text = lines(row) if form == "jsonl" else json.dumps([row], indent=2)
    (case,) = read_cases(file(tmp_path, text, f"cases.{form}"))
    assert case.question == QUESTION
    assert [reference.text for reference in case.references] == ["26 days."]


def test_messages_before_the_question_are_its_history(tmp_path: Path) -> None:
    (case,) = read_cases(file(tmp_path, lines({"inputs": {"messages": MESSAGES}})))
    turns = [(message.role, message.content) for message in case.history]
    assert turns == [("user", "Hello"), ("assistant", "Hello, how can I help?")]


@pytest.mark.parametrize(
    "header",
    [
        "question,answer,contexts,ground_truth",
        "user_input,response,retrieved_contexts,reference",
        "example_id,input_question,metadata_topic,output_answer",
        "id,inputs.question,metadata,outputs.answer",
    ],
)
def test_tables_of_other_tools(tmp_path: Path, header: str) -> None:
    cells = {"answer": "no", "response": "no", "id": "1", "example_id": "1"}
    row = []
    for name in header.split(","):
        is_question = name.endswith("question") or name == "user_input"
        is_answer = name in {"ground_truth", "reference", "output_answer", "outputs.answer"}
        row.append(QUESTION if is_question else "26 days." if is_answer else cells.get(name, "[]"))
    (case,) = read_cases(file(tmp_path, f"{header}\n{','.join(row)}\n", "cases.csv"))
    assert (case.question, case.references[0].text) == (QUESTION, "26 days.")


def test_what_an_interface_returns_is_read_whole(tmp_path: Path) -> None:
    phoenix = {"data": {"dataset_id": "d", "examples": [{"id": "1", "input": {"q": QUESTION}}]}}
    (case,) = read_cases(file(tmp_path, json.dumps(phoenix), "cases.json"))
    assert (case.id, case.question) == ("1", QUESTION)
    (case,) = read_cases(file(tmp_path, json.dumps({"data": [LANGFUSE], "meta": {}}), "two.json"))
    assert case.id == "item-1"


def test_columns_say_where_things_stand(tmp_path: Path) -> None:
    table = file(tmp_path, f"Nr,Frage,Soll,Datei\n7,{QUESTION},26 days.,leave.md\n", "cases.csv")
    columns = parse_columns("id=Nr,question=Frage,answer=Soll,document=Datei")
    (case,) = read_cases(table, columns)
    assert (case.id, case.question, case.evidence[0].document) == ("7", QUESTION, "leave.md")
    found = parse_columns("question=input.question,document=metadata.source")
    (case,) = read_cases(file(tmp_path, lines(LANGFUSE)), found)
    assert (case.question, case.evidence[0].document) == (QUESTION, "leave.md")


@pytest.mark.parametrize(
    ("columns", "why"),
    [
        ("question=Farge", "line 1: no column `Farge` for `question`"),
        ("qestion=Frage", "no field `qestion`"),
        ("answer=Soll", "does not say where the question stands"),
        ("question", "is no FIELD=COLUMN"),
    ],
)
def test_columns_that_are_wrong(tmp_path: Path, columns: str, why: str) -> None:
    table = file(tmp_path, f"Frage,Soll\n{QUESTION},26\n", "cases.csv")
    with pytest.raises(LabError, match=why):
        read_cases(table, parse_columns(columns))


def test_faults_name_file_and_line(tmp_path: Path) -> None:
    good = {"inputs": {"question": QUESTION}}
    bad = {"inputs": {"a": "x", "b": "y"}}
    assert failure(file(tmp_path, lines(good, bad)))[0] == ", line 2: no question in `input`."
    text = "[\n" + json.dumps(good) + ",\n" + json.dumps(bad) + "\n]"
    assert failure(file(tmp_path, text, "a.json"))[0] == ", line 3: no question in `input`."
    assert ", line 2: not valid JSON" in failure(file(tmp_path, "[\n{]", "b.json"))[0]
    assert failure(file(tmp_path, "{}", "c.json"))[0] == ": no list of records."
    csv = f"question\n{QUESTION}\nNaN\n"
    assert failure(file(tmp_path, csv, "d.csv"))[0].startswith(", line 3: `question` is NaN: ")


TOPICS = """<top>
<num> Number: 301
<title> annual leave

<desc> Description:
How long is it?
</top>
<top>
<num> Number: 302
<title>
sick pay
</top>
"""


@pytest.mark.parametrize(
    ("name", "text"),
    [("topics.txt", TOPICS), ("queries.tsv", "301\tannual leave\n302\tsick pay\n")],
)
def test_a_trec_folder_is_its_judged_topics(tmp_path: Path, name: str, text: str) -> None:
    file(tmp_path, text, name)
    file(tmp_path, "301 0 leave.md 2\n301 0 pay.md 0\n302 0 sick.md 1\n", "qrels.txt")
    first, second = read_cases(tmp_path)
    assert (first.id, first.question) == ("301", "annual leave")
    assert [(item.document, item.grade) for item in first.evidence] == [("leave.md", 2)]
    assert (second.question, second.evidence[0].grade) == ("sick pay", 1)


def test_a_topic_that_is_judged_and_not_there(tmp_path: Path) -> None:
    file(tmp_path, "301\tannual leave\n", "queries.tsv")
    file(tmp_path, "303 0 leave.md 2\n", "qrels.txt")
    with pytest.raises(LabError, match=r"topic `303` of qrels.txt is not in it"):
        read_cases(tmp_path)
