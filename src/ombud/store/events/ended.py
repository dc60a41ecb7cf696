"""Conversations at our own desk whose handoff is over, as advisors find them again."""

import json
from collections.abc import Collection, Mapping
from typing import NamedTuple

from sqlalchemy import Connection, Select, func, select

from ombud.store.database import Store
from ombud.store.events.delivery import OWN_DESKS
from ombud.store.events.log import event_of
from ombud.store.tables import event as events
from ombud.store.tables import session as sessions
from ombud.types import Joined, Noted, Session


class EndedHandoff(NamedTuple):
    session: Session
    advisors: tuple[Joined, ...]
    """Who took the conversation, in order."""
    has_words: bool
    """Whether something that advisors may read contains the searched words."""

    @property
    def advisor_names(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(advisor.name for advisor in self.advisors))

    @property
    def advisor_ids(self) -> frozenset[str]:
        return frozenset(advisor.advisor_id for advisor in self.advisors)


def ended_handoffs(store: Store, words: str = "", owner: str = "") -> list[EndedHandoff]:
    """Return the conversations whose handoff is over, the last one handed over first.

    words: searched in what advisors may read. owner: only this owner's. A conversation that its
    owner has removed from their list is left out.
    """
    handed_over = (
        select(func.max(events.c.number))
        .where(events.c.conversation_id == sessions.c.conversation_id, events.c.kind == "handoff")
        .scalar_subquery()
    )
    ended = (
        sessions.c.state.in_(["returned", "closed"])
        & sessions.c.desk.in_(OWN_DESKS)
        & ((sessions.c.owner == owner) if owner else (sessions.c.owner != ""))
    )
    among = select(sessions.c.conversation_id).where(ended)
    with store.read() as db:
        query = select(sessions.c.session).where(ended).order_by(handed_over.desc())
        found = list(map(Session.model_validate_json, db.execute(query).scalars()))
        advisors = joined_in(db, among)
        visible = {one.id: one.visible_to_desk for one in found}
        mentions = mentioning(db, among, visible, words) if words else set()
    return [
        EndedHandoff(one, tuple(advisors.get(one.id, ())), one.id in mentions)
        for one in found
        if one.visible_to_desk
    ]


def joined_in(db: Connection, among: Select[tuple[str]]) -> dict[str, list[Joined]]:
    """Return conversation -> the advisors who took it."""
    query = select(events.c.conversation_id, events.c.content).where(
        events.c.conversation_id.in_(among),
        events.c.kind == "joined",
        events.c.content != "",
    )
    joined: dict[str, list[Joined]] = {}
    for row in db.execute(query.order_by(events.c.number)):
        advisor = Joined.model_validate_json(row.content)
        joined.setdefault(row.conversation_id, []).append(advisor)
    return joined


def mentioning(
    db: Connection, among: Select[tuple[str]], visible: Mapping[str, int], words: str
) -> Collection[str]:
    """Return the conversations in which a visible message contains the words, ignoring case."""
    # Escaped as in the stored JSON, whose other fields are dropped below.
    inside = json.dumps(words, ensure_ascii=False)[1:-1]
    query = select(events).where(
        events.c.conversation_id.in_(among),
        events.c.kind.in_(["message", "answer", "note"]),
        events.c.content.icontains(inside, autoescape=True),
    )
    mentions: set[str] = set()
    for row in db.execute(query):
        event = event_of(row)
        if isinstance(event.what, Noted):
            text = event.what.text
        else:
            text = event.text if event.place <= visible.get(event.conversation_id, 0) else ""
        if words.casefold() in text.casefold():
            mentions.add(row.conversation_id)
    return mentions
