"""`/admin/groups`: what membership of a group gives."""

import asyncio
from typing import get_args

from fastapi import APIRouter, Request, Response
from fastapi.responses import HTMLResponse

from ombud.app import Workspace, people
from ombud.types import Duty
from ombud.web.admin.forms import (
    NOT_REFUSED,
    RefusedForm,
    actor,
    back_to,
    read_form,
    render_admin,
)
from ombud.web.api import CurrentWorkspace
from ombud.web.live.secrets import Asking

router = APIRouter(include_in_schema=False)
PLACE = "/admin/groups"


@router.get(PLACE, response_class=HTMLResponse)
def table(workspace: CurrentWorkspace, caller: Asking) -> str:
    return _table(workspace, caller)


def _table(workspace: Workspace, caller: Asking, refused: RefusedForm = NOT_REFUSED) -> str:
    return render_admin(
        "admin/groups.html",
        workspace,
        caller,
        refused,
        rules=people.list_group_rules(workspace),
        names=people.named_groups(workspace),
        duties=get_args(Duty),
    )


@router.post(PLACE)
async def save(request: Request, workspace: CurrentWorkspace, caller: Asking) -> Response:
    """Save a rule in place of the group's earlier one."""
    form = await read_form(request, _table)
    await asyncio.to_thread(
        people.save_group_rule,
        workspace,
        form.one("group"),
        roles=form.one("roles").replace(",", " ").split(),
        audiences=form.one("audiences").replace(",", " ").split(),
        duties=form.all("duty"),
        by=actor(caller),
    )
    request.app.state.callers.forget()
    return back_to(PLACE)


@router.post(f"{PLACE}/remove")
async def remove(request: Request, workspace: CurrentWorkspace, caller: Asking) -> Response:
    form = await read_form(request, _table)
    await asyncio.to_thread(people.remove_group_rule, workspace, form.one("group"), actor(caller))
    request.app.state.callers.forget()
    return back_to(PLACE)
