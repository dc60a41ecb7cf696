"""A short turn of a conversation, which says too little alone."""

from collections.abc import Sequence

from ombud.answer.triage.classifying import Triage, TriageResult
from ombud.answer.triage.sensitive import TOLD
from ombud.index import Engine
from ombud.retrieve import query_terms, stands_alone
from ombud.types import Message, Question

SHORT = 8
"""Words up to which a turn is heard with the one before it. On dev of the conversations people
write, 10 of 132 harmless later turns ("my kids too?") were handed over alone and 4 so; of the
sensitive messages of dev put behind a harmless question one was lost, of longer ones 30."""


def triaged_turn(triage: Triage, text: str, history: Sequence[Message]) -> TriageResult:
    """Triage of what was said now. A short turn that no term holds for sensitive has to be so
    together with what the asker said before it, too."""
    alone = triage(text)
    if alone.matter is None or alone.matter.name != TOLD:
        return alone
    before = [message.content for message in history if message.role == "user"]
    if not before or len(text.split()) > SHORT:
        return alone
    together = triage(f"{before[-1]}\n{text}")
    if together.matter:
        return alone
    return alone._replace(label="ordinary", matter=None)


def triaged_message(
    triage: Triage, question: Question, typed: Question, engine: Engine
) -> TriageResult:
    """Triage of a question. What goes on with a turn before it, or has no word to search for, looks
    strange alone: only an injection is taken for one.

    typed: as it was before words were read otherwise; no correction takes back what needs a
    person."""
    if typed.text != question.text:
        as_typed = triaged_turn(triage, typed.text, typed.history)
        if as_typed.matter or as_typed.injected:
            return as_typed
    triaged = triaged_turn(triage, question.text, question.history)
    if triaged.label != "out_of_scope" or triaged.injected:
        return triaged
    goes_on = bool(question.history) and not stands_alone(question.text)
    if goes_on or not query_terms(question.text, engine):
        return triaged._replace(label="ordinary", settled=True)
    return triaged
