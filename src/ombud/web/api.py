"""`/api/v1`: the same assistant as JSON. Every error is `application/problem+json`."""

import json
from collections.abc import Iterator
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request, Response
from fastapi.responses import StreamingResponse
from starlette.requests import HTTPConnection

from ombud.answer import SuppliedEvidence
from ombud.app import (
    Workspace,
    asking,
    callers,
    conversing,
    find_usage,
    library,
    measuring,
    sync_progress,
    usage_json,
)
from ombud.channels import AskingPlaces, OwnPlace
from ombud.errors import NotAllowed, StoreError
from ombud.types import Answer, Chunk, Document, Person, Question, Trace
from ombud.web import stream
from ombud.web.live.secrets import Asking, key_of
from ombud.web.problems import Problem
from ombud.web.rate_limit import network_of
from ombud.web.shapes import (
    AskIn,
    ConversationIn,
    Day,
    DocumentLine,
    DocumentsOut,
    FeedbackIn,
    Health,
    SearchIn,
    SearchOut,
    SyncOut,
    UsageOut,
    reader,
)

SIGNED_IN: dict[int | str, dict[str, Any]] = {
    401: {"model": Problem, "description": "Nobody has signed in, or the token is none"},
    403: {
        "model": Problem,
        "description": "Not for whoever asks, or sent by a page of another site",
    },
}
PROBLEMS: dict[int | str, dict[str, Any]] = {
    **SIGNED_IN,
    400: {
        "model": Problem,
        "description": "A host name that is not served, or a body that is no JSON",
    },
    422: {"model": Problem, "description": "The request cannot be read"},
    429: {"model": Problem, "description": "Too many requests of one address; see Retry-After"},
    500: {"model": Problem, "description": "A fault of the server or its set-up"},
    503: {"model": Problem, "description": "The store, the index or the model is not available"},
}
POSTED: dict[int | str, dict[str, Any]] = {
    413: {"model": Problem, "description": "More than 1 MB"},
}
MISSING: dict[int | str, dict[str, Any]] = {
    404: {"model": Problem, "description": "Not there, or not for this person"}
}
LAB_ONLY = "A token of scope lab may do it."
RATED: dict[int | str, dict[str, Any]] = {**POSTED, **MISSING}
STREAMED: dict[int | str, dict[str, Any]] = {
    200: {
        "content": {"text/event-stream": {"schema": {"type": "string"}}},
        "description": "The answer",
    }
}
LISTED: dict[int | str, dict[str, Any]] = {
    200: {
        "content": {"application/x-ndjson": {"schema": {"type": "string"}}},
        "description": "Every passage",
    }
}

router = APIRouter(responses=PROBLEMS)


def workspace_of(request: Request) -> Workspace:
    return request.app.state.workspace  # type: ignore[no-any-return]


def payer_of(request: HTTPConnection) -> str:
    """Return who pays for a request's CPU time: the account or key of the caller, else the
    address."""
    address = request.client.host if request.client else ""
    return key_of(request) or network_of(address)


def place_of(request: Request) -> OwnPlace:
    places: AskingPlaces = request.app.state.places
    return places.of(key_of(request), payer_of(request))


CurrentWorkspace = Annotated[Workspace, Depends(workspace_of)]
Place = Annotated[OwnPlace, Depends(place_of)]


def reader_of(
    caller: Asking, request: Request, described: Annotated[Person, Depends(reader)]
) -> Person:
    """Return the reader: the signed-in account, else the person that the address describes."""
    fields = {_FIELDS.get(name, name) for name in request.query_params}
    return caller.person(described, fields)


_FIELDS = {"role": "roles", "group": "groups"}
"""As addresses call what a person has several of."""
Reader = Annotated[Person, Depends(reader_of)]


@router.post("/api/v1/search", responses=POSTED)
async def search(
    body: SearchIn, workspace: CurrentWorkspace, place: Place, caller: Asking
) -> SearchOut:
    """Search the passages of the person's country and the global ones, best first."""
    history = [turn.noun() for turn in body.history or ()]
    async with place:
        evidence, trace = await asking.search(
            workspace,
            body.query,
            asker_of(body, caller),
            k=body.k,
            mode=body.mode,
            as_of=body.as_of,
            history=history,
            plan=plan_of(body, caller),
        )
    return SearchOut.of(evidence, visible_trace(trace, caller))


def check_own(body: AskIn, request: Request, workspace: Workspace) -> None:
    """Check that the caller began the conversation. Raises NotFound."""
    if body.conversation_id:
        conversing.check_owner(workspace, body.conversation_id, key_of(request))


def asker_of(body: AskIn | SearchIn | ConversationIn, caller: callers.Caller) -> Person:
    return caller.person(body.person.noun(), body.person.model_fields_set)


def plan_of(body: AskIn | SearchIn, caller: callers.Caller) -> dict[str, Any] | None:
    """Return the requested plan fields, which only callers with that right may send."""
    return body.plan if caller.may_choose else None


def visible_trace(trace: Trace, caller: callers.Caller) -> Trace:
    """Return the whole trace to engineers and admins; to others only the time and whether it was
    degraded."""
    if caller.may_choose or "admin" in caller.rights:
        return trace
    return Trace(degraded=trace.degraded, seconds=trace.seconds)


def visible_answer(answer: Answer, caller: callers.Caller) -> Answer:
    return answer.model_copy(update={"trace": visible_trace(answer.trace, caller)})


def work_of(body: AskIn, workspace: Workspace, caller: callers.Caller) -> stream.Work:
    """Return what answers the question. Raises NotAllowed if the caller may not supply passages."""
    history = tuple(turn.noun() for turn in body.history or ())
    question = Question(
        text=body.question,
        asker=asker_of(body, caller),
        history=history,
        as_of=body.as_of,
    )

    if body.evidence is not None and not caller.may_choose:
        raise NotAllowed("Answers from supplied passages are for measuring.", hint=LAB_ONLY)
    if body.evidence is not None:
        supplied = SuppliedEvidence(body.hits(), body.triage)

        async def compose(on_event: stream.OnEvent | None) -> Answer:
            answer = await asking.ask_from(
                workspace, question, supplied, plan=body.plan, on_event=on_event
            )
            return visible_answer(answer, caller)

        return compose

    async def work(on_event: stream.OnEvent | None) -> Answer:
        answer = await asking.ask(
            workspace,
            question,
            plan=plan_of(body, caller),
            conversation_id=body.conversation_id,
            on_event=on_event,
            message_key=body.message_id or "",
        )
        return visible_answer(answer, caller)

    return work


@router.post(
    "/api/v1/ask",
    response_model=Answer,
    responses={
        **POSTED,
        **MISSING,
        **STREAMED,
        409: {"model": Problem, "description": "A person has taken the conversation over"},
        502: {"model": Problem, "description": "The chat model failed"},
    },
)
async def ask(
    body: AskIn, request: Request, workspace: CurrentWorkspace, place: Place, caller: Asking
) -> Any:
    """Answer a question with citations.

    `Accept: text/event-stream` gives events as the answer grows: `status` {step}, `claim` {index,
    text, citations, early}, `answer` (the whole Answer) and `error` (a problem). A client that
    disconnects cancels the work."""
    check_own(body, request, workspace)
    work = work_of(body, workspace, caller)
    if "text/event-stream" in request.headers.get("accept", ""):
        return await stream.respond(stream.events(work, place))

    async def answer_whole() -> Answer:
        async with place:
            return await work(None)

    answer = await stream.while_connected(request, answer_whole())
    return answer or Response(status_code=499)


@router.post("/api/v1/answers/{answer_id}/feedback", status_code=204, responses=RATED)
def feedback(
    answer_id: str, body: FeedbackIn, request: Request, workspace: CurrentWorkspace
) -> None:
    """Record whether an answer helped, from the person who got it; the last vote counts."""
    conversing.rate(workspace, answer_id, body.thumb, body.comment, key_of(request))


@router.get("/api/v1/documents")
def documents(
    workspace: CurrentWorkspace, person: Reader, as_of: Day | None = None
) -> DocumentsOut:
    """List the documents that this person may read on that day, without texts."""
    readable = library.documents(workspace, person, as_of)
    return DocumentsOut(documents=list(map(DocumentLine.of, readable)))


@router.get("/api/v1/documents/{document_id}", responses=MISSING)
def document(
    document_id: str, workspace: CurrentWorkspace, person: Reader, digest: str | None = None
) -> Document:
    """Return a document with its text and blocks; `digest` selects the version that a citation
    refers to."""
    return library.document(workspace, document_id, person, digest or None)


@router.get("/api/v1/describe")
def describe(workspace: CurrentWorkspace) -> dict[str, Any]:
    """Describe the configuration that answers here: digests, plan, prompts, models, index
    version."""
    return measuring.describe(workspace)


@router.get("/api/v1/usage", responses=LISTED)
def usage(workspace: CurrentWorkspace, since: Day | None = None) -> UsageOut:
    """Report the cost of questions since that day, by default 30 days: model calls, tokens and
    price, by the way the answer came about."""
    return UsageOut.model_validate(usage_json(find_usage(workspace, since)))


@router.get("/api/v1/passages", response_model=list[Chunk], responses=LISTED)
def passages(request: Request, workspace: CurrentWorkspace) -> Any:
    """List every indexed passage: a JSON list, or one per line with `Accept:
    application/x-ndjson`."""
    if "application/x-ndjson" in request.headers.get("accept", ""):
        return StreamingResponse(_ndjson(workspace), media_type="application/x-ndjson")
    return StreamingResponse(_list(workspace), media_type="application/json")


def _ndjson(workspace: Workspace) -> Iterator[str]:
    for chunk in library.passages(workspace):
        yield chunk.model_dump_json() + "\n"


def _list(workspace: Workspace) -> Iterator[str]:
    mark = "["
    for chunk in library.passages(workspace):
        yield mark + json.dumps(chunk.model_dump(mode="json"), ensure_ascii=False)
        mark = ","
    yield "[]" if mark == "[" else "]"


@router.get("/api/v1/sync")
def sync(workspace: CurrentWorkspace) -> SyncOut:
    """Report how far the running sync is, or how the last one ended, in whichever process it
    ran."""
    return SyncOut.model_validate(sync_progress(workspace.store))


@router.get("/healthz")
async def health() -> Health:
    """Report that the server is up."""
    return Health(status="ok")


@router.get("/readyz")
def readiness(workspace: CurrentWorkspace) -> Health:
    """Report that the server can answer questions; 503 with the reason if it cannot."""
    reason = library.why_not_ready(workspace)
    if reason:
        raise StoreError(f"Not ready: {reason}")
    return Health(status="ready")
