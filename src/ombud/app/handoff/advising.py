"""The built-in desk: the queue, who has taken which conversation, and advisors' actions."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from ombud.answer import AdvisorRun
from ombud.app import asking
from ombud.app.handoff.conversing import checked, clock, response_due
from ombud.app.handoff.turns import recover
from ombud.app.workspace import Workspace
from ombud.errors import BadRequest, NotFound
from ombud.handoff import (
    BUILT_IN,
    Advisor,
    covers,
    desk_names,
    expected_wait,
    in_order,
    is_open,
    next_opening,
    positions,
    session,
    suits,
    ticket_systems,
)
from ombud.registry import missing_name
from ombud.settings import AdvisorSettings
from ombud.store import (
    Appended,
    EndedHandoff,
    LastWords,
    desk_statuses,
    ended_handoffs,
    last_words,
    list_accounts,
    list_sessions,
    note_presence,
    owner_of,
    present_advisors,
    read_answer,
    read_events,
    read_session,
    recent_waits,
    retry_parked,
)
from ombud.types import (
    Account,
    Answer,
    Answered,
    Citation,
    Event,
    Joined,
    Message,
    Noted,
    Question,
    Rated,
    Said,
    Session,
)

EVERYBODY = AdvisorSettings(id="advisor", name="Advisor")
"""The advisor of a desk for which the settings name nobody."""
MOST_CARDS = 200
"""Largest number of waiting or of closed conversations shown."""
PREVIEW = 140
"""Characters of the employee's last message."""


class DeskCard(NamedTuple):
    """A conversation in the lists of the desk."""

    session: Session
    preview: str
    unread: int
    wait_seconds: float | None
    position: int | None
    is_for_me: bool
    is_mine_by_name: bool
    due: datetime | None
    """When the target for the first response is over; None without one, or once it came."""
    advisors: tuple[str, ...] = ()
    """Names of those who had a conversation whose handoff is over."""


class Board(NamedTuple):
    """The desk as one advisor sees it."""

    me: AdvisorSettings | None
    advisors: Sequence[AdvisorSettings]
    here: frozenset[str]
    is_open: bool
    opens: datetime | None
    waiting: Sequence[DeskCard]
    mine: Sequence[DeskCard]
    others: Sequence[DeskCard]
    snoozed: Sequence[DeskCard]
    """Of `me`."""


def advisors_of(workspace: Workspace) -> Sequence[AdvisorSettings]:
    named = workspace.settings.handoff.advisor
    if workspace.settings.identity.kind == "none":
        return named or (EVERYBODY,)
    ids = {advisor.id for advisor in named}
    advisors: list[AdvisorSettings] = list(named)
    for account in list_accounts(workspace.store):
        if "advisor" in account.duties and not account.disabled and account.name not in ids:
            advisors.append(AdvisorSettings(id=account.name, name=account.name.partition("@")[0]))
    return advisors


def advisor_for(workspace: Workspace, account: Account) -> AdvisorSettings:
    """Return the advisor of an account: as the settings define that name, else with the account's
    own data."""
    advisor = find_advisor(workspace, account.name)
    if advisor is not None and advisor is not EVERYBODY:
        return advisor
    return AdvisorSettings(id=account.name, name=account.name.partition("@")[0])


def find_advisor(workspace: Workspace, advisor_id: str) -> AdvisorSettings | None:
    for advisor in advisors_of(workspace):
        if advisor.id == advisor_id:
            return advisor
    return None


def board(workspace: Workspace, me: AdvisorSettings | None) -> Board:
    """Return everything that waits or goes on at our own desk."""
    settings = workspace.settings.handoff
    sessions = [
        one for one in list_sessions(workspace.store, ["queued", "live"]) if is_own_desk(one)
    ]
    waiting: list[Session] = []
    mine: list[Session] = []
    others: list[Session] = []
    snoozed: list[Session] = []
    now = clock(workspace)
    for one in in_order(sessions):
        if one.state == "queued":
            waiting.append(one)
        elif me is None or one.advisor_id != me.id:
            others.append(one)
        else:
            is_away = one.snoozed_until is not None and one.snoozed_until > now
            (snoozed if is_away else mine).append(one)
    places_now = queue_places(workspace, waiting)
    country = only_country(me)
    return Board(
        me=me,
        advisors=advisors_of(workspace),
        here=frozenset(present_advisors(workspace.store)),
        is_open=is_open(settings, country, now),
        opens=next_opening(settings, country, now),
        waiting=desk_cards(workspace, waiting[:MOST_CARDS], me, places_now),
        mine=desk_cards(workspace, mine, me, places_now),
        others=desk_cards(workspace, others, me, places_now),
        snoozed=desk_cards(workspace, snoozed, me, places_now),
    )


def only_country(me: AdvisorSettings | None) -> str | None:
    """Return an advisor's only country, whose opening hours apply; None if there are several."""
    return me.countries[0] if me and len(me.countries) == 1 else None


class Place(NamedTuple):
    """A place in the queue."""

    position: int | None
    seconds: float | None
    """Expected wait; None if it cannot be estimated."""


def places(workspace: Workspace) -> dict[str, Place]:
    """Return conversation -> its place in our own queue."""
    queued = list_sessions(workspace.store, ["queued"])
    return queue_places(workspace, [one for one in queued if is_own_desk(one)])


def with_place(
    workspace: Workspace, current: Session, places_now: Mapping[str, Place] | None = None
) -> Session:
    """Add the place in our own queue to a session; it has none while the desk is closed there.
    places_now: the present places, if the caller has them."""
    is_waiting = current.state == "queued" and is_own_desk(current)
    settings, country = workspace.settings.handoff, current.asker.country
    if not is_waiting or not is_open(settings, country, clock(workspace)):
        return current
    place = (places(workspace) if places_now is None else places_now).get(current.id)
    if place is None:
        return current
    return current.model_copy(update={"position": place.position, "wait_seconds": place.seconds})


def events_for_desk(
    workspace: Workspace, conversation_id: str, me: AdvisorSettings | None, after: int = 0
) -> tuple[Session, list[Event]]:
    """Return a conversation and its events after a place, with all notes and ratings, but without
    what the employee writes after the handoff is over. Raises NotFound if it was never handed over,
    or this advisor may not see it."""
    stands = recover(workspace, read_session(workspace.store, conversation_id))
    until = stands.visible_to_desk
    if me is None or not until or not may_see(workspace, me, stands):
        raise NotFound(f"There is no conversation `{conversation_id}` at the desk.")
    events = read_events(workspace.store, conversation_id, after)
    always = (Noted, Rated)
    shown = [event for event in events if event.place <= until or isinstance(event.what, always)]
    return stands, shown


def may_see(workspace: Workspace, me: AdvisorSettings, stands: Session) -> bool:
    """Tell whether an advisor may read a conversation: any while it waits or is with somebody,
    afterwards those of their topics and countries and those that they had themselves."""
    if stands.is_handed_over:
        return True
    if not owner_of(workspace.store, stands.id):  # its owner has removed it from their list
        return False
    if covers(me, stands):
        return True
    happened = [one.what for one in read_events(workspace.store, stands.id)]
    return any(isinstance(what, Joined) and what.advisor_id == me.id for what in happened)


def closed_cards(
    workspace: Workspace,
    me: AdvisorSettings,
    words: str = "",
    topic: str = "",
    tag: str = "",
    *,
    urgent: bool = False,
) -> list[DeskCard]:
    """Return conversations whose handoff is over, the last one handed over first.

    words: in what was said, the topic, tags, the person's country or roles, or an advisor's name.
    """
    words = words.strip()
    found = [
        one
        for one in ended_handoffs(workspace.store, words)
        if topic in {"", one.session.topic} and has_labels(one.session, tag, urgent=urgent)
    ]
    if words:
        found = [one for one in found if one.has_words or is_described_by(one, words)]
    return ended_cards(workspace, found, me)


def has_labels(stands: Session, tag: str, *, urgent: bool) -> bool:
    return (not tag or tag in stands.tags) and (stands.urgent or not urgent)


def earlier_cards(
    workspace: Workspace, me: AdvisorSettings, conversation_id: str
) -> list[DeskCard]:
    """Return the other conversations of the same person whose handoff is over."""
    owner = owner_of(workspace.store, conversation_id)
    found = ended_handoffs(workspace.store, owner=owner) if owner else []
    return ended_cards(workspace, [one for one in found if one.session.id != conversation_id], me)


def is_described_by(one: EndedHandoff, words: str) -> bool:
    """Tell whether the topic, the person as the desk shows them, or an advisor is searched for."""
    words = words.casefold()
    asker = one.session.asker
    if words == (asker.country or "").casefold():
        return True
    topic = one.session.topic.replace("-", " ")
    shown = [topic, asker.grade or "", *asker.roles, *one.session.tags, *one.advisor_names]
    return any(words in text.casefold() for text in shown)


def ended_cards(
    workspace: Workspace, found: Iterable[EndedHandoff], me: AdvisorSettings
) -> list[DeskCard]:
    own = [one for one in found if covers(me, one.session) or me.id in one.advisor_ids]
    shown = own[:MOST_CARDS]
    cards = desk_cards(workspace, [one.session for one in shown], me, {})
    return [
        card._replace(advisors=one.advisor_names) for card, one in zip(cards, shown, strict=True)
    ]


def sources_of(workspace: Workspace, events: Iterable[Event]) -> list[Citation]:
    """Return the citations of the bot's answers, each passage once."""
    cited: dict[str, Citation] = {}
    for event in events:
        if not isinstance(event.what, Answered) or not event.what.answer_id:
            continue
        try:
            answer = read_answer(workspace.store, event.what.answer_id)
        except NotFound:
            continue
        for citation in answer.citations:
            cited.setdefault(f"{citation.chunk_id}/{citation.start}", citation)
    return list(cited.values())


def claim(workspace: Workspace, conversation_id: str, advisor: AdvisorSettings) -> Appended:
    return session.claim(workspace.store, conversation_id, as_advisor(advisor))


def reply(
    workspace: Workspace, conversation_id: str, advisor: AdvisorSettings, text: str, key: str
) -> Appended:
    return session.reply(workspace.store, conversation_id, as_advisor(advisor), checked(text), key)


def note(
    workspace: Workspace, conversation_id: str, advisor: AdvisorSettings, text: str, key: str
) -> Appended:
    """Add a note that only advisors see. Raises NotFound for what this advisor may not see."""
    events_for_desk(workspace, conversation_id, advisor)
    return session.note(
        workspace.store, conversation_id, as_advisor(advisor), text=checked(text), key=key
    )


def label(
    workspace: Workspace,
    conversation_id: str,
    advisor: AdvisorSettings,
    tags: Iterable[str],
    *,
    urgent: bool,
) -> Appended:
    """Give a conversation these tags and this priority, in place of what it had."""
    events_for_desk(workspace, conversation_id, advisor)
    cleaned = (" ".join(session.clean_text(tag).split()) for tag in tags)
    unique = tuple(dict.fromkeys(filter(None, cleaned)))
    return session.note(
        workspace.store, conversation_id, as_advisor(advisor), tags=unique, urgent=urgent
    )


def transfer(
    workspace: Workspace,
    conversation_id: str,
    advisor: AdvisorSettings,
    *,
    topic: str,
    to: str,
    note: str,
) -> Appended:
    """Transfer a conversation. Raises BadRequest without a recipient or for an unknown one."""
    if bool(topic) == bool(to):
        raise BadRequest("A transfer is for a team or for one person.")
    if to and find_advisor(workspace, to) is None:
        raise BadRequest(f"No advisor is called `{to}`.")
    return session.transfer(
        workspace.store, conversation_id, as_advisor(advisor), topic=topic, to=to, note=note
    )


def snooze(
    workspace: Workspace, conversation_id: str, advisor: AdvisorSettings, until: datetime | None
) -> Appended:
    """Put one's conversation away until a time or until the employee writes; None brings it back.
    Raises BadRequest for a time that is over."""
    if until is not None and until <= clock(workspace):
        raise BadRequest("That time is over.", hint="Choose a later one.")
    return session.snooze(workspace.store, conversation_id, as_advisor(advisor), until)


def end(
    workspace: Workspace, conversation_id: str, advisor: AdvisorSettings, *, reason: str, note: str
) -> Appended:
    return session.end(
        workspace.store, conversation_id, as_advisor(advisor), reason=reason, note=note
    )


def read(workspace: Workspace, conversation_id: str, place: int) -> Appended:
    return session.read(workspace.store, conversation_id, place, "advisor")


def is_here(workspace: Workspace, advisor: AdvisorSettings, *, away: bool = False) -> None:
    note_presence(workspace.store, advisor.id, away=away)


async def suggest(workspace: Workspace, conversation_id: str, me: AdvisorSettings) -> Answer:
    """Answer the employee's last question, apart from the request for a person, for their country
    and role. Nothing is stored. Raises BadRequest if there is no question."""
    stands, events = events_for_desk(workspace, conversation_id, me)
    messages = [event for event in events if isinstance(event.what, Said) and event.by == "user"]
    if not messages:
        raise BadRequest("The employee has not asked anything yet.")
    asks_for_person = workspace.answering.triage.classifier.asks_for_person
    last = next(
        (event for event in reversed(messages) if not asks_for_person(event.text)), messages[-1]
    )
    before = [event for event in events if event.place < last.place]
    question = Question(text=last.text, asker=stands.asker, history=history_of(before))
    return await asking.ask(workspace, question, keep=False, flow=AdvisorRun)


def history_of(events: Sequence[Event]) -> tuple[Message, ...]:
    turns = [event for event in events if event.role is not None][-2 * asking.TURNS :]
    messages = [
        Message(id=event.id, role=event.role, content=event.text, at=event.at)
        for event in turns
        if event.role is not None
    ]
    return tuple(messages)


def desk_cards(
    workspace: Workspace,
    sessions: Sequence[Session],
    me: AdvisorSettings | None,
    places_now: Mapping[str, Place],
) -> list[DeskCard]:
    nowhere = Place(None, None)
    silent = LastWords()
    latest = last_words(workspace.store, {one.id: one.visible_to_desk for one in sessions})
    cards: list[DeskCard] = []
    for stands in sessions:
        place = places_now.get(stands.id, nowhere)
        last = latest.get(stands.id, silent)
        card = DeskCard(
            session=stands,
            preview=" ".join(last.text.split())[:PREVIEW],
            unread=last.unread,
            wait_seconds=place.seconds,
            position=place.position,
            is_for_me=me is not None and suits(me, stands),
            is_mine_by_name=me is not None and stands.wanted == me.id,
            due=response_due(workspace, stands),
        )
        cards.append(card)
    return cards


def queue_places(workspace: Workspace, waiting: Sequence[Session]) -> dict[str, Place]:
    advisors = advisors_of(workspace)
    present = present_advisors(workspace.store)
    waits = recent_waits(workspace.store)
    numbers = positions(waiting, advisors)
    by_id: dict[str, Place] = {}
    for one in waiting:
        able = sum(advisor.id in present and suits(advisor, one) for advisor in advisors)
        position = numbers[one.id]
        by_id[one.id] = Place(position, expected_wait(position, waits, able))
    return by_id


def is_own_desk(stands: Session) -> bool:
    return stands.desk == BUILT_IN


def as_advisor(advisor: AdvisorSettings) -> Advisor:
    return Advisor(id=advisor.id, name=advisor.name)


# For the operator ---------------------------------------------------------------------------------


def desk_report(workspace: Workspace) -> dict[str, Any]:
    """Return what waits at each desk, as JSON."""
    rows: list[dict[str, Any]] = []
    own = list(filter(is_own_desk, list_sessions(workspace.store, ["queued", "live"])))
    if own or workspace.settings.handoff.desk == BUILT_IN:
        rows.append(own_desk_row(own))
    for status in desk_statuses(workspace.store):
        rows.append(status._asdict())
    return {"desks": rows}


def own_desk_row(own: Sequence[Session]) -> dict[str, Any]:
    """Describe our own desk in the form of `DeskStatus`."""
    waiting = sum(one.state == "queued" for one in own)
    return {
        "desk": BUILT_IN,
        "open": len(own),
        "waiting": waiting,
        "parked": 0,
        "sent": len(own) - waiting,
        "dropped": 0,
        "error": "",
    }


def retry(workspace: Workspace, desk: str = "") -> int:
    """Retry every waiting message now, and return their number. Raises SetupError."""
    names = sorted({*desk_names(), *ticket_systems()})
    if desk and desk not in names:
        raise missing_name("desk", desk, names)
    return retry_parked(workspace.store, desk)


def desk_list() -> list[str]:
    """Return the names of all desks."""
    return list(desk_names())
