"""The pages: the chat at `/`, the desk of advisors at `/desk`, a document with its cited passage,
and what only these pages ask for."""

import asyncio
from collections.abc import AsyncGenerator, Iterable
from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.responses import HTMLResponse

from ombud.app import library, sharing
from ombud.messages import message
from ombud.types import Answer, Citation, Document, Person
from ombud.web import stream
from ombud.web.api import CurrentWorkspace, Place, check_own, work_of
from ombud.web.layout import STATIC, VERSION, page
from ombud.web.live.secrets import Asking, ensure_key
from ombud.web.render import to_html
from ombud.web.shapes import AskIn

router = APIRouter(include_in_schema=False)

SAMPLES = (
    (("annual leave", "holiday", "vacation", "pto"), "chat.sample_leave"),
    (("remote", "telework", "home", "mobile work", "flexible"), "chat.sample_remote"),
    (("family", "parental", "maternity", "paternity"), "chat.sample_parents"),
    (("speak up", "whistleblow", "grievance", "harassment"), "chat.sample_concern"),
    (("travel", "expense"), "chat.sample_travel"),
    (("sick", "absence"), "chat.sample_sick"),
    (("probation", "notice"), "chat.sample_notice"),
    (("conduct", "ethic", "gift"), "chat.sample_gifts"),
)
"""What a document's title or topic speaks of -> the message with a sample question."""


@router.get("/", response_class=HTMLResponse)
def chat(
    workspace: CurrentWorkspace,
    request: Request,
    response: Response,
    caller: Asking,
    embed: bool = False,
) -> str:
    ensure_key(request, response)
    audiences = library.known_audiences(workspace)
    models = workspace.settings.models
    writes_answers = models.chat or models.roles.get("compose")
    everything = library.documents(workspace, None)
    own = caller.account
    readable = library.documents(workspace, own.person if own else Person())
    return page(
        "chat.html",
        workspace.settings,
        embedded=embed,
        asking=caller,
        countries=audiences.get("countries", []),
        roles=audiences.get("roles", []),
        grades=audiences.get("grades", []),
        contracts=audiences.get("contracts", []),
        # Quotes are the same for everybody.
        personas=list(workspace.personas.values()) if writes_answers else [],
        samples=samples(everything, readable),
    )


def samples(everything: Iterable[Document], readable: Iterable[Document]) -> list[str]:
    """Return four sample questions on these documents, from titles that everyone may read."""
    subjects = " | ".join(f"{document.title} {document.topic}" for document in everything)
    subjects = subjects.lower().replace("-", " ")
    questions: list[str] = []
    for words, key in SAMPLES:
        if any(word in subjects for word in words):
            questions.append(message(key))
    for document in readable:
        if document.status == "published":
            questions.append(message("chat.sample_title", title=document.title))
    return questions[:4]


@router.post("/chat/ask")
async def chat_ask(
    body: AskIn,
    request: Request,
    workspace: CurrentWorkspace,
    place: Place,
    caller: Asking,
) -> Response:
    """Stream like the API; claims and the answer also carry their HTML."""
    check_own(body, request, workspace)
    work = work_of(body, workspace, caller)
    return await stream.respond(with_html(stream.events(work, place)))


async def with_html(
    events: AsyncGenerator[stream.Event, None],
) -> AsyncGenerator[stream.Event, None]:
    seen: list[Citation] = []
    try:
        async for name, data in events:
            if name == "claim":
                text = _numbered(data, seen)
                yield name, {**data, "html": await _html(text, seen)}
            elif name == "answer":
                answer = Answer.model_validate(data)
                html = await _html(answer.text, answer.citations)
                yield name, {**data, "html": html}
            else:
                yield name, data
    finally:
        await events.aclose()


def _numbered(claim: dict[str, Any], seen: list[Citation]) -> str:
    """Return the claim with its markers. Citations are numbered in the order in which they come, as
    in the answer."""
    numbers: list[int] = []
    for citation in map(Citation.model_validate, claim["citations"]):
        if citation not in seen:
            seen.append(citation)
        numbers.append(seen.index(citation) + 1)
    # A table ends with a bar; its markers stand below it.
    text = str(claim["text"]).rstrip()
    gap = "\n\n" if text.endswith("|") else " "
    return text + gap + "".join(f"[{number}]" for number in numbers)


async def _html(text: str, citations: Iterable[Citation]) -> str:
    """Render in a thread, because a long answer would delay the others."""
    return await asyncio.to_thread(to_html, text, tuple(citations))


@router.get("/shared/{secret}", response_class=HTMLResponse)
def shared(secret: str, workspace: CurrentWorkspace, caller: Asking) -> str:
    """Show a conversation that a colleague shares, as far as the reader may see it."""
    conversation = sharing.open_link(workspace, secret, caller.account)
    return page("shared.html", workspace.settings, asking=caller, shared=conversation)


@router.get("/desk", response_class=HTMLResponse)
def desk(workspace: CurrentWorkspace, caller: Asking) -> str:
    """Show the advisors' desk."""
    return page("desk.html", workspace.settings, asking=caller)


@router.get("/static/{version}/{name}")
def static(version: str, name: str) -> Response:
    if name not in STATIC:
        return Response(status_code=404)
    content, media = STATIC[name]
    keep = "public, max-age=31536000, immutable" if version == VERSION else "no-cache"
    return Response(content, media_type=media, headers={"cache-control": keep})
