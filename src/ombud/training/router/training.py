"""Teaching a router: scikit-learn fits, plain numbers come out. Needs the extra `train`."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from ombud.errors import BadRequest, UnknownName
from ombud.models import linear
from ombud.retrieve import ROUTER_READING, Embed, Numbers, Weights, router_scores
from ombud.training.router.augmentation import augment
from ombud.training.router.labelled import LabelledQuestion, questions_digest

Recipe = linear.Recipe
SEED = 0
REWRITTEN = 0.5
"""What a rewrite counts beside a question."""


class RouterTrainingParts(NamedTuple):
    embed: Embed | None = None
    fingerprint: str = ""
    """Of the embedder."""


NONE = RouterTrainingParts()
SURFACE, TEXT = {"surface": 0.2}, {"words": 1.0, "shape": 1.0}
RECIPES: Mapping[str, Recipe] = {
    "combined": Recipe({**SURFACE, **TEXT, "vector": 1.5}),
    "logistic": Recipe({"surface": 0.3, "words": 0.5, "shape": 0.5}),
    "svm": Recipe({**SURFACE, **TEXT}, "svm", 0.05),
    "minilm": Recipe({"vector": 1.0}, strictness=5.0),
    "text": Recipe(TEXT, strictness=3.0),
}
"""Variant -> recipe, the best first. `text` is `logistic` without the surface features."""


def train_router(
    questions: Sequence[LabelledQuestion],
    variant: str = "logistic",
    classes: int = 3,
    tools: RouterTrainingParts = NONE,
) -> Weights:
    """A router taught on all questions; the same questions give the same weights.

    Raises UnknownName for the variant, BadRequest where a class has no questions, MissingExtra
    without scikit-learn."""
    recipe = recipe_of(variant)
    made = fit(merged(questions, classes), recipe, classes, tools)
    about = {
        "questions": len(questions), "digest": questions_digest(questions), "augmented": recipe.augmented, "seed": SEED,
        "learner": recipe.learner, "C": recipe.strictness,
        "trained by": f"scikit-learn {linear.sklearn_kit().version}",
    }  # fmt: skip
    return made._replace(variant=variant, provenance=about)


def cross_validate(
    questions: Sequence[LabelledQuestion],
    recipe: Recipe,
    classes: int,
    tools: RouterTrainingParts = NONE,
) -> Numbers:
    """Probabilities of each question by a router that saw none of its template (GroupKFold, ten
    folds)."""
    wanted = merged(questions, classes)
    found = np.zeros((len(wanted), classes))
    for known, held in linear.grouped_folds([q.template for q in wanted]):
        weights = fit([wanted[n] for n in known], recipe, classes, tools)
        found[held] = router_scores([wanted[n].question for n in held], weights, tools.embed)
    return found


def fit(
    questions: Sequence[LabelledQuestion],
    recipe: Recipe,
    classes: int,
    tools: RouterTrainingParts = NONE,
) -> Weights:
    """Weights without a name and provenance; labels are below `classes`."""
    if len({q.label for q in questions}) < classes:
        raise BadRequest(
            f"Not each of {classes} classes has a question.",
            hint="Add the missing ones, or --classes 2.",
        )
    seen = [*questions, *(augment(questions, SEED).questions if recipe.augmented else ())]
    importance = [1.0] * len(questions) + [REWRITTEN] * (len(seen) - len(questions))
    return linear.fit(
        [q.question for q in seen], [q.label for q in seen], [q.template for q in seen], importance, recipe, ROUTER_READING,
        tools.embed, tools.fingerprint,
    )  # fmt: skip


def merged(questions: Sequence[LabelledQuestion], classes: int) -> list[LabelledQuestion]:
    """Labels as they count with that many classes: of two, the second is two passages and more."""
    return [q._replace(label=min(q.label, classes - 1)) for q in questions]


def recipe_of(variant: str) -> Recipe:
    if variant not in RECIPES:
        raise UnknownName(
            f"No variant is called `{variant}`.", hint=f"Known: {', '.join(sorted(RECIPES))}."
        )
    return RECIPES[variant]
