"""Teaching a linear classifier: scikit-learn fits, plain numbers come out. Needs the extra
`train`."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ombud.errors import BadRequest, MissingExtra
from ombud.models import linear

SEED = 0
FOLDS = 10
SHARPNESS_FOLDS = 5
SHARPNESSES = tuple(0.25 * 1.25**n for n in range(20))


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


class TrainingTexts(NamedTuple):
    """Position i of all four is text i."""

    texts: Sequence[str]
    labels: Sequence[int]
    """From 0; each class must have a text."""
    groups: Sequence[str]
    """Texts of one group stand on the same side of every split."""
    importance: Sequence[float]
    """How much each text counts."""


class TrainingEmbedder(NamedTuple):
    """What turns texts into vectors while a classifier is taught; without `embed` no variant with
    vectors can be."""

    embed: linear.Embed | None = None
    fingerprint: str = ""

    def remembering(self) -> "TrainingEmbedder":
        """The same, embedding each text once however many folds and classifiers read it."""
        embed = self.embed
        if embed is None:
            return self
        vectors: dict[str, linear.Numbers] = {}

        def look_up(texts: Sequence[str]) -> linear.Numbers:
            new = [text for text in dict.fromkeys(texts) if text not in vectors]
            if new:
                vectors.update(zip(new, embed(new), strict=True))
            return np.array([vectors[text] for text in texts])

        return self._replace(embed=look_up)


NO_EMBEDDER = TrainingEmbedder()


def fit_linear(
    examples: TrainingTexts,
    recipe: Recipe,
    reading: linear.FeatureReading,
    embedder: TrainingEmbedder = NO_EMBEDDER,
) -> linear.LinearWeights:
    """Weights without a name and provenance.

    Raises BadRequest where a class has no text, MissingExtra without scikit-learn."""
    classes = max(examples.labels, default=-1) + 1
    if classes < 2 or len(set(examples.labels)) < classes:
        raise BadRequest(f"Not each of {classes} classes has a text.", hint="Add the missing ones.")
    sklearn = import_sklearn()
    untaught = _untaught_weights(examples.texts, classes, recipe, reading)
    if "vector" in recipe.parts:
        untaught = untaught._replace(embedder=embedder.fingerprint)
    features = linear.design(examples.texts, untaught, reading, embedder.embed)
    # scikit-learn's liblinear takes no wider places than these.
    columns, starts = features.columns.astype(np.int32), features.starts.astype(np.int32)
    entries = (features.values, columns, starts)
    table = sklearn.csr_array(entries, shape=features.shape)
    learner = sklearn.learner(recipe)
    importance = np.array(examples.importance, float)
    learner.fit(table, np.array(examples.labels), sample_weight=importance)
    rows, intercept = _of_each_class(learner.coef_, learner.intercept_)
    sharpness = 1.0
    if recipe.learner != "logistic":
        sharpness = _fit_sharpness(sklearn, recipe, table, examples)
    return untaught._replace(coefficients=rows.T, intercept=intercept, sharpness=sharpness)


def grouped_folds(groups: Sequence[str], folds: int = FOLDS) -> Iterator[tuple[Any, Any]]:
    """(taught, held out) positions of so many folds, or as many as there are groups; a group is
    never in both."""
    sklearn = import_sklearn()
    count = min(folds, len(set(groups)))
    kept_apart = sklearn.GroupKFold(count, shuffle=True, random_state=SEED)
    yield from kept_apart.split(groups, groups=groups)


def _untaught_weights(
    texts: Sequence[str], classes: int, recipe: Recipe, reading: linear.FeatureReading
) -> linear.LinearWeights:
    """Vocabularies, nothing learnt yet."""
    read_parts = list(map(reading.part, texts))
    vocabularies = {}
    for part, terms in reading.terms.items():
        if part in recipe.parts:
            vocabularies[part] = linear.vocabulary(terms, read_parts, recipe.least)
    return linear.LinearWeights(
        variant="",
        classes=classes,
        parts=recipe.parts,
        vocabularies=vocabularies,
        embedder="",
        coefficients=np.zeros((0, classes)),
        intercept=np.zeros(classes),
        sharpness=1.0,
        provenance={},
    )


def _of_each_class(
    rows: linear.Numbers, intercept: linear.Numbers
) -> tuple[linear.Numbers, linear.Numbers]:
    """scikit-learn has one row for two classes; as the scores of both it is the same."""
    if len(rows) > 1:
        return rows, intercept
    return np.vstack([0 * rows, rows]), np.append(0.0, intercept)


def _fit_sharpness(
    sklearn: "ScikitLearn", recipe: Recipe, table: Any, examples: TrainingTexts
) -> float:
    """What turns the margins of an SVM into probabilities: least log loss on texts of other
    groups."""
    labels = np.array(examples.labels)
    margins = sklearn.cross_val_predict(
        sklearn.learner(recipe),
        table,
        labels,
        groups=examples.groups,
        cv=sklearn.GroupKFold(SHARPNESS_FOLDS, shuffle=True, random_state=SEED),
        method="decision_function",
    )
    if margins.ndim == 1:
        margins = np.stack([0 * margins, margins], axis=1)

    def log_loss(sharpness: float) -> float:
        scores = sharpness * margins
        highest = scores.max(axis=1)
        below_highest = np.exp(scores - highest[:, None])
        total = highest + np.log(below_highest.sum(axis=1))
        of_label = scores[np.arange(len(labels)), labels]
        return float((total - of_label).mean())

    return min(SHARPNESSES, key=log_loss)


class ScikitLearn(NamedTuple):
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
                C=recipe.strictness,
                class_weight="balanced",
                random_state=SEED,
                max_iter=20_000,
            )
        return self.LogisticRegression(C=recipe.strictness, class_weight="balanced", max_iter=5_000)


def import_sklearn() -> ScikitLearn:
    """Raises MissingExtra."""
    try:
        import sklearn
        from scipy.sparse import csr_array
        from sklearn.linear_model import LogisticRegression
        from sklearn.model_selection import GroupKFold, cross_val_predict
        from sklearn.svm import LinearSVC
    except ModuleNotFoundError as missing:
        raise MissingExtra(
            "Training needs scikit-learn.", hint="pip install 'ombud[train]'"
        ) from missing
    return ScikitLearn(
        version=sklearn.__version__,
        GroupKFold=GroupKFold,
        cross_val_predict=cross_val_predict,
        csr_array=csr_array,
        LogisticRegression=LogisticRegression,
        LinearSVC=LinearSVC,
    )
