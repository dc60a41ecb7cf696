"""What a network learnt beyond the embedder's weights, small enough to ship: of each matrix the
largest parts of the difference, of vectors the whole of it, in half precision."""

from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ombud.errors import SetupError

RANK = 64
"""Of a matrix's difference."""
LEAST = 256
"""Rows and columns from which a matrix is told by its largest parts."""
Weights = dict[str, npt.NDArray[Any]]


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


def check_delta(delta: Path, digest: str) -> None:
    """Raises SetupError where the file is not the one that was taught."""
    try:
        is_published = sha256(delta.read_bytes()).hexdigest() == digest
    except OSError:
        is_published = False
    if not is_published:
        raise SetupError(f"{delta.name} is not what was published.", hint="Install ombud again.")


def merged(base: Mapping[str, npt.NDArray[Any]], delta: Path, digest: str) -> Weights:
    """The network's weights. Raises SetupError where the file is not the one that was taught."""
    check_delta(delta, digest)
    weights: Weights = dict(base)
    with np.load(delta, allow_pickle=False) as parts:
        for key in parts.files:
            name, _, what = key.partition("|")
            if what == "whole":
                weights[name] = parts[key].astype(np.float32)
            elif what == "added":
                weights[name] = base[name] + parts[key].astype(np.float32)
            elif what == "left":
                right = parts[f"{name}|right"].astype(np.float32)
                weights[name] = base[name] + parts[key].astype(np.float32) @ right
    return weights


def learnt_whole(delta: Path) -> Weights:
    """Of a delta's file, which was checked, the weights that the embedder has not, such as
    heads."""
    weights: Weights = {}
    with np.load(delta, allow_pickle=False) as parts:
        for key in parts.files:
            name, _, what = key.partition("|")
            if what == "whole":
                weights[name] = parts[key].astype(np.float32)
    return weights
