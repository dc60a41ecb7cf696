"""Linear classifiers of short texts: taught with scikit-learn, kept as plain numbers in JSON, run
by numpy.

What is looked at of a text is a `Reading`: the part that counts, its surface in numbers, its terms.
"""

from ombud.models.linear.training import (
    KIT_EXTRA,
    SEED,
    Kit,
    Recipe,
    fit,
    grouped_folds,
    sklearn_kit,
)
from ombud.models.linear.weights import (
    Embed,
    FeatureReading,
    LinearWeights,
    Numbers,
    Terms,
    TermVocabulary,
    as_record,
    design,
    frequencies,
    from_record,
    ngrams,
    score,
    to_json,
    vocabulary,
)

__all__ = [
    "KIT_EXTRA",
    "SEED",
    "Embed",
    "FeatureReading",
    "Kit",
    "LinearWeights",
    "Numbers",
    "Recipe",
    "TermVocabulary",
    "Terms",
    "as_record",
    "design",
    "fit",
    "frequencies",
    "from_record",
    "grouped_folds",
    "ngrams",
    "score",
    "sklearn_kit",
    "to_json",
    "vocabulary",
]
