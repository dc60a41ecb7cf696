"""Fitting the logistic curve of confidence: that the fit is the optimum it claims to be."""

import math

import numpy as np
import pytest

from ombud.answer import estimate_confidence
from ombud.errors import BadRequest
from research.training.logistic import RIDGE, fit_logistic


def test_a_separable_set_is_separated() -> None:
    rows = [
        {"cosine": c, "noise": n}
        for c, n in [(0.1, 5), (0.2, 1), (0.3, 4), (0.7, 4), (0.8, 1), (0.9, 5)]
    ]
    weights = fit_logistic(rows, [False] * 3 + [True] * 3, ["cosine", "noise"])
    said = [estimate_confidence(row, weights) for row in rows]
    assert max(said[:3]) < 0.5 < min(said[3:])
    assert weights.features == ("cosine", "noise")
    assert weights.weight[0] > 5 * abs(weights.weight[1])


def test_two_mirrored_points_have_the_optimum_that_can_be_worked_out_by_hand() -> None:
    # x = -1 and 1 after standardising, both classes weigh 1: w solves 2 / (1 + e^w) = w, the bias
    # is 0.
    weights = fit_logistic([{"x": 0.0}, {"x": 4.0}], [False, True], ["x"])
    assert (weights.mean, weights.scale, weights.bias) == ((2.0,), (2.0,), 0.0)
    assert 2 / (1 + math.exp(weights.weight[0])) == pytest.approx(weights.weight[0], abs=2e-4)


def test_the_gradient_vanishes_at_the_fit() -> None:
    random = np.random.default_rng(7)
    x = random.normal(size=(80, 3)) * [1.0, 5.0, 0.2] + [0.0, 3.0, 9.0]
    y = (x[:, 0] + random.normal(size=80) > 0.8).astype(float)
    rows = [dict(zip("abc", map(float, row), strict=True)) for row in x]
    weights = fit_logistic(rows, [bool(v) for v in y], list("abc"))
    said = np.array([estimate_confidence(row, weights) for row in rows])
    each = np.where(
        y > 0, 40 / y.sum(), 40 / (80 - y.sum())
    )  # both classes weigh the same in total
    standard = (x - x.mean(axis=0)) / x.std(axis=0)
    assert standard.T @ (each * (y - said)) - RIDGE * np.array(weights.weight) == pytest.approx(
        0, abs=0.02
    )
    assert float(each @ (y - said)) == pytest.approx(0, abs=0.02)


def test_a_rare_class_does_not_drown() -> None:
    rows = [{"x": 0.0}] * 98 + [{"x": 1.0}] * 2
    weights = fit_logistic(rows, [False] * 98 + [True] * 2, ["x"])
    assert estimate_confidence({"x": 0.0}, weights) < 0.5 < estimate_confidence({"x": 1.0}, weights)


def test_a_signal_that_never_changes_says_nothing() -> None:
    weights = fit_logistic(
        [{"x": 0.0, "same": 3.0}, {"x": 1.0, "same": 3.0}], [False, True], ["x", "same"]
    )
    assert weights.weight[1] == 0
    assert all(map(math.isfinite, (*weights.weight, weights.bias)))


@pytest.mark.parametrize("answerable", [True, False])
def test_one_kind_of_question_alone_is_no_ground(answerable: bool) -> None:
    with pytest.raises(BadRequest) as wrong:
        fit_logistic([{"x": 0.0}, {"x": 1.0}], [answerable] * 2, ["x"])
    assert wrong.value.hint
