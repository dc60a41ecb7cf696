import random
from fractions import Fraction
from typing import Any

import pytest

from lab.makers import case, cites, gold, says
from ombud.errors import LabError
from ombud.lab import (
    choose_threshold,
    decision_accuracy,
    decisions,
    risk_area,
    risk_coverage,
    undecided,
)
from ombud.lab.metrics.risk import Decision
from ombud.types import Case, Observation, Trace


def decided(*rows: tuple[float, bool, bool]) -> list[Decision]:
    """(confidence, answerable, right)"""
    return [Decision(*row, cluster=f"case {at}") for at, row in enumerate(rows)]


# Most confident first: answerable and cited, answerable but not cited, not answerable, answerable
# and cited.
FOUR = decided((0.2, True, True), (0.9, True, True), (0.4, False, False), (0.6, True, False))


def test_risk_at_each_coverage_by_hand() -> None:
    table = {row.coverage: row for row in risk_coverage(FOUR)}
    assert [row.coverage for row in risk_coverage(FOUR)] == [
        0.1,
        0.2,
        0.3,
        0.4,
        0.5,
        0.6,
        0.7,
        0.8,
        0.9,
        1.0,
    ]
    figures: dict[float, Any] = {
        at: (row.threshold, row.unanswerable.value, row.wrong.value, row.wrong.total)
        for at, row in table.items()
    }
    assert figures[0.3] == (0.9, 0, 0, 1)
    assert figures[0.5] == (0.6, 0, 0.5, 2)
    assert figures[0.7] == (0.4, pytest.approx(1 / 3), pytest.approx(2 / 3), 3)
    assert figures[1.0] == (0.2, 0.25, 0.5, 4)


def test_the_area_by_hand() -> None:
    # Risks after one, two, three and four questions: 0, 0, 1/3, 1/4.
    assert risk_area(FOUR) == pytest.approx((0 + 0 + 1 / 3 + 1 / 4) / 4)
    best = decided((0.9, True, True), (0.8, True, True), (0.1, False, False))
    worst = decided((0.1, True, True), (0.2, True, True), (0.9, False, False))
    assert risk_area(best) == pytest.approx(1 / 9)
    assert risk_area(worst) == pytest.approx((1 + 1 / 2 + 1 / 3) / 3)


def test_the_order_of_the_dataset_changes_nothing_where_all_are_equally_sure() -> None:
    rows = [(0.5, number < 6, number < 3) for number in range(10)]
    orders = [rows, rows[::-1], random.Random(1).sample(rows, 10)]
    assert len({risk_area(decided(*order)) for order in orders}) == 1
    tables = {
        tuple((r.unanswerable.value, r.wrong.value) for r in risk_coverage(decided(*o)))
        for o in orders
    }
    assert len(tables) == 1
    # The worst come first: the four that cannot be answered, 4/4 at a coverage of .4 and 4/10 at 1.
    (table,) = tables
    assert (table[3], table[9]) == ((1.0, 1.0), (0.4, 0.7))


def test_the_threshold_lies_in_the_middle_of_what_decides_best() -> None:
    # From .3 (excluded) to .7 all four are decided rightly: .305 to .7.
    given = decided((0.1, False, False), (0.3, False, False), (0.7, True, True), (0.9, True, True))
    assert choose_threshold(given) == pytest.approx((0.305 + 0.7) / 2)
    assert decision_accuracy(given, choose_threshold(given)).value == 1
    assert decision_accuracy(given, 0.8).value == 0.75


def test_of_best_stretches_that_lie_apart_one_is_chosen_and_not_what_lies_between() -> None:
    # Up to .3 and from .6 to .9 two of three are right; between them, where the mean lies, one of
    # three.
    given = decided((0.3, True, True), (0.6, False, False), (0.9, True, True))
    assert decision_accuracy(given, 0.45).value == pytest.approx(1 / 3)
    assert decision_accuracy(given, choose_threshold(given)).value == pytest.approx(2 / 3)


def test_the_lowest_threshold_that_keeps_a_promise() -> None:
    given = decided(
        (0.2, False, False),
        (0.4, True, True),
        (0.6, False, False),
        (0.8, True, True),
        (0.9, True, True),
    )
    # Answered from .205: 1 of 4 without an answer; from .605: none of 2.
    assert choose_threshold(given, most=0.25) == 0.205
    assert choose_threshold(given, most=0.24) == 0.605
    assert choose_threshold(given, most=1) == 0.005
    with pytest.raises(LabError, match=r"No threshold keeps the share at 0\.1"):
        choose_threshold(decided((1.0, False, False), (1.0, True, True)), most=0.1)


@pytest.mark.parametrize("measure", [risk_area, risk_coverage, choose_threshold])
def test_without_decisions_there_is_no_figure(measure: object) -> None:
    with pytest.raises(LabError, match="no decision"):
        measure([])  # type: ignore[operator]


def test_ten_thousand_decisions_are_measured_as_by_definition() -> None:
    random_ = random.Random(7)
    rows = [(random_.random(), random_.random() < 0.7, True) for _ in range(10_000)]
    order = [answerable for _, answerable, _ in sorted(rows, reverse=True)]
    wrong = [0]
    for answerable in order:
        wrong.append(wrong[-1] + (not answerable))
    exact = sum(Fraction(count, at) for at, count in enumerate(wrong[1:], 1) if at <= 200)
    assert risk_area(decided(*sorted(rows, reverse=True)[:200])) == pytest.approx(
        float(exact / 200)
    )
    assert 0 < choose_threshold(decided(*rows), most=0.31) < 1


def answered(one: Case, sure: float | None, *quotes: str, **fields: object) -> Observation:
    trace = Trace(signals={} if sure is None else {"confidence": sure})
    answer = says("Yes. [1]", *(cites(quote) for quote in quotes), trace=trace, **fields)
    return Observation(case=one, answer=answer)


WANTED = case(gold("26 days of paid annual leave"), id="a")
DENIED = case(id="d", expect="deny", type="unanswerable")


def test_decisions_of_a_run() -> None:
    whole = case(gold("", "hr/leave.md"), id="w")
    found = decisions(
        [
            answered(WANTED, 0.9, "26 days of paid annual leave"),
            answered(WANTED, 0.8, "something else altogether"),
            answered(whole, 0.7, "anything of that document"),
            answered(DENIED, 0.3, "26 days of paid annual leave"),
            # Left out: handed over, not asked for, failed.
            answered(WANTED, 0.5, action="handoff"),
            answered(case(id="v", expect="clarify"), 0.5),
            Observation(case=WANTED, error="down"),
        ]
    )
    assert [tuple(one) for one in found] == [
        (0.9, True, True, "hr/leave.md"),
        (0.8, True, False, "hr/leave.md"),
        (0.7, True, True, "hr/leave.md"),
        (0.3, False, False, "case d"),
    ]


@pytest.mark.parametrize("sure", [None, float("nan"), float("inf")])
def test_answers_that_do_not_say_how_sure_they_were(sure: float | None) -> None:
    with pytest.raises(LabError, match="does not say how sure") as wrong:
        decisions([answered(WANTED, sure), answered(DENIED, sure)])
    assert "scope lab" in wrong.value.hint


def test_an_answer_that_was_given_without_a_search_is_counted_apart() -> None:
    seen = [answered(WANTED, 0.9), answered(DENIED, 0.2), answered(DENIED, None)]
    assert len(decisions(seen)) == 2
    assert undecided(seen) == 1


@pytest.mark.parametrize("only", [[], [WANTED], [DENIED]])
def test_a_threshold_needs_both_kinds_of_questions(only: list[Case]) -> None:
    with pytest.raises(LabError, match="with an answer and questions without"):
        decisions([answered(one, 0.5) for one in only])
