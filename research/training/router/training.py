"""Teaching a router: scikit-learn fits, plain numbers come out. Needs the extra `train`."""

from collections.abc import Mapping, Sequence

import numpy as np

from ombud.errors import BadRequest, UnknownName
from ombud.retrieve.router.classifying import Numbers, Weights, router_scores
from ombud.retrieve.router.reading import ROUTER_READING
from research.training.linear import (
    NO_EMBEDDER,
    SEED,
    Recipe,
    TrainingEmbedder,
    TrainingTexts,
    fit_linear,
    grouped_folds,
    import_sklearn,
)
from research.training.router.augmentation import augment
from research.training.router.labelled import (
    LabelledQuestion,
    labels_of,
    questions_digest,
    templates_of,
    texts_of,
)

REWRITTEN = 0.5
"""What a rewrite counts beside a question."""
TERMS = {"words": 1.0, "shape": 1.0}
RECIPES: Mapping[str, Recipe] = {
    "combined": Recipe({**TERMS, "vector": 1.5}),
    "logistic": Recipe(TERMS, strictness=3.0),
    "svm": Recipe(TERMS, "svm", 0.05),
    "minilm": Recipe({"vector": 1.0}, strictness=5.0),
}
"""Variant -> recipe, the best first."""


def train_router(
    questions: Sequence[LabelledQuestion],
    variant: str = "logistic",
    classes: int = 3,
    embedder: TrainingEmbedder = NO_EMBEDDER,
) -> Weights:
    """A router taught on all questions; the same questions give the same weights.

    Raises UnknownName for the variant, BadRequest where a class has no questions, MissingExtra
    without scikit-learn."""
    recipe = recipe_of(variant)
    weights = fit(merge_labels(questions, classes), recipe, classes, embedder)
    provenance = {
        "questions": len(questions),
        "digest": questions_digest(questions),
        "augmented": recipe.augmented,
        "seed": SEED,
        "learner": recipe.learner,
        "C": recipe.strictness,
        "trained by": f"scikit-learn {import_sklearn().version}",
    }
    return weights._replace(variant=variant, provenance=provenance)


def cross_validate(
    questions: Sequence[LabelledQuestion],
    recipe: Recipe,
    classes: int,
    embedder: TrainingEmbedder = NO_EMBEDDER,
) -> Numbers:
    """Probabilities of each question by a router that saw none of its template (GroupKFold, ten
    folds)."""
    merged = merge_labels(questions, classes)
    probabilities = np.zeros((len(merged), classes))
    for taught, held_out in grouped_folds(templates_of(merged)):
        weights = fit([merged[place] for place in taught], recipe, classes, embedder)
        texts = texts_of([merged[place] for place in held_out])
        probabilities[held_out] = router_scores(texts, weights, embedder.embed)
    return probabilities


def fit(
    questions: Sequence[LabelledQuestion],
    recipe: Recipe,
    classes: int,
    embedder: TrainingEmbedder = NO_EMBEDDER,
) -> Weights:
    """Weights without a name and provenance; labels are below `classes`."""
    if len(set(labels_of(questions))) < classes:
        raise BadRequest(
            f"Not each of {classes} classes has a question.",
            hint="Add the missing ones, or --classes 2.",
        )
    taught = list(questions)
    importance = [1.0] * len(questions)
    if recipe.augmented:
        rewrites = augment(questions, SEED).questions
        taught.extend(rewrites)
        importance.extend([REWRITTEN] * len(rewrites))
    examples = TrainingTexts(
        texts=texts_of(taught),
        labels=labels_of(taught),
        groups=templates_of(taught),
        importance=importance,
    )
    return fit_linear(examples, recipe, ROUTER_READING, embedder)


def merge_labels(questions: Sequence[LabelledQuestion], classes: int) -> list[LabelledQuestion]:
    """Labels as they count with that many classes: of two, the second is two passages and more."""
    widest = classes - 1
    merged = []
    for question in questions:
        merged.append(question._replace(label=min(question.label, widest)))
    return merged


def recipe_of(variant: str) -> Recipe:
    if variant not in RECIPES:
        raise UnknownName(
            f"No variant is called `{variant}`.", hint=f"Known: {', '.join(sorted(RECIPES))}."
        )
    return RECIPES[variant]
