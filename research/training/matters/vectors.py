"""The everyday matters that ship as texts, and their vectors."""

import json
from collections.abc import Sequence
from itertools import accumulate, chain
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ombud.answer import MatterBank
from ombud.models import Embedder

SHIPPED = Path(__file__).with_name("matters.jsonl")


class EverydayMatter(NamedTuple):
    matter: str
    """Its name, such as `probation-length`."""
    asks: Sequence[str]
    """How people ask."""
    says: Sequence[str]
    """How policies answer."""


def read_matters() -> list[EverydayMatter]:
    lines = SHIPPED.read_text(encoding="utf-8").splitlines()
    return [EverydayMatter(**json.loads(line)) for line in lines]


def matter_bank(matters: Sequence[EverydayMatter], embedder: Embedder) -> MatterBank:
    asks = [matter.asks for matter in matters]
    says = [matter.says for matter in matters]
    return MatterBank(
        embedder=embedder.fingerprint,
        asks=embedder.embed(list(chain.from_iterable(asks))),
        first_asks=_begins(asks),
        says=embedder.embed(list(chain.from_iterable(says))),
        first_says=_begins(says),
    )


def _begins(groups: Sequence[Sequence[str]]) -> npt.NDArray[np.int64]:
    """Where each group begins when they stand side by side."""
    counts = [len(group) for group in groups]
    return np.array([0, *accumulate(counts[:-1])], np.int64)
