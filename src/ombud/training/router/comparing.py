"""Variants beside each other: by grouped cross-validation, and on questions that none of them
saw."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ombud.retrieve import Numbers, Router, Weights, router_scores
from ombud.training.router.augmentation import Augmented, augment
from ombud.training.router.evaluation import ClassificationScores, by_chance, figures
from ombud.training.router.labelled import LabelledQuestion, questions_digest
from ombud.training.router.training import (
    NONE,
    RECIPES,
    SEED,
    RouterTrainingParts,
    cross_validate,
    recipe_of,
    train_router,
)
from ombud.training.router.training import merged as as_classes

if TYPE_CHECKING:
    from jinja2 import Environment

TAUGHT = "cross-validated"
"""Name of the training questions as a set: each question judged by a router that saw none of its
template."""
TARGETS = {3: 0.85, 2: 0.90}
"""Classes -> macro F1 that is wanted on questions written apart."""
Tell = Callable[[str, int, int], None]


class RouterScores(NamedTuple):
    variant: str
    held: str
    """`TAUGHT` or the name of a set that was held out."""
    classes: int
    figures: ClassificationScores


class Compared(NamedTuple):
    results: tuple[RouterScores, ...]
    chance: Mapping[tuple[str, int], float]
    """(set, classes) -> macro F1 of random labels."""
    sets: Mapping[str, Sequence[LabelledQuestion]]
    augmented: Augmented

    def of(self, variant: str, held: str, classes: int) -> ClassificationScores | None:
        wanted = (variant, held, classes)
        return next((r.figures for r in self.results if r[:3] == wanted), None)


def judge(
    variant: str, questions: Sequence[LabelledQuestion], found: Numbers, held: str, classes: int
) -> RouterScores:
    """Probabilities against labels; more classes than asked for are added up."""
    narrow = found[:, :classes].copy()
    narrow[:, -1] = found[:, classes - 1 :].sum(axis=1)
    labels = [q.label for q in as_classes(questions, classes)]
    guesses = (classes - 1 - narrow[:, ::-1].argmax(axis=1)).tolist()
    return RouterScores(
        variant, held, classes, figures(labels, guesses, classes, [q.template for q in questions])
    )


def judge_weights(
    weights: Weights, sets: Mapping[str, Sequence[LabelledQuestion]], tools: RouterTrainingParts
) -> list[RouterScores]:
    """One trained router on sets that it did not see, in as many classes as it knows and fewer."""
    found = []
    for held, questions in sets.items():
        probabilities = router_scores([q.question for q in questions], weights, tools.embed)
        found += [
            judge(weights.variant, questions, probabilities, held, n)
            for n in range(weights.classes, 1, -1)
        ]
    return found


def judge_by_router(
    router: Router, sets: Mapping[str, Sequence[LabelledQuestion]], variant: str
) -> list[RouterScores]:
    """Any router, such as a chat model that counts, on sets; in three classes and two."""
    found = []
    for held, questions in sets.items():
        probabilities = np.array([router(q.question, 3).probabilities for q in questions])
        found += [judge(variant, questions, probabilities, held, classes) for classes in TARGETS]
    return found


def judge_by_folds(
    questions: Sequence[LabelledQuestion], variant: str, classes: int, tools: RouterTrainingParts
) -> list[RouterScores]:
    """A variant on its own training questions, grouped by template."""
    probabilities = cross_validate(questions, recipe_of(variant), classes, tools)
    return [judge(variant, questions, probabilities, TAUGHT, n) for n in range(classes, 1, -1)]


def compare_routers(
    questions: Sequence[LabelledQuestion],
    sets: Mapping[str, Sequence[LabelledQuestion]],
    tools: RouterTrainingParts = NONE,
    tell: Tell = lambda step, done, total: None,
) -> Compared:
    """Every variant that can be trained here; without an embedder those with vectors are left
    out."""
    names = [
        name for name, recipe in RECIPES.items() if tools.embed or "vector" not in recipe.parts
    ]
    results: list[RouterScores] = []
    for done, variant in enumerate(names):
        tell("variants", done, len(names))
        results += judge_by_folds(questions, variant, 3, tools)
        results += judge_weights(train_router(questions, variant, 3, tools), sets, tools)
    tell("variants", len(names), len(names))
    every = {TAUGHT: questions, **sets}
    chance = {
        (name, classes): by_chance([q.label for q in as_classes(held, classes)], classes)
        for name, held in every.items()
        for classes in TARGETS
    }
    return Compared(tuple(results), chance, every, augment(questions, SEED))


def router_report(compared: Compared, command: str) -> str:
    """The report: docs/results/router.md is made of it."""
    variants = list(dict.fromkeys(r.variant for r in compared.results))
    template = _templates().get_template("report.md")
    return template.render(
        compared=compared, command=command, taught=TAUGHT, targets=TARGETS, digest=questions_digest, default=variants[0],
        variants=variants,
        made=sum(compared.augmented.made.values()),
    )  # fmt: skip


def _templates() -> "Environment":
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    loader = FileSystemLoader(Path(__file__).parent)
    found = Environment(  # noqa: S701
        loader=loader, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    found.filters["share"] = lambda value: f"{value:.3f}".lstrip("0") if value < 1 else "1.000"
    return found
