"""Answers that were given elsewhere: traces and records become runs that are scored and compared."""

import json
from pathlib import Path
from typing import Any

import pytest

from lab.files import file, lines
from lab.keeping import home_with, said, told
from lab.makers import case, gold
from ombud.errors import LabError
from ombud.lab import cases_text, read_answers
from ombud.types import Observation

QUESTION = "How many days of leave do I have?"
PASSAGE = "All staff have 26 days of leave."
KNOWN = case(gold(PASSAGE, "leave.md"), id="leave", question=QUESTION, references=("26 days.",))


def attribute(key: str, value: Any) -> dict[str, Any]:
    kinds = {int: "intValue", str: "stringValue"}
    return {"key": key, "value": {kinds[type(value)]: str(value)}}


def otlp(*spans: tuple[str, int, int, dict[str, Any]]) -> dict[str, Any]:
    """One trace: (parent, start, end in ms, attributes)."""
    rows = []
    for number, (parent, start, end, attributes) in enumerate(spans):
        rows.append(
            {
                "traceId": "t1",
                "spanId": f"s{number}",
                "parentSpanId": parent,
                "startTimeUnixNano": str(start * 1_000_000),
                "endTimeUnixNano": str(end * 1_000_000),
                "attributes": [attribute(key, value) for key, value in attributes.items()],
            }
        )
    return {"resourceSpans": [{"scopeSpans": [{"spans": rows}]}]}


def message(role: str, text: str) -> str:
    return json.dumps([{"role": role, "parts": [{"type": "text", "content": text}]}])


GENAI = otlp(
    ("", 0, 900, {}),
    (
        "s0",
        10,
        100,
        {
            "gen_ai.operation.name": "retrieval",
            "gen_ai.retrieval.documents": json.dumps([{"id": "leave.md", "content": PASSAGE}]),
        },
    ),
    (
        "s0",
        100,
        800,
        {
            "gen_ai.input.messages": message("user", QUESTION),
            "gen_ai.output.messages": message("assistant", "26 days."),
            "gen_ai.usage.input_tokens": 90,
            "gen_ai.usage.output_tokens": 7,
        },
    ),
)
OPENINFERENCE = otlp(
    ("", 0, 900, {"input.value": QUESTION, "output.value": "26 days."}),
    (
        "s0",
        10,
        100,
        {
            "retrieval.documents.0.document.content": PASSAGE,
            "retrieval.documents.0.document.id": "leave.md",
        },
    ),
    ("s0", 100, 800, {"llm.token_count.prompt": 90, "llm.token_count.completion": 7}),
)
CONSOLE = {
    "name": "chat",
    "context": {"trace_id": "0x1", "span_id": "0x2"},
    "parent_id": None,
    "start_time": "2026-01-01T10:00:00.000000Z",
    "end_time": "2026-01-01T10:00:00.900000Z",
    "attributes": {
        "gen_ai.input.messages": message("user", QUESTION),
        "gen_ai.output.messages": message("assistant", "26 days."),
        "gen_ai.retrieval.documents": json.dumps([{"id": "leave.md", "content": PASSAGE}]),
        "gen_ai.usage.input_tokens": 90,
        "gen_ai.usage.output_tokens": 7,
    },
}
LANGFUSE = {
    "id": "trace-1",
    "input": {"question": QUESTION},
    "output": {"answer": "26 days."},
    "latency": 0.9,
    "totalCost": 0.002,
    "observations": [
        {
            "type": "RETRIEVER",
            "output": [{"page_content": PASSAGE, "metadata": {"source": "leave.md"}}],
        },
        {"type": "GENERATION", "usageDetails": {"input": 90, "output": 7}},
    ],
}


def seen(path: Path) -> Observation:
    (one,) = read_answers(path)
    return one


@pytest.mark.parametrize("trace", [GENAI, OPENINFERENCE, CONSOLE, LANGFUSE])
@pytest.mark.parametrize("form", ["jsonl", "json"])
def test_a_trace_is_a_question_its_passages_and_its_answer(
    tmp_path: Path, trace: dict[str, Any], form: str
) -> None:
    text = lines(trace) if form == "jsonl" else json.dumps([trace], indent=1)
    one = seen(file(tmp_path, text, f"traces.{form}"))
    assert one.case.question == QUESTION
    assert one.answer is not None
    assert one.answer.text == "26 days."
    assert [(hit.chunk.uri, hit.chunk.text) for hit in one.hits or ()] == [("leave.md", PASSAGE)]
    assert (one.answer.trace.tokens_in, one.answer.trace.tokens_out) == (90, 7)
    assert one.seconds == pytest.approx(0.9)
    assert ("price" in one.lacks) == (trace is not LANGFUSE)


def test_what_a_trace_does_not_say_is_not_made_up(tmp_path: Path) -> None:
    bare = {"id": "t", "input": QUESTION, "output": "26 days."}
    one = seen(file(tmp_path, lines(bare)))
    assert one.hits is None
    assert {"contexts", "ids", "tokens", "price", "outcome"} <= set(one.lacks)
    assert one.seconds is None


def test_traces_are_scored_against_the_cases_that_ask_the_same(tmp_path: Path) -> None:
    home = home_with(tmp_path)
    traces = file(tmp_path, lines(GENAI), "traces.jsonl")
    cases = file(tmp_path, cases_text([KNOWN]), "cases.jsonl")
    run = told(
        home, "import", traces, "--run", "live", "--cases", cases, "--metrics",
        "recall@5,token_f1,tokens,price",
    )  # fmt: skip
    means = {row["metric"]: row["mean"] for row in run["metrics"] if row["group"] == "overall"}
    assert means == {"recall@5": 1.0, "token_f1": 1.0, "tokens": 97.0, "price": None}
    assert "live" in said(home, "show")


def test_an_exported_run_comes_back_and_gates(tmp_path: Path) -> None:
    home = home_with(tmp_path)
    traces = file(tmp_path, lines(GENAI), "traces.jsonl")
    cases = file(tmp_path, cases_text([KNOWN]), "cases.jsonl")
    metrics = ("--metrics", "recall@5,token_f1")
    said(home, "import", traces, "--run", "main", "--cases", cases, *metrics)
    exported = tmp_path / "baseline.jsonl"
    said(home, "export", "main", "--out", exported)
    said(home, "import", exported, "--run", "baseline", *metrics)
    assert said(home, "gate", "--baseline", "baseline", "--candidate", "main").startswith("PASS")


def test_records_of_ragas_with_a_response_are_answers(tmp_path: Path) -> None:
    record = {
        "user_input": QUESTION,
        "response": "26 days.",
        "retrieved_contexts": [PASSAGE],
        "reference": "26 days.",
    }
    one = seen(file(tmp_path, lines(record)))
    assert one.case.references[0].text == "26 days."
    assert [hit.chunk.text for hit in one.hits or ()] == [PASSAGE]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("{", "not valid JSON: line 1"),
        ("[1]", "line 1: not a JSON object"),
        (lines(LANGFUSE, {"resourceSpans": [{"scopeSpans": [{"spans": [{}]}]}]}), "line 2: "),
        (lines({"id": "t", "input": QUESTION}), "no question with an answer"),
    ],
)
def test_faults_name_file_and_line(tmp_path: Path, text: str, why: str) -> None:
    path = file(tmp_path, text)
    with pytest.raises(LabError) as wrong:
        read_answers(path)
    assert str(path) in str(wrong.value)
    assert why in str(wrong.value)


def test_other_questions_are_none_of_the_cases(tmp_path: Path) -> None:
    path = file(tmp_path, lines(GENAI))
    with pytest.raises(LabError, match="none of its 1 questions is one of the cases"):
        read_answers(path, [case(question="Another?")])


def test_datasets_are_written_as_cases(tmp_path: Path) -> None:
    table = file(tmp_path, f"Frage,Soll\n{QUESTION},26 days.\n", "cases.csv")
    out = tmp_path / "cases.jsonl"
    printed = said(
        home_with(tmp_path), "import", table, "--columns", "question=Frage,answer=Soll",
        "--out", out,
    )  # fmt: skip
    assert printed.startswith("Wrote 1 cases")
    assert json.loads(out.read_text())["references"] == [{"text": "26 days."}]


def test_live_conversations_need_consent(tmp_path: Path) -> None:
    home = home_with(tmp_path)
    words = ("import", "--past-questions", "--run", "live")
    assert "nothing says that they have agreed" in said(home, *words, code=1)
    (home / "ombud.toml").write_text("[lab]\nharvest = true\n", encoding="utf-8")
    assert "None of 0 live answers can be taken" in said(home, *words, code=1)
