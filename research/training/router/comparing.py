"""Variants beside each other: by grouped cross-validation, and on questions that none of them
saw."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ombud.retrieve.router.classifying import Numbers, Router, Weights, router_scores
from research.training.linear import NO_EMBEDDER, SEED, TrainingEmbedder
from research.training.reporting import render_report
from research.training.router.augmentation import AugmentedQuestions, augment
from research.training.router.evaluation import ClassificationScores, f1_by_chance, score_guesses
from research.training.router.labelled import (
    LabelledQuestion,
    labels_of,
    questions_digest,
    templates_of,
    texts_of,
)
from research.training.router.training import (
    RECIPES,
    cross_validate,
    merge_labels,
    recipe_of,
    train_router,
)

TAUGHT = "cross-validated"
"""Name of the training questions as a set: each question judged by a router that saw none of its
template."""
TARGETS = {3: 0.85, 2: 0.90}
"""Classes -> macro F1 that is wanted on questions written apart."""
CLASSES = 3
REPORT = Path(__file__).with_name("report.md")
OnProgress = Callable[[str, int, int], None]
"""Step, how many are done, of how many."""
QuestionSets = Mapping[str, Sequence[LabelledQuestion]]


class RouterScores(NamedTuple):
    variant: str
    held: str
    """`TAUGHT` or the name of a set that was held out."""
    classes: int
    figures: ClassificationScores


class RouterComparison(NamedTuple):
    results: tuple[RouterScores, ...]
    chance: Mapping[tuple[str, int], float]
    """(set, classes) -> macro F1 of random labels."""
    sets: QuestionSets
    augmented: AugmentedQuestions

    def of(self, variant: str, held: str, classes: int) -> ClassificationScores | None:
        for result in self.results:
            if result[:3] == (variant, held, classes):
                return result.figures
        return None


class JudgedSet(NamedTuple):
    """What a variant made of one set."""

    variant: str
    held: str
    questions: Sequence[LabelledQuestion]
    probabilities: Numbers
    """Shape (questions, classes)."""

    def scores(self, classes: int) -> RouterScores:
        """Against labels; classes beyond those asked for are added up."""
        narrow = self.probabilities[:, :classes].copy()
        narrow[:, -1] = self.probabilities[:, classes - 1 :].sum(axis=1)
        # Of classes that are equally likely the widest counts.
        guesses = classes - 1 - narrow[:, ::-1].argmax(axis=1)
        figures = score_guesses(
            labels=labels_of(merge_labels(self.questions, classes)),
            guesses=guesses.tolist(),
            classes=classes,
            clusters=templates_of(self.questions),
        )
        return RouterScores(self.variant, self.held, classes, figures)


def judge_weights(
    weights: Weights, sets: QuestionSets, embedder: TrainingEmbedder
) -> list[RouterScores]:
    """One trained router on sets that it did not see, in as many classes as it knows and fewer."""
    results = []
    for held, questions in sets.items():
        probabilities = router_scores(texts_of(questions), weights, embedder.embed)
        judged = JudgedSet(weights.variant, held, questions, probabilities)
        for classes in range(weights.classes, 1, -1):
            results.append(judged.scores(classes))
    return results


def judge_by_router(router: Router, sets: QuestionSets, variant: str) -> list[RouterScores]:
    """Any router, such as a chat model that counts, on sets; in three classes and two."""
    results = []
    for held, questions in sets.items():
        rows = [router(text, CLASSES).probabilities for text in texts_of(questions)]
        probabilities = np.array(rows)
        judged = JudgedSet(variant, held, questions, probabilities)
        for classes in TARGETS:
            results.append(judged.scores(classes))
    return results


def judge_by_folds(
    questions: Sequence[LabelledQuestion], variant: str, classes: int, embedder: TrainingEmbedder
) -> list[RouterScores]:
    """A variant on its own training questions, grouped by template."""
    probabilities = cross_validate(questions, recipe_of(variant), classes, embedder)
    judged = JudgedSet(variant, TAUGHT, questions, probabilities)
    return list(map(judged.scores, range(classes, 1, -1)))


def compare_routers(
    questions: Sequence[LabelledQuestion],
    sets: QuestionSets,
    embedder: TrainingEmbedder = NO_EMBEDDER,
    on_progress: OnProgress = lambda step, done, total: None,
) -> RouterComparison:
    """Every variant that can be trained here; without an embedder those with vectors are left
    out."""
    variants = []
    for name, recipe in RECIPES.items():
        if embedder.embed or "vector" not in recipe.parts:
            variants.append(name)
    results: list[RouterScores] = []
    for done, variant in enumerate(variants):
        on_progress("variants", done, len(variants))
        results += judge_by_folds(questions, variant, CLASSES, embedder)
        weights = train_router(questions, variant, CLASSES, embedder)
        results += judge_weights(weights, sets, embedder)
    on_progress("variants", len(variants), len(variants))
    all_sets = {TAUGHT: questions, **sets}
    return RouterComparison(
        results=tuple(results),
        chance=_by_chance(all_sets),
        sets=all_sets,
        augmented=augment(questions, SEED),
    )


def router_report(compared: RouterComparison, command: str) -> str:
    """The report: research/results/router.md is made of it."""
    variants = list(dict.fromkeys(result.variant for result in compared.results))
    return render_report(
        REPORT,
        compared=compared,
        command=command,
        taught=TAUGHT,
        targets=TARGETS,
        digest=questions_digest,
        default=variants[0],
        variants=variants,
        made=sum(compared.augmented.made.values()),
    )


def _by_chance(sets: QuestionSets) -> dict[tuple[str, int], float]:
    chance = {}
    for name, questions in sets.items():
        for classes in TARGETS:
            labels = labels_of(merge_labels(questions, classes))
            chance[name, classes] = f1_by_chance(labels, classes)
    return chance
