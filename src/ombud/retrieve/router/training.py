"""Teaching a router: scikit-learn fits, plain numbers come out. Needs the extra `train`."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ombud.errors import BadRequest, MissingExtra, UnknownName
from ombud.retrieve.router.augmentation import augment
from ombud.retrieve.router.features import values
from ombud.retrieve.router.labelled import Labelled, digest
from ombud.retrieve.router.reading import asking
from ombud.retrieve.router.weights import TERMS, Embed, Numbers, Weights, design, score, vocabulary

FOLDS, SEED = 10, 0
REWRITTEN = 0.5
"""What a rewrite counts beside a question."""
LEAST = 3
"""Questions that must have a term."""
SHARPNESSES = tuple(0.25 * 1.25**n for n in range(20))


class Recipe(NamedTuple):
    """What a variant learns from, and how; chosen by grouped cross-validation on the training questions."""

    parts: Mapping[str, float]
    learner: str = "logistic"
    strictness: float = 1.0
    """scikit-learn's C: the larger, the closer to the questions."""
    augmented: bool = True


class Tools(NamedTuple):
    embed: Embed | None = None
    fingerprint: str = ""
    """Of the embedder."""


NONE = Tools()
SURFACE, TEXT = {"surface": 0.2}, {"words": 1.0, "shape": 1.0}
RECIPES: Mapping[str, Recipe] = {
    "combined": Recipe({**SURFACE, **TEXT, "vector": 1.5}),
    "logistic": Recipe({"surface": 0.3, "words": 0.5, "shape": 0.5}),
    "svm": Recipe({**SURFACE, **TEXT}, "svm", 0.05),
    "minilm": Recipe({"vector": 1.0}, strictness=5.0),
    "text": Recipe(TEXT, strictness=3.0),
}
"""Variant -> recipe, the best first. `text` is `logistic` without the surface features."""


def train(questions: Sequence[Labelled], variant: str = "logistic", classes: int = 3, tools: Tools = NONE) -> Weights:
    """A router taught on all questions; the same questions give the same weights.

    Raises UnknownName for the variant, BadRequest where a class has no questions, MissingExtra without scikit-learn.
    """
    recipe = recipe_of(variant)
    made = fit(merged(questions, classes), recipe, classes, tools)
    about = {
        "questions": len(questions), "digest": digest(questions), "augmented": recipe.augmented, "seed": SEED,
        "learner": recipe.learner, "C": recipe.strictness, "trained by": f"scikit-learn {_sklearn().version}",
    }  # fmt: skip
    return made._replace(variant=variant, provenance=about)


def cross_validate(questions: Sequence[Labelled], recipe: Recipe, classes: int, tools: Tools = NONE) -> Numbers:
    """Probabilities of each question by a router that saw none of its template (GroupKFold, `FOLDS` folds)."""
    wanted = merged(questions, classes)
    groups = [q.template for q in wanted]
    found = np.zeros((len(wanted), classes))
    folds = _sklearn().GroupKFold(min(FOLDS, len(set(groups))), shuffle=True, random_state=SEED)
    for known, held in folds.split(groups, groups=groups):
        weights = fit([wanted[n] for n in known], recipe, classes, tools)
        found[held] = score([wanted[n].question for n in held], weights, tools.embed)
    return found


def fit(questions: Sequence[Labelled], recipe: Recipe, classes: int, tools: Tools = NONE) -> Weights:
    """Weights without a name and provenance; labels are below `classes`."""
    if len({q.label for q in questions}) < classes:
        raise BadRequest(f"Not each of {classes} classes has a question.", hint="Add the missing ones, or --classes 2.")
    kit = _sklearn()
    seen = [*questions, *(augment(questions, SEED).questions if recipe.augmented else ())]
    blank = _blank([q.question for q in seen], recipe, classes, tools)
    table = kit.csr_array(design([q.question for q in seen], blank, tools.embed))
    labels, groups = np.array([q.label for q in seen]), [q.template for q in seen]
    learner = kit.learner(recipe)
    more = len(seen) - len(questions)
    learner.fit(table, labels, sample_weight=np.append(np.ones(len(questions)), np.full(more, REWRITTEN)))
    rows, intercept = _of_each_class(learner.coef_, learner.intercept_)
    sharpness = 1.0 if recipe.learner == "logistic" else _sharpness(kit, recipe, table, labels, groups)
    return blank._replace(coefficients=rows.T, intercept=intercept, sharpness=sharpness)


def merged(questions: Sequence[Labelled], classes: int) -> list[Labelled]:
    """Labels as they count with that many classes: of two, the second is two passages and more."""
    return [q._replace(label=min(q.label, classes - 1)) for q in questions]


def recipe_of(variant: str) -> Recipe:
    if variant not in RECIPES:
        raise UnknownName(f"No variant is called `{variant}`.", hint=f"Known: {', '.join(sorted(RECIPES))}.")
    return RECIPES[variant]


def _blank(texts: Sequence[str], recipe: Recipe, classes: int, tools: Tools) -> Weights:
    """Vocabularies and scales, nothing learnt yet."""
    asked = [" ".join(asking(text)) for text in texts]
    known = {part: vocabulary(part, asked, LEAST) for part in recipe.parts if part in TERMS}
    rows = [values(text) for text in texts] if "surface" in recipe.parts else [()]
    surface = np.array(rows, float)
    scale = surface.std(axis=0)
    nothing = np.zeros((0, classes))
    return Weights(
        variant="", classes=classes, parts=recipe.parts, vocabularies=known, mean=surface.mean(axis=0),
        scale=np.where(scale > 0, scale, 1.0), embedder=tools.fingerprint if "vector" in recipe.parts else "",
        coefficients=nothing, intercept=np.zeros(classes), sharpness=1.0, provenance={},
    )  # fmt: skip


def _of_each_class(rows: Numbers, intercept: Numbers) -> tuple[Numbers, Numbers]:
    """scikit-learn has one row for two classes; as the scores of both it is the same."""
    if len(rows) > 1:
        return rows, intercept
    return np.vstack([0 * rows, rows]), np.append(0.0, intercept)


def _sharpness(kit: Any, recipe: Recipe, table: Any, labels: Any, groups: Sequence[str]) -> float:
    """What turns the margins of an SVM into probabilities: least log loss on questions of other templates."""
    folds = kit.GroupKFold(5, shuffle=True, random_state=SEED)
    found = kit.cross_val_predict(
        kit.learner(recipe), table, labels, groups=groups, cv=folds, method="decision_function"
    )
    margins = found if found.ndim == 2 else np.stack([0 * found, found], axis=1)

    def loss(sharpness: float) -> float:
        scores = sharpness * margins
        highest = scores.max(axis=1)
        total = highest + np.log(np.exp(scores - highest[:, None]).sum(axis=1))
        return float((total - scores[np.arange(len(labels)), labels]).mean())

    return min(SHARPNESSES, key=loss)


class _Kit(NamedTuple):
    """The few things of scikit-learn and scipy that are used here."""

    version: str
    GroupKFold: Any
    cross_val_predict: Any
    csr_array: Any
    LogisticRegression: Any
    LinearSVC: Any

    def learner(self, recipe: Recipe) -> Any:
        if recipe.learner == "svm":
            return self.LinearSVC(C=recipe.strictness, class_weight="balanced", random_state=SEED, max_iter=20_000)
        return self.LogisticRegression(C=recipe.strictness, class_weight="balanced", max_iter=5_000)


def _sklearn() -> _Kit:
    try:
        import sklearn
        from scipy.sparse import csr_array
        from sklearn.linear_model import LogisticRegression
        from sklearn.model_selection import GroupKFold, cross_val_predict
        from sklearn.svm import LinearSVC
    except ModuleNotFoundError as missing:
        raise MissingExtra("Training needs scikit-learn.", hint="pip install 'ombud[train]'") from missing
    return _Kit(sklearn.__version__, GroupKFold, cross_val_predict, csr_array, LogisticRegression, LinearSVC)
