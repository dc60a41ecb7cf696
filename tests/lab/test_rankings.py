"""trec_eval (through ir_measures and pytrec_eval) is the oracle; hand-made vectors say what it
cannot."""

import random
from math import log2

import ir_measures
import pytest
from ir_measures import AP, RR, P, R, Success, nDCG

from ombud.errors import UnknownName
from ombud.lab import parse_metric, score_rankings

CUTS = (1, 3, 5, 10)


def oracle(
    qrels: dict[str, dict[str, int]], run: dict[str, dict[str, float]]
) -> dict[tuple[str, str], float]:
    """(query, our name) -> trec_eval's value. The provider knows no RR@k and no exponential gain:
    derived here."""
    judged = [
        ir_measures.Qrel(q, d, max(g, 0)) for q, grades in qrels.items() for d, g in grades.items()
    ]
    raised = [ir_measures.Qrel(row.query_id, row.doc_id, 2**row.relevance - 1) for row in judged]
    docs = [ir_measures.ScoredDoc(q, d, s) for q, scores in run.items() for d, s in scores.items()]
    names = {AP: "map", RR: "mrr"} | {m @ k: f"{n}@{k}" for k in CUTS for m, n in COUNTED.items()}
    values = {
        (row.query_id, names[row.measure]): row.value
        for row in ir_measures.pytrec_eval.iter_calc(list(names), judged, docs)
    }
    for row in ir_measures.pytrec_eval.iter_calc([nDCG @ k for k in CUTS], raised, docs):
        values[row.query_id, f"ndcg_exp@{row.measure.params['cutoff']}"] = row.value
    for query in qrels:
        rank = values[query, "mrr"]
        values |= {(query, f"mrr@{k}"): rank if rank * k >= 1 - 1e-9 else 0.0 for k in CUTS}
    return values


COUNTED = {R: "recall", P: "precision", Success: "hit", nDCG: "ndcg"}
METRICS = [
    parse_metric(text)
    for text in [
        "map",
        "mrr",
        *(f"{n}@{k}" for k in CUTS for n in (*COUNTED.values(), "mrr", "ndcg_exp")),
    ]
]


def random_collection(seed: int) -> tuple[dict[str, dict[str, int]], dict[str, dict[str, float]]]:
    draw = random.Random(seed)
    documents = [f"d{n}" for n in range(draw.randint(1, 25))] + ["doc-é", "Z"]
    qrels, run = {}, {}
    for query in (f"q{n}" for n in range(draw.randint(1, 4))):
        grades = {
            d: draw.choice([-1, 0, 0, 1, 1, 2, 3])
            for d in draw.sample(documents, draw.randint(1, len(documents)))
        }
        qrels[query] = grades | {draw.choice(documents): draw.randint(1, 3)}
        ranking = draw.sample(documents, draw.randint(0, len(documents)))
        # Few distinct scores make many ties; the tiny step is a tie in single precision only.
        run[query] = {
            d: draw.choice([1.0, 1.0 + 1e-10, 2.5, 0.1, -3.0, draw.random()]) for d in ranking
        }
        if not ranking or draw.random() < 0.1:
            del run[query]
    run["only-in-the-run"] = {"d0": 1.0}
    return qrels, run


@pytest.mark.parametrize("block", range(10))
def test_equal_to_trec_eval_on_1000_random_runs(block: int) -> None:
    for seed in range(block * 100, block * 100 + 100):
        qrels, run = random_collection(seed)
        expected = oracle(qrels, run)
        scores = score_rankings(qrels, run, METRICS)
        assert len(scores) == len(qrels) * len(METRICS) == len(expected)
        for score in scores:
            assert score.value == pytest.approx(expected[score.case_id, score.metric], abs=1e-9), (
                seed,
                score,
            )


def value(metric: str, grades: dict[str, int], scores: dict[str, float]) -> float | None:
    (score,) = score_rankings(
        {"q": grades}, {"q": scores} if scores else {}, [parse_metric(metric)]
    )
    return score.value


def test_gains_linear_and_exponential() -> None:
    # Järvelin & Kekäläinen: grades 3, 2, 3, 0, 1, 2 in this order, all that is relevant.
    grades = {"a": 3, "b": 2, "c": 3, "d": 0, "e": 1, "f": 2}
    scores = {name: -float(rank) for rank, name in enumerate("abcdef")}
    best = 3 + 3 / log2(3) + 2 / 2 + 2 / log2(5) + 1 / log2(6)
    assert value("ndcg@6", grades, scores) == pytest.approx(6.861126688593501 / best)
    assert value("ndcg@6", grades, scores) == pytest.approx(0.9608, abs=5e-5)
    assert value("ndcg_exp@6", grades, scores) == pytest.approx(0.9488, abs=5e-5)


def test_ties_go_to_the_greater_id() -> None:
    assert value("mrr", {"b": 1}, {"a": 1.0, "b": 1.0, "c": 1.0}) == 0.5
    assert value("mrr", {"c": 1}, {"a": 1.0, "b": 1.0, "c": 1.0}) == 1.0
    assert value("mrr", {"d10": 1}, {"d9": 1.0, "d10": 1.0}) == 0.5


def test_a_score_that_is_no_number_stands_last() -> None:
    assert value("mrr", {"z": 1}, {"z": float("nan"), "a": 0.0}) == 0.5
    assert value("mrr", {"z": 1}, {"z": 1e300, "a": 0.0}) == 1.0


def test_missing_and_unjudged_queries() -> None:
    qrels = {"asked": {"a": 1}, "missing": {"a": 1}, "nothing": {"a": 0}}
    run = {"asked": {"a": 1.0}, "nothing": {"a": 1.0}, "unjudged": {"a": 1.0}}
    rows = {
        score.case_id: score for score in score_rankings(qrels, run, [parse_metric("recall@5")])
    }
    assert [rows[name].value for name in ("asked", "missing", "nothing")] == [1.0, 0.0, None]
    assert rows["nothing"].reason == "no relevant document is known"
    assert "unjudged" not in rows


def test_metrics_that_need_more_than_ids() -> None:
    with pytest.raises(UnknownName, match="rouge_l") as wrong:
        score_rankings({}, {}, [parse_metric("rouge_l")])
    assert "ndcg_exp" in wrong.value.hint
