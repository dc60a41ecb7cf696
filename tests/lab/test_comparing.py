from dataclasses import replace
from pathlib import Path

import pytest

from lab.keeping import home_with, said
from lab.makers import case, gold
from lab.recording import many, recorded
from ombud.errors import LabError, UnknownName
from ombud.lab import changes, compare_runs
from ombud.lab.report.comparing import shared_cases
from ombud.types import Person


def test_the_difference_is_second_minus_first_over_the_cases_that_have_both_values() -> None:
    cases = many(4)
    first = recorded(cases, {"mrr": [0.5, 0.25, 1.0, None]})
    second = recorded(cases, {"mrr": [1.0, 0.75, None, 0.5]})
    (row,) = compare_runs(first, second, ["overall"])
    assert (row.first, row.second, row.comparison.difference) == (0.375, 0.875, 0.5)
    assert (row.comparison.pairs, row.lost, row.won) == (2, 1, 1)
    assert row.mcnemar is None


def test_answers_are_judged_alone_where_their_evidence_was_found() -> None:
    cases = many(3)
    cases[:2] = [one.model_copy(update={"evidence": (gold("26 days"),)}) for one in cases[:2]]
    run = recorded(cases, {"mrr": [1.0, 0.0, None], "token_f1": [0.75, 0.25, 0.5]})
    seen = [
        one.model_copy(update={"hits": (), "lost": lost})
        for one, lost in zip(run.observations, ("", "not retrieved", ""), strict=True)
    ]
    found = replace(run, observations=tuple(seen)).where_found()
    assert found.cases == (cases[0],)
    assert {line.metric: line.mean.value for line in found.summary(["overall"])} == {
        "token_f1": 0.75
    }


def test_mcnemar_counts_the_cases_that_only_one_run_passed() -> None:
    # 8 passed by the second only, 1 by the first only: 2 x (1 + 9) / 2^9.
    cases = many(20)
    first = recorded(cases, {"outcome_accuracy": [0.0] * 8 + [1.0] * 12})
    second = recorded(cases, {"outcome_accuracy": [1.0] * 8 + [0.0] + [1.0] * 11})
    (row,) = compare_runs(first, second, ["overall"])
    assert row.mcnemar == 20 / 512
    # The permutation of 9 differences of one size is the same question.
    assert row.comparison.p == pytest.approx(20 / 512)


def test_p_is_corrected_over_the_metrics_by_holm() -> None:
    # n cases that all fell by one have p = 2 / 2^n: 2/64, 2/128 and 2/256, times 1, 2 and 3 from
    # the greatest.
    cases = many(8)
    before = {metric: [1.0] * 8 for metric in ("mrr", "map", "token_f1")}
    after = {"mrr": [0.0] * 6 + [1.0] * 2, "map": [0.0] * 7 + [1.0], "token_f1": [0.0] * 8}
    rows = compare_runs(recorded(cases, before), recorded(cases, after), ["overall"])
    assert {row.metric: row.comparison.p for row in rows} == {
        "mrr": 2 / 64,
        "map": 2 / 128,
        "token_f1": 2 / 256,
    }
    assert {row.metric: row.adjusted for row in rows} == {
        "mrr": 2 / 64,  # 1 x 2/64 = 2 x 2/128: not less than the one before
        "map": 4 / 128,
        "token_f1": 6 / 256,
    }
    assert [row.better for row in rows] == [False, False, False]
    (alone,) = compare_runs(
        recorded(cases, before), recorded(cases, after), ["overall"], ["token_f1"]
    )
    assert alone.adjusted == 2 / 256


def test_nothing_is_better_or_worse_within_noise() -> None:
    cases = many(5)
    first, second = recorded(cases, {"mrr": [1.0] * 5}), recorded(cases, {"mrr": [0.0] * 5})
    (row,) = compare_runs(first, second, ["overall"])
    assert row.comparison.p == 2 / 32  # above .05, though all five fell
    assert row.better is None


@pytest.mark.parametrize(
    ("metric", "better"),
    [
        ("mrr", True),
        ("latency", None),
        ("warm_latency", False),
        ("price", False),
        ("length", None),
        ("words@5", None),
    ],
)
def test_more_is_not_always_better(metric: str, better: bool | None) -> None:
    cases = many(10)
    (row,) = compare_runs(
        recorded(cases, {metric: [0.0] * 10}),
        recorded(cases, {metric: [1.0] * 10}),
        ["overall"],
        [metric],
    )
    assert row.comparison.difference == 1
    assert row.better is better


def test_latency_is_compared_only_when_asked_for() -> None:
    values = {"latency": [1.0] * 10, "mrr": [1.0] * 10}
    first, second = recorded(many(10), values), recorded(many(10), values)
    assert [row.metric for row in compare_runs(first, second, ["overall"])] == ["mrr"]
    (row,) = compare_runs(first, second, ["overall"], ["latency"])
    assert row.metric == "latency"


def test_p_is_corrected_for_what_was_asked_and_a_primary_metric_for_nothing_else() -> None:
    names = ("mrr", "recall@5", "token_f1", "rouge_l")
    down, up = ({name: [value] * 8 for name in names} for value in (0.0, 1.0))
    first, second = recorded(many(8), down), recorded(many(8), up)

    def adjusted(*metrics: str, primary: str = "") -> dict[str, float | None]:
        rows = compare_runs(first, second, ["overall"], metrics, primary)
        return {row.metric: row.adjusted for row in rows}

    alone = 2 / 2**8
    assert adjusted()["mrr"] == pytest.approx(4 * alone)
    assert adjusted("mrr", "recall@5")["mrr"] == pytest.approx(2 * alone)
    with_primary = adjusted(primary="mrr")
    assert with_primary["mrr"] == pytest.approx(alone)
    assert with_primary["rouge_l"] == pytest.approx(3 * alone)


def test_equal_pairs_lose_no_more_than_what_so_many_can_rule_out() -> None:
    def loses_no_more(pairs: int, margin: float, metric: str = "mrr") -> bool | None:
        same = recorded(many(pairs), {metric: [1.0] * pairs})
        (row,) = compare_runs(same, same, ["overall"])
        return row.loses_no_more(margin)

    # None of 72: up to 4.99 % may differ (1 - .025 ** (1 / 72)); of 70 5.13 %.
    assert loses_no_more(72, 0.05) is True
    assert loses_no_more(70, 0.05) is None
    assert loses_no_more(15, 0.5) is None  # too few for any such claim
    assert loses_no_more(500, 0.05, "price") is None  # a price has no highest value
    first = recorded(many(40), {"mrr": [1.0, 0.0] * 20})
    worse = recorded(many(40), {"mrr": [0.2, 0.0] * 20})
    (row,) = compare_runs(first, worse, ["overall"])
    assert (row.loses_no_more(0.05), row.loses_no_more(0.6)) == (False, True)


def test_groups_are_tag_type_and_country_in_that_order() -> None:
    cases = [
        case(id="1", tags=("typo", "hard"), person=Person(country="GB")),
        case(id="2", tags=("typo",), type="double"),
    ]
    values = {"mrr": [1.0, 0.5]}
    rows = compare_runs(recorded(cases, values), recorded(cases, {"mrr": [0.0, 0.0]}))
    assert [(row.group, row.name, row.comparison.difference) for row in rows] == [
        ("overall", "", -0.75),
        ("tag", "hard", -1.0),
        ("tag", "typo", -0.75),
        ("type", "double", -0.5),
        ("type", "simple", -1.0),
        ("country", "GB", -1.0),
        ("country", "none", -0.5),
    ]


def test_cases_about_one_document_are_exchanged_together() -> None:
    cases = [case(gold("x", f"{number % 2}.md"), id=str(number)) for number in range(10)]
    (row,) = compare_runs(
        recorded(cases, {"mrr": [1.0] * 10}), recorded(cases, {"mrr": [0.0] * 10}), ["overall"]
    )
    assert (
        row.comparison.p == 0.5
    )  # two clusters: 2 of 4 signs; ten cases of their own had 2 of 1024


def test_only_cases_asked_in_the_same_words_are_compared() -> None:
    cases = many(3)
    other = [cases[2], case(id="c01", question="Another question?"), case(id="c09")]
    assert shared_cases(recorded(cases, {}), recorded(other, {})) == (cases[2],)
    (row,) = compare_runs(
        recorded(cases, {"mrr": [0.0, 0.0, 0.25]}),
        recorded(other, {"mrr": [0.0, 1.0, 1.0]}),
        ["overall"],
    )
    assert (row.comparison.pairs, row.comparison.difference) == (1, -0.25)


def test_runs_without_a_common_case_or_metric_are_not_compared() -> None:
    first = recorded(many(2), {"mrr": [1.0, 1.0]}, name="before")
    with pytest.raises(LabError, match="`before` and `after` have no case in common"):
        compare_runs(first, recorded([case(id="x")], {"mrr": [1.0]}, name="after"))
    with pytest.raises(LabError, match="no metric in common"):
        compare_runs(first, recorded(many(2), {"map": [1.0, 1.0]}))
    with pytest.raises(LabError, match="no case in common"):
        compare_runs(recorded([], {}), recorded([], {}))


def test_a_metric_without_any_pair_has_no_figures() -> None:
    cases = many(2)
    (row,) = compare_runs(
        recorded(cases, {"mrr": [None, None]}), recorded(cases, {"mrr": [1.0, 1.0]}), ["overall"]
    )
    assert (row.first, row.second, row.adjusted, row.better, row.mcnemar, row.won) == (
        None,
        None,
        None,
        None,
        None,
        2,
    )


def test_changes_are_worst_first_and_cases_without_a_value_are_no_fall() -> None:
    cases = many(6)
    first = recorded(cases, {"mrr": [1.0, 0.5, 0.0, 0.5, None, 1.0]})
    second = recorded(cases, {"mrr": [0.75, 0.0, 1.0, 0.5, 0.5, None]})
    found = changes(first, second, "mrr")
    assert [(one.case.id, one.difference) for one in found] == [
        ("c01", -0.5),
        ("c00", -0.25),
        ("c04", None),
        ("c05", None),
        ("c02", 1.0),
    ]


def test_the_slowest_case_is_the_worst_and_a_lost_time_is_no_gain() -> None:
    cases = many(3)
    first, second = (
        recorded(cases, {"warm_latency": [1.0, 1.0, 1.0]}),
        recorded(cases, {"warm_latency": [0.5, None, 3.0]}),
    )
    assert [one.case.id for one in changes(first, second, "warm_latency")] == ["c02", "c01", "c00"]


def test_changes_of_a_metric_that_a_run_lacks() -> None:
    first, second = (
        recorded(many(1), {"mrr": [1.0]}),
        recorded(many(1), {"map": [1.0]}, id="r2", name="new"),
    )
    with pytest.raises(LabError, match=r"Run r2 \(new\) has no `mrr`") as wrong:
        changes(first, second, "mrr")
    assert "rescore r2 --metrics mrr" in wrong.value.hint
    with pytest.raises(UnknownName, match="`gone`"):
        changes(recorded(many(1), {"gone": [1.0]}), recorded(many(1), {"gone": [0.0]}), "gone")


def test_compare_names_the_option_where_correction_alone_hides_what_differs(
    tmp_path: Path,
) -> None:
    cases = many(20)
    same = [0.0, 1.0] * 10
    metrics = ["mrr", "token_f1", "chrf"]
    first = recorded(cases, {"hit@5": [0.0] * 20, **dict.fromkeys(metrics, same)}, id="first")
    seven = [1.0] * 6 + [0.0] * 14
    second = recorded(cases, {"hit@5": seven, **dict.fromkeys(metrics, same)}, id="second")
    home = home_with(tmp_path, first, second)
    assert "Then: --primary hit@5." in said(home, "compare", "first", "second")
    assert "--primary" not in said(home, "compare", "first", "second", "--primary", "hit@5")
