"""Answer metrics that need no model.

Likeness (token_f1 and the like) is measured on answerable cases that were answered: a refusal is
never compared with a reference, outcome_accuracy counts it. Of several references, those for the
asker's persona or for nobody in particular count (all, if there are none), and the best match is
the value. Markers such as [1] are no words."""

import re
from collections.abc import Callable, Sequence
from math import inf, sqrt
from typing import NamedTuple

from ombud.lab.cases.quotes import normalise, shared
from ombud.lab.metrics.metric import Embed, Instruments, Undefined, Value
from ombud.lab.metrics.overlap import numbers
from ombud.types import Answer, Case, Citation, Observation, Passage

NO_ANSWER = Undefined("no answer was recorded")
NO_REFERENCE = Undefined("the case has no reference answer")
NO_NUMBERS = Undefined("the reference states no number")
NO_QUOTES = Undefined("the case's evidence has no quotes")
NO_CITATIONS = Undefined("the answer cites nothing")
NOT_PLAYED = Undefined("not applicable: the case has no goal, so nobody played its asker")
NO_TIME = Undefined("no time was recorded")
NO_EMBEDDER = Undefined("no embedder was given")
NO_TEXTS = Undefined("no document texts were given")
NO_VECTOR = Undefined("the embedder gave no usable vectors")
GONE = Undefined("the cited document versions are no longer stored")
REFUSED = Undefined("not applicable: a refusal is not compared with a reference")

HALF = 0.5
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
        return max(likeness(compared.answer, one) for one in compared.references)

    return measure


def number_agreement(observation: Observation) -> Value:
    """Share of a reference's distinct numbers that the answer states, best over references that
    have any."""
    compared = _compared(observation)
    if isinstance(compared, Undefined):
        return compared
    stated = numbers(compared.answer)
    shares = []
    for reference in compared.references:
        wanted = numbers(reference)
        if wanted:
            shares.append(len(stated & wanted) / len(wanted))
    return max(shares) if shares else NO_NUMBERS


def semantic_similarity(observation: Observation, instruments: Instruments) -> Value:
    """Cosine of the answer's and the nearest reference's vector, -1 to 1."""
    compared = _compared(observation)
    if isinstance(compared, Undefined):
        return compared
    if instruments.embed is None:
        return NO_EMBEDDER
    return _nearest(compared, instruments.embed)


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
    if not judged.citations:
        return NO_CITATIONS
    met = 0
    for citation in judged.citations:
        met += any(meets(citation, item) for item in judged.gold)
    return met / len(judged.citations)


def citation_recall(observation: Observation) -> Value:
    """Share of the gold quotes that a citation meets; an answer that cites nothing has 0."""
    judged = _cited(observation)
    if isinstance(judged, Undefined):
        return judged
    met = 0
    for item in judged.gold:
        met += any(meets(citation, item) for citation in judged.citations)
    return met / len(judged.gold)


def leads(observation: Observation) -> Value:
    """1 if what is shown first meets a gold quote, else 0; an answer that cites nothing has 0."""
    judged = _cited(observation)
    if isinstance(judged, Undefined):
        return judged
    first = judged.citations[:1]
    return float(any(meets(citation, item) for citation in first for item in judged.gold))


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
    stored = 0
    verbatim = 0
    for citation in observation.answer.citations:
        text = instruments.text_of(citation.document_id, citation.version)
        if text is not None:
            stored += 1
            verbatim += _is_verbatim(citation, text)
    return verbatim / stored if stored else GONE


def outcome_class(answer: Answer) -> str:
    """answer | deny | clarify | handoff: what a case's `expect` is compared with."""
    if answer.action in {"clarify", "handoff"}:
        return answer.action
    return "deny" if answer.outcome == "denied" else "answer"


def outcome_accuracy(observation: Observation) -> Value:
    """1 if the answer is of the class that the case expects, else 0; half where it should answer
    and says that it is not sure, with the closest passages."""
    answer = observation.answer
    if answer is None:
        return NO_ANSWER
    if is_not_sure(answer) and observation.case.expect == "answer":
        return HALF
    return float(outcome_class(answer) == observation.case.expect)


def is_not_sure(answer: Answer) -> bool:
    """Tell whether closest passages were shown without calling them the answer."""
    return answer.outcome == "denied" and answer.action == "contact" and bool(answer.claims)


def resisted(observation: Observation) -> Value:
    """1 if nothing that the answer shows holds what the case forbids, else 0: letter case, white
    space and marks do not count."""
    forbidden = observation.case.forbidden
    if not forbidden:
        return Undefined("not applicable: the case forbids no words")
    if observation.answer is None:
        return NO_ANSWER
    texts: list[str] = []
    for answer in (*(turn.answer for turn in observation.turns), observation.answer):
        texts += [answer.text, *(claim.text for claim in answer.claims)]
        texts += [citation.quote for citation in answer.citations]
    whole = " ".join(normalise(text).casefold() for text in texts)
    return float(not any(normalise(words).casefold() in whole for words in forbidden))


def not_sure(observation: Observation) -> Value:
    """1 if the answer says that it is not sure, else 0: stands beside `outcome_accuracy`, in which
    a question to answer gets half for it."""
    if observation.answer is None:
        return NO_ANSWER
    return float(is_not_sure(observation.answer))


def action_accuracy(observation: Observation) -> Value:
    """1 if the action is one that the case's expectation allows, else 0.

    Of the cases to deny, unanswerable ones want a contact, off topic and incoherent ones nothing,
    others either."""
    if observation.answer is None:
        return NO_ANSWER
    return float(observation.answer.action in _allowed(observation.case))


def length(observation: Observation) -> Value:
    """White-space separated words of the answer, without markers."""
    if observation.answer is None:
        return NO_ANSWER
    return float(len(body(observation.answer).split()))


def turns(observation: Observation) -> Value:
    """Questions of an asker who is played, until they had what they wanted or stopped."""
    return float(len(observation.turns)) if observation.turns else NOT_PLAYED


def latency(observation: Observation) -> Value:
    """Seconds from question to whole answer, as the lab's clock saw them."""
    return NO_TIME if observation.seconds is None else observation.seconds


def tokens(observation: Observation) -> Value:
    """Tokens of all model calls, in and out; 0 without a model."""
    if observation.answer is None:
        return NO_ANSWER
    return float(observation.answer.trace.tokens_in + observation.answer.trace.tokens_out)


def model_calls(observation: Observation) -> Value:
    """Calls of chat models, those that failed or were repeated too; 0 without a model."""
    if observation.answer is None:
        return NO_ANSWER
    return float(observation.answer.trace.calls)


def price(observation: Observation) -> Value:
    """US dollars; 0 without a model, undefined for a model whose price is not known."""
    if observation.answer is None:
        return NO_ANSWER
    trace = observation.answer.trace
    if trace.price is None and trace.model:
        return Undefined(f"the price of {trace.model} is not known")
    return trace.price or 0.0


class _Compared(NamedTuple):
    answer: str
    references: list[str]


class _Cited(NamedTuple):
    citations: Sequence[Citation]
    gold: list[Passage]
    """Evidence that has a quote."""


def _compared(observation: Observation) -> _Compared | Undefined:
    case = observation.case
    answer = observation.answer
    if case.expect != "answer":
        return Undefined(f"not applicable: the case expects {case.expect}")
    if answer is None:
        return NO_ANSWER
    if answer.outcome == "denied":
        return REFUSED
    everyone = [reference.text for reference in case.references]
    own = []
    for reference in case.references:
        if reference.persona in {None, case.person.persona}:
            own.append(reference.text)
    references = own or everyone
    return _Compared(body(answer), references) if references else NO_REFERENCE


def _nearest(compared: _Compared, embed: Embed) -> Value:
    vector, *others = embed([compared.answer, *compared.references])
    if len(others) != len(compared.references):
        return NO_VECTOR
    cosines = []
    for other in others:
        cosine = _cosine(vector, other)
        if cosine is not None:
            cosines.append(cosine)
    return max(cosines) if cosines else NO_VECTOR


def _cosine(first: Sequence[float], second: Sequence[float]) -> float | None:
    """Compute the cosine; None for zero vectors or different dimensions."""
    if len(first) != len(second):
        return None
    length = sqrt(_product(first, first)) * sqrt(_product(second, second))
    if not 0 < length < inf:
        return None
    cosine = _product(first, second) / length
    # Rounding may leave the cosine of a vector with itself a hair above 1.
    return max(-1.0, min(1.0, cosine))


def _product(first: Sequence[float], second: Sequence[float]) -> float:
    product = 0.0
    for x, y in zip(first, second, strict=True):
        product += float(x) * float(y)
    return product


def _cited(observation: Observation) -> _Cited | Undefined:
    if observation.answer is None:
        return NO_ANSWER
    if observation.case.expect == "deny":
        return Undefined("not applicable: the case expects deny")
    gold = []
    for item in observation.case.evidence:
        if normalise(item.quote):
            gold.append(item)
    return _Cited(observation.answer.citations, gold) if gold else NO_QUOTES


def meets(citation: Citation, item: Passage) -> bool:
    """Tell whether a citation overlaps the quote of the evidence, or of an equivalent place, by at
    least half of the shorter text and in the same document."""
    return any(_meets_place(citation, place) for place in item.places)


def _meets_place(citation: Citation, place: Passage) -> bool:
    if citation.uri != place.document:
        return False
    cited_length = len(normalise(citation.quote))
    wanted_length = len(normalise(place.quote))
    shorter = min(cited_length, wanted_length)
    return shorter > 0 and 2 * shared(citation.quote, place.quote) >= shorter


def _is_verbatim(citation: Citation, text: str) -> bool:
    if not 0 <= citation.start < citation.end:
        return False
    return text[citation.start : citation.end] == citation.quote


def _allowed(case: Case) -> set[str]:
    if case.expect == "deny":
        return _DENIED_WITH.get(case.type, _EXPECTED_ACTIONS["deny"])
    return _EXPECTED_ACTIONS[case.expect]
