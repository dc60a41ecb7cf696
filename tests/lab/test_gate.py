from collections.abc import Mapping, Sequence
from itertools import chain, repeat
from typing import Any
from xml.etree import ElementTree

import pytest

from lab.makers import case
from lab.recording import many, recorded
from ombud.errors import LabError
from ombud.lab import RecordedRun, as_junit, check_gate, compare_runs
from ombud.types import Case, Person

LATE = [case(id=f"late{n:02}", tags=("night",), person=Person(country="FR")) for n in range(12)]
CASES = [*many(28, person=Person(country="GB")), *LATE]
BASE = {
    "quote_recall@5": [1.0, 0.5] * 20,
    "outcome_accuracy": [1.0, 1.0, 0.0, 1.0] * 10,
    "latency": [0.5] * 40,
    "length": [40.0] * 40,
}


def run(
    changed: Mapping[str, Sequence[float | None]] | None = None,
    cases: list[Case] = CASES,
    **fields: Any,
) -> RecordedRun:
    values: dict[str, Sequence[float | None]] = {**BASE, **(changed or {})}
    return recorded(cases, {metric: values[metric][: len(cases)] for metric in values}, **fields)


def shifted(by: int) -> dict[str, list[float]]:
    """Every run has the same passes, in other cases each time: noise without a trend."""
    passes = BASE["outcome_accuracy"]
    return {"outcome_accuracy": [*passes[by:], *passes[:by]]}


def test_five_identical_runs_stay_quiet() -> None:
    for number in range(5):
        verdict = check_gate(run(), run(id=f"again{number}"))
        assert verdict.passed
        assert verdict.checked == ("quote_recall@5", "outcome_accuracy")
        assert verdict.cases == 40


@pytest.mark.parametrize("by", [1, 2, 3])
def test_cases_that_change_places_are_noise(by: int) -> None:
    assert any(row.comparison.p is not None for row in compare_runs(run(), run(shifted(by))))
    assert check_gate(run(), run(shifted(by))).passed


def test_a_planted_fall_is_named_with_metric_tag_country_and_cases() -> None:
    fell = [*BASE["quote_recall@5"][:28], *repeat(0.0, 12)]
    verdict = check_gate(run(), run({"quote_recall@5": fell}))
    said = {
        (fall.contrast.group, fall.contrast.name): fall for fall in verdict.falls if fall.contrast
    }
    assert set(said) == {("overall", ""), ("tag", "night"), ("country", "FR"), ("type", "simple")}
    assert {fall.contrast.metric for fall in verdict.falls if fall.contrast} == {"quote_recall@5"}
    night = said["tag", "night"]
    assert night.said.startswith("quote_recall@5 for tag night went from 0.750 to 0.000: -0.750 (")
    assert night.said.endswith(" over 12 cases.")
    # The six that fell by one before those that fell by a half.
    assert [change.case.id for change in night.worst] == [
        "late00",
        "late02",
        "late04",
        "late06",
        "late08",
    ]


def test_cases_that_got_better_are_not_named_under_a_fall() -> None:
    down = [0.0] * 8 + BASE["quote_recall@5"][8:39] + [1.0]
    (fall,) = check_gate(run(cases=CASES), run({"quote_recall@5": down}), ["quote_recall@5"]).falls[
        :1
    ]
    assert [change.difference for change in fall.worst] == [-1.0, -1.0, -1.0, -1.0, -0.5]


def test_a_slower_run_passes_unless_times_that_compare_are_asked_for() -> None:
    slow = run({"latency": [5.0] * 40, "warm_latency": [5.0] * 40})
    quick = run({"warm_latency": [0.5] * 40})
    assert check_gate(quick, slow).passed
    verdict = check_gate(quick, slow, ["warm_latency"])
    assert verdict.checked == ("warm_latency",)
    assert verdict.falls[0].said.startswith("warm_latency went from 0.500 to 5.000: +4.500")
    assert check_gate(slow, quick, ["warm_latency"]).passed
    # What was taken under whatever load there was cannot fall.
    with pytest.raises(LabError, match="`latency` cannot fall"):
        check_gate(quick, slow, ["latency"])


def test_a_fall_is_judged_among_the_metrics_looked_at_only() -> None:
    # 7 falls of one size: p = 2 / 2^7 = .0156; times 2 metrics it counts, times 4 it does not.
    fell = run({"outcome_accuracy": [0.0] * 9 + [*BASE["outcome_accuracy"][9:]]})
    rows = compare_runs(run(), fell, ["overall"], list(BASE))
    (row,) = [row for row in rows if row.metric == "outcome_accuracy"]
    assert (row.comparison.p, row.adjusted) == (2 / 2**7, 4 * 2 / 2**7)
    assert row.better is None
    assert "outcome_accuracy went from" in check_gate(run(), fell).falls[0].said


def test_a_target_that_newly_fails_is_caught_though_no_mean_shows_it() -> None:
    lost: list[float | None] = [None] * 6 + [1.0, 0.5] * 17
    errors = {f"c{number:02}": "the model hung up" for number in range(6)}
    verdict = check_gate(run(), run({"quote_recall@5": lost}, errors=errors))
    (fall,) = verdict.falls
    assert (
        fall.said
        == "The target failed 6 cases that it answered before, such as c00: the model hung up"
    )
    assert check_gate(run(errors=errors), run(errors=errors)).passed
    assert check_gate(run(errors=errors), run()).passed


def test_failures_in_cases_that_the_baseline_never_had_are_not_new() -> None:
    more = [*CASES, *(case(id=f"new{number}") for number in range(9))]
    values = {"quote_recall@5": [*BASE["quote_recall@5"], *repeat(None, 9)]}
    wider = recorded(more, values, errors={f"new{number}": "down" for number in range(9)})
    verdict = check_gate(run(), wider)
    assert verdict.passed
    assert verdict.cases == 40


def test_nothing_compared_is_no_pass() -> None:
    gone = run({"quote_recall@5": [None] * 40})
    verdict = check_gate(run(), gone, ["quote_recall@5"])
    assert [fall.said for fall in verdict.falls] == [
        "quote_recall@5 could not be compared: the 40 cases that had a value have none any more."
    ]
    assert check_gate(gone, run(), ["quote_recall@5"]).passed


def test_cases_left_out_of_the_candidate_are_a_fall() -> None:
    (fall,) = check_gate(run(), run(cases=CASES[:38])).falls
    assert fall.said == "Of the baseline's cases 2 were not asked, or have changed since."


def test_what_cannot_be_judged_is_an_error_and_no_pass() -> None:
    with pytest.raises(LabError, match=r"Run r9 \(half\) is not finished") as wrong:
        check_gate(run(), run(id="r9", name="half", state="running"))
    assert "goes on" in wrong.value.hint
    with pytest.raises(LabError, match="no case in common"):
        check_gate(run(), recorded([case(id="x")], {"quote_recall@5": [1.0]}))
    for chosen in (["token_f1"], ["quote_recall@5", "token_f1"]):
        with pytest.raises(LabError, match="do not both have `token_f1`"):
            check_gate(run(), run(), chosen)
    with pytest.raises(LabError, match="`length` cannot fall"):
        check_gate(run(), run(), ["length"])
    idle = recorded(CASES, {"length": [1.0] * 40})
    with pytest.raises(LabError, match="a metric that can fall"):
        check_gate(idle, idle)


def test_junit_has_a_test_a_metric_and_is_well_formed_whatever_the_names_are() -> None:
    nasty = [
        case(id=f"c{n}", question="<b>&\x1b[31m\x00]]>", tags=('"><x>\x08',)) for n in range(8)
    ]
    first = recorded(nasty, {"mrr": [1.0] * 8, "map": [1.0] * 8})
    second = recorded(nasty, {"mrr": [0.0] * 8, "map": [1.0] * 8})
    text = as_junit(check_gate(first, second), 'run\x00 "a" <b>')
    suite = ElementTree.fromstring(text)
    assert suite.attrib == {"name": 'run "a" <b>', "tests": "3", "failures": "1"}
    assert [test.get("name") for test in suite] == ["mrr", "map", "cases"]
    (failure,) = suite.findall("testcase/failure")
    assert (failure.get("message") or "").startswith("mrr went from 1.000 to 0.000")
    lines = (failure.text or "").split("\n")
    assert any('for tag "><x> went' in line for line in lines)
    assert "    c0: <b>&[31m]]>" in lines
    quiet = ElementTree.fromstring(as_junit(check_gate(first, first), "same"))
    assert not list(chain.from_iterable(quiet))
