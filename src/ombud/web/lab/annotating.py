"""`/lab/annotate`: answers for people to rate, by keyboard, blind; and how far they agree."""

import asyncio

from fastapi import APIRouter, Request, Response
from fastapi.responses import HTMLResponse

from ombud.app import rating
from ombud.web.admin.forms import actor, back_to, read_form, render_admin
from ombud.web.api import CurrentWorkspace
from ombud.web.live.secrets import Asking

router = APIRouter(include_in_schema=False)


@router.post("/lab/annotate")
async def begin(request: Request, workspace: CurrentWorkspace, caller: Asking) -> Response:
    form = await read_form(request)
    criteria = form.one("criteria") or "natwest"
    size = form.number("size") if form.one("size") else 0
    identity = await asyncio.to_thread(
        rating.begin, workspace, form.all("run"), criteria, size=size, by=actor(caller)
    )
    return back_to(f"/lab/annotate/{identity}")


@router.get("/lab/annotate/{identity}", response_class=HTMLResponse)
def annotate(identity: str, workspace: CurrentWorkspace, caller: Asking) -> str:
    session = rating.next_task(workspace, identity, caller.name)
    return render_admin("lab/annotate.html", workspace, caller, session=session)


@router.post("/lab/annotate/{identity}")
async def rate(
    identity: str, request: Request, workspace: CurrentWorkspace, caller: Asking
) -> Response:
    form = await read_form(request)
    values = {name: texts[0] for name, texts in form.fields.items()}
    item = form.one("item")
    await asyncio.to_thread(rating.rate, workspace, identity, caller.name, item=item, values=values)
    return back_to(f"/lab/annotate/{identity}")


@router.get("/lab/annotate/{identity}/agreement", response_class=HTMLResponse)
def agreement(identity: str, workspace: CurrentWorkspace, caller: Asking) -> str:
    agreement_of_raters = rating.agreed(workspace, identity)
    return render_admin(
        "lab/agreement.html", workspace, caller, found=agreement_of_raters, identity=identity
    )
