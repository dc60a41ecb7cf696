"""Whether a sentence is of the same matter as the question, told by how people ask about the
matters of working life and how policies answer.

Question and answer often share no word ("when does my trial period end", "Probation lasts six
months"), and vectors of sentences hold what a text is about, not what it answers. But a question is
close to other ways to ask the same, and an answer to other ways to answer it:
`research/training/matters/matters.jsonl` has both for 690 matters."""

from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

SHIPPED = Path(__file__).with_name("matters.npz")
MATTERS = ("matter", "matter_gap", "same_matter", "same_matter_gap")
"""Features of a span; unknown where the embedder is not the one whose vectors ship."""
LIKELIEST = 3
"""Matters of a question that a span is compared with."""
UNLIKE, ALIKE = 0.2, 0.8
"""Cosines of two questions from which they begin to be of one matter, and surely are."""
SPREAD = 0.1
"""Of cosines, over which a text belongs to one matter rather than another; .05 ranks worse (best
four of dev, cross-validated: .757, with .1 .774)."""
LEAST = 1e-4
"""Probability below which nothing is told apart."""
Numbers = npt.NDArray[np.float64]
Vectors = npt.NDArray[np.float32]


class MatterBank(NamedTuple):
    embedder: str
    """Fingerprint."""
    asks: Vectors
    """Shape (questions, dimension), those of one matter side by side; so are `says`."""
    first_asks: npt.NDArray[np.int64]
    """Where those of each matter begin."""
    says: Vectors
    first_says: npt.NDArray[np.int64]


def matter_columns(question: Vectors, spans: Vectors, fingerprint: str) -> dict[str, Numbers]:
    """MATTERS of each span.

    question: shape (dimension,); spans: shape (spans, dimension), of the embedder with that
    fingerprint."""
    bank = load_bank()
    if fingerprint != bank.embedder:
        return dict.fromkeys(MATTERS, np.full(len(spans), np.nan))
    asked = np.maximum.reduceat(bank.asks @ question, bank.first_asks)
    said = np.maximum.reduceat(spans @ bank.says.T, bank.first_says, axis=1)
    likeliest = np.argsort(-asked, kind="stable")[:LIKELIEST]
    trust = np.clip((asked[likeliest] - UNLIKE) / (ALIKE - UNLIKE), 0.0, 1.0)
    matter = (said[:, likeliest] * trust).max(axis=1).astype(np.float64)
    shared = _shares(said) @ _shares(asked)
    same = np.log(shared + LEAST).astype(np.float64) / -np.log(LEAST)
    return {
        "matter": matter,
        "matter_gap": matter - matter.max(),
        "same_matter": same,
        "same_matter_gap": same - same.max(),
    }


def pack_bank(bank: MatterBank) -> dict[str, npt.NDArray[Any]]:
    """What `load_bank` reads: each vector in eight bits a number, and its scale."""
    packed: dict[str, npt.NDArray[Any]] = {"embedder": np.array(bank.embedder)}
    for name in ("asks", "says"):
        vectors = getattr(bank, name)
        scales = np.abs(vectors).max(axis=1) / 127
        packed[name] = np.rint(vectors / scales[:, None]).astype(np.int8)
        packed[f"{name}_scales"] = scales.astype(np.float32)
    packed["first_asks"] = bank.first_asks
    packed["first_says"] = bank.first_says
    return packed


@cache
def load_bank(path: Path = SHIPPED) -> MatterBank:
    with np.load(path, allow_pickle=False) as packed:
        return MatterBank(
            embedder=str(packed["embedder"]),
            asks=packed["asks"] * packed["asks_scales"][:, None],
            first_asks=packed["first_asks"],
            says=packed["says"] * packed["says_scales"][:, None],
            first_says=packed["first_says"],
        )


def _shares(cosines: Vectors) -> Vectors:
    """Probabilities of the matters, of each row."""
    powers = np.exp((cosines - cosines.max(axis=-1, keepdims=True)) / SPREAD)
    shares: Vectors = powers / powers.sum(axis=-1, keepdims=True)
    return shares
