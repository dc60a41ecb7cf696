"""A trained router's file: linear weights over what the router reads of a question."""

import json
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

from ombud.errors import BadSetting
from ombud.models import linear
from ombud.retrieve.router.features import values
from ombud.retrieve.router.reading import asking, question_words, shape

Embed = linear.Embed
Numbers = linear.Numbers
Weights = linear.LinearWeights
SHIPPED = Path(__file__).with_name("weights.json")
WITH_VECTORS = Path(__file__).with_name("weights-minilm.json")
ROUTER_READING = linear.FeatureReading(
    part=lambda text: " ".join(asking(text)),
    surface=values,
    terms={
        "words": lambda asked: linear.ngrams(question_words(asked), 2),
        "shape": lambda asked: linear.ngrams(shape(question_words(asked)), 3),
    },
    trainer="research.training.router --variant logistic",
)


def router_scores(texts: Sequence[str], weights: Weights, embed: Embed | None = None) -> Numbers:
    """Probabilities, shape (len(texts), weights.classes). Raises BadSetting where `embed` is needed
    and missing."""
    return linear.score(texts, weights, ROUTER_READING, embed)


def router_weights_text(weights: Weights) -> str:
    return linear.to_json(linear.as_record(weights))


@lru_cache(maxsize=4)
def load_router_weights(path: Path = SHIPPED) -> Weights:
    """Read the weights that `python -m research.training.router` wrote; raises BadSetting for any
    other."""
    try:
        return linear.from_record(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, LookupError, TypeError, AttributeError) as wrong:
        raise BadSetting(
            f"{path} holds no router's weights.",
            hint="Make some with `python -m research.training.router FILE --out WEIGHTS`.",
        ) from wrong
