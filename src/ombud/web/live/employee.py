"""`/api/v1/conversations`: what an employee does in a conversation of their own."""

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import JSONResponse, PlainTextResponse

from ombud.app import Workspace, advising, asking, conversing, markdown_of
from ombud.store import Appended
from ombud.web.api import MISSING, POSTED, PROBLEMS, CurrentWorkspace, asker_of
from ombud.web.live.secrets import Asking, Secret, ensure_key
from ombud.web.live.shapes import (
    HandoffIn,
    Json,
    MailIn,
    MessageIn,
    ReadIn,
    TitleIn,
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
    """Opens a conversation; give its id with every question. It belongs to the browser that opens
    it, or to whoever sends the header `Ombud-Key` with a secret of their own."""
    person = asker_of(body or ConversationIn(), caller)
    key = ensure_key(request, response)
    return ConversationOut(id=conversing.begin(workspace, person, key))


@router.get(BASE)
def conversations(
    workspace: CurrentWorkspace,
    secret: Secret,
    q: Annotated[str, Query(max_length=200)] = "",
) -> Json:
    """One's own conversations, the newest first; with `q` those in which it was said, or that are
    called so."""
    found = conversing.listed(workspace, secret, q) if secret else []
    return {"conversations": list(map(listed_json, found))}


@router.get(OWN, responses=MISSING)
def conversation(conversation_id: str, workspace: CurrentWorkspace, secret: Secret) -> MessagesOut:
    """What was said in a conversation, oldest first."""
    conversing.check_owner(workspace, conversation_id, secret)
    return MessagesOut(id=conversation_id, messages=asking.messages(workspace, conversation_id))


@router.patch(OWN, status_code=204, responses=ALL)
def rename(
    conversation_id: str, body: TitleIn, workspace: CurrentWorkspace, secret: Secret
) -> None:
    """Another name in one's own list."""
    conversing.check_owner(workspace, conversation_id, secret)
    conversing.rename(workspace, conversation_id, body.title)


@router.delete(OWN, status_code=204, responses={**MISSING, **CONFLICT})
def delete(conversation_id: str, workspace: CurrentWorkspace, secret: Secret) -> None:
    """Erase it, unless the organisation keeps it for a time (`audit.delete_own`); then it leaves
    one's own list alone."""
    conversing.check_owner(workspace, conversation_id, secret)
    conversing.delete(workspace, conversation_id)


@router.get(f"{OWN}/events", responses=MISSING)
def events(
    conversation_id: str,
    workspace: CurrentWorkspace,
    secret: Secret,
    after: Annotated[int, Query(ge=0, le=2**31 - 1)] = 0,
) -> Json:
    """How it stands, and what happened after a place."""
    conversing.check_owner(workspace, conversation_id, secret)
    stands, happened = conversing.events_after(workspace, conversation_id, after)
    shown = advising.with_place(workspace, stands)
    return {
        "session": session_json(shown),
        "events": [event_json(workspace, event) for event in happened],
    }


@router.post(f"{OWN}/messages", status_code=201, responses=ALL)
def message(
    conversation_id: str, body: MessageIn, workspace: CurrentWorkspace, secret: Secret
) -> Response:
    """A message to the advisor; 200 for one that was sent before."""
    conversing.check_owner(workspace, conversation_id, secret)
    said = conversing.say(workspace, conversation_id, body.text, body.id)
    content = event_json(workspace, said.events[0])
    return JSONResponse(content, status_code=201 if said.is_new else 200)


@router.post(f"{OWN}/handoff", responses=ALL)
def handoff(
    conversation_id: str, body: HandoffIn, workspace: CurrentWorkspace, secret: Secret
) -> Json:
    """Ask for a person."""
    conversing.check_owner(workspace, conversation_id, secret)
    appended = conversing.hand_over(workspace, conversation_id, body.reason, body.topic)
    return _changed(workspace, appended)


@router.delete(f"{OWN}/handoff", responses=ALL)
def no_longer_needed(conversation_id: str, workspace: CurrentWorkspace, secret: Secret) -> Json:
    """Take it back; the assistant goes on."""
    conversing.check_owner(workspace, conversation_id, secret)
    return _changed(workspace, conversing.take_back(workspace, conversation_id))


@router.post(f"{OWN}/read", responses=ALL)
def read(conversation_id: str, body: ReadIn, workspace: CurrentWorkspace, secret: Secret) -> Json:
    """Everything up to this place was read."""
    conversing.check_owner(workspace, conversation_id, secret)
    return _changed(workspace, conversing.read(workspace, conversation_id, body.place))


@router.post(f"{OWN}/close", responses=ALL)
def close(conversation_id: str, workspace: CurrentWorkspace, secret: Secret) -> Json:
    """Nothing more is said in it."""
    conversing.check_owner(workspace, conversation_id, secret)
    return _changed(workspace, conversing.close(workspace, conversation_id))


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
    """The conversation to keep: as text with times, or as Markdown with the sources of each
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
    """The same by mail."""
    conversing.check_owner(workspace, conversation_id, secret)
    conversing.mail_transcript(workspace, conversation_id, body.mail)
    return {"sent": True}


def _changed(workspace: Workspace, appended: Appended) -> Json:
    shown = advising.with_place(workspace, appended.session)
    return {
        "session": session_json(shown),
        "events": [event_json(workspace, event) for event in appended.events],
    }
