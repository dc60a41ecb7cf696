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
            at=kept.at,
            country=kept.question.asker.country or "",
            is_assigned=bool(kept.question.asker.id),
            grades=grades.get(live_id(kept.id), {}),
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
