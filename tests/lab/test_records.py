import csv
import json
from io import StringIO
from pathlib import Path
from typing import Any

import ir_measures
import pytest

from lab.makers import case, cites, gold, hit, says
from ombud.errors import UnknownName
from ombud.lab import (
    RecordedRun,
    closing,
    export,
    parse_metric,
    read_cases,
    read_rankings,
    score_rankings,
)
from ombud.lab.cases.exchange import qrels_of
from ombud.lab.runs.records import FORMATS
from ombud.types import Case, Observation, Person, Run, Score, Trace

CASES = (
    case(
        gold("26 days", "hr/our leave.md"),
        references=("26.",),
        id="c1",
        tags=("x",),
        person=Person(country="GB"),
    ),
    case(id="c2", question="Who wins?", expect="deny", type="off_topic"),
)
HITS = (
    hit("other words", "b.md", score=0.5),
    hit("26 days", "hr/our leave.md", score=0.25, header="| a |"),
    hit("more", "b.md", 20, 0.75),
)
SEEN = (
    Observation(
        case=CASES[0], hits=HITS, answer=says("26 [1]", cites("26 days")), lost="ranked below k"
    ),
    Observation(case=CASES[1], error="down"),
)
SCORES = (
    Score(case_id="c1", metric="mrr", value=0.5),
    Score(case_id="c1", metric="latency", value=-0.0),
    Score(case_id="c2", metric="mrr", value=None, reason="the target failed: down"),
)


def recorded(*seen: Observation, scores: tuple[Score, ...] = (), **run: str) -> RecordedRun:
    return RecordedRun(Run(**{"id": "r", "name": "my run", "dataset": "d"} | run), seen, scores)


RUN = recorded(*SEEN, scores=SCORES)


def rows(run: RecordedRun, form: str) -> list[Any]:
    text = "".join(export(run, form))
    return (
        list(csv.DictReader(StringIO(text)))
        if form == "csv"
        else [json.loads(s) for s in text.split("\n") if s]
    )


def test_jsonl_holds_everything_observed() -> None:
    first, second = rows(RUN, "jsonl")
    assert (first.pop("scores"), second.pop("scores")) == (
        {"mrr": 0.5, "latency": 0.0},
        {"mrr": None},
    )
    assert [Observation.model_validate(row) for row in (first, second)] == list(SEEN)


def test_csv_has_a_line_a_case_and_a_column_a_metric() -> None:
    first, second = rows(RUN, "csv")
    assert first == {
        "id": "c1",
        "question": "How much leave do I have?",
        "type": "simple",
        "country": "GB",
        "persona": "employee",
        "expect": "answer",
        "outcome": "full",
        "action": "none",
        "error": "",
        "lost": "ranked below k",
        "mrr": "0.5",
        "latency": "-0.0",
    }
    assert (second["outcome"], second["error"], second["mrr"], second["latency"]) == (
        "",
        "down",
        "",
        "",
    )


@pytest.mark.parametrize(
    "text",
    [
        'a "quoted", text',
        "two\nlines",
        "two\r\nlines",
        "old\rmac",
        "line\u2028separator",
        "semi;colon\ttab",
        "'",
    ],
)
def test_any_text_stays_one_cell(text: str) -> None:
    run = recorded(Observation(case=case(question=text)), Observation(case=case(id="c2")))
    assert [row["question"] for row in rows(run, "csv")] == [text, "How much leave do I have?"]


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠"])
def test_a_spreadsheet_runs_no_cell_as_a_formula(start: str) -> None:
    evil = f'{start}HYPERLINK("http://x")'
    run = recorded(
        Observation(case=case(id=evil, question=evil), error=evil),
        scores=(Score(case_id=evil, metric="mrr", value=0),),
    )
    (row,) = rows(run, "csv")
    assert (row["id"], row["question"], row["error"]) == (f"'{evil}",) * 3
    assert row["mrr"] == "0.0"


def test_a_negative_number_stays_a_number() -> None:
    run = recorded(
        SEEN[0], scores=(Score(case_id="c1", metric="semantic_similarity", value=-0.25),)
    )
    assert rows(run, "csv")[0]["semantic_similarity"] == "-0.25"


def test_ragas_records_have_its_columns() -> None:
    first, second = rows(RUN, "ragas")
    assert first == {
        "id": "c1",
        "user_input": "How much leave do I have?",
        "retrieved_contexts": ["other words", "| a |\n26 days", "more"],
        "retrieved_context_ids": ["b.md", "hr/our leave.md", "b.md"],
        "response": "26 [1]",
        "reference": "26.",
        "reference_contexts": ["26 days"],
        "reference_context_ids": ["hr/our leave.md"],
    }
    assert (second["retrieved_contexts"], second["response"], second["reference"]) == ([], "", "")


def test_ragas_records_are_read_back_as_cases(tmp_path: Path) -> None:
    path = tmp_path / "records.jsonl"
    path.write_text("".join(export(RUN, "ragas")))
    back = read_cases(path)
    assert [(one.id, one.question) for one in back] == [(one.id, one.question) for one in CASES]
    assert (back[0].references, back[0].evidence) == (CASES[0].references, CASES[0].evidence)


def test_a_trec_run_ranks_documents_by_their_best_passage_and_the_oracle_agrees(
    tmp_path: Path,
) -> None:
    lines = list(export(RUN, "trec"))
    assert lines == ["c1 Q0 b.md 1 0.75 my%20run\n", "c1 Q0 hr/our%20leave.md 2 0.25 my%20run\n"]
    (tmp_path / "run").write_text("".join(lines))
    (tmp_path / "qrels").write_text("".join(export(RUN, "qrels")))
    judged = list(ir_measures.read_trec_qrels(str(tmp_path / "qrels")))
    theirs = ir_measures.calc_aggregate(
        [ir_measures.RR], judged, ir_measures.read_trec_run(str(tmp_path / "run"))
    )
    assert theirs == {ir_measures.RR: 0.5}
    qrels = {"c1": {"hr/our%20leave.md": 2}}
    (ours,) = score_rankings(qrels, read_rankings(tmp_path / "run"), [parse_metric("mrr")])
    assert ours.value == 0.5
    assert qrels_of(CASES) == {"c1": {"hr/our leave.md": 2}}


@pytest.mark.parametrize("form", FORMATS)
def test_every_format_takes_a_run_with_nothing_in_it(form: str) -> None:
    lines = list(export(recorded(), form))
    assert lines == (
        ["id,question,type,country,persona,expect,outcome,action,error,lost\n"]
        if form == "csv"
        else []
    )


def test_an_unknown_format_is_said_before_anything_is_written() -> None:
    with pytest.raises(UnknownName, match="`xlsx`") as wrong:
        export(RUN, "xlsx")
    assert wrong.value.hint == "Known: jsonl, csv, ragas, trec, qrels."


def test_a_large_run_is_exported_line_by_line() -> None:
    many = [Case(id=f"c{number}", question="q") for number in range(10_000)]
    scores = tuple(Score(case_id=one.id, metric="mrr", value=1.0) for one in many)
    lines = export(recorded(*(Observation(case=one) for one in many), scores=scores), "csv")
    assert next(lines).endswith(",lost,mrr\n")
    assert next(lines) == "c0,q,simple,,employee,answer,,,,,1.0\n"
    assert sum(1 for _ in lines) == 9_999


def test_prices_of_some_answers_are_not_the_price_of_all() -> None:
    priced = Trace(model="m", tokens_in=90, tokens_out=10, price=0.02)
    seen = [
        Observation(case=case(id=f"{n}"), answer=says("x", trace=trace))
        for n, trace in enumerate([priced, priced, Trace(model="n", tokens_in=10), Trace()])
    ]
    said = closing(recorded(*seen))
    assert "0.0400 US dollars and what 1 of 4 answers cost, whose price is not known." in said
    assert "Cost: 200 tokens, 0.0400 US dollars." in closing(recorded(*seen[:2]))
