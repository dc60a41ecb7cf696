"""`/api/v1/desk`: what an advisor does at the desk that is built in.

Where nobody has to say who they are, whoever reaches the server may sign in as any advisor of the
settings; it listens on this machine alone then."""

import asyncio
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Request, Response
from fastapi.responses import JSONResponse
from starlette.requests import HTTPConnection

from ombud.app import Workspace, advising, callers, conversing, replies
from ombud.errors import NotFound, NotSignedIn
from ombud.settings import AdvisorSettings
from ombud.store import Appended
from ombud.web.api import MISSING, POSTED, PROBLEMS, CurrentWorkspace
from ombud.web.live.employee import CONFLICT
from ombud.web.live.secrets import ADVISOR, keep
from ombud.web.live.shapes import (
    REASONS,
    AwayIn,
    EndIn,
    Json,
    LabelsIn,
    MessageIn,
    ReadIn,
    SignInIn,
    SnoozeIn,
    TransferIn,
    board_json,
    card_json,
    event_json,
    session_json,
    source_json,
)
from ombud.web.problems import Problem
from ombud.web.render import to_html

UNKNOWN: dict[int | str, dict[str, Any]] = {
    401: {"model": Problem, "description": "Nobody has signed in at the desk"}
}
UNSIGNED: dict[int | str, dict[str, Any]] = {
    401: {"model": Problem, "description": "Not signed with the secret of both sides, or too old"}
}
ALL: dict[int | str, dict[str, Any]] = {**POSTED, **MISSING, **CONFLICT, **UNKNOWN}
BASE = "/api/v1/desk"
ONE = f"{BASE}/{{conversation_id}}"

router = APIRouter(responses=PROBLEMS)


def advisor_at(workspace: Workspace, connection: HTTPConnection) -> AdvisorSettings | None:
    """Return the advisor: the signed-in account, else the name given at the desk."""
    caller = callers.caller_of(connection.scope)
    if caller.account is None:
        return advising.find_advisor(workspace, connection.cookies.get(ADVISOR, ""))
    if "desk" not in caller.rights:
        return None
    return advising.advisor_for(workspace, caller.account)


def whoever(request: Request, workspace: CurrentWorkspace) -> AdvisorSettings | None:
    return advisor_at(workspace, request)


def signed_in(request: Request, workspace: CurrentWorkspace) -> AdvisorSettings:
    advisor = whoever(request, workspace)
    if advisor is None:
        raise NotSignedIn("Nobody has signed in here.", hint="Open /desk and say who you are.")
    return advisor


Me = Annotated[AdvisorSettings, Depends(signed_in)]
Whoever = Annotated[AdvisorSettings | None, Depends(whoever)]


@router.get(BASE)
def desk(workspace: CurrentWorkspace, me: Whoever) -> Json:
    """Show who is waiting, who is with whom, and what helps to answer."""
    topics: dict[str, None] = {}
    for advisor in advising.advisors_of(workspace):
        topics.update(dict.fromkeys(advisor.topics))
    return {
        **board_of(workspace, me),
        "replies": [one.model_dump(mode="json") for one in replies.canned_replies(workspace)],
        "topics": list(topics),
        "reasons": list(REASONS),
    }


def board_of(workspace: Workspace, me: AdvisorSettings | None) -> Json:
    """Return the queue for a signed-in advisor; for others only who could sign in."""
    board = advising.board(workspace, me)
    if me is None:
        board = board._replace(waiting=(), mine=(), others=(), snoozed=())
    return board_json(board)


@router.post(f"{BASE}/sign-in", responses=ALL)
def sign_in(
    body: SignInIn, request: Request, workspace: CurrentWorkspace, response: Response
) -> Json:
    """Say who one is. Whoever has signed in is who they are."""
    own = callers.caller_of(request.scope).account
    advisor = advising.find_advisor(workspace, body.advisor)
    if own is not None:
        advisor = advisor_at(workspace, request)
    if advisor is None:
        raise NotFound(f"No advisor is called `{body.advisor}`.", hint="See [[handoff.advisor]].")
    keep(response, ADVISOR, advisor.id)
    advising.is_here(workspace, advisor)
    return {"me": {"id": advisor.id, "name": advisor.name}}


@router.post(f"{BASE}/sign-out", responses=ALL)
def sign_out(workspace: CurrentWorkspace, me: Whoever, response: Response) -> Json:
    """Leave the desk."""
    if me is not None:
        advising.is_here(workspace, me, away=True)
    response.delete_cookie(ADVISOR, path="/")
    return {"me": None}


@router.post(f"{BASE}/away", responses=ALL)
def away(body: AwayIn, workspace: CurrentWorkspace, me: Me) -> Json:
    """Take no more for now, or again."""
    advising.is_here(workspace, me, away=body.away)
    return {"away": body.away}


@router.post(f"{BASE}/webhook", status_code=202, responses={**ALL, **UNSIGNED})
async def webhook(request: Request, workspace: CurrentWorkspace) -> Json:
    """Receive a signed event about advisors from the system that `handoff.webhook` names."""
    body = await request.body()
    headers = dict(request.headers)
    events = await asyncio.to_thread(conversing.hear, workspace, headers, body)
    return {"heard": events}


@router.post("/api/v1/tickets/webhook", status_code=202, responses={**ALL, **UNSIGNED})
async def ticket_webhook(request: Request, workspace: CurrentWorkspace) -> Json:
    """Receive a webhook that the ticket system of `[tickets]` has signed."""
    body = await request.body()
    headers = dict(request.headers)
    return {"heard": await asyncio.to_thread(conversing.hear_tickets, workspace, headers, body)}


@router.get(f"{BASE}/closed", responses=ALL)
def closed(
    workspace: CurrentWorkspace,
    me: Me,
    q: Annotated[str, Query(max_length=200)] = "",
    topic: Annotated[str, Query(max_length=200)] = "",
    tag: Annotated[str, Query(max_length=200)] = "",
    *,
    urgent: bool = False,
) -> Json:
    """List conversations whose handoff is over, as far as they are of the advisor's topics and
    countries or were with the advisor; `q` searches what was said, topics, tags, countries, roles
    and advisors."""
    cards = advising.closed_cards(workspace, me, q, topic, tag, urgent=urgent)
    return {"conversations": list(map(card_json, cards))}


@router.get(ONE, responses=ALL)
def conversation(conversation_id: str, workspace: CurrentWorkspace, me: Me) -> Json:
    """Return a whole conversation, who asks, the sources of the assistant's answers, and the same
    person's earlier conversations."""
    stands, events = advising.events_for_desk(workspace, conversation_id, me)
    person = stands.asker.model_dump(
        mode="json", include={"country", "roles", "grade", "contract", "language"}
    )
    return {
        "session": session_json(advising.with_place(workspace, stands), for_advisor=True),
        "person": person,
        "events": [event_json(workspace, event, for_advisor=True) for event in events],
        "sources": list(map(source_json, advising.sources_of(workspace, events))),
        "earlier": list(map(card_json, advising.earlier_cards(workspace, me, conversation_id))),
    }


@router.post(f"{ONE}/claim", responses=ALL)
def claim(conversation_id: str, workspace: CurrentWorkspace, me: Me) -> Json:
    """Take it; 409 where another was first."""
    return _changed(workspace, advising.claim(workspace, conversation_id, me))


@router.post(f"{ONE}/messages", status_code=201, responses=ALL)
def message(conversation_id: str, body: MessageIn, workspace: CurrentWorkspace, me: Me) -> Response:
    """Send a message to the employee; 200 if it was sent before."""
    sent = advising.reply(workspace, conversation_id, me, body.text, body.id)
    content = _changed(workspace, sent)
    return JSONResponse(content, status_code=201 if sent.is_new else 200)


@router.post(f"{ONE}/notes", status_code=201, responses=ALL)
def note(conversation_id: str, body: MessageIn, workspace: CurrentWorkspace, me: Me) -> Response:
    """Add a private note, also after the end; only advisors see it. 200 if it was added before."""
    noted = advising.note(workspace, conversation_id, me, body.text, body.id)
    content = _changed(workspace, noted)
    return JSONResponse(content, status_code=201 if noted.is_new else 200)


@router.post(f"{ONE}/labels", responses=ALL)
def labels(conversation_id: str, body: LabelsIn, workspace: CurrentWorkspace, me: Me) -> Json:
    """Replace the tags and the priority, also after the end; only advisors see them."""
    labelled = advising.label(workspace, conversation_id, me, body.tags, urgent=body.urgent)
    return _changed(workspace, labelled)


@router.post(f"{ONE}/transfer", responses=ALL)
def transfer(conversation_id: str, body: TransferIn, workspace: CurrentWorkspace, me: Me) -> Json:
    """Give it to a team or to one person."""
    moved = advising.transfer(
        workspace, conversation_id, me, topic=body.topic, to=body.advisor, note=body.note
    )
    return _changed(workspace, moved)


@router.post(f"{ONE}/snooze", responses=ALL)
def snooze(conversation_id: str, body: SnoozeIn, workspace: CurrentWorkspace, me: Me) -> Json:
    """Put one's conversation away until a time or until the employee writes; null brings it
    back."""
    return _changed(workspace, advising.snooze(workspace, conversation_id, me, body.until))


@router.post(f"{ONE}/end", responses=ALL)
def end(conversation_id: str, body: EndIn, workspace: CurrentWorkspace, me: Me) -> Json:
    """End the conversation with the advisor; the assistant takes over again."""
    ended = advising.end(workspace, conversation_id, me, reason=body.reason, note=body.note)
    return _changed(workspace, ended)


@router.post(f"{ONE}/read", responses=ALL)
def read(conversation_id: str, body: ReadIn, workspace: CurrentWorkspace, me: Me) -> Json:
    """Mark everything up to this place as read."""
    advising.events_for_desk(workspace, conversation_id, me, body.place)
    return _changed(workspace, advising.read(workspace, conversation_id, body.place))


@router.post(f"{ONE}/suggest", responses=ALL)
async def suggest(conversation_id: str, workspace: CurrentWorkspace, me: Me) -> Json:
    """Suggest an answer from the documents to the employee's last message."""
    answer = await advising.suggest(workspace, conversation_id, me)
    return {
        "text": answer.text,
        "html": to_html(answer.text, answer.citations),
        "outcome": answer.outcome,
        "citations": list(map(source_json, answer.citations)),
    }


def _changed(workspace: Workspace, appended: Appended) -> Json:
    events = [event_json(workspace, event, for_advisor=True) for event in appended.events]
    return {"session": session_json(appended.session, for_advisor=True), "events": events}
