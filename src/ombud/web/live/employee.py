"""`/api/v1/conversations`: what an employee does in a conversation of their own."""

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import JSONResponse, PlainTextResponse

from ombud.app import Workspace, advising, asking, conversing, markdown_of, sharing
from ombud.store import Appended, ShareLink, find_share, withdraw_share
from ombud.web.api import MISSING, POSTED, PROBLEMS, CurrentWorkspace, asker_of
from ombud.web.live.secrets import Asking, Secret, ensure_key
from ombud.web.live.shapes import (
    HandoffIn,
    Json,
    LabelIn,
    MailIn,
    MessageIn,
    RatingIn,
    ReadIn,
    event_json,
    listed_json,
    session_json,
)
from ombud.web.problems import Problem
from ombud.web.shapes import ConversationIn, ConversationOut, MessagesOut

CONFLICT: dict[int | str, dict[str, Any]] = {
    409: {"model": Problem, "description": "The conversation does not allow it as it stands"}
}
ALL: dict[int | str, dict[str, Any]] = {**POSTED, **MISSING, **CONFLICT}
BASE = "/api/v1/conversations"
OWN = f"{BASE}/{{conversation_id}}"

router = APIRouter(responses=PROBLEMS)


@router.post(BASE, status_code=201, responses=POSTED)
def new_conversation(
    workspace: CurrentWorkspace,
    request: Request,
    response: Response,
    caller: Asking,
    body: ConversationIn | None = None,
) -> ConversationOut:
    """Open a conversation; give its id with every question. It belongs to the browser that opens
    it, or to the client that sends the header `Ombud-Key` with a secret of its own."""
    person = asker_of(body or ConversationIn(), caller)
    key = ensure_key(request, response)
    return ConversationOut(id=conversing.begin(workspace, person, key))


@router.get(BASE)
def conversations(
    workspace: CurrentWorkspace,
    secret: Secret,
    q: Annotated[str, Query(max_length=200)] = "",
) -> Json:
    """List one's own conversations, newest first; `q` searches their messages and names."""
    listed = conversing.listed(workspace, secret, q) if secret else []
    return {"conversations": list(map(listed_json, listed))}


@router.get(OWN, responses=MISSING)
def conversation(conversation_id: str, workspace: CurrentWorkspace, secret: Secret) -> MessagesOut:
    """Return the messages of a conversation, oldest first."""
    conversing.check_owner(workspace, conversation_id, secret)
    return MessagesOut(id=conversation_id, messages=asking.messages(workspace, conversation_id))


@router.patch(OWN, status_code=204, responses=ALL)
def label(conversation_id: str, body: LabelIn, workspace: CurrentWorkspace, secret: Secret) -> None:
    """Rename a conversation in one's own list, or pin it there."""
    conversing.check_owner(workspace, conversation_id, secret)
    conversing.label(workspace, conversation_id, title=body.title, pinned=body.pinned)


@router.delete(OWN, status_code=204, responses={**MISSING, **CONFLICT})
def delete(conversation_id: str, workspace: CurrentWorkspace, secret: Secret) -> None:
    """Erase a conversation. If the organisation retains it for a time (`audit.delete_own`), it is
    only removed from one's own list."""
    conversing.check_owner(workspace, conversation_id, secret)
    conversing.delete(workspace, conversation_id)


@router.get(f"{OWN}/events", responses=MISSING)
def events(
    conversation_id: str,
    workspace: CurrentWorkspace,
    secret: Secret,
    after: Annotated[int, Query(ge=0, le=2**31 - 1)] = 0,
) -> Json:
    """Return the state of a conversation and its events after a place."""
    conversing.check_owner(workspace, conversation_id, secret)
    stands, happened = conversing.events_after(workspace, conversation_id, after)
    session = advising.with_place(workspace, stands)
    return {
        "session": session_json(session),
        "events": [event_json(workspace, event) for event in happened],
    }


@router.post(f"{OWN}/messages", status_code=201, responses=ALL)
def message(
    conversation_id: str, body: MessageIn, workspace: CurrentWorkspace, secret: Secret
) -> Response:
    """Send a message to the advisor; 200 if it was sent before."""
    conversing.check_owner(workspace, conversation_id, secret)
    sent = conversing.say(workspace, conversation_id, body.text, body.id)
    content = event_json(workspace, sent.events[0])
    return JSONResponse(content, status_code=201 if sent.is_new else 200)


@router.post(f"{OWN}/handoff", responses=ALL)
def handoff(
    conversation_id: str, body: HandoffIn, workspace: CurrentWorkspace, secret: Secret
) -> Json:
    """Ask for a person, or with `ticket` for an answer in writing. Where a ticket system is set up,
    a ticket is also made when nobody is at the desk; with `consent` it has the conversation so
    far."""
    conversing.check_owner(workspace, conversation_id, secret)
    appended = conversing.hand_over(
        workspace,
        conversation_id,
        body.reason,
        body.topic,
        as_ticket=body.ticket,
        consent=body.consent,
    )
    return _changed(workspace, appended)


@router.delete(f"{OWN}/handoff", responses=ALL)
def no_longer_needed(conversation_id: str, workspace: CurrentWorkspace, secret: Secret) -> Json:
    """Take it back; the assistant goes on."""
    conversing.check_owner(workspace, conversation_id, secret)
    return _changed(workspace, conversing.take_back(workspace, conversation_id))


@router.post(f"{OWN}/read", responses=ALL)
def read(conversation_id: str, body: ReadIn, workspace: CurrentWorkspace, secret: Secret) -> Json:
    """Mark everything up to this place as read."""
    conversing.check_owner(workspace, conversation_id, secret)
    return _changed(workspace, conversing.read(workspace, conversation_id, body.place))


@router.post(f"{OWN}/rating", responses=ALL)
def rate(conversation_id: str, body: RatingIn, workspace: CurrentWorkspace, secret: Secret) -> Json:
    """Rate a conversation with a person once it has ended, from 1 to 5 (best), or decline with
    null; 409 if that is not asked, or was answered before. Only advisors see it."""
    conversing.check_owner(workspace, conversation_id, secret)
    rated = conversing.rate_person(workspace, conversation_id, body.score, body.comment)
    return _changed(workspace, rated)


@router.post(f"{OWN}/close", responses=ALL)
def close(conversation_id: str, workspace: CurrentWorkspace, secret: Secret) -> Json:
    """Close a conversation to further messages."""
    conversing.check_owner(workspace, conversation_id, secret)
    return _changed(workspace, conversing.close(workspace, conversation_id))


@router.get(f"{OWN}/share", responses=MISSING)
def shared(conversation_id: str, workspace: CurrentWorkspace, secret: Secret) -> Json:
    """Return the address by which colleagues open a conversation; null if it is not shared."""
    conversing.check_owner(workspace, conversation_id, secret)
    return _link_json(find_share(workspace.store, conversation_id=conversation_id))


@router.put(f"{OWN}/share", responses=ALL)
def share(
    conversation_id: str, workspace: CurrentWorkspace, secret: Secret, caller: Asking
) -> Json:
    """Share a conversation as it is now with everybody who signs in here and has the address. Each
    reads only the answers whose documents they may read. If it is shared already, the same address
    shows what has been asked since, too."""
    conversing.check_owner(workspace, conversation_id, secret)
    return _link_json(sharing.share(workspace, conversation_id, caller.account))


@router.delete(f"{OWN}/share", status_code=204, responses=MISSING)
def no_longer_shared(conversation_id: str, workspace: CurrentWorkspace, secret: Secret) -> None:
    """Withdraw the address of a shared conversation."""
    conversing.check_owner(workspace, conversation_id, secret)
    withdraw_share(workspace.store, conversation_id)


def _link_json(link: ShareLink | None) -> Json:
    return {"href": f"/shared/{link.secret}" if link else None}


TRANSCRIPT: dict[int | str, dict[str, Any]] = {
    200: {"content": {"text/markdown": {"schema": {"type": "string"}}}}
}


@router.get(
    f"{OWN}/transcript",
    responses={**MISSING, **TRANSCRIPT},
    response_class=PlainTextResponse,
)
def transcript(
    conversation_id: str,
    workspace: CurrentWorkspace,
    secret: Secret,
    form: Annotated[Literal["text", "markdown"], Query(alias="format")] = "text",
) -> Response:
    """Download the conversation as text with times, or as Markdown with the sources of each
    answer."""
    conversing.check_owner(workspace, conversation_id, secret)
    if form == "markdown":
        title = conversing.title_of(workspace, conversation_id)
        text, media, ending = markdown_of(workspace, conversation_id, title), "markdown", "md"
    else:
        text, media, ending = conversing.transcript_of(workspace, conversation_id), "plain", "txt"
    name = f'attachment; filename="conversation-{conversation_id[:8]}.{ending}"'
    headers = {"content-disposition": name}
    return Response(text, headers=headers, media_type=f"text/{media}; charset=utf-8")


@router.post(f"{OWN}/transcript", status_code=202, responses=ALL)
def mail_transcript(
    conversation_id: str, body: MailIn, workspace: CurrentWorkspace, secret: Secret
) -> Json:
    """Send the transcript by mail."""
    conversing.check_owner(workspace, conversation_id, secret)
    conversing.mail_transcript(workspace, conversation_id, body.mail)
    return {"sent": True}


def _changed(workspace: Workspace, appended: Appended) -> Json:
    session = advising.with_place(workspace, appended.session)
    return {
        "session": session_json(session),
        "events": [event_json(workspace, event) for event in appended.events],
    }
