"""How it is used, who may come in, and the audit."""

import asyncio
import json
from collections.abc import Callable, Mapping
from typing import Annotated, Any, get_args
from urllib.parse import quote

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import HTMLResponse

from ombud.app import (
    Workspace,
    chain_head,
    export_of,
    find_gaps,
    overview,
    people,
    signing_in,
    verified_json,
    verify_audit,
)
from ombud.errors import BadRequest
from ombud.messages import message
from ombud.text import read_country
from ombud.types import Account, Duty, Person, Right
from ombud.web.admin.forms import (
    NOT_REFUSED,
    Form,
    RefusedForm,
    actor,
    back_to,
    read_day,
    read_form,
    render_admin,
)
from ombud.web.api import CurrentWorkspace
from ombud.web.live.secrets import Asking

router = APIRouter(include_in_schema=False)


@router.get("/admin", response_class=HTMLResponse)
def usage(workspace: CurrentWorkspace, caller: Asking) -> str:
    weeks = overview.find_weeks(workspace)
    gaps = find_gaps(workspace)
    return render_admin(
        "admin/usage.html",
        workspace,
        caller,
        weeks=weeks,
        most=max(1, *(week.questions for week in weeks)),
        gaps=gaps,
    )


@router.get("/admin/audit", response_class=HTMLResponse)
def audit(
    workspace: CurrentWorkspace,
    caller: Asking,
    before: Annotated[int, Query(ge=0, le=2**31 - 1)] = 0,
) -> str:
    return _audit(workspace, caller, before=before)


@router.post("/admin/audit", response_class=HTMLResponse)
async def verify(request: Request, workspace: CurrentWorkspace, caller: Asking) -> str:
    """Walk the chain and every row it speaks of."""
    form = await read_form(request, _audit)
    verified = await asyncio.to_thread(verify_audit, workspace, form.one("head"))
    return await asyncio.to_thread(_audit, workspace, caller, verified=verified_json(verified))


def _audit(
    workspace: Workspace,
    caller: Asking,
    refused: RefusedForm = NOT_REFUSED,
    *,
    before: int = 0,
    verified: Mapping[str, Any] | None = None,
) -> str:
    lines = overview.last_records(workspace, before)
    return render_admin(
        "admin/audit.html",
        workspace,
        caller,
        refused,
        head=chain_head(workspace),
        lines=lines,
        verified=verified,
        earlier=lines[-1].number if lines and lines[-1].number > 1 else 0,
    )


# People -------------------------------------------------------------------------------------------


@router.get("/admin/people", response_class=HTMLResponse)
def everybody(workspace: CurrentWorkspace, caller: Asking) -> str:
    return _people(workspace, caller)


def _people(
    workspace: Workspace, caller: Asking, refused: RefusedForm = NOT_REFUSED, *, secret: str = ""
) -> str:
    """Render the accounts. secret: of a token that was just made, which is shown only now."""
    return render_admin(
        "admin/people.html",
        workspace,
        caller,
        refused,
        people=people.list_people(workspace),
        has_admin=people.has_admin(workspace),
        least=signing_in.LEAST,
        tokens=people.every_token(workspace),
        duties=get_args(Duty),
        rights=get_args(Right),
        secret=secret,
    )


@router.post("/admin/people")
async def add(request: Request, workspace: CurrentWorkspace, caller: Asking) -> Response:
    form = await read_form(request, _people)
    password = form.fields.get("password", [""])[0]
    await asyncio.to_thread(
        people.add_person,
        workspace,
        form.one("name"),
        _person(form),
        form.all("duty"),
        password=password,
        by=actor(caller),
    )
    return back_to("/admin/people")


@router.get("/admin/people/{name}/export")
def export(name: str, workspace: CurrentWorkspace, caller: Asking) -> Response:
    """Send everything that is stored about a person, as a file."""
    exported = export_of(workspace, name, actor(caller))
    name_of_file = f"attachment; filename*=UTF-8''{quote(name, safe='')}.json"
    headers = {"content-disposition": name_of_file}
    text = json.dumps(exported, indent=2, ensure_ascii=False)
    return Response(text, media_type="application/json", headers=headers)


@router.post("/admin/people/{name}/{action}")
async def change(
    name: str, action: str, request: Request, workspace: CurrentWorkspace, caller: Asking
) -> Response:
    """Change duties, description or password of an account, or disable or enable it."""
    if action not in _CHANGES:
        raise BadRequest(message("admin.error_action", action=quote(action)[:40]))
    form = await read_form(request, _people)
    account = await asyncio.to_thread(people.find_person, workspace, name)
    await asyncio.to_thread(_CHANGES[action], workspace, account, form, actor(caller))
    request.app.state.callers.forget()
    return back_to("/admin/people")


def _duties(workspace: Workspace, account: Account, form: Form, by: str) -> None:
    people.give_duties(workspace, account, form.all("duty"), by=by)


def _describe(workspace: Workspace, account: Account, form: Form, by: str) -> None:
    people.describe_person(workspace, account, _person(form), by=by)


def _password(workspace: Workspace, account: Account, form: Form, by: str) -> None:
    people.set_password(workspace, account, form.fields.get("password", [""])[0], by=by)


def _disable(workspace: Workspace, account: Account, form: Form, by: str) -> None:
    del form
    people.disable(workspace, account, by=by)


def _enable(workspace: Workspace, account: Account, form: Form, by: str) -> None:
    del form
    people.disable(workspace, account, disabled=False, by=by)


_CHANGES: Mapping[str, Callable[[Workspace, Account, Form, str], None]] = {
    "duties": _duties,
    "describe": _describe,
    "password": _password,
    "disable": _disable,
    "enable": _enable,
}


@router.post("/admin/tokens", response_class=HTMLResponse)
async def make_token(request: Request, workspace: CurrentWorkspace, caller: Asking) -> str:
    form = await read_form(request, _people)
    account = await asyncio.to_thread(people.find_person, workspace, form.one("for"))
    _, secret = await asyncio.to_thread(
        people.make_token,
        workspace,
        account,
        form.one("name"),
        form.all("right"),
        until=read_day(form.one("until")),
        by=actor(caller),
    )
    return await asyncio.to_thread(_people, workspace, caller, secret=secret)


@router.post("/admin/tokens/{identity}/revoke")
async def revoke_token(
    identity: str, request: Request, workspace: CurrentWorkspace, caller: Asking
) -> Response:
    await asyncio.to_thread(people.revoke_token, workspace, identity, by=actor(caller))
    request.app.state.callers.forget()
    return back_to("/admin/people")


def _person(form: Form) -> Person:
    return Person(
        country=read_country(form.one("country")) or None,
        roles=tuple(form.one("roles").replace(",", " ").split()),
        groups=tuple(form.one("groups").replace(",", " ").split()),
        grade=form.one("grade") or None,
        contract=form.one("contract") or None,
    )
