"""Events, sessions and the desk as JSON."""

from datetime import datetime
from typing import Annotated, Any
from urllib.parse import urlencode

from pydantic import AwareDatetime, Field

from ombud.app import Workspace, advising, asking, conversing
from ombud.errors import NotFound
from ombud.handoff import ticket_systems
from ombud.settings import AdvisorSettings
from ombud.store import LONGEST_MESSAGE
from ombud.types import Answered, Answering, Citation, Ended, Event, Session, Transferred
from ombud.types import HandoffReason as Reason
from ombud.web.render import to_html
from ombud.web.shapes import Key, Name, Shape

Words = Annotated[str, Field(max_length=LONGEST_MESSAGE)]
"""Of a person, at once."""
REASONS = ("solved", "passed on", "no answer", "not for us")
"""Why an advisor ends a conversation."""


class MessageIn(Shape):
    id: Key
    text: Words


class HandoffIn(Shape):
    reason: Reason = "asked"
    topic: Name = ""
    ticket: bool = False
    consent: bool = False


class ReadIn(Shape):
    place: Annotated[int, Field(ge=0, le=2**31 - 1)]


class RatingIn(Shape):
    score: Annotated[int, Field(ge=1, le=5)] | None
    """null = would rather not say."""
    comment: Annotated[str, Field(max_length=2000)] = ""


class LabelIn(Shape):
    title: Annotated[str, Field(max_length=200)] | None = None
    """Empty = how the first question begins."""
    pinned: bool | None = None


class MailIn(Shape):
    mail: Annotated[str, Field(max_length=254)]


class SignInIn(Shape):
    advisor: Name


class AwayIn(Shape):
    away: bool


class LabelsIn(Shape):
    tags: Annotated[tuple[Name, ...], Field(max_length=20)] = ()
    urgent: bool = False


class TransferIn(Shape):
    topic: Name = ""
    advisor: Name = ""
    note: Annotated[str, Field(max_length=2000)] = ""


class SnoozeIn(Shape):
    until: AwareDatetime | None
    """null = it is back."""


class EndIn(Shape):
    reason: Name = ""
    note: Annotated[str, Field(max_length=2000)] = ""


Json = dict[str, Any]


def session_json(session: Session, *, for_advisor: bool = False) -> Json:
    """Return the state of a conversation; tags, priority, rating and snooze only for advisors."""
    labels: Json = {"may_rate": session.may_rate}
    if for_advisor:
        labels = {
            "tags": list(session.tags),
            "urgent": session.urgent,
            "rating": session.rating,
            "snoozed_until": _time(session.snoozed_until),
        }
    return {
        **labels,
        "id": session.id,
        "state": session.state,
        "reason": session.reason,
        "topic": session.topic,
        "advisor": session.advisor,
        "since": _time(session.since),
        "position": session.position,
        "wait_seconds": session.wait_seconds,
        "has_warned": session.has_warned,
        "last": session.last,
        "is_ticket": session.is_handed_over and session.desk in ticket_systems(),
    }


def event_json(workspace: Workspace, event: Event, *, for_advisor: bool = False) -> Json:
    """Return an event for a page; notes between advisors only for advisors."""
    base: Json = {
        "id": event.id,
        "place": event.place,
        "by": event.by,
        "at": _time(event.at),
        "kind": event.what.kind if event.what else "erased",
        "key": event.key,
    }
    what = event.what
    if what is None or isinstance(what, Answering):
        return base
    left_out = {"kind", "ticket_id", "address"}
    if isinstance(what, Transferred | Ended) and not for_advisor:
        left_out |= {"note", "advisor_id"}
    fields = what.model_dump(mode="json", exclude=left_out)
    if isinstance(what, Answered):
        fields |= _answer(workspace, what)
    return {**base, **fields}


def listed_json(one: conversing.Listed) -> Json:
    return {
        "id": one.session.id,
        "title": one.title,
        "state": one.session.state,
        "at": _time(one.at),
        "pinned": one.pinned,
        "asker": one.session.asker.model_dump(mode="json", exclude={"id"}),
    }


def board_json(board: advising.Board) -> Json:
    return {
        "me": _advisor(board.me, board) if board.me else None,
        "advisors": [_advisor(advisor, board) for advisor in board.advisors],
        "is_open": board.is_open,
        "opens": _time(board.opens),
        "waiting": list(map(card_json, board.waiting)),
        "mine": list(map(card_json, board.mine)),
        "others": list(map(card_json, board.others)),
        "snoozed": list(map(card_json, board.snoozed)),
    }


def source_json(citation: Citation) -> Json:
    """Return a passage and where to open it."""
    place = {"start": citation.start, "end": citation.end, "digest": citation.version}
    return {
        "title": citation.title,
        "uri": citation.uri,
        "page": citation.page,
        "quote": citation.quote,
        "href": f"/documents/{citation.document_id}?{urlencode(place)}",
    }


def _answer(workspace: Workspace, what: Answered) -> Json:
    """Return the answer's HTML and the answer without its trace, as far as they still exist."""
    try:
        answer = asking.stored_answer(workspace, what.answer_id) if what.answer_id else None
    except NotFound:
        answer = None
    if answer is None:
        return {"html": to_html(what.text, ()), "answer": None}
    html = to_html(what.text, answer.citations)
    return {"html": html, "answer": answer.model_dump(mode="json", exclude={"trace"})}


def card_json(card: advising.DeskCard) -> Json:
    stands = card.session
    return {
        "id": stands.id,
        "state": stands.state,
        "reason": stands.reason,
        "topic": stands.topic,
        "tags": list(stands.tags),
        "urgent": stands.urgent,
        "rating": stands.rating,
        "country": stands.asker.country,
        "since": _time(stands.since),
        "due": _time(card.due),
        "snoozed_until": _time(stands.snoozed_until),
        "wait_seconds": card.wait_seconds,
        "position": card.position,
        "advisor": stands.advisor or ", ".join(card.advisors),
        "preview": card.preview,
        "unread": card.unread,
        "is_for_me": card.is_for_me,
        "wanted_me": card.is_mine_by_name,
    }


def _advisor(advisor: AdvisorSettings, board: advising.Board) -> Json:
    return {
        "id": advisor.id,
        "name": advisor.name,
        "topics": list(advisor.topics),
        "countries": list(advisor.countries),
        "is_here": advisor.id in board.here,
    }


def _time(at: datetime | None) -> str | None:
    return at.isoformat() if at else None
