"""`/lab/annotate`: answers for people to rate, by keyboard, blind; and how far they agree."""

import asyncio

from fastapi import APIRouter, Request, Response
from fastapi.responses import HTMLResponse

from ombud.app import callers, rating
from ombud.web.admin.forms import actor, back_to, read_form, shown
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
    session = rating.next_task(workspace, identity, _rater(caller))
    return shown("lab/annotate.html", workspace, caller, session=session)


@router.post("/lab/annotate/{identity}")
async def rate(
    identity: str, request: Request, workspace: CurrentWorkspace, caller: Asking
) -> Response:
    form = await read_form(request)
    values = {name: given[0] for name, given in form.fields.items()}
    item = form.one("item")
    await asyncio.to_thread(
        rating.rate, workspace, identity, _rater(caller), item=item, values=values
    )
    return back_to(f"/lab/annotate/{identity}")


@router.get("/lab/annotate/{identity}/agreement", response_class=HTMLResponse)
def agreement(identity: str, workspace: CurrentWorkspace, caller: Asking) -> str:
    found = rating.agreed(workspace, identity)
    return shown("lab/agreement.html", workspace, caller, found=found, identity=identity)


def _rater(caller: callers.Caller) -> str:
    return caller.account.name if caller.account else "demo"
