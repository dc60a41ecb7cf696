"""Which matter is a story about? Teaches the weights of src/ombud/retrieve/strategies/stories.json,
and says how well they tell.

Learnt from the messages that triage ships; judged by cross-validation grouped by source. What it
does to the search is in docs/results/retrieval-peers.md, last table. Needs the extra `train`.
Run: make stories"""

import json
import sys

from ombud.models import open_embedder
from ombud.settings import ModelSettings
from research import ROOT
from research.training.stories import judge_stories, story_messages, train_stories
from research.training.triage.data import read_messages

TARGET = ROOT / "src/ombud/retrieve/strategies/stories.json"


def main() -> None:
    messages = story_messages(read_messages())
    embedder = open_embedder(ModelSettings(), ROOT / ".bench/models")
    if embedder is None:
        sys.exit("There is no embedding model; `ombud doctor` says how to install it.")
    vectors = embedder.embed([message.text for message in messages])
    scores = judge_stories(messages, vectors)
    print(f"stories seen as such {scores.seen:.3f} (n {scores.stories})")
    print(f"others taken for stories {scores.mistaken:.3f} (n {scores.others})")
    print(f"matter right where seen {scores.matter:.3f}")
    weights = train_stories(messages, vectors, embedder.fingerprint)
    TARGET.write_text(json.dumps(weights, separators=(",", ":")) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
