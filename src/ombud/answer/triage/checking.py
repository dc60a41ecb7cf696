"""The checks of triage, in order: danger, a request for a person, sensitive, outside, ordinary."""

from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple

from ombud.answer.triage.classifier import LONGEST, Scores, TriageClassifier
from ombud.answer.triage.sensitive import UNNAMED, Matter, SensitiveTerms
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
    """An ordinary message whose answer begins with helplines."""

    @property
    def signals(self) -> dict[str, float]:
        """Return probabilities and the class for the trace."""
        return {
            "triage_sensitive": self.scores.sensitive,
            "triage_danger": self.scores.danger,
            "triage_person": self.scores.person,
            "triage_out_of_scope": self.scores.outside,
            "triage_injection": self.scores.injection,
            f"triage_is_{self.label}": 1.0,
        }


class Triage:
    """Tells whom a message is for. Reads one message and no document."""

    def __init__(
        self, terms: SensitiveTerms, classifier: TriageClassifier, *, has_own_terms: bool = False
    ) -> None:
        """Set the classifier and terms. has_own_terms: `terms` are the organisation's own, so each
        counts however unlikely."""
        self._terms = terms
        self.classifier = classifier
        self._has_own_terms = has_own_terms

    def question(self, resolved: ResolvedQuestion) -> TriageResult:
        """Classify a question as typed and, if that is ordinary, as corrected. A follow-up needs a
        person only if it also does together with the turn that it continues."""
        result = self.message(resolved.typed)
        if resolved.text != resolved.typed and result.label == "ordinary":
            result = self.message(resolved.text)
        is_named = result.matter is not None and result.matter.name != UNNAMED
        is_explicit = (
            result.label == "person" and resolved.text.rstrip(" ?.!") in resolved.standalone
        )
        is_clear = result.label == "ordinary" or is_named or is_explicit
        if is_clear or not resolved.follows:
            return result
        together = self.message(resolved.standalone)
        if together.label == result.label:
            return result
        return TriageResult(scores=result.scores)

    def message(self, text: str) -> TriageResult:
        """Classify one message without its history."""
        if not text.strip():
            return TriageResult()
        scores = self.classifier.scores(text)
        matter = self._terms.find(text)
        least = scores.thresholds.sensitive
        if matter:
            least = 0.0 if self._has_own_terms else scores.thresholds.term
        least_danger = scores.thresholds.danger
        if matter and matter.danger:
            # The scores of a long story say little about one sentence of it.
            least_danger = 0.0 if len(text) > LONGEST else scores.thresholds.term
        message = _Message(
            scores=scores,
            matter=matter or Matter(UNNAMED, scores.topic, danger=False),
            is_named=matter is not None,
            is_sensitive=scores.sensitive >= least,
            is_dangerous=scores.danger >= least_danger,
            is_distressed=scores.distress >= scores.thresholds.distress,
        )
        for check in CHECKS:
            result = check(message)
            if result:
                return result._replace(scores=scores)
        return TriageResult(
            scores=scores,
            offers_person=scores.sensitive >= scores.thresholds.offered,
            shows_helplines=message.is_distressed,
        )

    def is_sensitive(self, messages: Sequence[str]) -> bool:
        """Tell whether one of several messages is sensitive."""
        return any(self.message(text).matter for text in messages)


class _Message(NamedTuple):
    """The checks' view of a message before the search."""

    scores: Scores
    matter: Matter
    is_named: bool
    """A term of sensitive.toml, or of the organisation's own list, names the matter."""
    is_sensitive: bool
    is_dangerous: bool
    is_distressed: bool


def find_danger(message: _Message) -> TriageResult | None:
    """Find somebody who may come to harm: the emergency number comes first."""
    if not message.is_dangerous or not (message.is_named or message.is_sensitive):
        return None
    return TriageResult("sensitive", message.matter._replace(danger=True, distress=True))


def find_request_for_person(message: _Message) -> TriageResult | None:
    """Find a request for a human; a sensitive matter that it names keeps its contact."""
    if not message.scores.asks_for_person:
        return None
    has_matter = message.is_named or message.is_sensitive
    return TriageResult("person", message.matter._replace(danger=False) if has_matter else None)


def find_sensitive(message: _Message) -> TriageResult | None:
    """Find a matter that a person should help with."""
    if not message.is_sensitive:
        return None
    matter = message.matter._replace(danger=False, distress=message.is_distressed)
    return TriageResult("sensitive", matter)


def find_outside(message: _Message) -> TriageResult | None:
    """Find what is no question about policies, or a prompt injection."""
    scores = message.scores
    if scores.injection >= scores.thresholds.injection:
        return TriageResult("out_of_scope", injected=scores.is_injection)
    if scores.outside >= scores.thresholds.outside:
        return TriageResult("out_of_scope")
    return None


CHECKS: Sequence[Callable[[_Message], TriageResult | None]] = (
    find_danger,
    find_request_for_person,
    find_sensitive,
    find_outside,
)
