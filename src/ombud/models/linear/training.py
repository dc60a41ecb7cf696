"""Teaching a linear classifier: scikit-learn fits, plain numbers come out. Needs the extra
`train`."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ombud.errors import BadRequest, MissingExtra
from ombud.models.linear.weights import (
    Embed,
    FeatureReading,
    LinearWeights,
    Numbers,
    design,
    vocabulary,
)

FOLDS, SEED = 10, 0
SHARPNESSES = tuple(0.25 * 1.25**n for n in range(20))
KIT_EXTRA = "train"


class Recipe(NamedTuple):
    """What a variant learns from, and how; chosen by grouped cross-validation on the training
    texts."""

    parts: Mapping[str, float]
    learner: str = "logistic"
    strictness: float = 1.0
    """scikit-learn's C: the larger, the closer to the texts."""
    augmented: bool = True
    least: int = 3
    """Texts that must have a term."""


def fit(
    texts: Sequence[str],
    labels: Sequence[int],
    groups: Sequence[str],
    importance: Sequence[float],
    recipe: Recipe,
    reading: FeatureReading,
    embed: Embed | None = None,
    fingerprint: str = "",
) -> LinearWeights:
    """Weights without a name and provenance. Labels count from 0, and each class must have a text,
    else BadRequest.

    importance: how much each text counts. groups: texts of one group stand on the same side where
    an SVM's sharpness is chosen. Raises MissingExtra without scikit-learn."""
    classes = max(labels, default=-1) + 1
    if classes < 2 or len(set(labels)) < classes:
        raise BadRequest(f"Not each of {classes} classes has a text.", hint="Add the missing ones.")
    kit = sklearn_kit()
    blank = _blank(texts, classes, recipe, reading, fingerprint)
    table = kit.csr_array(design(texts, blank, reading, embed))
    known = np.array(labels)
    learner = kit.learner(recipe)
    learner.fit(table, known, sample_weight=np.array(importance, float))
    rows, intercept = _of_each_class(learner.coef_, learner.intercept_)
    sharpness = (
        1.0 if recipe.learner == "logistic" else _sharpness(kit, recipe, table, known, groups)
    )
    return blank._replace(coefficients=rows.T, intercept=intercept, sharpness=sharpness)


def grouped_folds(groups: Sequence[str]) -> Iterator[tuple[Any, Any]]:
    """(known, held) positions of `FOLDS` folds, or as many as there are groups; a group is never in
    both."""
    kit = sklearn_kit()
    folds = kit.GroupKFold(min(FOLDS, len(set(groups))), shuffle=True, random_state=SEED)
    yield from folds.split(groups, groups=groups)


def _blank(
    texts: Sequence[str], classes: int, recipe: Recipe, reading: FeatureReading, fingerprint: str
) -> LinearWeights:
    """Vocabularies and scales, nothing learnt yet."""
    read = [reading.part(text) for text in texts]
    known = {
        part: vocabulary(terms, read, recipe.least)
        for part, terms in reading.terms.items()
        if part in recipe.parts
    }
    surface = np.array(
        [reading.surface(text) for text in texts] if "surface" in recipe.parts else [()], float
    )
    scale = surface.std(axis=0)
    return LinearWeights(
        variant="", classes=classes, parts=recipe.parts, vocabularies=known, mean=surface.mean(axis=0),
        scale=np.where(scale > 0, scale, 1.0), embedder=fingerprint if "vector" in recipe.parts else "",
        coefficients=np.zeros((0, classes)), intercept=np.zeros(classes), sharpness=1.0, provenance={},
    )  # fmt: skip


def _of_each_class(rows: Numbers, intercept: Numbers) -> tuple[Numbers, Numbers]:
    """scikit-learn has one row for two classes; as the scores of both it is the same."""
    if len(rows) > 1:
        return rows, intercept
    return np.vstack([0 * rows, rows]), np.append(0.0, intercept)


def _sharpness(kit: "Kit", recipe: Recipe, table: Any, labels: Any, groups: Sequence[str]) -> float:
    """What turns the margins of an SVM into probabilities: least log loss on texts of other
    groups."""
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


class Kit(NamedTuple):
    """The few things of scikit-learn and scipy that are used here."""

    version: str
    GroupKFold: Any
    cross_val_predict: Any
    csr_array: Any
    LogisticRegression: Any
    LinearSVC: Any

    def learner(self, recipe: Recipe) -> Any:
        if recipe.learner == "svm":
            return self.LinearSVC(
                C=recipe.strictness, class_weight="balanced", random_state=SEED, max_iter=20_000
            )
        return self.LogisticRegression(C=recipe.strictness, class_weight="balanced", max_iter=5_000)


def sklearn_kit() -> Kit:
    """Raises MissingExtra."""
    try:
        import sklearn
        from scipy.sparse import csr_array
        from sklearn.linear_model import LogisticRegression
        from sklearn.model_selection import GroupKFold, cross_val_predict
        from sklearn.svm import LinearSVC
    except ModuleNotFoundError as missing:
        raise MissingExtra(
            "Training needs scikit-learn.", hint=f"pip install 'ombud[{KIT_EXTRA}]'"
        ) from missing
    return Kit(
        sklearn.__version__, GroupKFold, cross_val_predict, csr_array, LogisticRegression, LinearSVC
    )
