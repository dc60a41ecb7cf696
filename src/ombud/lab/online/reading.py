"""What the store knows of answers that people got."""

from collections.abc import Iterator

from ombud.lab.online.variants import LiveAnswer
from ombud.store import Store, StoredAnswer, list_answers, read_thumbs


def live_answers(store: Store, since: str = "", country: str = "") -> Iterator[LiveAnswer]:
    """Of everything that is kept, in the order in which it was answered. since: time in UTC, ISO
    8601. country: of the asker; empty = all."""
    thumbs = read_thumbs(store)
    for kept in list_answers(store, since):
        if kept.answer is None or kept.question is None:
            continue
        if country and kept.question.asker.country != country:
            continue
        trace = kept.answer.trace
        yield LiveAnswer(
            variant=trace.variant,
            person=_person(kept),
            outcome=_outcome(kept),
            price=trace.price,
            seconds=trace.seconds.get("total"),
            thumb=thumbs.get(kept.id),
        )


def _person(kept: StoredAnswer) -> str:
    asker = kept.question.asker.id if kept.question else None
    known = (asker, kept.owner, kept.conversation_id, kept.id)
    return next(filter(None, known), "")


def _outcome(kept: StoredAnswer) -> str:
    answer = kept.answer
    if answer is None or answer.outcome == "denied":
        return "to a person" if answer and answer.action == "handoff" else "not found"
    if answer.action == "handoff":
        return "to a person"
    return "answered" if answer.outcome == "full" else "partly"
