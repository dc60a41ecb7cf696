"""Answer metrics that need no model.

Likeness (token_f1 and the like) is measured on answerable cases that were answered: a refusal is
never compared with a reference, outcome_accuracy counts it. Of several references, those for the
asker's persona or for nobody in particular count (all, if there are none), and the best match is
the value. Markers such as [1] are no words."""

import re
from collections.abc import Callable, Sequence
from math import sqrt

from ombud.lab.cases.quotes import normalise, shared
from ombud.lab.metrics.metric import Embed, Instruments, Undefined, Value
from ombud.lab.metrics.overlap import numbers
from ombud.types import Answer, Case, Citation, Observation, Passage

NO_ANSWER = Undefined("no answer was recorded")
NO_REFERENCE = Undefined("the case has no reference answer")
NO_NUMBERS = Undefined("the reference states no number")
NO_QUOTES = Undefined("the case's evidence has no quotes")
NO_CITATIONS = Undefined("the answer cites nothing")
NO_TIME = Undefined("no time was recorded")
NO_EMBEDDER = Undefined("no embedder was given")
NO_TEXTS = Undefined("no document texts were given")
NO_VECTOR = Undefined("the embedder gave no usable vectors")
GONE = Undefined("the cited document versions are no longer stored")
REFUSED = Undefined("not applicable: a refusal is not compared with a reference")

_MARKER = re.compile(r"[ \t]?\[\d+\]")
_EXPECTED_ACTIONS = {
    "answer": {"none"},
    "clarify": {"clarify"},
    "handoff": {"handoff"},
    "deny": {"none", "contact"},
}
_DENIED_WITH = {"unanswerable": {"contact"}, "off_topic": {"none"}, "incoherent": {"none"}}


def body(answer: Answer) -> str:
    """The answer's words without citation markers."""
    return _MARKER.sub("", answer.text)


def best(likeness: Callable[[str, str], float]) -> Callable[[Observation], Value]:
    """A metric: the answer's greatest likeness(answer, reference) over the references."""

    def measure(observation: Observation) -> Value:
        compared = _compared(observation)
        if isinstance(compared, Undefined):
            return compared
        said, references = compared
        return max(likeness(said, reference) for reference in references)

    return measure


def number_agreement(observation: Observation) -> Value:
    """Share of a reference's distinct numbers that the answer states, best over references that
    have any."""
    compared = _compared(observation)
    if isinstance(compared, Undefined):
        return compared
    said, references = compared
    stated = numbers(said)
    wanted = [numbers(reference) for reference in references]
    shares = [len(stated & some) / len(some) for some in wanted if some]
    return max(shares) if shares else NO_NUMBERS


def semantic_similarity(observation: Observation, instruments: Instruments) -> Value:
    """Cosine of the answer's and the nearest reference's vector, -1 to 1."""
    compared = _compared(observation)
    if isinstance(compared, Undefined):
        return compared
    return NO_EMBEDDER if instruments.embed is None else _nearest(*compared, instruments.embed)


def semantic_similarity_5(observation: Observation, instruments: Instruments) -> Value:
    """The cosine on the 1-5 scale of the Likert judges: 1 + 4 x cosine, opposite texts count as
    unlike."""
    cosine = semantic_similarity(observation, instruments)
    return cosine if isinstance(cosine, Undefined) else 1 + 4 * max(cosine, 0.0)


def citation_precision(observation: Observation) -> Value:
    """Share of the citations that meet a gold quote: same document, half of the shorter text
    shared."""
    judged = _cited(observation)
    if isinstance(judged, Undefined):
        return judged
    citations, gold = judged
    if not citations:
        return NO_CITATIONS
    return sum(any(meets(citation, item) for item in gold) for citation in citations) / len(
        citations
    )


def citation_recall(observation: Observation) -> Value:
    """Share of the gold quotes that a citation meets; an answer that cites nothing has 0."""
    judged = _cited(observation)
    if isinstance(judged, Undefined):
        return judged
    citations, gold = judged
    return sum(any(meets(citation, item) for citation in citations) for item in gold) / len(gold)


def quote_verbatim(observation: Observation, instruments: Instruments) -> Value:
    """Share of the citations whose quote is exactly the stored text [start:end] of the version they
    name.

    Citations of versions that are no longer stored can be neither right nor wrong and do not count.
    """
    if observation.answer is None:
        return NO_ANSWER
    if not observation.answer.citations:
        return NO_CITATIONS
    if instruments.text_of is None:
        return NO_TEXTS
    texts = [
        (citation, instruments.text_of(citation.document_id, citation.digest))
        for citation in _all(observation)
    ]
    stored = [(citation, text) for citation, text in texts if text is not None]
    return (
        sum(_verbatim(citation, text) for citation, text in stored) / len(stored)
        if stored
        else GONE
    )


def outcome_class(answer: Answer) -> str:
    """answer | deny | clarify | handoff: what a case's `expect` is compared with."""
    if answer.action in {"clarify", "handoff"}:
        return answer.action
    return "deny" if answer.outcome == "denied" else "answer"


def outcome_accuracy(observation: Observation) -> Value:
    """1 if the answer is of the class that the case expects, else 0."""
    answer = observation.answer
    return NO_ANSWER if answer is None else float(outcome_class(answer) == observation.case.expect)


def action_accuracy(observation: Observation) -> Value:
    """1 if the action is one that the case's expectation allows, else 0.

    Of the cases to deny, unanswerable ones want a contact, off topic and incoherent ones nothing,
    others either."""
    if observation.answer is None:
        return NO_ANSWER
    return float(observation.answer.action in _allowed(observation.case))


def length(observation: Observation) -> Value:
    """White-space separated words of the answer, without markers."""
    return NO_ANSWER if observation.answer is None else float(len(body(observation.answer).split()))


def latency(observation: Observation) -> Value:
    """Seconds from question to whole answer, as the lab's clock saw them."""
    return NO_TIME if observation.seconds is None else observation.seconds


def tokens(observation: Observation) -> Value:
    """Tokens of all model calls, in and out; 0 without a model."""
    if observation.answer is None:
        return NO_ANSWER
    return float(observation.answer.trace.tokens_in + observation.answer.trace.tokens_out)


def price(observation: Observation) -> Value:
    """US dollars; 0 without a model, undefined for a model whose price is not known."""
    if observation.answer is None:
        return NO_ANSWER
    trace = observation.answer.trace
    if trace.price is None and trace.model:
        return Undefined(f"the price of {trace.model} is not known")
    return trace.price or 0.0


def _compared(observation: Observation) -> tuple[str, list[str]] | Undefined:
    case, answer = observation.case, observation.answer
    if case.expect != "answer":
        return Undefined(f"not applicable: the case expects {case.expect}")
    if answer is None:
        return NO_ANSWER
    if answer.outcome == "denied":
        return REFUSED
    own = [ref.text for ref in case.references if ref.persona in {None, case.person.persona}]
    references = own or [ref.text for ref in case.references]
    return (body(answer), references) if references else NO_REFERENCE


def _nearest(said: str, references: Sequence[str], embed: Embed) -> Value:
    vector, *others = embed([said, *references])
    if len(others) != len(references):
        return NO_VECTOR
    cosines = [cosine for other in others if (cosine := _cosine(vector, other)) is not None]
    return max(cosines) if cosines else NO_VECTOR


def _cosine(first: Sequence[float], second: Sequence[float]) -> float | None:
    a, b = [float(x) for x in first], [float(x) for x in second]
    size = sqrt(sum(x * x for x in a)) * sqrt(sum(x * x for x in b))
    if len(a) != len(b) or not 0 < size < float("inf"):
        return None
    # Rounding may leave the cosine of a vector with itself a hair above 1.
    return max(-1.0, min(1.0, sum(x * y for x, y in zip(a, b, strict=True)) / size))


def _cited(observation: Observation) -> tuple[Sequence[Citation], list[Passage]] | Undefined:
    gold = [item for item in observation.case.evidence if normalise(item.quote)]
    if observation.answer is None:
        return NO_ANSWER
    if observation.case.expect == "deny":
        return Undefined("not applicable: the case expects deny")
    return (_all(observation), gold) if gold else NO_QUOTES


def _all(observation: Observation) -> Sequence[Citation]:
    return observation.answer.citations if observation.answer else ()


def meets(citation: Citation, item: Passage) -> bool:
    """Whether a citation is of the evidence's document and shares at least half of the shorter text
    with its quote."""
    if citation.uri != item.document:
        return False
    shorter = min(len(normalise(citation.quote)), len(normalise(item.quote)))
    return shorter > 0 and 2 * shared(citation.quote, item.quote) >= shorter


def _verbatim(citation: Citation, text: str) -> bool:
    return (
        0 <= citation.start < citation.end and text[citation.start : citation.end] == citation.quote
    )


def _allowed(case: Case) -> set[str]:
    if case.expect == "deny":
        return _DENIED_WITH.get(case.type, _EXPECTED_ACTIONS["deny"])
    return _EXPECTED_ACTIONS[case.expect]
