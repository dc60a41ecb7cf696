"""How sure we are that the section which leads answers: boosted trees over the signals, calibrated
on held-out questions.

The shipped weights were fitted on the dev split of the sample's cases (`make confidence`); without
vectors a second set, fitted on sparse search alone, is used."""

import json
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np

SHIPPED = Path(__file__).parent / "confidence.json"
FEATURES = (
    "cosine",
    "cosine_span",
    "coverage_best",
    "coverage_all",
    "known_terms",
    "rare_held",
    "length",
    "sparse_share",
    "span_match",
    "span_best",
    "span_second",
    "section_best",
    "section_second",
    "askable",
)
SPARSE_FEATURES = (
    "coverage_best",
    "coverage_all",
    "known_terms",
    "rare_held",
    "length",
    "sparse_share",
    "span_terms",
    "span_best",
    "span_second",
    "section_best",
    "section_second",
)
"""Without vectors."""
READ_SIGNALS = ("read_best", "read_second", "read_span")
"""What the small reader makes of the evidence."""
Basis = Literal["read", "hybrid", "sparse"]
"""What is known of the evidence: what the small reader says besides, vectors besides, words alone;
each has weights of its own."""
FEATURES_OF: Mapping[Basis, Sequence[str]] = {
    "read": (*FEATURES, *READ_SIGNALS),
    "hybrid": FEATURES,
    "sparse": SPARSE_FEATURES,
}


class Tree(NamedTuple):
    """Boosted tree of few leaves: nodes by number, the root first; a leaf has no feature."""

    feature: tuple[int, ...]
    """Position of the value that a node asks for; -1 for a leaf."""
    threshold: tuple[float, ...]
    """Up to this a value goes left."""
    left: tuple[int, ...]
    right: tuple[int, ...]
    value: tuple[float, ...]
    """What a leaf adds to the logit."""

    def leaf_value(self, values: Sequence[float]) -> float:
        node = 0
        while self.feature[node] >= 0:
            goes_left = values[self.feature[node]] <= self.threshold[node]
            node = self.left[node] if goes_left else self.right[node]
        return self.value[node]


def trees_logit(trees: Iterable[Tree], bias: float, values: Sequence[float]) -> float:
    """Return the log odds of the class that the trees were taught to tell."""
    return bias + sum(tree.leaf_value(values) for tree in trees)


class ConfidenceWeights(NamedTuple):
    """Logistic regression on standardised signals."""

    features: tuple[str, ...]
    mean: tuple[float, ...]
    scale: tuple[float, ...]
    weight: tuple[float, ...]
    bias: float
    trees: tuple[Tree, ...] = ()
    """Where there are any, they take the place of the curve; `bias` is theirs."""
    answer: float = 0.5
    """Least confidence to call what is quoted the answer."""
    closest: float = 0.3
    """Least confidence to show the closest passages and say that one is not sure."""
    on_topic: float = 0.0
    """Least cosine (sparse only: coverage) of a question about the organisation's policies at
    all."""


UNWEIGHED = ConfidenceWeights((), (), (), (), 0.0)
"""Where nothing was measured."""


def estimate_confidence(signals: Mapping[str, float], weights: ConfidenceWeights) -> float:
    """Estimate the probability that the evidence answers the question. A missing signal counts as
    average."""
    return estimate_each([signals], weights)[0]


def estimate_each(rows: Sequence[Mapping[str, float]], weights: ConfidenceWeights) -> list[float]:
    """Estimate the probability of each of many rows."""
    if not rows:
        return []
    listed: list[list[float]] = []
    for row in rows:
        listed.append([row[name] for name in weights.features])
    values = np.array(listed)
    if weights.trees:
        finite = np.nan_to_num(values).tolist()
        logits = np.array([trees_logit(weights.trees, weights.bias, row) for row in finite])
    else:
        standardised = np.nan_to_num((values - np.array(weights.mean)) / np.array(weights.scale))
        logits = (standardised * np.array(weights.weight)).sum(axis=1) + weights.bias
    likely: list[float] = np.exp(-np.logaddexp(0.0, -logits)).tolist()  # the plain form overflows
    return likely


@cache
def load_weights(path: Path = SHIPPED, *, basis: Basis) -> ConfidenceWeights:
    content = json.loads(path.read_text(encoding="utf-8"))
    values: dict[str, Any] = {}
    for key, value in content[basis].items():
        values[key] = tuple(value) if isinstance(value, list) else value
    values["trees"] = tuple(map(_tree, values.get("trees", ())))
    return ConfidenceWeights(**values)


def _tree(lists: Sequence[Sequence[float]]) -> Tree:
    feature, threshold, left, right, value = lists
    return Tree(
        feature=tuple(map(int, feature)),
        threshold=tuple(threshold),
        left=tuple(map(int, left)),
        right=tuple(map(int, right)),
        value=tuple(value),
    )
