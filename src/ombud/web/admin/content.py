"""What the assistant knows: sources, documents with their passages and triplets, drafts."""

import asyncio
from collections import Counter
from typing import Annotated
from urllib.parse import quote, urlencode

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import HTMLResponse

from ombud.app import (
    DraftChoices,
    Workspace,
    drafting,
    index_stats,
    jobs,
    library,
    list_publications,
    sync_progress,
)
from ombud.documents import describe_loss, kinds
from ombud.errors import BadRequest
from ombud.messages import message
from ombud.types import Document
from ombud.web.admin.forms import (
    NOT_REFUSED,
    RefusedForm,
    actor,
    back_to,
    read_day,
    read_form,
    render_admin,
)
from ombud.web.api import CurrentWorkspace
from ombud.web.live.secrets import Asking

LISTED = 300
"""Documents of a page."""
PASSAGES_PER_PAGE = 100
_NO_PROGRESS = {
    "set": "",
    "kind": "sync",
    "step": "",
    "done": 0,
    "total": 0,
    "failed": (),
    "left_out": (),
    "notes": (),
    "counts": {},
}
router = APIRouter(include_in_schema=False)


@router.get("/admin/sources", response_class=HTMLResponse)
def sources(workspace: CurrentWorkspace, caller: Asking) -> str:
    return _sources(workspace, caller)


def _sources(workspace: Workspace, caller: Asking, refused: RefusedForm = NOT_REFUSED) -> str:
    return render_admin(
        "admin/sources.html",
        workspace,
        caller,
        refused,
        lines=jobs.list_lines(workspace),
        progress=_NO_PROGRESS | sync_progress(workspace.store),
        endings=sorted(kinds()),
        schedule=workspace.settings.sync.every,
        stats=index_stats(workspace),
    )


@router.post("/admin/sources/run")
async def run_source(request: Request, workspace: CurrentWorkspace, caller: Asking) -> Response:
    form = await read_form(request, _sources)
    names = form.all("name")
    await asyncio.to_thread(jobs.start_sync, workspace, names, actor(caller))
    return back_to("/admin/sources")


@router.post("/admin/sources/folder")
async def add_folder(request: Request, workspace: CurrentWorkspace, caller: Asking) -> Response:
    form = await read_form(request, _sources)
    await asyncio.to_thread(
        jobs.add_folder,
        workspace,
        form.one("path"),
        country=form.one("country"),
        name=form.one("name"),
        by=actor(caller),
    )
    return back_to("/admin/sources")


@router.post("/admin/sources/remove")
async def remove_source(request: Request, workspace: CurrentWorkspace, caller: Asking) -> Response:
    form = await read_form(request, _sources)
    await asyncio.to_thread(jobs.remove_source, workspace, form.one("name"), actor(caller))
    return back_to("/admin/sources")


@router.post("/admin/sources/upload")
async def upload(request: Request, workspace: CurrentWorkspace, caller: Asking) -> Response:
    form = await read_form(request, _sources)
    by = actor(caller)
    await asyncio.to_thread(jobs.keep_uploads, workspace, form.files, form.one("country"), by)
    await asyncio.to_thread(jobs.start_sync, workspace, [jobs.UPLOADS], by)
    return back_to("/admin/sources")


@router.get("/admin/documents", response_class=HTMLResponse)
def documents(
    workspace: CurrentWorkspace, caller: Asking, q: Annotated[str, Query(max_length=200)] = ""
) -> str:
    words = q.casefold().split()
    everything = library.documents(workspace, None)
    matching = [one for one in everything if is_called(one, words)]
    listed = sorted(matching, key=lambda one: one.title.casefold())[:LISTED]
    return render_admin(
        "admin/documents.html",
        workspace,
        caller,
        q=q,
        documents=listed,
        losses={one.id: describe_loss(one.loss) for one in listed if one.loss},
        lost=sum(bool(one.loss) for one in everything),
        count=len(matching),
        states=Counter(one.status for one in everything),
        today=workspace.today(),
        ending=library.ending_soon(workspace, days=30),
    )


def is_called(document: Document, words: list[str]) -> bool:
    called = f"{document.title} {document.uri} {document.topic} {document.owner}".casefold()
    return all(word in called for word in words)


@router.get("/admin/documents/{document_id}", response_class=HTMLResponse)
def document(
    document_id: str,
    workspace: CurrentWorkspace,
    caller: Asking,
    part: Annotated[int, Query(ge=0, le=100_000)] = 0,
) -> str:
    """Show a document's indexed passages and what the graph has extracted from them."""
    stored = library.document(workspace, document_id, None)
    chunks = library.passages_of(workspace, stored.id)
    first = part * PASSAGES_PER_PAGE
    return render_admin(
        "admin/document.html",
        workspace,
        caller,
        document=stored,
        loss=describe_loss(stored.loss),
        count=len(chunks),
        reader=reader_of(stored),
        chunks=chunks[first : first + PASSAGES_PER_PAGE],
        part=part,
        more=first + PASSAGES_PER_PAGE < len(chunks),
        triplets=library.triplets_of(workspace, stored.id),
        graph=workspace.settings.index.graph,
    )


def reader_of(document: Document) -> str:
    """Return a person who may read the document, so that it can be opened as they see it."""
    single = {"roles": "role", "groups": "group", "grades": "grade", "contracts": "contract"}
    named = {single[key]: values[0] for key, values in document.audience.items() if values}
    if document.countries:
        named["country"] = document.countries[0]
    return urlencode(named)


# Drafts -------------------------------------------------------------------------------------------


@router.get("/admin/drafts", response_class=HTMLResponse)
def drafts(workspace: CurrentWorkspace, caller: Asking) -> str:
    return _drafts(workspace, caller)


def _drafts(workspace: Workspace, caller: Asking, refused: RefusedForm = NOT_REFUSED) -> str:
    return render_admin(
        "admin/drafts.html",
        workspace,
        caller,
        refused,
        sets=drafting.list_sets(workspace),
        state=_NO_PROGRESS | drafting.check_state(workspace),
        published=list_publications(workspace)[:20],
        folders=[line.name for line in jobs.list_lines(workspace) if line.kind == "folder"],
    )


@router.post("/admin/drafts/upload")
async def upload_drafts(request: Request, workspace: CurrentWorkspace, caller: Asking) -> Response:
    form = await read_form(request, _drafts)
    await asyncio.to_thread(drafting.keep_drafts, workspace, form.files, actor(caller))
    return back_to("/admin/drafts")


@router.post("/admin/drafts/{identity}/{action}")
async def act_on_drafts(
    identity: str, action: str, request: Request, workspace: CurrentWorkspace, caller: Asking
) -> Response:
    """Check, publish or remove a set of drafts, or undo a publication."""
    form = await read_form(request, _drafts)
    choices, by = DraftChoices(on=read_day(form.one("on")), into=form.one("into")), actor(caller)
    if action == "check":
        await asyncio.to_thread(drafting.start_check, workspace, identity, choices, by)
    elif action == "publish":
        force = form.one("force")
        await asyncio.to_thread(drafting.publish, workspace, identity, choices, force=force, by=by)
    elif action == "remove":
        await asyncio.to_thread(drafting.remove_set, workspace, identity)
    elif action == "undo":
        await asyncio.to_thread(drafting.undo, workspace, identity, by)
    else:
        raise BadRequest(message("admin.error_action", action=quote(action)[:40]))
    return back_to("/admin/drafts")


@router.get("/admin/drafts/{identity}/report", response_class=HTMLResponse)
def report(identity: str, workspace: CurrentWorkspace) -> Response:
    """Return the report of gaps as a page with styles of its own and no script."""
    html = drafting.report_of(workspace, identity)
    headers = {"content-disposition": 'attachment; filename="check.html"'}
    return HTMLResponse(html, headers=headers)
