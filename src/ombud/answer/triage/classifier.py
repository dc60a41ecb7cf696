"""Scores of a message: needs a person, is in danger, asks for one, is out of scope.

Linear heads over words and runs of letters read every language. For short English messages MiniLM,
fine-tuned on the same messages, has a share in the scores."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Literal, NamedTuple, get_args

import numpy as np

from ombud.answer.triage.phrases import read_message
from ombud.errors import BadSetting
from ombud.models import TaughtEncoder, linear, open_taught
from ombud.text import fold, message_language

Head = Literal["sensitive", "danger", "topic", "scope", "person"]
HEADS: tuple[Head, ...] = get_args(Head)
TOPICS = ("harassment", "wellbeing", "whistleblowing", "grievance", "family", "health-safety")
"""Classes of the head `topic`: whose contact a sensitive matter gets."""
SCOPES = ("inside", "off topic", "injection", "gibberish")
CLASSES: Mapping[Head, int] = {
    "sensitive": 2,
    "danger": 2,
    "topic": len(TOPICS),
    "scope": len(SCOPES),
    "person": 2,
}
TURN_CLASSES = 2
"""Of the last head of the encoder: a turn opens a subject, or continues one."""
WEIGHTS = Path(__file__).with_name("weights.json")
DELTA = Path(__file__).with_name("delta.npz")
DELTA_SHA256 = "1985a32f0d16621cfe34b0b1b0ed3a06f1ea5ef3d8fd30eb0b43fa11b7aebbb1"
"""`make fine-tuned-triage` writes both."""
LOGIT_SCALE = 10.0
"""Logits are ten times a product with a vector of length 1."""
ENCODER_WEIGHT = 0.4
"""Of the encoder's logits beside the logarithms of the linear probabilities."""
SENSITIVE_WEIGHT = 0.5
"""Of the log odds of a sensitive message beside those of danger, in the score of distress."""
LONGEST = 500
"""Characters that the encoder reads of a message; it was taught 128 tokens."""
WORD = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)?|\d+|[?!:/]")
LATIN = "\u024f"
"""Last letter of the extended Latin alphabets."""


class Thresholds(NamedTuple):
    """Least probabilities, each calibrated for its class on messages that taught nothing."""

    sensitive: float
    """From here on a message is handed to a person."""
    offered: float
    """From here on an answer offers a person as well."""
    danger: float
    """From here on the emergency number is shown."""
    term: float
    """As `sensitive` and `danger`, where a term of sensitive.toml stands in the message."""
    distress: float
    """From here on helplines are shown, beside an ordinary answer, too."""
    person: float
    outside: float
    injection: float


UNREACHED = Thresholds(**dict.fromkeys(Thresholds._fields, float("inf")))


class Scores(NamedTuple):
    """Probabilities of one message, and the thresholds that go with them."""

    sensitive: float = 0.0
    danger: float = 0.0
    person: float = 0.0
    outside: float = 0.0
    injection: float = 0.0
    """That it is an injection or gibberish."""
    is_injection: bool = False
    """An injection is likelier than gibberish."""
    topic: str = ""
    thresholds: Thresholds = UNREACHED

    @property
    def asks_for_person(self) -> bool:
        """Tell whether somebody asks for a human in place of the assistant."""
        return self.person >= self.thresholds.person

    @property
    def distress(self) -> float:
        """Return how likely somebody needs a helpline, 0 to 1: signs of danger count for more in a
        message that tells of a sensitive matter."""
        odds = _odds(self.danger) * float(_odds(self.sensitive) ** SENSITIVE_WEIGHT)
        return odds / (1 + odds)


class FineTunedEncoder:
    """MiniLM taught on messages of triage and on turns of conversations."""

    def __init__(self, encoder: TaughtEncoder) -> None:
        self.fingerprint = encoder.fingerprint
        self._encoder = encoder
        self._logits = lru_cache()(self._run)

    def logits(self, text: str) -> dict[Head, linear.Numbers]:
        """Return logits by head, each of shape (classes,)."""
        row = self._logits(read_message(text))
        ends = np.cumsum(list(CLASSES.values()))
        return dict(zip(CLASSES, np.split(row, ends), strict=False))

    def continues(self, earlier: Sequence[str], turn: str) -> float:
        """Return the probability that a turn continues the earlier questions, 0 to 1."""
        opens, goes_on = self._logits(turn_text(earlier, turn))[-TURN_CLASSES:]
        return float(1 / (1 + np.exp(opens - goes_on)))

    def _run(self, text: str) -> linear.Numbers:
        heads = self._encoder.heads
        vector = self._encoder.embed([text])[0]
        row: linear.Numbers = LOGIT_SCALE * heads["heads.weight"] @ vector + heads["heads.bias"]
        return row


def turn_text(earlier: Sequence[str], turn: str) -> str:
    """Return a turn behind earlier questions as the encoder reads it."""
    return f"{read_message(turn)[:LONGEST]} [SEP] {read_message(' '.join(earlier))[:LONGEST]}"


OpenEncoder = Callable[[], FineTunedEncoder | None]


class TriageClassifier:
    """Linear heads, and the encoder where it can be had."""

    def __init__(self, open_encoder: OpenEncoder | None = None, path: Path = WEIGHTS) -> None:
        self._open_encoder = open_encoder
        self._weights = load_weights(path)
        self._scores = lru_cache(maxsize=64)(self._score)

    def scores(self, text: str) -> Scores:
        """Return the scores of a message; one without Latin letters has none."""
        return self._scores(text)

    def _score(self, text: str) -> Scores:
        message = read_message(text)
        if not _is_latin(message):
            return Scores()
        encoder = self.encoder() if is_read_by_encoder(text) else None
        logits = encoder.logits(text) if encoder else {}
        probabilities: dict[Head, linear.Numbers] = {}
        reading = TRIAGE_READING.read_once()
        for head in HEADS:
            of_head = linear.score([text], self._weights.heads[head], reading)[0]
            probabilities[head] = _product(of_head, logits[head]) if logits else of_head
        scope = probabilities["scope"]
        return Scores(
            sensitive=float(probabilities["sensitive"][1]),
            danger=float(probabilities["danger"][1]),
            person=float(probabilities["person"][1]),
            outside=float(1 - scope[0]),
            injection=float(scope[2:].sum()),
            is_injection=bool(scope[2] >= scope[3]),
            topic=TOPICS[int(probabilities["topic"].argmax())],
            thresholds=self._weights.with_encoder if logits else self._weights.linear_only,
        )

    def asks_for_person(self, text: str) -> bool:
        return self.scores(text).asks_for_person

    def encoder(self) -> FineTunedEncoder | None:
        return self._open_encoder() if self._open_encoder else None

    def continues(self, earlier: Sequence[str], turn: str) -> float | None:
        """Return the probability that a turn continues earlier ones; None without the encoder."""
        encoder = self.encoder()
        return encoder.continues(earlier, turn) if encoder else None


class TriageWeights(NamedTuple):
    heads: Mapping[Head, linear.LinearWeights]
    with_encoder: Thresholds
    """Of scores in which the encoder has its share."""
    linear_only: Thresholds


@lru_cache(maxsize=2)
def load_weights(path: Path = WEIGHTS) -> TriageWeights:
    """Load the linear heads and the thresholds. Raises BadSetting where the file holds none."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        return TriageWeights(
            heads={head: linear.from_record(content["heads"][head]) for head in HEADS},
            with_encoder=Thresholds(**content["with_encoder"]),
            linear_only=Thresholds(**content["linear_only"]),
        )
    except (OSError, ValueError, LookupError, TypeError, AttributeError) as wrong:
        raise BadSetting(f"{path} holds no weights of triage.", hint="Run: make triage.") from wrong


def open_encoder(cache: Path) -> FineTunedEncoder | None:
    """Open the encoder; None where MiniLM is not installed.

    Raises SetupError where it or the delta is damaged, or the cache cannot be written."""
    encoder = open_taught(cache, DELTA, DELTA_SHA256, "triage")
    return FineTunedEncoder(encoder) if encoder else None


def is_read_by_encoder(text: str) -> bool:
    """Tell whether the encoder has a share in the scores of a message."""
    return len(text) <= LONGEST and message_language(text) == "en"


def _is_latin(message: str) -> bool:
    """Tell whether a message has letters, and most of them of the alphabet of the training."""
    letters = [character for character in message if character.isalpha()]
    latin = sum(character <= LATIN for character in letters)
    return 2 * latin > len(letters)


def _odds(probability: float) -> float:
    return probability / max(1 - probability, 1e-9)


def _product(probabilities: linear.Numbers, logits: linear.Numbers) -> linear.Numbers:
    """Return the normalised product of the linear heads and the encoder, shape (classes,)."""
    scores = np.log(np.maximum(probabilities, 1e-9)) + ENCODER_WEIGHT * logits
    powers = np.exp(scores - scores.max())
    shares: linear.Numbers = powers / powers.sum()
    return shares


def _folded(text: str) -> str:
    """Return a message without accents, which many people do not type."""
    return fold(read_message(text))


def _words(message: str) -> list[str]:
    return linear.ngrams(WORD.findall(message), 2)


def _letters(message: str) -> list[str]:
    """Return runs of two to four characters inside words, the edges of a word marked."""
    runs: list[str] = []
    for word in WORD.findall(message):
        edged = f" {word} "
        for length in (2, 3, 4):
            runs += [edged[start : start + length] for start in range(len(edged) - length + 1)]
    return runs


TRIAGE_READING = linear.FeatureReading(
    part=_folded,
    terms={"words": _words, "letters": _letters},
    trainer="make triage",
)
