"""One message -> what triage makes of it, before anything is searched."""

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from ombud.answer.triage.features import triage_features, unread
from ombud.answer.triage.sensitive import Matter, Sensitive
from ombud.answer.triage.weights import (
    TOPICS,
    WITH_VECTORS,
    Label,
    Trained,
    load_triage_weights,
    triage_scores,
)
from ombud.errors import BadSetting, ModelError
from ombud.models import Embedder

TOPICAL = 0.35
"""Probability of a topic from which its contact is offered where no term names one; below, the
general contact."""


class TriageResult(NamedTuple):
    label: Label = "ordinary"
    matter: Matter | None = None
    """Of a sensitive message."""
    sensitive: float = 0.0
    danger: float = 0.0
    outside: float = 0.0
    injection: float = 0.0
    """Probabilities."""
    settled: bool = False
    """Beyond what a chat model may lower: a term was found, or it is certain."""
    injected: bool = False
    """An injection, so surely that nothing is searched."""
    topic: str = ""
    """Of the contact, should it be sensitive; empty for the general one."""
    risky: bool = False
    """Danger, should it be sensitive."""
    degraded: tuple[str, ...] = ()

    @property
    def signals(self) -> dict[str, float]:
        """For the trace: probabilities, and a flag for the class that was taken."""
        return {
            "triage_sensitive": self.sensitive,
            "triage_danger": self.danger,
            "triage_out_of_scope": self.outside,
            "triage_injection": self.injection,
            f"triage_is_{self.label}": 1.0,
        }


Triage = Callable[[str], TriageResult]


def open_triage(
    terms: Sensitive,
    embedder: Embedder | None = None,
    path: Path | None = None,
    *,
    own_terms: bool = False,
) -> Triage:
    """By the weights of a file, or the shipped ones: those with vectors where the embedder is that
    of their training.

    own_terms: `terms` are the organisation's own: each that is found counts, however unlikely.
    Raises BadSetting where the file holds no weights, or vectors of another embedder are wanted.
    """
    plain = load_triage_weights()
    if path is None:
        shipped = load_triage_weights(WITH_VECTORS)
        trained = shipped if embedder and embedder.fingerprint == shipped.embedder else plain
    else:
        trained = load_triage_weights(path)
        if trained.embedder and (embedder is None or embedder.fingerprint != trained.embedder):
            raise BadSetting(
                f"The weights {path} were trained on vectors of {trained.embedder}, not of the embedder here.",
                hint="Set models.embedder to it, or train without vectors: ombud lab train-triage --no-vectors.",
            )

    def triage(text: str) -> TriageResult:
        try:
            return classify(text, terms, trained, embedder, own_terms=own_terms)
        except ModelError:
            seen = classify(text, terms, plain, None, own_terms=own_terms)
            return seen._replace(
                degraded=("triage: the embedding model gave no answer, judged by words only",)
            )

    return triage


def classify(
    text: str,
    terms: Sensitive,
    trained: Trained,
    embedder: Embedder | None,
    *,
    own_terms: bool = False,
) -> TriageResult:
    """Sensitive goes before out of scope; a blank message is ordinary."""
    if not text.strip():
        return TriageResult()
    rows = {
        head: row[0]
        for head, row in triage_scores(
            [text], trained, embedder.embed if embedder else None
        ).items()
    }
    at, said = trained.thresholds, terms.find(text)
    alarm, danger = float(rows["sensitive"][1]), float(rows["danger"][1])
    outside, strange = float(1 - rows["scope"][0]), float(rows["scope"][2:].sum())
    if unread(text):  # terms and marks still say something, what was learnt does not
        marked = triage_features(text)["injection"] > 0
        alarm, danger, outside, strange = 0.0, 0.0, outside * marked, strange * marked
    likely = int(rows["topic"].argmax())
    seen = TriageResult(
        sensitive=alarm, danger=danger, outside=outside, injection=strange, risky=danger >= at.danger,
        topic=TOPICS[likely] if rows["topic"][likely] >= TOPICAL else "",
    )  # fmt: skip
    gibberish = said is None and strange >= at.injection and strange > alarm
    surely = said is not None and (own_terms or said.danger or unread(text))
    if (
        surely
        or (alarm >= at.sensitive and not gibberish)
        or (said is not None and alarm >= at.term)
    ):
        matter = said or Matter("told", seen.topic, danger=False)
        matter = matter._replace(danger=matter.danger or seen.risky)
        return seen._replace(
            label="sensitive", matter=matter, settled=said is not None or alarm >= at.certain
        )
    if strange >= at.injection:
        injected = bool(rows["scope"][2] >= rows["scope"][3])
        # What looks like gibberish may be a few words that the documents know: they are asked
        # first.
        return seen._replace(label="out_of_scope", injected=injected, settled=True)
    return seen._replace(label="out_of_scope") if outside >= at.outside else seen
