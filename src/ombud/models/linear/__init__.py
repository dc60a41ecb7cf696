"""Linear classifiers of short texts: plain numbers in JSON, run by numpy.
`research/` trains them.

What is looked at of a text is a `Reading`: the part that counts, its surface in numbers, its terms.
"""

from ombud.models.linear.weights import (
    Embed,
    FeatureReading,
    FeatureTable,
    LinearWeights,
    Numbers,
    Terms,
    TermVocabulary,
    as_record,
    design,
    from_record,
    ngrams,
    score,
    to_json,
    vocabulary,
)

__all__ = [
    "Embed",
    "FeatureReading",
    "FeatureTable",
    "LinearWeights",
    "Numbers",
    "TermVocabulary",
    "Terms",
    "as_record",
    "design",
    "from_record",
    "ngrams",
    "score",
    "to_json",
    "vocabulary",
]
