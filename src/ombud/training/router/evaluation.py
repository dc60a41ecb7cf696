"""How well a router tells classes apart: precision, recall, F1 per class, and an interval that
knows of templates."""

from collections.abc import Hashable, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Counts = npt.NDArray[np.int64]
RESAMPLES, SEED, LEVEL = 2000, 0, 0.95


class ClassFigures(NamedTuple):
    label: int
    precision: float
    recall: float
    f1: float
    questions: int


class ClassificationScores(NamedTuple):
    classes: tuple[ClassFigures, ...]
    """Only those that a question has: a set without two-passage questions says nothing of that
    class."""
    precision: float
    recall: float
    f1: float
    """Macro: means over the classes."""
    low: float
    high: float
    """95 % percentile bootstrap interval of macro F1; whole clusters are drawn (Davison & Hinkley
    1997, 3.8)."""
    questions: int
    clusters: int


def figures(
    labels: Sequence[int], guesses: Sequence[int], classes: int, clusters: Sequence[Hashable]
) -> ClassificationScores:
    """Of one router on one set; position i of all three is question i."""
    numbered: dict[Hashable, int] = {}
    confusion = np.zeros((len({*clusters}), classes, classes), np.int64)
    for label, guess, cluster in zip(labels, guesses, clusters, strict=True):
        confusion[numbered.setdefault(cluster, len(numbered)), label, guess] += 1
    whole = confusion.sum(axis=0)
    asked = whole.sum(axis=1) > 0
    precision, recall, f1 = (row[0] for row in _rates(whole[None]))
    low, high = _interval(confusion, asked)
    return ClassificationScores(
        tuple(
            ClassFigures(
                n, float(precision[n]), float(recall[n]), float(f1[n]), int(whole[n].sum())
            )
            for n in range(classes)
            if asked[n]
        ),
        float(precision[asked].mean()),
        float(recall[asked].mean()),
        float(f1[asked].mean()),
        low,
        high,
        int(whole.sum()),
        len(numbered),
    )


def by_chance(labels: Sequence[int], classes: int) -> float:
    """Mean macro F1 of labels drawn evenly at random: what a router has to beat."""
    random = np.random.default_rng(SEED)
    wanted = np.array(labels)
    drawn = random.integers(0, classes, size=(RESAMPLES, len(wanted)))
    confusion = np.stack(
        [
            [((wanted == a) & (drawn == b)).sum(axis=1) for b in range(classes)]
            for a in range(classes)
        ]
    )
    asked = np.bincount(wanted, minlength=classes) > 0
    return float(_rates(confusion.transpose(2, 0, 1))[2][:, asked].mean())


def _rates(confusion: Counts) -> tuple[npt.NDArray[np.float64], ...]:
    """Precision, recall and F1, each of shape (tables, classes); 0 where nothing was guessed or
    asked."""
    right = np.diagonal(confusion, axis1=1, axis2=2)
    guessed, wanted = confusion.sum(axis=1), confusion.sum(axis=2)
    return (
        right / np.maximum(guessed, 1),
        right / np.maximum(wanted, 1),
        2 * right / np.maximum(guessed + wanted, 1),
    )


def _interval(confusion: Counts, asked: npt.NDArray[np.bool_]) -> tuple[float, float]:
    random = np.random.default_rng(SEED)
    drawn = len(confusion)
    times = random.multinomial(drawn, np.full(drawn, 1 / drawn), size=RESAMPLES)
    tables = np.tensordot(times, confusion, axes=1)
    means = _rates(tables)[2][:, asked].mean(axis=1)
    low, high = np.quantile(means, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return float(low), float(high)
