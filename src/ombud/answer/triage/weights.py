"""The file of a trained triage: four heads over one reading of a message, and the thresholds that
go with them."""

import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from ombud.answer.triage.features import TRIAGE_READING
from ombud.answer.triage.fine_tuned import FineTunedTriage, join_opinions
from ombud.answer.triage.heads import HEADS, Head
from ombud.errors import BadSetting
from ombud.models import linear

SHIPPED = Path(__file__).with_name("weights.json")
WITH_VECTORS = Path(__file__).with_name("weights-minilm.json")


class Thresholds(NamedTuple):
    """Chosen on cross-validated probabilities of the training messages, never on what was held
    out."""

    sensitive: float
    """Probability from which a person is offered."""
    term: float
    """The same where a strong term of sensitive.toml was found as well."""
    certain: float
    """From here on no chat model may lower what was found: the false alarms are below 1 %."""
    danger: float
    """Probability of danger from which the emergency wording comes first."""
    outside: float
    """Probability of being out of scope from which a question is denied that the documents do not
    answer."""
    injection: float
    """Probability of injection or gibberish from which nothing is searched: at most one ordinary
    message in 200."""
    weak_term: float = 0.0
    """The same where a weak term was found; at least `term`."""
    peril: float = 2.0
    """Probability of danger from which a person is offered, whatever else there is."""


class TriageWeights(NamedTuple):
    heads: Mapping[Head, linear.LinearWeights]
    thresholds: Thresholds
    embedder: str
    """Fingerprint of the embedder of its vectors; empty where it has none."""
    fine_tuned: str = ""
    """Of the classifier whose second opinion goes with them; empty where none does."""
    joined: Thresholds | None = None
    """Where it judges, too."""

    def thresholds_for(self, *, joined: bool) -> Thresholds:
        """joined: of probabilities in which the second opinion has its share."""
        return self.joined if joined and self.joined else self.thresholds


def triage_scores(
    texts: Sequence[str],
    trained: TriageWeights,
    embed: linear.Embed | None,
    fine_tuned: FineTunedTriage | None = None,
) -> dict[Head, linear.Numbers]:
    """Head -> probabilities, shape (len(texts), classes); each text is read and embedded once."""
    scores = _linear_scores(texts, trained, embed)
    if fine_tuned is None:
        return scores
    logits = fine_tuned.logits(texts)
    return {head: join_opinions(scores[head], logits[head]) for head in HEADS}


def _linear_scores(
    texts: Sequence[str], trained: TriageWeights, embed: linear.Embed | None
) -> dict[Head, linear.Numbers]:
    embed_once: linear.Embed | None = None
    reading = TRIAGE_READING.read_once()
    if embed and trained.embedder:
        vectors = embed(list(map(reading.part, texts)))
        embed_once = lambda _: vectors  # noqa: E731 - the same vectors for each head
    scores: dict[Head, linear.Numbers] = {}
    for head in HEADS:
        scores[head] = linear.score(
            texts,
            trained.heads[head],
            reading,
            embed_once,
        )
    return scores


def triage_weights_text(trained: TriageWeights) -> str:
    """One line; the same weights give the same text."""
    heads: dict[str, Any] = {}
    for head, weights in trained.heads.items():
        heads[head] = linear.as_record(weights)
    record = {
        "embedder": trained.embedder,
        "fine_tuned": trained.fine_tuned,
        "thresholds": _rounded(trained.thresholds),
        "joined": _rounded(trained.joined) if trained.joined else None,
        "heads": heads,
    }
    return linear.to_json(record)


def _rounded(thresholds: Thresholds) -> dict[str, float]:
    return {name: round(value, 4) for name, value in thresholds._asdict().items()}


@lru_cache(maxsize=4)
def needs_vectors(path: Path | None) -> bool:
    """Whether these weights read vectors. None: the shipped ones, which there are without, too.
    Raises BadSetting."""
    return bool(path and load_triage_weights(path).embedder)


@lru_cache(maxsize=4)
def names_fine_tuned(path: Path | None) -> bool:
    """Whether these weights go with a second opinion. None: the shipped ones with vectors. Raises
    BadSetting."""
    return bool(load_triage_weights(path or WITH_VECTORS).fine_tuned)


@lru_cache(maxsize=4)
def load_triage_weights(path: Path = SHIPPED) -> TriageWeights:
    """Read the weights that `python -m research.training.triage` wrote; raises BadSetting for any
    other."""
    try:
        content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        joined = content.get("joined")
        return TriageWeights(
            heads={head: linear.from_record(content["heads"][head]) for head in HEADS},
            thresholds=Thresholds(**content["thresholds"]),
            embedder=str(content["embedder"]),
            fine_tuned=str(content.get("fine_tuned", "")),
            joined=Thresholds(**joined) if joined else None,
        )
    except (OSError, ValueError, LookupError, TypeError, AttributeError) as wrong:
        raise BadSetting(
            f"{path} holds no weights of triage.",
            hint="Make some with `python -m research.training.triage FILE --out WEIGHTS`.",
        ) from wrong
