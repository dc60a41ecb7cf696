from pathlib import Path

import ir_measures
import pytest

from lab.makers import case, gold
from ombud.errors import LabError
from ombud.lab import parse_metric, read_cases, read_qrels, read_rankings, score_rankings
from ombud.lab.cases.exchange import (
    qrels_lines,
    qrels_of,
    read_beir,
    run_lines,
)
from ombud.lab.cases.formats import case_fields
from ombud.lab.metrics.rankings import Qrels, Rankings

QRELS = {"q1": {"d1": 2, "d2": 0}, "q2": {"d3": 1, "d1": -1}}
RUN = {"q1": {"d2": 0.1 + 0.2, "d1": 1e-30, "d9": 1e-30}, "q2": {"d3": -4.0}}


def write_qrels(path: Path, qrels: Qrels) -> None:
    path.write_text("".join(f"{line}\n" for line in qrels_lines(qrels)))


def write_rankings(path: Path, run: Rankings, tag: str = "ombud") -> None:
    path.write_text("".join(f"{line}\n" for line in run_lines(run, tag)))


def test_trec_round_trip_and_the_oracle_reads_the_same(tmp_path: Path) -> None:
    write_qrels(tmp_path / "qrels", QRELS)
    write_rankings(tmp_path / "run", RUN)
    assert read_qrels(tmp_path / "qrels") == QRELS
    assert read_rankings(tmp_path / "run") == RUN
    theirs = list(ir_measures.read_trec_qrels(str(tmp_path / "qrels")))
    assert {(q.query_id, q.doc_id): q.relevance for q in theirs} == {
        (q, d): g for q in QRELS for d, g in QRELS[q].items()
    }
    ranked = [line.split() for line in (tmp_path / "run").read_text().splitlines()]
    assert [(row[2], row[3]) for row in ranked[:3]] == [("d2", "1"), ("d9", "2"), ("d1", "3")]
    (one, two) = score_rankings(
        read_qrels(tmp_path / "qrels"), read_rankings(tmp_path / "run"), [parse_metric("mrr")]
    )
    assert (one.value, two.value) == (1 / 3, 1)


def test_white_space_in_ids(tmp_path: Path) -> None:
    write_qrels(tmp_path / "qrels", {"q 1": {"hr/our leave.md": 1}})
    write_rankings(tmp_path / "run", {"q 1": {"hr/our leave.md": 1.0}}, tag="my run")
    assert read_qrels(tmp_path / "qrels") == {"q%201": {"hr/our%20leave.md": 1}}
    assert read_rankings(tmp_path / "run") == {"q%201": {"hr/our%20leave.md": 1.0}}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("q1 0 d1 1\nq1 0 d1\textra", ", line 2: 3 (BEIR) or 4 (TREC) columns"),
        ("q1 0 d1 high", ", line 1: the grade `high`"),
        ("q1 0 d1 1\n\nq1 0 d1 2", ", line 3: `d1` is judged twice for query `q1`"),
        ("q1 d1", ", line 1: 3 (BEIR)"),
    ],
)
def test_broken_qrels(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "qrels"
    path.write_text(text)
    with pytest.raises(LabError) as wrong:
        read_qrels(path)
    assert str(wrong.value).startswith(f"{path}{said}")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("q1 Q0 d1 1", ", line 1: 6 columns"),
        ("q1 Q0 d1 1 high tag", ", line 1: the score `high`"),
        ("q1 Q0 d1 1 nan tag", ", line 1: the score is not a number"),
        ("q1 Q0 d1 1 2 t\nq1 Q0 d1 2 1 t", ", line 2: `d1` is ranked twice"),
    ],
)
def test_broken_runs(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "run"
    path.write_text(text)
    with pytest.raises(LabError) as wrong:
        read_rankings(path)
    assert str(wrong.value).startswith(f"{path}{said}")


def test_unreadable_files(tmp_path: Path) -> None:
    (tmp_path / "latin").write_bytes(b"q1 0 \xe9 1")
    with pytest.raises(LabError, match="not UTF-8"):
        read_qrels(tmp_path / "latin")
    with pytest.raises(LabError, match="cannot be read"):
        read_rankings(tmp_path / "missing")


CASES = (
    case(
        gold("one", "hr/our leave.md"),
        gold("two", "hr/our leave.md", grade=1),
        gold("x", "b.md", grade=1),
        id="1",
    ),
    case(id="2", question="Who are you?", expect="deny"),
)


def beir(
    folder: Path,
    qrels: str,
    queries: str = '{"_id": "q1", "text": "Leave?"}\n{"_id": "q2", "text": "Pay?"}\n',
) -> Path:
    (folder / "qrels").mkdir()
    (folder / "qrels" / "test.tsv").write_text(qrels)
    (folder / "queries.jsonl").write_text(queries)
    return folder


def test_the_highest_grade_of_a_document_counts() -> None:
    assert qrels_of(CASES) == {"1": {"hr/our leave.md": 2, "b.md": 1}}


def test_a_beir_folder_as_published(tmp_path: Path) -> None:
    folder = beir(tmp_path, "query-id\tcorpus-id\tscore\nq2\tdoc 7\t1\nq2\td8\t0\nq2\td9\t3\n")
    (only,) = read_cases(folder)
    assert only == case(gold(uri="doc 7", grade=1), gold(uri="d9"), id="q2", question="Pay?")


def test_beir_that_does_not_fit(tmp_path: Path) -> None:
    folder = beir(tmp_path, "query-id\tcorpus-id\tscore\nq3\td\t1\n")
    with pytest.raises(LabError, match="query `q3` of the qrels is not in it"):
        read_beir(folder)


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ("{", "not valid JSON"),
        ('{"_id": 1, "text": "a"}', "`_id` is missing or not"),
        ("[]", "`_id`"),
    ],
)
def test_broken_queries(tmp_path: Path, row: str, said: str) -> None:
    with pytest.raises(LabError, match=f"line 1: {said}"):
        read_beir(beir(tmp_path, "q1\td\t1\n", row))


def test_a_number_of_too_many_digits_in_queries_is_said_and_no_crash(tmp_path: Path) -> None:
    with pytest.raises(LabError, match="line 1: not valid JSON"):
        read_beir(beir(tmp_path, "q1\td\t1\n", f'{{"_id": {"9" * 5000}}}'))


def test_ids_with_line_ends_stay_one_line_in_trec(tmp_path: Path) -> None:
    write_qrels(tmp_path / "qrels", {"q\n1": {"a\r\nb\u2028c": 1, "": 2}})
    assert read_qrels(tmp_path / "qrels") == {"q%201": {"a%20%20b%20c": 1, "%20": 2}}


@pytest.mark.parametrize("name", ["reference_contexts", "reference_context_ids"])
def test_records_name_their_evidence_with_both_lists_or_have_none(name: str) -> None:
    assert case_fields({"user_input": "q", name: ["a"]})["evidence"] == []
    assert case_fields({"user_input": "q", "id": "", name: None})["id"].startswith("q-")
