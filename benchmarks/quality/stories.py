"""Which matter is a story about? Teaches the weights of src/ombud/retrieve/strategies/stories.json,
and says how well they tell.

Learnt from the messages that triage ships; judged by cross-validation grouped by source. What it
does to the search is in docs/results/retrieval-peers.md, last table. Needs the extra `train`. Run:
python benchmarks/quality/stories.py"""

import json
import sys
from pathlib import Path

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold, cross_val_predict

from ombud.models import open_embedder
from ombud.settings import ModelSettings

ROOT = Path(__file__).parents[2]
TAUGHT = ROOT / "src/ombud/training/triage/questions.jsonl"
TARGET = ROOT / "src/ombud/retrieve/strategies/stories.json"
NONE, STRICTNESS, DECIMALS = "none", 10.0, 3


def main() -> None:
    rows = [json.loads(line) for line in TAUGHT.read_text(encoding="utf-8").splitlines()]
    rows = [row for row in rows if row["label"] in ("sensitive", "ordinary")]
    embedder = open_embedder(ModelSettings(), ROOT / ".bench/models")
    if embedder is None:
        sys.exit("There is no embedding model; `ombud doctor` says how to install it.")
    vectors = embedder.embed([row["text"] for row in rows])
    labels = [row["kind"] if row["label"] == "sensitive" else NONE for row in rows]
    groups = [row.get("source") or str(n) for n, row in enumerate(rows)]
    learner = LogisticRegression(C=STRICTNESS, max_iter=2000)
    folds = GroupKFold(10, shuffle=True, random_state=0)
    guessed = cross_val_predict(learner, vectors, labels, groups=groups, cv=folds)
    told = np.array(labels)
    stories = told != NONE
    print(f"stories seen as such {np.mean(guessed[stories] != NONE):.3f} (n {stories.sum()})")
    print(
        f"others taken for stories {np.mean(guessed[~stories] != NONE):.3f} (n {(~stories).sum()})"
    )
    print(f"matter right where seen {np.mean((guessed == told)[stories & (guessed != NONE)]):.3f}")
    learner.fit(vectors, labels)
    found = {
        "embedder": embedder.fingerprint,
        "provenance": {"messages": len(rows), "C": STRICTNESS},
        "matters": learner.classes_.tolist(),
        "intercept": np.round(learner.intercept_, DECIMALS).tolist(),
        "coefficients": np.round(learner.coef_.T, DECIMALS).tolist(),
    }
    TARGET.write_text(json.dumps(found, separators=(",", ":")) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
