"""Conversations as the employee uses them."""

import time
from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from hashlib import sha256
from typing import NamedTuple
from zoneinfo import ZoneInfo

from ombud.app.handoff import mail
from ombud.app.handoff.turns import recover
from ombud.app.workspace import Workspace
from ombud.errors import BadRequest, HandoffError, IllegalTransition, NotFound, StoreError
from ombud.handoff import (
    NONE,
    deadline,
    inbound,
    is_open,
    keep_event,
    next_opening,
    session,
    signing_key,
    ticket_system,
    transcript,
    verify_webhook,
)
from ombud.messages import message
from ombud.store import (
    LONGEST_MESSAGE,
    Appended,
    ErasureSelection,
    append_events,
    conversations_of,
    disown_conversation,
    erase_rows,
    find_event,
    find_line,
    has_key,
    label_conversation,
    look_soon,
    new_conversation,
    owner_of,
    rate_answer,
    read_answer,
    read_events,
    read_line,
    read_session,
    read_title,
    seal_soon,
    signal_typing,
    withdraw_share,
)
from ombud.types import (
    Event,
    HandoffReason,
    NewEvent,
    Noted,
    OutOfHours,
    Person,
    Reached,
    Said,
    Session,
    Snoozed,
)

NOBODY = "-"
"""Rater of an answer without a secret of their own."""
NEAR = 50
"""Conversations searched for those of a channel."""
TITLE = 80
"""Characters of a title taken from the first question."""


class Listed(NamedTuple):
    """A conversation in its owner's list."""

    session: Session
    title: str
    at: datetime | None
    pinned: bool


def owner_mark(secret: str) -> str:
    """Return the digest of an owner's secret."""
    return sha256(secret.encode()).hexdigest() if secret else ""


def begin(workspace: Workspace, person: Person, secret: str) -> str:
    """Begin a conversation and return its id."""
    return new_conversation(workspace.store, person, owner_mark(secret))


def check_owner(workspace: Workspace, conversation_id: str, secret: str) -> None:
    """Check that a conversation belongs to the caller. Raises NotFound otherwise, so that its
    existence is not revealed."""
    owner = owner_of(workspace.store, conversation_id)
    if not owner or owner != owner_mark(secret):
        raise NotFound(f"There is no conversation `{conversation_id}`.", hint="Start a new one.")


def rate(workspace: Workspace, answer_id: str, thumb: int, comment: str, secret: str) -> None:
    """Rate an answer in one's own conversation, replacing an earlier rating; outside of
    conversations only the recipient knows the id. Raises NotFound."""
    answer = read_answer(workspace.store, answer_id)
    if answer.conversation_id:
        try:
            check_owner(workspace, answer.conversation_id, secret)
        except NotFound as other:
            raise NotFound(f"There is no answer `{answer_id}`.") from other
    rater = owner_mark(secret) or NOBODY
    rate_answer(workspace.store, answer_id, rater, thumb, comment.strip())


def listed(workspace: Workspace, secret: str, words: str = "") -> list[Listed]:
    """Return one's own conversations with messages, newest first. words: only those whose title or
    messages contain them."""
    conversations: list[Listed] = []
    for one, named, pinned in conversations_of(workspace.store, owner_mark(secret), words):
        events = read_events(workspace.store, one.id, most=5)
        first_question = [event for event in events if isinstance(event.what, Said)]
        if first_question:
            title = named or " ".join(first_question[0].text.split())[:TITLE]
            at = first_question[0].at
            conversations.append(Listed(session=one, title=title, at=at, pinned=pinned))
    return conversations


def open_in_channel(workspace: Workspace, secret: str, channel: str) -> list[Session]:
    """Return one's open conversations in a channel, newest first."""
    own = conversations_of(workspace.store, owner_mark(secret), most=NEAR)
    return [
        one.session
        for one in own
        if one.session.channel == channel and one.session.state != "closed"
    ]


def begin_elsewhere(
    workspace: Workspace,
    person: Person,
    secret: str,
    channel: str,
    address: str,
    *,
    identity: str = "",
) -> Session:
    """Begin a conversation with somebody who writes in another channel. identity: its id, if the
    same beginning may come twice; the second continues the first."""
    try:
        identity = new_conversation(workspace.store, person, owner_mark(secret), identity)
    except StoreError:
        check_owner(workspace, identity, secret)
    return reach_at(workspace, identity, channel, address)


def reach_at(workspace: Workspace, conversation_id: str, channel: str, address: str) -> Session:
    """Record the address where they are reached from now on."""

    def decide(stands: Session) -> list[NewEvent]:
        if (stands.channel, stands.address) == (channel, address):
            return []
        return [NewEvent(by="user", what=Reached(channel=channel, address=address))]

    return append_events(workspace.store, conversation_id, decide).session


def title_of(workspace: Workspace, conversation_id: str) -> str:
    """Return the title given by the owner; empty if there is none."""
    return read_title(workspace.store, conversation_id)


def label(
    workspace: Workspace,
    conversation_id: str,
    *,
    title: str | None = None,
    pinned: bool | None = None,
) -> None:
    """Give a conversation a title, empty for the beginning of its first question, and pin it or
    not; what is None stays."""
    title = None if title is None else " ".join(title.split())
    label_conversation(workspace.store, conversation_id, title, pinned=pinned)


def delete(workspace: Workspace, conversation_id: str) -> None:
    """Erase a conversation for its owner or, if [audit] retains it, remove it from their list.
    Raises IllegalTransition while it is with a person or waits for one."""
    stands = read_session(workspace.store, conversation_id)
    if stands.state in ("queued", "live"):
        raise IllegalTransition(
            "This conversation is with a person or waits for one.", hint="End that first."
        )
    if workspace.settings.audit.delete_own:
        erase_rows(
            workspace.store, ErasureSelection((conversation_id,), ()), "person", conversation_id
        )
    else:
        withdraw_share(workspace.store, conversation_id)
        disown_conversation(workspace.store, conversation_id)


def events_after(
    workspace: Workspace, conversation_id: str, place: int
) -> tuple[Session, list[Event]]:
    """Return the state of a conversation and its events after a place, without the advisors'
    private notes and snoozes. Raises NotFound."""
    stands = recover(workspace, read_session(workspace.store, conversation_id))
    events = read_events(workspace.store, conversation_id, place)
    return stands, [event for event in events if not isinstance(event.what, (Noted, Snoozed))]


def hand_over(
    workspace: Workspace,
    conversation_id: str,
    reason: HandoffReason,
    topic: str,
    *,
    as_ticket: bool = False,
    consent: bool = False,
) -> Appended:
    """Ask for a person, or for a ticket: by choice, or if nobody is at the desk and `[tickets]`
    names a system. Raises HandoffError if there is neither.

    consent: whether a ticket may contain the conversation so far.
    """
    settings = workspace.settings.handoff
    system = workspace.settings.tickets.system
    if not workspace.settings.has_desk or (as_ticket and not system):
        raise HandoffError(
            "Nobody can take over here.", hint="The contacts below an answer can help."
        )
    country = read_session(workspace.store, conversation_id).asker.country
    now = clock(workspace)
    is_staffed = settings.desk != NONE and is_open(settings, country, now)
    if system and (as_ticket or not is_staffed):
        return session.hand_over(
            workspace.store,
            conversation_id,
            reason=reason,
            desk=system,
            topic=topic,
            consent=consent,
        )
    closed = None
    if not is_staffed:
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
    """Send a message to the advisor."""
    return session.say(workspace.store, conversation_id, checked(text), key)


def write(workspace: Workspace, conversation_id: str, text: str, key: str, via: str) -> Appended:
    """Store a message that the employee writes in a channel: a question to be answered, or a
    message to the advisor who is there. key: as in `say`."""
    message = Said(text=checked(text).replace("\0", ""), via=via)
    written = NewEvent(by="user", what=message, key=key)
    return append_events(workspace.store, conversation_id, lambda _: [written])


def has_message(workspace: Workspace, sessions: Iterable[Session], key: str) -> bool:
    """Tell whether one of the conversations has a message of this key."""
    return has_key(workspace.store, [one.id for one in sessions], key)


def take_back(workspace: Workspace, conversation_id: str) -> Appended:
    return session.take_back(workspace.store, conversation_id)


def rate_person(
    workspace: Workspace, conversation_id: str, score: int | None, comment: str
) -> Appended:
    """Rate a conversation with a person once it has ended."""
    return session.rate(workspace.store, conversation_id, score, comment.strip())


def close(workspace: Workspace, conversation_id: str) -> Appended:
    return session.close(workspace.store, conversation_id)


def read(workspace: Workspace, conversation_id: str, place: int) -> Appended:
    return session.read(workspace.store, conversation_id, place, "user")


def hear(workspace: Workspace, headers: Mapping[str, str], body: bytes) -> bool:
    """Receive what another system posts (`handoff.desk = "webhook"`); returns whether it was of a
    known type. Raises BadSignature, BadRequest, NotFound for an unknown ticket, BadSetting."""
    if workspace.settings.handoff.desk != "webhook":
        raise NotFound("No other system has advisors here.", hint="See handoff.desk.")
    settings = workspace.settings.handoff.webhook
    payload = verify_webhook(headers, body, signing_key(settings.secret_env), time.time())
    event = inbound(payload)
    if event is None:
        return False
    store = workspace.store
    line = read_line(store, event.ticket_id)
    if line is None:
        raise NotFound(f"There is no ticket `{event.ticket_id}`.")
    if event.event.kind == "typing":
        signal_typing(
            store, line.conversation_id, "advisor", event.event.name, on=event.event.is_typing
        )
        return True
    seen = find_event(store, event.event.entry_id) if event.event.kind == "read" else None
    place = seen.place if seen else 0
    with store.write() as db:
        keep_event(db, line.conversation_id, line.ticket_id, event.event, place)
    seal_soon(store)
    return True


def hear_tickets(workspace: Workspace, headers: Mapping[str, str], body: bytes) -> bool:
    """Receive a webhook of the ticket system, and let the worker read the ticket that it concerns;
    returns whether one of ours does. Raises BadRequest, NotFound if there is no such system,
    BadSetting."""
    settings = workspace.settings.tickets
    if not settings.system:
        raise NotFound("There is no ticket system here.", hint="See [tickets].")
    system = ticket_system(settings.system)
    remote_id = system.announced_ticket(headers, body, signing_key(settings.webhook_env))
    line = find_line(workspace.store, settings.system, "id", remote_id) if remote_id else None
    if line is None:
        return False
    look_soon(workspace.store, line.ticket_id)
    return True


def transcript_of(workspace: Workspace, conversation_id: str) -> str:
    """Return the transcript without the advisors' internal notes."""
    events = read_events(workspace.store, conversation_id)
    return transcript(workspace.store, events, workspace.settings.server.public_url)


def mail_transcript(workspace: Workspace, conversation_id: str, address: str) -> None:
    """Mail the transcript. Raises IllegalTransition without a mail server, HandoffError if it
    refuses the mail."""
    if not workspace.settings.mail.host:
        raise IllegalTransition("No mail server is set.", hint="Set mail.host in ombud.toml.")
    name = workspace.settings.general.name
    mail.send(
        workspace.settings.mail,
        [address],
        subject=message("notices.mail_subject", name=name),
        text=transcript_of(workspace, conversation_id),
    )


def clock(workspace: Workspace) -> datetime:
    """Return the time in the organisation's time zone."""
    return datetime.now(ZoneInfo(workspace.settings.general.timezone))


def response_due(workspace: Workspace, stands: Session) -> datetime | None:
    """Return when the target for the first response is over."""
    settings = workspace.settings.handoff
    began = stands.handed_over or stands.since
    is_over = stands.has_response or not stands.is_handed_over
    if settings.first_response_minutes is None or began is None or is_over:
        return None
    start = began.astimezone(clock(workspace).tzinfo)
    target = timedelta(minutes=settings.first_response_minutes)
    return deadline(settings, stands.asker.country, start, target)


def checked(text: str) -> str:
    """Return a message. Raises BadRequest if it is empty or too long."""
    if not text.strip():
        raise BadRequest("The message is empty.")
    if len(text) > LONGEST_MESSAGE:
        raise BadRequest(
            f"A message may have at most {LONGEST_MESSAGE:,} characters.", hint="Send it in parts."
        )
    return text
