"""What the store knows of answers that people got."""

from collections.abc import Iterator

from ombud.lab.online.harvesting import LIVE, live_id
from ombud.lab.online.variants import LiveAnswer
from ombud.store import (
    Store,
    StoredAnswer,
    list_answers,
    list_runs,
    read_scores,
    read_thumbs,
)


def live_answers(store: Store, since: str = "", country: str = "") -> Iterator[LiveAnswer]:
    """Yield all stored answers, oldest first. since: time in UTC, ISO 8601. country: of the asker;
    empty = all."""
    thumbs = read_thumbs(store)
    grades = _grades(store)
    for stored in list_answers(store, since):
        if stored.answer is None or stored.question is None:
            continue
        if country and stored.question.asker.country != country:
            continue
        trace = stored.answer.trace
        yield LiveAnswer(
            variant=trace.variant,
            person=_person(stored),
            outcome=_outcome(stored),
            price=trace.price,
            seconds=trace.seconds.get("total"),
            thumb=thumbs.get(stored.id),
            at=stored.at,
            country=stored.question.asker.country or "",
            is_assigned=bool(stored.question.asker.id),
            grades=grades.get(live_id(stored.id), {}),
        )


def _grades(store: Store) -> dict[str, dict[str, float]]:
    """Map the cases of live answers to their judged metrics."""
    grades: dict[str, dict[str, float]] = {}
    for run in list_runs(store):
        if run.name.startswith(LIVE):
            for score in read_scores(store, run.id):
                if score.value is not None:
                    grades.setdefault(score.case_id, {})[score.metric] = score.value
    return grades


def _person(stored: StoredAnswer) -> str:
    asker = stored.question.asker.id if stored.question else None
    names = (asker, stored.owner, stored.conversation_id, stored.id)
    return next(filter(None, names), "")


def _outcome(stored: StoredAnswer) -> str:
    answer = stored.answer
    if answer is None or answer.outcome == "denied":
        return "to a person" if answer and answer.action == "handoff" else "not found"
    if answer.action == "handoff":
        return "to a person"
    return "answered" if answer.outcome == "full" else "partly"
