"""The table: spelling, and the promise that nothing observed can break a metric."""

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab.makers import case, cites, gold, hit, says
from ombud.errors import UnknownName
from ombud.lab import (
    METRICS,
    USUAL,
    Instruments,
    Metric,
    parse_metric,
    parse_metrics,
    score,
    usual_metrics,
)
from ombud.lab.metrics.parsing import known_metrics
from ombud.types import Observation, Trace

SPELLINGS = [
    spelling.replace("@k", "@3") for known in known_metrics() for spelling in known.split(" or ")
]


@pytest.mark.parametrize("text", SPELLINGS)
def test_a_metric_parses_and_prints_as_itself(text: str) -> None:
    metric = parse_metric(text)
    assert str(metric) == text
    assert parse_metric(str(metric)) == metric
    assert len({metric, parse_metric(f" {text} ")}) == 1


def test_parts() -> None:
    assert parse_metric("recall@8") == Metric("recall", 8)
    assert parse_metric("quote_recall@1000w") == Metric("quote_recall", 1000, words=True)
    assert parse_metric("mrr") != parse_metric("mrr@10")
    assert parse_metrics("mrr, recall@8,mrr") == (Metric("mrr"), Metric("recall", 8))


def test_all_that_were_asked_for_are_there() -> None:
    wanted = """recall precision hit mrr map ndcg ndcg_exp page_recall quote_recall words score
        context_f1 token_f1 exact_match rouge_l chrf semantic_similarity semantic_similarity_5
        citation_precision citation_recall leads quote_verbatim number_agreement outcome_accuracy not_sure
        action_accuracy length latency tokens
        model_calls price warm_latency turns resisted"""
    computed = {name for name, measure in METRICS.items() if measure.grade is None}
    assert set(wanted.split()) == computed


def test_an_unknown_name_lists_the_known() -> None:
    with pytest.raises(UnknownName, match="`recal`") as wrong:
        parse_metric("recal@8")
    assert "Did you mean `recall`?" in wrong.value.hint
    assert all(spelling in wrong.value.hint for spelling in known_metrics())


@pytest.mark.parametrize(
    "text",
    [
        "recall",
        "recall@0",
        "recall@08",
        "recall@-1",
        "recall@x",
        "recall@8w",
        "latency@5",
        "map@5",
        "mrr@",
        "recall@٣",
    ],
)
def test_a_wrong_cut_off_says_how_it_is_spelt(text: str) -> None:
    with pytest.raises(UnknownName, match="not a metric") as wrong:
        parse_metric(text)
    assert wrong.value.hint.startswith("It is spelt")


@pytest.mark.parametrize("text", ["", "@8", "8", "recall 8", "rec\nall@8"])
def test_what_is_no_name(text: str) -> None:
    with pytest.raises(UnknownName):
        parse_metric(text)


TEXT = st.one_of(
    st.text(max_size=40),
    st.sampled_from(["25 days", "", "[1]", "有給", "| a |\n|---|", "1,000", " "]),
)
URI = st.sampled_from(["a.md", "b.pdf", "c"])
NUMBER = st.one_of(st.floats(), st.floats(-10, 10))
PAGE = st.none() | st.integers(1, 4)
HITS = st.builds(hit, TEXT, URI, st.integers(0, 30), NUMBER, page_from=PAGE, page_to=PAGE)
GOLD = st.builds(gold, TEXT, URI, grade=st.sampled_from([1, 2]), page=PAGE)
CASES = st.builds(
    lambda evidence, references, **fields: case(*evidence, references=tuple(references), **fields),
    st.lists(GOLD, max_size=4),
    st.lists(TEXT, max_size=3),
    expect=st.sampled_from(["answer", "deny", "clarify", "handoff"]),
    type=st.sampled_from(["simple", "unanswerable", "vague", "sensitive"]),
)
TRACES = st.builds(
    Trace, model=st.sampled_from(["", "m"]), tokens_in=st.integers(0), price=st.none() | NUMBER
)
ANSWERS = st.builds(
    lambda text, citations, **fields: says(text, *citations, **fields),
    TEXT,
    st.lists(st.builds(cites, TEXT, URI, st.integers(-3, 30)), max_size=3),
    outcome=st.sampled_from(["full", "partial", "denied"]),
    action=st.sampled_from(["none", "clarify", "handoff", "contact"]),
    trace=TRACES,
)
OBSERVATIONS = st.builds(
    Observation,
    case=CASES,
    hits=st.none() | st.lists(HITS, max_size=6).map(tuple),
    answer=st.none() | ANSWERS,
    seconds=st.none() | NUMBER,
    error=st.sampled_from(["", "", "", "timed out"]),
)
VECTORS = st.lists(st.lists(NUMBER, max_size=3), max_size=4)


def broken(*_: Any) -> Any:
    raise RuntimeError("the disk is full")


@given(OBSERVATIONS, VECTORS, TEXT, st.booleans())
def test_a_finite_value_or_a_reason_whatever_was_observed(
    observed: Observation, vectors: list[list[float]], text: str, fails: bool
) -> None:
    instruments = (
        Instruments(*(broken,) * 2) if fails else Instruments(lambda _: vectors, lambda *_: text)
    )
    metrics = [parse_metric(spelling) for spelling in SPELLINGS]
    for tools in (instruments, None):
        scores = score(observed, metrics, tools)
        assert [row.metric for row in scores] == SPELLINGS
        for row, metric in zip(scores, metrics, strict=True):
            assert (row.value is None) == bool(row.reason)
            if row.value is not None:
                assert math.isfinite(row.value)
                if METRICS[metric.name].unit == "0-1":
                    assert 0 <= row.value <= 1 + 1e-12


def test_a_failed_target_has_no_scores_and_says_why() -> None:
    (row,) = score(
        Observation(case=case(), answer=says("x"), error="timed out"),
        [parse_metric("outcome_accuracy")],
    )
    assert (row.value, row.reason) == (None, "the target failed: timed out")


def test_instruments_that_break_are_a_reason() -> None:
    observed = Observation(case=case(references=("x",)), answer=says("x", cites("x")))
    for name in ("semantic_similarity", "quote_verbatim"):
        (row,) = score(observed, [parse_metric(name)], Instruments(broken, broken))
        assert row.reason == "could not be computed: RuntimeError: the disk is full"


def test_not_a_finite_number() -> None:
    for seconds in (math.nan, math.inf):
        (row,) = score(Observation(case=case(), seconds=seconds), [Metric("latency")])
        assert (row.value, row.reason) == (None, "what was recorded is not a finite number")


def test_a_metric_made_by_hand() -> None:
    (row,) = score(Observation(case=case()), [Metric("nonsense")])
    assert row.reason == "no metric is called nonsense"


def test_every_row_of_the_table_says_what_it_is() -> None:
    assert all(measure.what and "\n" not in measure.what for measure in METRICS.values())


def test_rows_with_an_expected_answer_are_scored_against_it() -> None:
    with_answer = case(references=("26 days",))
    with_both = case(gold("26 days"), references=("26 days",))
    assert usual_metrics([with_both]) == USUAL
    assert usual_metrics([with_both, with_answer]) == f"{USUAL},token_f1,number_agreement"
