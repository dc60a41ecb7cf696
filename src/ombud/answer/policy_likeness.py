"""How much a message sounds like what policies answer, rather than like a wish for something done,
a look into the future or a matter of somebody else. Words of the documents do not tell these apart.
"""

import json
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ombud.errors import ModelError
from ombud.models import Embedder

SHIPPED = Path(__file__).with_name("policy_likeness.json")


class AskableWeights(NamedTuple):
    """Logistic regression on the vector of a message."""

    embedder: str
    """Fingerprint of the one that made the vectors; with another the signal is unknown."""
    weight: npt.NDArray[np.float64]
    bias: float


def askable(text: str, embedder: Embedder | None) -> float:
    """Log odds; not a number where the embedder is not that of the training, or fails."""
    weights = load_askable()
    if embedder is None or embedder.fingerprint != weights.embedder:
        return float("nan")
    try:
        (vector,) = embedder.embed([text])
    except ModelError:
        return float("nan")
    return float(np.asarray(vector, np.float64) @ weights.weight + weights.bias)


@cache
def load_askable() -> AskableWeights:
    content = json.loads(SHIPPED.read_text(encoding="utf-8"))
    return AskableWeights(
        embedder=content["embedder"],
        weight=np.array(content["weight"]),
        bias=content["bias"],
    )
