"""The desk as its owners see it: the report, and the canned replies, which advisors change, too."""

import asyncio
from datetime import date

from fastapi import APIRouter, Request, Response
from fastapi.responses import HTMLResponse

from ombud.app import Workspace, callers, replies, reporting
from ombud.messages import country_name, format_day, message
from ombud.web.admin.forms import (
    NOT_REFUSED,
    RefusedForm,
    actor,
    back_to,
    read_form,
    render_admin,
)
from ombud.web.api import CurrentWorkspace
from ombud.web.layout import words
from ombud.web.live.secrets import Asking

router = APIRouter(include_in_schema=False)


@router.get("/admin/desk", response_class=HTMLResponse)
def report(workspace: CurrentWorkspace, caller: Asking) -> str:
    figures = reporting.desk_figures(workspace)
    nothing = message("admin.desk_not_named")
    return render_admin(
        "admin/desk.html",
        workspace,
        caller,
        report=figures,
        most=max(1, figures.total.handed_over),
        weeks=[(format_day(date.fromisoformat(one.label)), one) for one in reversed(figures.weeks)],
        topics=[(words(one.label) or nothing, one) for one in figures.topics],
        countries=[
            (country_name(one.label) if one.label else nothing, one) for one in figures.countries
        ],
    )


@router.get("/admin/desk.csv")
def download(workspace: CurrentWorkspace) -> Response:
    text = reporting.desk_csv(reporting.desk_figures(workspace))
    headers = {"content-disposition": 'attachment; filename="desk.csv"'}
    return Response(text, headers=headers, media_type="text/csv; charset=utf-8")


@router.get("/admin/replies", response_class=HTMLResponse)
def canned_replies(workspace: CurrentWorkspace, caller: Asking) -> str:
    return _replies(workspace, caller)


def _replies(
    workspace: Workspace, caller: callers.Caller, refused: RefusedForm = NOT_REFUSED
) -> str:
    found = replies.canned_replies(workspace)
    return render_admin("admin/replies.html", workspace, caller, refused, replies=found)


@router.post("/admin/replies")
async def change_replies(request: Request, workspace: CurrentWorkspace, caller: Asking) -> Response:
    """Add, change or remove a canned reply."""
    form = await read_form(request, _replies)
    before, by = form.one("before"), actor(caller)
    if form.one("do") == "remove":
        await asyncio.to_thread(replies.remove_reply, workspace, before, by)
    else:
        title, text = form.one("title"), form.one("text")
        await asyncio.to_thread(replies.save_reply, workspace, title, text, by, before=before)
    return back_to("/admin/replies")
