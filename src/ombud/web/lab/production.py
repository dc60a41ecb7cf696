"""`/lab/production`: what people get, watched: deviations, judged live answers and experiments."""

import asyncio

from fastapi import APIRouter, Request, Response
from fastapi.responses import HTMLResponse

from ombud.app import Workspace, production
from ombud.lab import difference_words, figure_of, image_address, interval_of
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


@router.get("/lab/production", response_class=HTMLResponse)
def shown(workspace: CurrentWorkspace, caller: Asking) -> str:
    return _page(workspace, caller)


@router.post("/lab/production/baseline")
async def pin(request: Request, workspace: CurrentWorkspace, caller: Asking) -> Response:
    """Pin the baseline that later runs are held against."""
    form = await read_form(request, _page)
    await asyncio.to_thread(production.pin_baseline, workspace, form.one("run"), actor(caller))
    return back_to("/lab/production")


def _page(workspace: Workspace, caller: Asking, refused: RefusedForm = NOT_REFUSED) -> str:
    return render_admin(
        "lab/production.html",
        workspace,
        caller,
        refused,
        seen=production.show_production(workspace),
        lab=workspace.settings.lab,
        address=image_address,
        figure=figure_of,
        interval=interval_of,
        difference=difference_words,
    )
