"""Writes what a network learnt beyond the embedder's weights, as `ombud.models.embed.delta` reads it."""

from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ombud.models.embed.delta import Weights

RANK = 64
"""Of a matrix's difference."""
LEAST = 256
"""Rows and columns from which a matrix is told by its largest parts."""


def write_delta(
    base: Mapping[str, npt.NDArray[Any]], learnt: Weights, target: Path, rank: int = RANK
) -> str:
    """The file's sha256. learnt: all weights of the network; those that the embedder has not are
    told whole."""
    parts: Weights = {}
    for name, weight in learnt.items():
        if name not in base:
            parts[f"{name}|whole"] = weight.astype(np.float16)
            continue
        difference = np.asarray(weight, np.float32) - np.asarray(base[name], np.float32)
        if not difference.any():
            continue
        if difference.ndim == 2 and min(difference.shape) >= LEAST:
            left, values, right = np.linalg.svd(difference, full_matrices=False)
            share = np.sqrt(values[:rank])
            parts[f"{name}|left"] = (left[:, :rank] * share).astype(np.float16)
            parts[f"{name}|right"] = (share[:, None] * right[:rank]).astype(np.float16)
        else:
            parts[f"{name}|added"] = difference.astype(np.float16)
    with target.open("wb") as file:
        np.savez_compressed(file, allow_pickle=False, **parts)
    return sha256(target.read_bytes()).hexdigest()
