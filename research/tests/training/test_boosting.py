"""Boosted trees as plain numbers say what scikit-learn says."""

import numpy as np
import pytest

from ombud.answer import trees_logit
from ombud.errors import BadRequest
from research.training.boosting import fit_boosted

sklearn = pytest.importorskip("sklearn.ensemble")


def test_the_trees_taken_out_say_the_same_as_the_library() -> None:
    from research.training import boosting

    random = np.random.default_rng(3)
    values = random.normal(size=(400, 3))
    labels = (values[:, 0] * values[:, 1] > 0) | (values[:, 2] > 1.2)
    model = sklearn.HistGradientBoostingClassifier(
        max_leaf_nodes=6, max_iter=40, early_stopping=False, random_state=0
    ).fit(values, labels)
    taken = boosting.exported(model)
    expected = model.decision_function(values)
    said = [trees_logit(taken.trees, taken.bias, list(row)) for row in values]
    assert said == pytest.approx(list(expected), abs=2e-3)


def test_a_rule_that_no_line_separates_is_learnt() -> None:
    random = np.random.default_rng(5)
    values = random.uniform(-1, 1, size=(600, 2))
    labels = [bool(x * y > 0) for x, y in values]
    rows = [{"x": float(x), "y": float(y)} for x, y in values]
    taken = fit_boosted(rows, labels, ["x", "y"])
    both = trees_logit(taken.trees, taken.bias, [0.8, 0.8])
    one = trees_logit(taken.trees, taken.bias, [0.8, -0.8])
    assert both > 1 > -1 > one


def test_one_kind_alone_teaches_nothing() -> None:
    with pytest.raises(BadRequest):
        fit_boosted([{"x": 1.0}, {"x": 2.0}], [True, True], ["x"])
