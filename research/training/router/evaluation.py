"""How well a router tells classes apart: precision, recall, F1 per class, and an interval that
knows of templates."""

from collections.abc import Hashable, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Counts = npt.NDArray[np.int64]
Rates = npt.NDArray[np.float64]
RESAMPLES = 2000
SEED = 0
LEVEL = 0.95


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


class ClassRates(NamedTuple):
    """Each of shape (tables, classes)."""

    precision: Rates
    recall: Rates
    f1: Rates


def score_guesses(
    labels: Sequence[int], guesses: Sequence[int], classes: int, clusters: Sequence[Hashable]
) -> ClassificationScores:
    """Of one router on one set; position i of all three is question i."""
    confusion = _confusion_by_cluster(labels, guesses, classes, clusters)
    whole = confusion.sum(axis=0)
    asked = whole.sum(axis=1) > 0
    rates = _class_rates(whole[None])
    precision = rates.precision[0]
    recall = rates.recall[0]
    f1 = rates.f1[0]
    low, high = _bootstrap_interval(confusion, asked)
    by_class = []
    for label in np.flatnonzero(asked).tolist():
        by_class.append(
            ClassFigures(
                label=label,
                precision=float(precision[label]),
                recall=float(recall[label]),
                f1=float(f1[label]),
                questions=int(whole[label].sum()),
            )
        )
    return ClassificationScores(
        classes=tuple(by_class),
        precision=float(precision[asked].mean()),
        recall=float(recall[asked].mean()),
        f1=float(f1[asked].mean()),
        low=low,
        high=high,
        questions=int(whole.sum()),
        clusters=len(confusion),
    )


def f1_by_chance(labels: Sequence[int], classes: int) -> float:
    """Mean macro F1 of labels drawn evenly at random: what a router has to beat."""
    random = np.random.default_rng(SEED)
    actual = np.array(labels)
    guesses = random.integers(0, classes, size=(RESAMPLES, len(actual)))
    confusion = np.zeros((RESAMPLES, classes, classes), np.int64)
    for label in range(classes):
        for guess in range(classes):
            both = (actual == label) & (guesses == guess)
            confusion[:, label, guess] = both.sum(axis=1)
    asked = np.bincount(actual, minlength=classes) > 0
    return float(_class_rates(confusion).f1[:, asked].mean())


def _confusion_by_cluster(
    labels: Sequence[int], guesses: Sequence[int], classes: int, clusters: Sequence[Hashable]
) -> Counts:
    """Counts of shape (clusters, labels, guesses)."""
    distinct = list(dict.fromkeys(clusters))
    numbers = dict(zip(distinct, range(len(distinct)), strict=True))
    confusion = np.zeros((len(numbers), classes, classes), np.int64)
    for label, guess, cluster in zip(labels, guesses, clusters, strict=True):
        confusion[numbers[cluster], label, guess] += 1
    return confusion


def _class_rates(confusion: Counts) -> ClassRates:
    """0 where nothing was guessed or asked."""
    right = np.diagonal(confusion, axis1=1, axis2=2)
    guessed = confusion.sum(axis=1)
    asked = confusion.sum(axis=2)
    return ClassRates(
        precision=right / np.maximum(guessed, 1),
        recall=right / np.maximum(asked, 1),
        f1=2 * right / np.maximum(guessed + asked, 1),
    )


def _bootstrap_interval(confusion: Counts, asked: npt.NDArray[np.bool_]) -> tuple[float, float]:
    random = np.random.default_rng(SEED)
    clusters = len(confusion)
    times_drawn = random.multinomial(clusters, np.full(clusters, 1 / clusters), size=RESAMPLES)
    tables = np.tensordot(times_drawn, confusion, axes=1)
    means = _class_rates(tables).f1[:, asked].mean(axis=1)
    ends = [(1 - LEVEL) / 2, (1 + LEVEL) / 2]
    low, high = np.quantile(means, ends)
    return float(low), float(high)
