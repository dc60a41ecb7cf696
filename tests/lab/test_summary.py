import pytest

from lab.makers import case, gold
from ombud.errors import LabError
from ombud.lab import MetricSummary, cluster_of, summarise
from ombud.types import Person, Score

GB, FR = Person(country="GB"), Person(country="FR")
CASES = [
    case(gold("x", "a.md"), id="1", person=GB, tags=("typo", "hard")),
    case(gold("x", "a.md"), id="2", person=GB, tags=("typo",)),
    case(gold("x", "b.md"), id="3", person=FR, type="double"),
    case(id="4", expect="deny", type="off_topic"),
]
SCORES = [
    *(Score(case_id=str(n), metric="recall@5", value=v) for n, v in enumerate([1.0, 0.0, 0.5], 1)),
    Score(case_id="4", metric="recall@5", value=None, reason="nothing should be found"),
    *(Score(case_id=str(n), metric="outcome_accuracy", value=1.0) for n in range(1, 5)),
]


def lines() -> dict[tuple[str, str, str], MetricSummary]:
    return {(line.metric, line.group, line.name): line for line in summarise(CASES, SCORES)}


def test_groups() -> None:
    found = lines()
    recall = {
        key[1:]: (line.mean.value, line.mean.valid, line.mean.total)
        for key, line in found.items()
        if key[0] == "recall@5"
    }
    assert recall == {
        ("overall", ""): (0.5, 3, 4),
        ("tag", "hard"): (1.0, 1, 1),
        ("tag", "typo"): (0.5, 2, 2),
        ("type", "double"): (0.5, 1, 1),
        ("type", "off_topic"): (None, 0, 1),
        ("type", "simple"): (0.5, 2, 2),
        ("country", "FR"): (0.5, 1, 1),
        ("country", "GB"): (0.5, 2, 2),
        ("country", "none"): (None, 0, 1),
        ("persona", "employee"): (0.5, 3, 4),
        ("tests", "generator"): (0.5, 3, 3),
        ("tests", "retriever"): (0.5, 2, 2),
        ("tests", "router"): (0.5, 2, 2),
        ("tests", "rewriter"): (0.5, 1, 1),
        ("tests", "triage"): (None, 0, 1),
        ("tests", "prompt"): (None, 0, 1),
    }
    assert found["recall@5", "overall", ""].reasons == {"nothing should be found": 1}
    assert found["recall@5", "overall", ""].mean.median == 0.5


def test_order_is_metric_then_group_then_name() -> None:
    rows = [
        (line.metric, line.group, line.name)
        for line in summarise(CASES, SCORES, by=("overall", "country"))
    ]
    groups = [("overall", ""), ("country", "FR"), ("country", "GB"), ("country", "none")]
    assert rows == [
        (metric, *group) for metric in ("recall@5", "outcome_accuracy") for group in groups
    ]


def test_cases_about_one_document_are_one_cluster() -> None:
    assert [cluster_of(one) for one in CASES] == ["a.md", "a.md", "b.md", "case 4"]
    assert lines()["recall@5", "tag", "typo"].mean.low is None
    overall = lines()["recall@5", "overall", ""].mean
    # Two clusters, each with the mean .5: every resample has the mean .5.
    assert (overall.low, overall.high) == (0.5, 0.5)


def test_a_score_without_its_case() -> None:
    with pytest.raises(LabError, match="`9`"):
        summarise(CASES, [Score(case_id="9", metric="mrr", value=1.0)])
