"""Links by which colleagues open a conversation; each is erased with its conversation."""

import secrets
from typing import NamedTuple

from sqlalchemy import Column, Integer, String, Table, delete, select, text, update

from ombud.store.audit.chain import now
from ombud.store.database import Store
from ombud.store.tables import conversation_column, metadata

# The link of each conversation that is shared.
shares = Table(
    "share",
    metadata,
    conversation_column(primary_key=True),
    # Last part of the address.
    Column("secret", String(64), nullable=False, unique=True),
    # Place of the last event that the link shows.
    Column("place", Integer, nullable=False),
    Column("at", String(32), nullable=False),
)
NEW_SHARE = text(
    "INSERT INTO share (conversation_id, secret, place, at) "
    "VALUES (:conversation_id, :secret, :place, :at) ON CONFLICT DO NOTHING"
)


class ShareLink(NamedTuple):
    conversation_id: str
    secret: str
    place: int
    """Place of the last event that it shows."""


def share_conversation(store: Store, conversation_id: str, place: int) -> ShareLink:
    """Make the link of a conversation, or let the present one show the events up to a place."""
    row = {
        "conversation_id": conversation_id,
        "secret": secrets.token_urlsafe(),
        "place": place,
        "at": now(),
    }
    own = shares.c.conversation_id == conversation_id
    with store.write() as db:
        db.execute(NEW_SHARE, row)
        db.execute(update(shares).where(own).values(place=place))
        secret = db.execute(select(shares.c.secret).where(own)).scalar_one()
    return ShareLink(conversation_id, secret, place)


def find_share(store: Store, *, secret: str = "", conversation_id: str = "") -> ShareLink | None:
    """Return the link with this secret, or of this conversation; None if there is none, or none any
    more."""
    query = select(shares.c.conversation_id, shares.c.secret, shares.c.place)
    own = shares.c.secret == secret if secret else shares.c.conversation_id == conversation_id
    with store.read() as db:
        row = db.execute(query.where(own)).first()
    return ShareLink(*row) if row else None


def withdraw_share(store: Store, conversation_id: str) -> None:
    """Remove the link of a conversation; a later one has another secret."""
    with store.write() as db:
        db.execute(delete(shares).where(shares.c.conversation_id == conversation_id))
