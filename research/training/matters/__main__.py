"""Makes the vectors of everyday matters that ship, src/ombud/answer/quoting/matters.npz, from
research/training/matters/matters.jsonl (its card says how that was written).

The ranker of sentences has to be taught anew after a change: make spans confidence.
Run: make matters"""

import sys

import numpy as np

from ombud.answer import pack_bank
from ombud.models import open_embedder
from ombud.settings import ModelSettings
from research import ROOT
from research.training.matters.vectors import matter_bank, read_matters

TARGET = ROOT / "src/ombud/answer/quoting/matters.npz"


def main() -> None:
    embedder = open_embedder(ModelSettings(), ROOT / ".bench/models")
    if embedder is None:
        sys.exit("There is no embedding model; `ombud doctor` says how to install it.")
    matters = read_matters()
    bank = matter_bank(matters, embedder)
    np.savez(TARGET, **pack_bank(bank))  # type: ignore[arg-type]
    print(f"{len(matters)} matters, {len(bank.asks)} questions, {len(bank.says)} answers")


if __name__ == "__main__":
    main()
