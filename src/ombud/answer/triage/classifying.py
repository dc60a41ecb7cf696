"""One message -> what triage makes of it, before anything is searched."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

from ombud.answer.triage.features import triage_features, unread
from ombud.answer.triage.fine_tuned import FineTunedTriage, judges
from ombud.answer.triage.heads import TOPICS, Head, Label
from ombud.answer.triage.sensitive import Matter, Sensitive
from ombud.answer.triage.weights import (
    WITH_VECTORS,
    Thresholds,
    TriageWeights,
    load_triage_weights,
    triage_scores,
)
from ombud.errors import BadSetting, ModelError
from ombud.models import Embedder, linear

ALONE = "triage: the second opinion cannot be had, judged by the first alone"
LIKELY_DANGER = 0.3
"""Probability of danger from which help is named first. Of dev, each judged by weights that had not
seen it, 1 of 48 in danger is below, and 23 of the 41 others who are told of emergency lines are."""
LIKELY_DANGER_BY_WORDS = 0.5
"""The same where no vectors tell: "They told me to go back to my country, always as a joke" is .46
likely by its words, .16 with vectors."""
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
    open_fine_tuned: Callable[[], FineTunedTriage | None] | None = None,
) -> Triage:
    """By the weights of a file, or the shipped ones: those with vectors where the embedder is that
    of their training.

    own_terms: `terms` are the organisation's own: each that is found counts, however unlikely.
    open_fine_tuned: asked for each message where the weights go with a second opinion; without it
    the first one decides alone, by thresholds of its own.
    Raises BadSetting where the file holds no weights, or vectors of another embedder are wanted.
    """
    trained = _load_own_weights(path, embedder) if path else _shipped_for(embedder)

    def triage(text: str) -> TriageResult:
        second = open_fine_tuned() if open_fine_tuned and trained.fine_tuned else None
        if second is not None and second.fingerprint != trained.fine_tuned:
            second = None
        try:
            result = classify(
                text,
                terms,
                trained,
                embedder=embedder,
                fine_tuned=second,
                own_terms=own_terms,
            )
        except ModelError:
            plain = load_triage_weights()
            by_words = classify(text, terms, plain, own_terms=own_terms)
            note = "triage: the embedding model gave no answer, judged by words only"
            return by_words._replace(degraded=(note,))
        if open_fine_tuned and trained.fine_tuned and second is None:
            return result._replace(degraded=(ALONE,))
        return result

    return triage


def _shipped_for(embedder: Embedder | None) -> TriageWeights:
    if embedder:
        with_vectors = load_triage_weights(WITH_VECTORS)
        if embedder.fingerprint == with_vectors.embedder:
            return with_vectors
    return load_triage_weights()


def _load_own_weights(path: Path, embedder: Embedder | None) -> TriageWeights:
    """Raises BadSetting where they are none, or were trained on vectors of another embedder."""
    trained = load_triage_weights(path)
    fingerprint = embedder.fingerprint if embedder else None
    if trained.embedder and trained.embedder != fingerprint:
        raise BadSetting(
            f"The weights {path} were trained on vectors of {trained.embedder}, "
            "not of the embedder here.",
            hint="Set models.embedder to it, or train without vectors: "
            "python -m research.training.triage --no-vectors.",
        )
    return trained


class _Reading(NamedTuple):
    """What the weights and the terms make of one message."""

    matter: Matter | None
    """By the terms."""
    alarm: float
    danger: float
    outside: float
    strange: float
    """Probabilities: sensitive, in danger, out of scope, an injection or gibberish."""
    topic: str
    """Empty where none is likely."""
    injection: bool
    """What is strange looks like an injection rather than like gibberish."""
    unread: bool


def classify(
    text: str,
    terms: Sensitive,
    trained: TriageWeights,
    *,
    embedder: Embedder | None = None,
    fine_tuned: FineTunedTriage | None = None,
    own_terms: bool = False,
) -> TriageResult:
    """Sensitive goes before out of scope; a blank message is ordinary."""
    if not text.strip():
        return TriageResult()
    has_second = fine_tuned is not None and judges(text)
    thresholds = trained.thresholds_for(joined=has_second)
    likely = LIKELY_DANGER if trained.embedder else LIKELY_DANGER_BY_WORDS
    embed = embedder.embed if embedder else None
    scores = triage_scores([text], trained, embed, fine_tuned)
    reading = _read(text, terms, scores)
    result = TriageResult(
        sensitive=reading.alarm,
        danger=reading.danger,
        outside=reading.outside,
        injection=reading.strange,
        topic=reading.topic,
        risky=reading.danger >= thresholds.danger,
    )
    if _is_sensitive(reading, thresholds, own_terms=own_terms):
        matter = reading.matter or Matter(
            "told",
            result.topic,
            danger=False,
        )
        return result._replace(
            label="sensitive",
            matter=_with_danger(matter, reading, thresholds.danger, likely),
            settled=reading.matter is not None or reading.alarm >= thresholds.certain,
        )
    if reading.strange >= thresholds.injection:
        # What looks like gibberish may be a few words that the documents know: they are asked
        # first.
        return result._replace(
            label="out_of_scope",
            injected=reading.injection,
            settled=True,
        )
    if reading.outside >= thresholds.outside:
        return result._replace(label="out_of_scope")
    return result


def _with_danger(matter: Matter, reading: _Reading, least: float, likely: float) -> Matter:
    """Recall first: two of five who tell of something else look endangered as well. Whom neither a
    term nor a high likelihood calls so is told of help last, not greeted with an alarm.

    least: probability of danger from which help is named at all; likely: first."""
    if matter.danger or reading.danger < least:
        return matter
    return matter._replace(danger=True, perhaps=reading.danger < likely)


def _read(text: str, terms: Sensitive, scores: Mapping[Head, linear.Numbers]) -> _Reading:
    """scores: of this text alone."""
    (sensitive,) = scores["sensitive"]
    (danger,) = scores["danger"]
    (scope,) = scores["scope"]
    (topic,) = scores["topic"]
    likeliest = int(topic.argmax())
    reading = _Reading(
        matter=terms.find(text),
        alarm=float(sensitive[1]),
        danger=float(danger[1]),
        outside=float(1 - scope[0]),
        strange=float(scope[2:].sum()),
        topic=TOPICS[likeliest] if topic[likeliest] >= TOPICAL else "",
        injection=bool(scope[2] >= scope[3]),
        unread=unread(text),
    )
    if not reading.unread:
        return reading
    # Terms and marks still say something, what was learnt does not.
    marked = triage_features(text)["injection"] > 0
    return reading._replace(
        alarm=0.0,
        danger=0.0,
        outside=reading.outside * marked,
        strange=reading.strange * marked,
    )


def _is_sensitive(reading: _Reading, thresholds: Thresholds, *, own_terms: bool) -> bool:
    if reading.matter is not None and _is_told(reading.matter, reading, thresholds, own_terms):
        return True
    if reading.danger >= thresholds.peril:
        return True
    looks_strange = reading.strange >= thresholds.injection
    if reading.matter is None and looks_strange and reading.strange > reading.alarm:
        return False
    return reading.alarm >= thresholds.sensitive


def _is_told(matter: Matter, reading: _Reading, thresholds: Thresholds, own_terms: bool) -> bool:
    """Whether a term that was found is likely enough to be meant."""
    if own_terms or matter.danger or reading.unread:
        return True
    least = thresholds.term
    if matter.weak:
        least = max(least, thresholds.weak_term)
    return reading.alarm >= least
