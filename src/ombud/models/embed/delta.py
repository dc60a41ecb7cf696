"""What a network learnt beyond the embedder's weights, small enough to ship: of each matrix the
largest parts of the difference, of vectors the whole of it, in half precision."""

from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ombud.errors import SetupError

Weights = dict[str, npt.NDArray[Any]]


def check_delta(delta: Path, digest: str) -> None:
    """Raise SetupError if the file is not the trained one."""
    try:
        is_published = sha256(delta.read_bytes()).hexdigest() == digest
    except OSError:
        is_published = False
    if not is_published:
        raise SetupError(f"{delta.name} is not what was published.", hint="Install ombud again.")


def merged(base: Mapping[str, npt.NDArray[Any]], delta: Path, digest: str) -> Weights:
    """Return the fine-tuned weights. Raises SetupError if the base file is not the one that was
    fine-tuned."""
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
    """Return the weights of a checked delta that the base network lacks, such as heads."""
    weights: Weights = {}
    with np.load(delta, allow_pickle=False) as parts:
        for key in parts.files:
            name, _, what = key.partition("|")
            if what == "whole":
                weights[name] = parts[key].astype(np.float32)
    return weights
