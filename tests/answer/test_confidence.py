"""The logistic curve: what it says, and that the fit is the optimum it claims to be."""

import json
import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ombud.answer import (
    FEATURES_OF,
    SPAN_FEATURES_OF,
    Basis,
    ConfidenceWeights,
    estimate_confidence,
)
from ombud.answer.quoting.confidence import load_weights
from ombud.answer.quoting.spans import SHIPPED


def curve(bias: float = 0.0, weight: float = 1.0) -> ConfidenceWeights:
    return ConfidenceWeights(
        features=("x",), mean=(2.0,), scale=(0.5,), weight=(weight,), bias=bias
    )


def test_the_curve_is_the_logistic_of_the_standardised_signal() -> None:
    assert estimate_confidence({"x": 2.0}, curve()) == 0.5
    # (3 - 2) / .5 = 2 standard deviations
    assert estimate_confidence({"x": 3.0}, curve()) == pytest.approx(1 / (1 + math.exp(-2)))
    assert estimate_confidence(
        {"x": 3.0, "unused": 9.0}, curve(bias=-1, weight=2)
    ) == pytest.approx(1 / (1 + math.exp(-3)))


@given(st.floats(-1e6, 1e6))
def test_it_is_a_probability_whatever_is_measured(signal: float) -> None:
    assert 0 <= estimate_confidence({"x": signal}, curve()) <= 1


@pytest.mark.parametrize("basis", ["read", "hybrid", "sparse"])
def test_what_is_shipped_knows_only_what_is_measured(basis: Basis) -> None:
    weights = load_weights(basis=basis)
    assert weights.features == FEATURES_OF[basis]
    assert load_weights(SHIPPED, basis=basis).features == SPAN_FEATURES_OF[basis]
    assert 0 < weights.answer < 1
    assert 0 < weights.on_topic < 1


def test_weights_are_read_as_they_were_written(tmp_path: Path) -> None:
    path = tmp_path / "w.json"
    path.write_text(json.dumps({"sparse": curve()._asdict()}), encoding="utf-8")
    assert load_weights(path, basis="sparse") == curve()
