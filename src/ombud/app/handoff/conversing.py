"""A conversation as the employee has it."""

import time
from collections.abc import Mapping
from datetime import datetime
from hashlib import sha256
from typing import NamedTuple
from zoneinfo import ZoneInfo

from ombud.app.handoff import mail
from ombud.app.handoff.turns import recover
from ombud.app.workspace import Workspace
from ombud.errors import BadRequest, HandoffError, IllegalTransition, NotFound
from ombud.handoff import (
    NONE,
    inbound,
    is_open,
    keep_event,
    next_opening,
    session,
    signing_key,
    transcript,
    verify,
)
from ombud.store import (
    LONGEST_MESSAGE,
    Appended,
    Held,
    append_events,
    conversations_of,
    disown_conversation,
    erase_rows,
    find_event,
    new_conversation,
    owner_of,
    rate_answer,
    read_answer,
    read_events,
    read_line,
    read_session,
    read_title,
    rename_conversation,
    seal_soon,
    signal_typing,
)
from ombud.types import (
    Event,
    HandoffReason,
    NewEvent,
    OutOfHours,
    Person,
    Reached,
    Said,
    Session,
)

NOBODY = "-"
"""Who rates an answer without a secret of their own."""
NEAR = 50
"""Conversations that are looked through for the newest of a channel."""
TITLE = 80
"""Characters of a conversation's title: how its first question begins."""


class Listed(NamedTuple):
    """A conversation in its owner's list."""

    session: Session
    title: str
    at: datetime | None


def owner_mark(secret: str) -> str:
    """What is kept of the secret of whom a conversation belongs to."""
    return sha256(secret.encode()).hexdigest() if secret else ""


def begin(workspace: Workspace, person: Person, secret: str) -> str:
    """A new conversation; returns its id."""
    return new_conversation(workspace.store, person, owner_mark(secret))


def check_owner(workspace: Workspace, conversation_id: str, secret: str) -> None:
    """Raises NotFound for a conversation of somebody else: nobody is told that it is there."""
    owner = owner_of(workspace.store, conversation_id)
    if not owner or owner != owner_mark(secret):
        raise NotFound(f"There is no conversation `{conversation_id}`.", hint="Start a new one.")


def rate(workspace: Workspace, answer_id: str, thumb: int, comment: str, secret: str) -> None:
    """A thumb for an answer in one's own conversation, in place of an earlier one. Of an answer
    outside of any conversation only whoever got it knows the id. Raises NotFound."""
    answer = read_answer(workspace.store, answer_id)
    if answer.conversation_id:
        try:
            check_owner(workspace, answer.conversation_id, secret)
        except NotFound as other:
            raise NotFound(f"There is no answer `{answer_id}`.") from other
    rater = owner_mark(secret) or NOBODY
    rate_answer(workspace.store, answer_id, rater, thumb, comment.strip())


def listed(workspace: Workspace, secret: str, words: str = "") -> list[Listed]:
    """Conversations of one's own, the newest first; without those in which nothing was said.

    words: only those whose name or messages hold them."""
    found: list[Listed] = []
    for one, named in conversations_of(workspace.store, owner_mark(secret), words):
        events = read_events(workspace.store, one.id, most=5)
        asked = [event for event in events if isinstance(event.what, Said)]
        if asked:
            title = named or " ".join(asked[0].text.split())[:TITLE]
            found.append(Listed(session=one, title=title, at=asked[0].at))
    return found


def latest(workspace: Workspace, secret: str, channel: str) -> Session | None:
    """The newest conversation of one's own in a channel; None where there is none that is open."""
    for one, _ in conversations_of(workspace.store, owner_mark(secret), most=NEAR):
        if one.channel == channel and one.state != "closed":
            return one
    return None


def begin_elsewhere(
    workspace: Workspace, person: Person, secret: str, channel: str, address: str
) -> Session:
    """A new conversation with somebody who writes in another channel."""
    identity = begin(workspace, person, secret)
    return reach_at(workspace, identity, channel, address)


def reach_at(workspace: Workspace, conversation_id: str, channel: str, address: str) -> Session:
    """They are reached there from now on."""

    def decide(stands: Session) -> list[NewEvent]:
        if (stands.channel, stands.address) == (channel, address):
            return []
        return [NewEvent(by="user", what=Reached(channel=channel, address=address))]

    return append_events(workspace.store, conversation_id, decide).session


def title_of(workspace: Workspace, conversation_id: str) -> str:
    """As its owner has named it; empty where nobody did."""
    return read_title(workspace.store, conversation_id)


def rename(workspace: Workspace, conversation_id: str, title: str) -> None:
    """Empty = how its first question begins."""
    rename_conversation(workspace.store, conversation_id, " ".join(title.split()))


def delete(workspace: Workspace, conversation_id: str) -> None:
    """Erase it as its owner wishes, or where [audit] keeps it, take it from them. Raises
    IllegalTransition while a person is waited for or there."""
    stands = read_session(workspace.store, conversation_id)
    if stands.state in ("queued", "live"):
        raise IllegalTransition(
            "A person is still in this conversation, or on the way.", hint="End that first."
        )
    if workspace.settings.audit.delete_own:
        erase_rows(workspace.store, Held((conversation_id,), ()), "person", conversation_id)
    else:
        disown_conversation(workspace.store, conversation_id)


def events_after(
    workspace: Workspace, conversation_id: str, place: int
) -> tuple[Session, list[Event]]:
    """How the conversation stands, and what happened after a place. Raises NotFound."""
    stands = recover(workspace, read_session(workspace.store, conversation_id))
    return stands, read_events(workspace.store, conversation_id, place)


def hand_over(
    workspace: Workspace, conversation_id: str, reason: HandoffReason, topic: str
) -> Appended:
    """Ask for a person. Raises HandoffError where the settings name no desk."""
    settings = workspace.settings.handoff
    if settings.desk == NONE:
        raise HandoffError(
            "Nobody can take over here.", hint="The contacts below an answer can help."
        )
    country = read_session(workspace.store, conversation_id).asker.country
    now = clock(workspace)
    closed = None
    if not is_open(settings, country, now):
        closed = OutOfHours(opens=next_opening(settings, country, now))
    return session.hand_over(
        workspace.store,
        conversation_id,
        reason=reason,
        desk=settings.desk,
        topic=topic,
        closed=closed,
    )


def say(workspace: Workspace, conversation_id: str, text: str, key: str) -> Appended:
    """A message to the advisor."""
    return session.say(workspace.store, conversation_id, checked(text), key)


def take_back(workspace: Workspace, conversation_id: str) -> Appended:
    return session.take_back(workspace.store, conversation_id)


def close(workspace: Workspace, conversation_id: str) -> Appended:
    return session.close(workspace.store, conversation_id)


def read(workspace: Workspace, conversation_id: str, place: int) -> Appended:
    return session.read(workspace.store, conversation_id, place, "user")


def hear(workspace: Workspace, headers: Mapping[str, str], body: bytes) -> bool:
    """What another system posts of its advisors (`handoff.desk = "webhook"`); whether it was new to
    be heard at all. Raises BadSignature, BadRequest, NotFound for an unknown ticket, BadSetting."""
    if workspace.settings.handoff.desk != "webhook":
        raise NotFound("No other system has advisors here.", hint="See handoff.desk.")
    settings = workspace.settings.handoff.webhook
    payload = verify(headers, body, signing_key(settings.secret_env), time.time())
    told = inbound(payload)
    if told is None:
        return False
    store = workspace.store
    line = read_line(store, told.ticket_id)
    if line is None:
        raise NotFound(f"There is no ticket `{told.ticket_id}`.")
    if told.event.kind == "typing":
        signal_typing(
            store, line.conversation_id, "advisor", told.event.name, on=told.event.is_typing
        )
        return True
    seen = find_event(store, told.event.entry_id) if told.event.kind == "read" else None
    place = seen.place if seen else 0
    with store.write() as db:
        keep_event(db, line.conversation_id, line.ticket_id, told.event, place)
    seal_soon(store)
    return True


def transcript_of(workspace: Workspace, conversation_id: str) -> str:
    """As text, without what advisors note for each other."""
    return transcript(read_events(workspace.store, conversation_id))


def mail_transcript(workspace: Workspace, conversation_id: str, address: str) -> None:
    """Raises IllegalTransition where no mail server is set, HandoffError where it does not take the
    mail."""
    if not workspace.settings.mail.host:
        raise IllegalTransition("No mail server is set.", hint="Set mail.host in ombud.toml.")
    name = workspace.settings.general.name
    mail.send(
        workspace.settings.mail,
        [address],
        subject=f"Your conversation with {name}",
        text=transcript_of(workspace, conversation_id),
    )


def clock(workspace: Workspace) -> datetime:
    """Now, where the organisation is."""
    return datetime.now(ZoneInfo(workspace.settings.general.timezone))


def checked(text: str) -> str:
    """Raises BadRequest for an empty message, and for one that is too long."""
    if not text.strip():
        raise BadRequest("The message is empty.")
    if len(text) > LONGEST_MESSAGE:
        raise BadRequest(
            f"A message may have at most {LONGEST_MESSAGE:,} characters.", hint="Send it in parts."
        )
    return text
