"""What the assistant knows: sources, documents with their passages and triplets, drafts."""

import asyncio
from collections import Counter
from datetime import date
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
from ombud.types import Document
from ombud.web.admin.forms import NOT_REFUSED, RefusedForm, actor, back_to, read_form, shown
from ombud.web.api import CurrentWorkspace
from ombud.web.live.secrets import Asking

LISTED = 300
"""Documents of a page."""
SHOWN_PASSAGES = 100
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


def _sources(workspace: Workspace, caller: Asking, said: RefusedForm = NOT_REFUSED) -> str:
    return shown(
        "admin/sources.html",
        workspace,
        caller,
        said,
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
    known = library.documents(workspace, None)
    found = [one for one in known if _is_called(one, words)]
    listed = sorted(found, key=lambda one: one.title.casefold())[:LISTED]
    return shown(
        "admin/documents.html",
        workspace,
        caller,
        q=q,
        documents=listed,
        losses={one.id: describe_loss(one.loss) for one in listed if one.loss},
        lost=sum(bool(one.loss) for one in known),
        count=len(found),
        states=Counter(one.status for one in known),
        today=workspace.today(),
        ending=library.ending_soon(workspace, days=30),
    )


def _is_called(document: Document, words: list[str]) -> bool:
    called = f"{document.title} {document.uri} {document.topic} {document.owner}".casefold()
    return all(word in called for word in words)


@router.get("/admin/documents/{document_id}", response_class=HTMLResponse)
def document(
    document_id: str,
    workspace: CurrentWorkspace,
    caller: Asking,
    part: Annotated[int, Query(ge=0, le=100_000)] = 0,
) -> str:
    """Its passages as they are searched, and what the graph has read in them."""
    found = library.document(workspace, document_id, None)
    chunks = library.passages_of(workspace, found.id)
    first = part * SHOWN_PASSAGES
    return shown(
        "admin/document.html",
        workspace,
        caller,
        document=found,
        loss=describe_loss(found.loss),
        count=len(chunks),
        reader=_reader_of(found),
        chunks=chunks[first : first + SHOWN_PASSAGES],
        part=part,
        more=first + SHOWN_PASSAGES < len(chunks),
        triplets=library.triplets_of(workspace, found.id),
    )


def _reader_of(document: Document) -> str:
    """Somebody for whom it is, as addresses of documents say it: where one may choose, it is read
    as they read it."""
    single = {"roles": "role", "groups": "group", "grades": "grade", "contracts": "contract"}
    named = {single[key]: values[0] for key, values in document.audience.items() if values}
    if document.countries:
        named["country"] = document.countries[0]
    return urlencode(named)


# Drafts -------------------------------------------------------------------------------------------


@router.get("/admin/drafts", response_class=HTMLResponse)
def drafts(workspace: CurrentWorkspace, caller: Asking) -> str:
    return _drafts(workspace, caller)


def _drafts(workspace: Workspace, caller: Asking, said: RefusedForm = NOT_REFUSED) -> str:
    return shown(
        "admin/drafts.html",
        workspace,
        caller,
        said,
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
    """check, publish, remove a set; undo a publication."""
    form = await read_form(request, _drafts)
    choices, by = DraftChoices(on=_day(form.one("on")), into=form.one("into")), actor(caller)
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
        raise BadRequest(f"Drafts cannot be made to `{quote(action)[:40]}`.")
    return back_to("/admin/drafts")


@router.get("/admin/drafts/{identity}/report", response_class=HTMLResponse)
def report(identity: str, workspace: CurrentWorkspace) -> Response:
    """A whole page with styles of its own, and so shown without any script."""
    html = drafting.report_of(workspace, identity)
    headers = {"content-disposition": 'attachment; filename="check.html"'}
    return HTMLResponse(html, headers=headers)


def _day(text: str) -> date | None:
    try:
        return date.fromisoformat(text) if text else None
    except ValueError as wrong:
        raise BadRequest(f"`{text[:20]}` is no day.", hint="Such as 2027-06-30.") from wrong
