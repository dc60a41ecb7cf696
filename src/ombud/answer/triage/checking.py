"""The checks of triage, in order: danger, a request for a person, sensitive, outside, ordinary."""

from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple

from ombud.answer.triage.classifier import LONGEST, Scores, TriageClassifier
from ombud.answer.triage.persons import asks_for_person
from ombud.answer.triage.sensitive import UNNAMED, Matter, Sensitive
from ombud.types import ResolvedQuestion

Label = Literal["ordinary", "sensitive", "person", "out_of_scope"]


class TriageResult(NamedTuple):
    label: Label = "ordinary"
    matter: Matter | None = None
    """Of a sensitive message, or of what somebody wants to talk about with a person."""
    scores: Scores = Scores()
    injected: bool = False
    """An injection, so surely that nothing is searched."""
    offers_person: bool = False
    """An ordinary message whose answer offers a person as well."""
    shows_helplines: bool = False
    """One whose answer begins with helplines."""

    @property
    def signals(self) -> dict[str, float]:
        """Return probabilities and the class for the trace."""
        return {
            "triage_sensitive": self.scores.sensitive,
            "triage_danger": self.scores.danger,
            "triage_person": self.scores.person,
            "triage_out_of_scope": self.scores.outside,
            "triage_injection": self.scores.strange,
            f"triage_is_{self.label}": 1.0,
        }


class _Reading(NamedTuple):
    """All that is known of a message before it is searched for."""

    text: str
    scores: Scores
    matter: Matter | None
    """By the terms of sensitive.toml, or of the organisation's own list."""
    has_own_terms: bool


class Triage:
    """Tells whom a message is for. Reads one message and no document."""

    def __init__(
        self, terms: Sensitive, classifier: TriageClassifier, *, has_own_terms: bool = False
    ) -> None:
        """has_own_terms: `terms` are the organisation's own: each counts, however unlikely."""
        self._terms = terms
        self.classifier = classifier
        self._has_own_terms = has_own_terms

    def question(self, resolved: ResolvedQuestion) -> TriageResult:
        """Judge a question. No correction of its spelling takes back what needs a person; what a
        follow-up seems to be, it has to be together with the turn it continues, too."""
        result = self.message(resolved.typed)
        if resolved.text != resolved.typed and result.label == "ordinary":
            result = self.message(resolved.text)
        is_named = result.matter is not None and result.matter.name != UNNAMED
        if result.label == "ordinary" or is_named or not resolved.follows:
            return result
        together = self.message(resolved.standalone)
        if together.label == result.label:
            return result
        return TriageResult(scores=result.scores)

    def message(self, text: str) -> TriageResult:
        """Judge one message without what was written before it."""
        if not text.strip():
            return TriageResult()
        reading = _Reading(
            text=text,
            scores=self.classifier.scores(text),
            matter=self._terms.find(text),
            has_own_terms=self._has_own_terms,
        )
        for check in CHECKS:
            result = check(reading)
            if result:
                return result._replace(scores=reading.scores)
        scores = reading.scores
        offers = scores.sensitive >= scores.thresholds.offered
        return TriageResult(
            scores=scores,
            offers_person=offers,
            shows_helplines=offers and scores.danger >= scores.thresholds.danger,
        )

    def is_sensitive(self, messages: Sequence[str]) -> bool:
        """Tell whether one of several messages is sensitive."""
        return any(self.message(text).matter for text in messages)


def find_danger(reading: _Reading) -> TriageResult | None:
    """Somebody may come to harm: the emergency line comes first."""
    scores, matter = reading.scores, reading.matter
    least = scores.thresholds.danger
    if matter and matter.danger:
        is_long = len(reading.text) > LONGEST
        least = 0.0 if is_long else scores.thresholds.term
    is_doubtful = matter is None and scores.sensitive < scores.thresholds.sensitive
    if scores.danger < least or is_doubtful:
        return None
    found = matter or Matter(UNNAMED, scores.topic, danger=True)
    return TriageResult(label="sensitive", matter=found._replace(danger=True, distress=True))


def find_request_for_person(reading: _Reading) -> TriageResult | None:
    """Somebody asks for a human; a sensitive matter that they name keeps its contact."""
    scores = reading.scores
    is_asked = asks_for_person(reading.text) or scores.person >= scores.thresholds.person
    if not is_asked:
        return None
    matter = reading.matter
    named = matter._replace(danger=False) if matter and not matter.weak else None
    return TriageResult(label="person", matter=named)


def find_sensitive(reading: _Reading) -> TriageResult | None:
    """Somebody tells of what a person should help with."""
    scores, matter = reading.scores, reading.matter
    least = scores.thresholds.sensitive
    if matter and not matter.weak:
        least = 0.0 if reading.has_own_terms else scores.thresholds.term
    if scores.sensitive < least:
        return None
    found = matter or Matter(UNNAMED, scores.topic, danger=False)
    distress = scores.danger >= scores.thresholds.helpline
    return TriageResult(
        label="sensitive",
        matter=found._replace(danger=False, distress=distress),
    )


def find_outside(reading: _Reading) -> TriageResult | None:
    """A message that is no question about policies, or an attack on the assistant."""
    scores = reading.scores
    if scores.strange >= scores.thresholds.injection:
        return TriageResult(label="out_of_scope", injected=scores.is_injection)
    if scores.outside >= scores.thresholds.outside:
        return TriageResult(label="out_of_scope")
    return None


CHECKS: Sequence[Callable[[_Reading], TriageResult | None]] = (
    find_danger,
    find_request_for_person,
    find_sensitive,
    find_outside,
)
