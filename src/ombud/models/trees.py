"""Boosted trees of few leaves: what a curve cannot say, such as "near enough, unless its rarest
word is missing". Trained elsewhere, kept as plain numbers, and run in Python."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple


class Tree(NamedTuple):
    """Nodes by number, the root first; a leaf has no feature."""

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
    """Log odds of the class that the trees were taught to tell."""
    return bias + sum(tree.leaf_value(values) for tree in trees)
