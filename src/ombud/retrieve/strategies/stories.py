"""People in trouble tell a story, in none of the words of the policy that would help. A classifier
tells which matter it is about, and a paragraph as policies have it is searched for beside what was
said: HyDE without a model."""

import json
import tomllib
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ombud.models import Embedder
from ombud.types import Query

HERE = Path(__file__).parent
WEIGHTS = HERE / "stories.json"
MATTERS = HERE / "stories.toml"
LEAST = 0.7
"""Least probability that it is a story of any matter. On dev, quote recall@1000w of sensitive
stories rises from .43 to .67 (n 15) on the sample and from .13 to .38 (n 4) on the handbooks; of
other questions it falls from .892 to .883 (n 169) and from .803 to .788 (n 66)."""
NONE = "none"


class StoryWeights(NamedTuple):
    """Multinomial logistic regression on the embedder's vectors; made by
    `make stories`."""

    embedder: str
    """Fingerprint."""
    matters: tuple[str, ...]
    coefficients: npt.NDArray[np.float64]
    """Shape (dimension, matters)."""
    intercept: npt.NDArray[np.float64]


def policy_words(text: str, embedder: Embedder | None) -> Query | None:
    """What a policy on the matter of this story would say; None where it is no story, or the
    embedder another one."""
    matter = matter_of(text, embedder)
    if not matter:
        return None
    written = _matters()[matter]
    return Query(
        strategy="standard",
        text=written["words"],
        passage=written["passage"],
    )


def matter_of(text: str, embedder: Embedder | None, least: float = LEAST) -> str:
    """The likeliest matter of a story; empty for what is none."""
    weights = load_weights()
    if embedder is None or embedder.fingerprint != weights.embedder:
        return ""
    if not text.strip():
        return ""
    (vector,) = embedder.embed([text])
    scores = vector @ weights.coefficients + weights.intercept
    powers = np.exp(scores - scores.max())
    probabilities = dict(zip(weights.matters, powers / powers.sum(), strict=True))
    if 1 - probabilities.pop(NONE) < least:
        return ""
    return max(probabilities, key=lambda matter: probabilities[matter])


@cache
def load_weights() -> StoryWeights:
    content = json.loads(WEIGHTS.read_text(encoding="utf-8"))
    return StoryWeights(
        embedder=content["embedder"],
        matters=tuple(content["matters"]),
        coefficients=np.array(content["coefficients"]),
        intercept=np.array(content["intercept"]),
    )


@cache
def _matters() -> dict[str, dict[str, str]]:
    return tomllib.loads(MATTERS.read_text(encoding="utf-8"))
