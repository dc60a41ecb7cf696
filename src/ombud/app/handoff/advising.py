"""The desk that is built in: who waits, who has taken whom, and what advisors may do."""

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from pydantic import ValidationError

from ombud.answer import AdvisorRun, asks_for_person
from ombud.app import asking
from ombud.app.handoff.conversing import checked, clock
from ombud.app.handoff.turns import recover
from ombud.app.workspace import Workspace
from ombud.errors import BadRequest, BadSetting, NotFound
from ombud.handoff import (
    BUILT_IN,
    Advisor,
    desk_names,
    expected_wait,
    in_order,
    is_open,
    next_opening,
    positions,
    session,
    suits,
)
from ombud.registry import unknown_name
from ombud.settings import AdvisorSettings
from ombud.store import (
    Appended,
    LastWords,
    desk_statuses,
    last_words,
    list_accounts,
    list_sessions,
    note_presence,
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
    Message,
    Question,
    Record,
    Said,
    Session,
)

EVERYBODY = AdvisorSettings(id="advisor", name="Advisor")
"""Who works at a desk for which the settings name nobody."""
MOST_CARDS = 200
"""Of those who wait; the longest waiting are shown."""
PREVIEW = 140
"""Characters of what an employee said last."""


class CannedReply(Record):
    title: str
    text: str
    topics: tuple[str, ...] = ()
    countries: tuple[str, ...] = ()


class DeskCard(NamedTuple):
    """A conversation in the lists of the desk."""

    session: Session
    preview: str
    unread: int
    wait_seconds: float | None
    position: int | None
    is_for_me: bool
    is_mine_by_name: bool


class Board(NamedTuple):
    """What an advisor sees first."""

    me: AdvisorSettings | None
    advisors: Sequence[AdvisorSettings]
    here: frozenset[str]
    is_open: bool
    opens: datetime | None
    waiting: Sequence[DeskCard]
    mine: Sequence[DeskCard]
    others: Sequence[DeskCard]


def advisors_of(workspace: Workspace) -> Sequence[AdvisorSettings]:
    named = workspace.settings.handoff.advisor
    if workspace.settings.identity.kind == "none":
        return named or (EVERYBODY,)
    ids = {advisor.id for advisor in named}
    known: list[AdvisorSettings] = list(named)
    for account in list_accounts(workspace.store):
        if "advisor" in account.duties and not account.disabled and account.name not in ids:
            known.append(AdvisorSettings(id=account.name, name=account.name.partition("@")[0]))
    return known


def advisor_for(workspace: Workspace, account: Account) -> AdvisorSettings:
    """Somebody who has signed in, as the settings know them by that name, or as they are."""
    found = find_advisor(workspace, account.name)
    if found is not None and found is not EVERYBODY:
        return found
    return AdvisorSettings(id=account.name, name=account.name.partition("@")[0])


def find_advisor(workspace: Workspace, advisor_id: str) -> AdvisorSettings | None:
    for advisor in advisors_of(workspace):
        if advisor.id == advisor_id:
            return advisor
    return None


def board(workspace: Workspace, me: AdvisorSettings | None) -> Board:
    """Everything that waits or goes on at our own desk."""
    settings = workspace.settings.handoff
    sessions = [one for one in list_sessions(workspace.store, ["queued", "live"]) if _is_own(one)]
    waiting: list[Session] = []
    mine: list[Session] = []
    others: list[Session] = []
    for one in in_order(sessions):
        if one.state == "queued":
            waiting.append(one)
        else:
            (mine if me and one.advisor_id == me.id else others).append(one)
    known = _places(workspace, waiting)
    country = _only_country(me)
    now = clock(workspace)
    return Board(
        me=me,
        advisors=advisors_of(workspace),
        here=frozenset(present_advisors(workspace.store)),
        is_open=is_open(settings, country, now),
        opens=next_opening(settings, country, now),
        waiting=_cards(workspace, waiting[:MOST_CARDS], me, known),
        mine=_cards(workspace, mine, me, known),
        others=_cards(workspace, others, me, known),
    )


def _only_country(me: AdvisorSettings | None) -> str | None:
    """Whose hours count for an advisor: those of a country where it is the only one."""
    return me.countries[0] if me and len(me.countries) == 1 else None


class Place(NamedTuple):
    position: int | None
    seconds: float | None
    """To be expected; None where too little is known."""


def places(workspace: Workspace) -> dict[str, Place]:
    """Conversation -> where it stands in our own queue."""
    queued = list_sessions(workspace.store, ["queued"])
    return _places(workspace, [one for one in queued if _is_own(one)])


def with_place(
    workspace: Workspace, stands: Session, known: Mapping[str, Place] | None = None
) -> Session:
    """A session with its place in our own queue. known: the places of now, where they are."""
    if stands.state != "queued" or not _is_own(stands):
        return stands
    place = (places(workspace) if known is None else known).get(stands.id)
    if place is None:
        return stands
    return stands.model_copy(update={"position": place.position, "wait_seconds": place.seconds})


def events_for_desk(
    workspace: Workspace, conversation_id: str, after: int = 0
) -> tuple[Session, list[Event]]:
    """Read a conversation and its events after a place as far as advisors may: nothing that the
    employee writes once a hand-over is over. Raises NotFound where it was never handed over."""
    stands = recover(workspace, read_session(workspace.store, conversation_id))
    until = stands.visible_to_desk
    if not until:
        raise NotFound(f"There is no conversation `{conversation_id}` at the desk.")
    events = read_events(workspace.store, conversation_id, after)
    return stands, [event for event in events if event.place <= until]


def sources_of(workspace: Workspace, events: Iterable[Event]) -> list[Citation]:
    """What the bot's answers cited, each passage once."""
    found: dict[str, Citation] = {}
    for event in events:
        if not isinstance(event.what, Answered) or not event.what.answer_id:
            continue
        try:
            answer = read_answer(workspace.store, event.what.answer_id)
        except NotFound:
            continue
        for citation in answer.citations:
            found.setdefault(f"{citation.chunk_id}/{citation.start}", citation)
    return list(found.values())


def claim(workspace: Workspace, conversation_id: str, advisor: AdvisorSettings) -> Appended:
    return session.claim(workspace.store, conversation_id, _as_party(advisor))


def reply(
    workspace: Workspace, conversation_id: str, advisor: AdvisorSettings, text: str, key: str
) -> Appended:
    return session.reply(workspace.store, conversation_id, _as_party(advisor), checked(text), key)


def transfer(
    workspace: Workspace,
    conversation_id: str,
    advisor: AdvisorSettings,
    *,
    topic: str,
    to: str,
    note: str,
) -> Appended:
    """Raises BadRequest where it is for nobody, or for somebody who is not known."""
    if bool(topic) == bool(to):
        raise BadRequest("A transfer is for a team or for one person.")
    if to and find_advisor(workspace, to) is None:
        raise BadRequest(f"No advisor is called `{to}`.")
    return session.transfer(
        workspace.store, conversation_id, _as_party(advisor), topic=topic, to=to, note=note
    )


def end(
    workspace: Workspace, conversation_id: str, advisor: AdvisorSettings, *, reason: str, note: str
) -> Appended:
    return session.end(
        workspace.store, conversation_id, _as_party(advisor), reason=reason, note=note
    )


def read(workspace: Workspace, conversation_id: str, place: int) -> Appended:
    return session.read(workspace.store, conversation_id, place, "advisor")


def is_here(workspace: Workspace, advisor: AdvisorSettings, *, away: bool = False) -> None:
    note_presence(workspace.store, advisor.id, away=away)


async def suggest(workspace: Workspace, conversation_id: str) -> Answer:
    """What the documents say to what the employee said last, beside the wish for a person, for the
    employee's country and role. Nothing of it is kept. Raises BadRequest where nothing was said."""
    stands, events = events_for_desk(workspace, conversation_id)
    said = [event for event in events if isinstance(event.what, Said) and event.by == "user"]
    if not said:
        raise BadRequest("The employee has said nothing yet.")
    said = [event for event in said if not asks_for_person(event.text)] or said
    before = [event for event in events if event.place < said[-1].place]
    question = Question(text=said[-1].text, asker=stands.asker, history=_history(before))
    return await asking.ask(workspace, question, keep=False, flow=AdvisorRun)


def canned_replies(workspace: Workspace) -> list[CannedReply]:
    """[[reply]] tables with title, text, topics and countries; a missing file is an empty list.
    Raises BadSetting."""
    path = workspace.home / workspace.settings.handoff.replies
    if not path.is_file():
        return []
    try:
        tables = tomllib.loads(path.read_text(encoding="utf-8")).get("reply", [])
        return list(map(CannedReply.model_validate, tables))
    except (OSError, ValueError, ValidationError) as wrong:
        raise BadSetting(
            f"{path.name} cannot be read: {wrong}.", hint="It holds [[reply]] tables."
        ) from wrong


def _history(events: Sequence[Event]) -> tuple[Message, ...]:
    turns = [event for event in events if event.role is not None][-2 * asking.TURNS :]
    messages = [
        Message(id=event.id, role=event.role, content=event.text, at=event.at)
        for event in turns
        if event.role is not None
    ]
    return tuple(messages)


def _cards(
    workspace: Workspace,
    sessions: Sequence[Session],
    me: AdvisorSettings | None,
    known: Mapping[str, Place],
) -> list[DeskCard]:
    nowhere = Place(None, None)
    silent = LastWords()
    said = last_words(workspace.store, [stands.id for stands in sessions])
    cards: list[DeskCard] = []
    for stands in sessions:
        place = known.get(stands.id, nowhere)
        last = said.get(stands.id, silent)
        card = DeskCard(
            session=stands,
            preview=" ".join(last.text.split())[:PREVIEW],
            unread=last.unread,
            wait_seconds=place.seconds,
            position=place.position,
            is_for_me=me is not None and suits(me, stands),
            is_mine_by_name=me is not None and stands.wanted == me.id,
        )
        cards.append(card)
    return cards


def _places(workspace: Workspace, waiting: Sequence[Session]) -> dict[str, Place]:
    advisors = advisors_of(workspace)
    present = present_advisors(workspace.store)
    waits = recent_waits(workspace.store)
    numbers = positions(waiting, advisors)
    found: dict[str, Place] = {}
    for one in waiting:
        able = sum(advisor.id in present and suits(advisor, one) for advisor in advisors)
        position = numbers[one.id]
        found[one.id] = Place(position, expected_wait(position, waits, able))
    return found


def _is_own(stands: Session) -> bool:
    return stands.desk == BUILT_IN


def _as_party(advisor: AdvisorSettings) -> Advisor:
    return Advisor(id=advisor.id, name=advisor.name)


# For the operator ---------------------------------------------------------------------------------


def desk_report(workspace: Workspace) -> dict[str, Any]:
    """What waits at each desk, as JSON."""
    rows: list[dict[str, Any]] = []
    own = list(filter(_is_own, list_sessions(workspace.store, ["queued", "live"])))
    if own or workspace.settings.handoff.desk == BUILT_IN:
        rows.append(_own_row(own))
    for status in desk_statuses(workspace.store):
        rows.append(status._asdict())
    return {"desks": rows}


def _own_row(own: Sequence[Session]) -> dict[str, Any]:
    """What waits at our own page, as a `DeskStatus` says it of another desk."""
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
    """Have everything that waits tried at once; how many messages. Raises UnknownName."""
    if desk and desk not in desk_names():
        raise unknown_name("desk", desk, desk_names())
    return retry_parked(workspace.store, desk)


def desk_list() -> list[str]:
    """Every desk that the settings can name."""
    return list(desk_names())
