"""When a person is offered, and for which reason."""

from collections.abc import Sequence

from ombud.answer import own_circumstances
from ombud.handoff import NONE
from ombud.settings import HandoffSettings
from ombud.store import Store, read_events
from ombud.types import Answer, Answered, HandoffReason, Question

SEVERAL = 2
"""Circumstances of one's own from which a question that is not settled counts as complex."""


def offer_of(
    answer: Answer, question: Question, settings: HandoffSettings, store: Store
) -> HandoffReason | None:
    """The strongest reason to offer a person; None where there is none, or the settings want none.
    The answer is not yet among the conversation's events."""
    if settings.desk == NONE:
        return None
    for reason in _reasons(answer, question, settings, store):
        if reason not in _never(settings, question.asker.country):
            return reason
    return None


def _reasons(
    answer: Answer, question: Question, settings: HandoffSettings, store: Store
) -> Sequence[HandoffReason]:
    """Those that hold, the strongest first."""
    reasons: list[HandoffReason] = [answer.offer] if answer.offer else []
    if answer.topic in _always(settings, question.asker.country):
        reasons.append("policy")
    if answer.outcome == "full" or answer.action == "clarify":
        return reasons
    if len(own_circumstances(question.text)) >= SEVERAL:
        reasons.append("complex")
    if answer.outcome != "denied" or answer.action != "contact":
        return reasons
    if _denials_before(answer, store) + 1 >= settings.denials:
        reasons.append("denied")
    if answer.claims:
        reasons.append("unsure")
    return reasons


def _denials_before(answer: Answer, store: Store) -> int:
    """Answers in a row, up to this one, that answered nothing."""
    if not answer.conversation_id:
        return 0
    count = 0
    for event in reversed(read_events(store, answer.conversation_id)):
        if not isinstance(event.what, Answered):
            continue
        if event.what.outcome != "denied" or event.what.action != "contact":
            break
        count += 1
    return count


def _always(settings: HandoffSettings, country: str | None) -> tuple[str, ...]:
    own = settings.country.get(country or "")
    return settings.always if own is None or own.always is None else own.always


def _never(settings: HandoffSettings, country: str | None) -> tuple[str, ...]:
    own = settings.country.get(country or "")
    return settings.never if own is None or own.never is None else own.never
