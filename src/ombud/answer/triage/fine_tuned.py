"""The second opinion of triage: MiniLM taught on the messages themselves. It knows a story without
the words for it; where both opinions agree, fewer ordinary messages look grave."""

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

import numpy as np

from ombud.answer.triage.features import read_message
from ombud.answer.triage.heads import CLASSES, Head
from ombud.models import TaughtEncoder, linear, open_taught
from ombud.text import message_language

DELTA = Path(__file__).with_name("delta.npz")
DELTA_SHA256 = "46db17e7c24bca2319d13168a98c81216d426863dc869907673b15ddf61b8bd1"
"""`make fine-tuned-triage` writes both."""
NAME = "triage"
HEAD_SHARPNESS = 10.0
"""Logits are ten times a product with a vector of length 1: cosines alone are too close together to
learn from."""
SHARE = 0.7
"""Of its logits beside the logarithms of the linear probabilities. Cross-validated, 2.5 % of the
others handed over: .780 of the sensitive are found without it, .834, .841 and .837 with .5, .7
and 1."""
LANGUAGE = "en"
"""MiniLM knows no other: of 1,000 messages in others that taught neither it finds .46 where the
words find .69, and both together .64."""
LONGEST = 500
"""Characters. It was taught 128 tokens of a message; whoever writes more may say at the end what
matters."""
MOST_KEPT = 64
"""Messages whose logits are kept: each turn of a conversation is judged again for the next."""


class FineTunedTriage:
    def __init__(self, encoder: TaughtEncoder) -> None:
        self.fingerprint = encoder.fingerprint
        self._encoder = encoder
        self._row = lru_cache(maxsize=MOST_KEPT)(self._logits)

    def logits(self, texts: Sequence[str]) -> dict[Head, linear.Numbers]:
        """Head -> shape (len(texts), classes); zeros for a text that it does not judge."""
        rows = np.zeros((len(texts), sum(CLASSES.values())))
        for place, text in enumerate(texts):
            if judges(text):
                rows[place] = self._row(read_message(text))
        return split_heads(rows)

    def _logits(self, message: str) -> linear.Numbers:
        heads = self._encoder.heads
        vector = self._encoder.embed([message])[0]
        row: linear.Numbers = HEAD_SHARPNESS * heads["heads.weight"] @ vector + heads["heads.bias"]
        return row


def judges(text: str) -> bool:
    """Whether a text is one that it was taught to judge."""
    return len(text) <= LONGEST and message_language(text) == LANGUAGE


def split_heads(rows: linear.Numbers) -> dict[Head, linear.Numbers]:
    """Columns of all heads side by side -> those of each."""
    ends = np.cumsum(list(CLASSES.values()))[:-1]
    return dict(zip(CLASSES, np.split(rows, ends, axis=1), strict=True))


def join_opinions(probabilities: linear.Numbers, logits: linear.Numbers) -> linear.Numbers:
    """A product of both opinions, shape (texts, classes); rows of zeros leave the first as it
    is."""
    scores = np.log(np.maximum(probabilities, 1e-9)) + SHARE * logits
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    shares: linear.Numbers = powers / powers.sum(axis=1, keepdims=True)
    return shares


def open_fine_tuned(cache: Path) -> FineTunedTriage | None:
    """None where MiniLM is not installed. Raises SetupError where it or the delta is damaged, or no
    cache can be written."""
    encoder = open_taught(cache, DELTA, DELTA_SHA256, NAME)
    return FineTunedTriage(encoder) if encoder else None
