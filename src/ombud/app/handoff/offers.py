"""Decides when a person is offered, and for which reason."""

from collections.abc import Sequence

from ombud.answer import own_circumstances
from ombud.settings import HandoffSettings, Settings
from ombud.store import Store, read_events
from ombud.types import Answer, Answered, HandoffReason, Question

SEVERAL = 2
"""Number of personal circumstances from which an unsettled question counts as complex."""


def offer_of(
    answer: Answer, question: Question, settings: Settings, store: Store
) -> HandoffReason | None:
    """Return the strongest reason to offer a person, or None. The answer is not yet among the
    conversation's events."""
    if not settings.has_desk:
        return None
    handoff = settings.handoff
    for reason in reasons_to_offer(answer, question, handoff, store):
        if reason not in never_reasons(handoff, question.asker.country):
            return reason
    return None


def reasons_to_offer(
    answer: Answer, question: Question, settings: HandoffSettings, store: Store
) -> Sequence[HandoffReason]:
    """Return the reasons that apply, strongest first."""
    reasons: list[HandoffReason] = [answer.offer] if answer.offer else []
    if answer.topic in always_reasons(settings, question.asker.country):
        reasons.append("policy")
    if answer.outcome == "full" or answer.action == "clarify":
        return reasons
    if len(own_circumstances(question.text)) >= SEVERAL:
        reasons.append("complex")
    if answer.outcome != "denied" or answer.action != "contact":
        return reasons
    if consecutive_denials(answer, store) + 1 >= settings.denials:
        reasons.append("denied")
    if answer.claims:
        reasons.append("unsure")
    return reasons


def consecutive_denials(answer: Answer, store: Store) -> int:
    """Count consecutive answers without content, up to this one."""
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


def always_reasons(settings: HandoffSettings, country: str | None) -> tuple[str, ...]:
    own = settings.country.get(country or "")
    return settings.always if own is None or own.always is None else own.always


def never_reasons(settings: HandoffSettings, country: str | None) -> tuple[str, ...]:
    own = settings.country.get(country or "")
    return settings.never if own is None or own.never is None else own.never
