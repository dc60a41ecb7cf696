"""Teaching which matter a story is about: one logistic regression over vectors of whole messages.

Its weights are those of `retrieve/strategies/stories.json`. Needs the extra `train`."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ombud.text import message_language
from research.training.linear import FOLDS, SEED, import_sklearn
from research.training.triage.data import LabelledMessage

NO_STORY = "none"
LANGUAGE = "en"
STRICTNESS = 10.0
"""scikit-learn's C: the larger, the closer to the messages."""
DECIMALS = 3
Vectors = Any
"""One row for each message."""


class StoryScores(NamedTuple):
    """By cross-validation grouped by source."""

    seen: float
    """Share of the stories that are taken for one."""
    stories: int
    mistaken: float
    """Share of the other messages that are taken for a story."""
    others: int
    matter: float
    """Share of the stories seen whose matter is right."""


def story_messages(messages: Sequence[LabelledMessage]) -> list[LabelledMessage]:
    """Those that teach: sensitive ones with their matter, ordinary ones without any; in English,
    which is what the embedder reads (with the other languages fewer stories are seen, .68 in place
    of .76, and more others taken for one, .08 in place of .04)."""
    kept: list[LabelledMessage] = []
    for message in messages:
        is_read = message_language(message.text) == LANGUAGE
        if message.label in ("sensitive", "ordinary") and is_read:
            kept.append(message)
    return kept


def judge_stories(messages: Sequence[LabelledMessage], vectors: Vectors) -> StoryScores:
    """vectors: of the messages, in their order."""
    sklearn = import_sklearn()
    guesses = sklearn.cross_val_predict(
        _learner(),
        vectors,
        _matters(messages),
        groups=[message.source for message in messages],
        cv=sklearn.GroupKFold(FOLDS, shuffle=True, random_state=SEED),
    )
    matters = np.array(_matters(messages))
    stories = matters != NO_STORY
    taken_for_story = guesses != NO_STORY
    right = guesses == matters
    return StoryScores(
        seen=float(np.mean(taken_for_story[stories])),
        stories=int(stories.sum()),
        mistaken=float(np.mean(taken_for_story[~stories])),
        others=int((~stories).sum()),
        matter=float(np.mean(right[stories & taken_for_story])),
    )


def train_stories(
    messages: Sequence[LabelledMessage], vectors: Vectors, fingerprint: str
) -> dict[str, Any]:
    """What `stories.json` holds. fingerprint: of the embedder that made the vectors."""
    learner = _learner()
    learner.fit(vectors, _matters(messages))
    return {
        "embedder": fingerprint,
        "provenance": {"messages": len(messages), "C": STRICTNESS},
        "matters": learner.classes_.tolist(),
        "intercept": np.round(learner.intercept_, DECIMALS).tolist(),
        "coefficients": np.round(learner.coef_.T, DECIMALS).tolist(),
    }


def _learner() -> Any:
    return import_sklearn().LogisticRegression(C=STRICTNESS, max_iter=2000)


def _matters(messages: Sequence[LabelledMessage]) -> list[str]:
    matters = []
    for message in messages:
        matters.append(message.kind if message.label == "sensitive" else NO_STORY)
    return matters
