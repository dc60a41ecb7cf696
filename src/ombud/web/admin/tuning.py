"""How it answers: prompts with their versions, experiments and what differs by country."""

import asyncio
from functools import partial
from typing import Annotated

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import HTMLResponse

from ombud.app import Workspace, flagging, prompting
from ombud.errors import BadRequest
from ombud.messages import message
from ombud.text import read_country
from ombud.web.admin.forms import (
    NOT_REFUSED,
    Form,
    RefusedForm,
    actor,
    back_to,
    read_form,
    render_admin,
)
from ombud.web.api import CurrentWorkspace
from ombud.web.live.secrets import Asking

router = APIRouter(include_in_schema=False)


@router.get("/admin/prompts", response_class=HTMLResponse)
def prompts(workspace: CurrentWorkspace, caller: Asking) -> str:
    lines = prompting.list_prompts(workspace)
    return render_admin(
        "admin/prompts.html",
        workspace,
        caller,
        lines=lines,
        asks_model=_asks_model(workspace),
    )


@router.get("/admin/prompts/{task}/{variant}", response_class=HTMLResponse)
def prompt(
    task: str,
    variant: str,
    workspace: CurrentWorkspace,
    caller: Asking,
    version: Annotated[int | None, Query(ge=0, le=1_000_000)] = None,
) -> str:
    """Show one prompt; `version` shows another version beside the one in use, 0 the shipped one."""
    return _prompt(f"{task}/{variant}", workspace, caller, version=version)


def _prompt(
    name: str,
    workspace: Workspace,
    caller: Asking,
    refused: RefusedForm = NOT_REFUSED,
    *,
    version: int | None = None,
) -> str:
    stored = prompting.read_prompt(workspace, name)
    other = stored.active
    if version is not None:
        other = stored.shipped
        if version:
            other = prompting.version(workspace, name, version).text
    return render_admin(
        "admin/prompt.html",
        workspace,
        caller,
        refused,
        prompt=stored,
        asks_model=_asks_model(workspace),
        version=version,
        text=other,
        difference=prompting.difference(stored.active, other),
        against_shipped=prompting.difference(stored.shipped, other),
        preview=prompting.preview(other),
    )


@router.post("/admin/prompts/{task}/{variant}")
async def change_prompt(
    task: str, variant: str, request: Request, workspace: CurrentWorkspace, caller: Asking
) -> Response:
    """Save a version, or let one count."""
    name, by = f"{task}/{variant}", actor(caller)
    form = await read_form(request, partial(_prompt, name))
    if form.one("do") == "activate":
        number = form.number("version")
        await asyncio.to_thread(prompting.activate, workspace, name, number, by)
        return back_to(f"/admin/prompts/{name}")
    text = form.fields.get("text", [""])[0]
    made = await asyncio.to_thread(prompting.save_version, workspace, name, text, by)
    return back_to(f"/admin/prompts/{name}?version={made.number}")


@router.get("/admin/flags", response_class=HTMLResponse)
def flags(workspace: CurrentWorkspace, caller: Asking) -> str:
    return _flags(workspace, caller)


def _flags(workspace: Workspace, caller: Asking, refused: RefusedForm = NOT_REFUSED) -> str:
    settings = workspace.flagged
    countries = {code: flagging.plan_lines(one.plan) for code, one in settings.country.items()}
    return render_admin(
        "admin/flags.html",
        workspace,
        caller,
        refused,
        plan=flagging.plan_lines(settings.plan.model_dump(mode="json", exclude_defaults=True)),
        experiments=settings.experiment,
        plans={name: flagging.plan_lines(one.plan) for name, one in settings.experiment.items()},
        flags=countries,
    )


@router.post("/admin/flags/experiment")
async def change_experiment(
    request: Request, workspace: CurrentWorkspace, caller: Asking
) -> Response:
    form = await read_form(request, _flags)
    name, by = form.one("name"), actor(caller)
    if form.one("do") == "remove":
        await asyncio.to_thread(flagging.remove_experiment, workspace, name, by)
    else:
        fields = {
            "share": _share(form),
            "countries": _countries(form.one("countries")),
            "off": form.one("off") == "1",
        }
        plan = form.fields.get("plan", [""])[0]
        await asyncio.to_thread(flagging.set_experiment, workspace, name, fields, plan=plan, by=by)
    return back_to("/admin/flags")


@router.post("/admin/flags/country")
async def change_country(request: Request, workspace: CurrentWorkspace, caller: Asking) -> Response:
    form = await read_form(request, _flags)
    code, plan = form.one("code"), form.fields.get("plan", [""])[0]
    await asyncio.to_thread(flagging.set_country, workspace, code, plan, actor(caller))
    return back_to("/admin/flags")


def _asks_model(workspace: Workspace) -> bool:
    """Tell whether a chat model is configured."""
    models = workspace.settings.models
    named = {name for chain in models.roles.values() for name in chain}
    return bool(models.chat or named - {"none"})


def _countries(written: str) -> list[str]:
    """Parse country names or codes between commas. Raises BadRequest."""
    parts = written.split(",") if "," in written else written.split()
    return [code for code in map(read_country, parts) if code]


def _share(form: Form) -> float:
    try:
        percent = float(form.one("share") or "0")
    except ValueError as wrong:
        raise BadRequest(
            message("admin.error_share"), hint=message("admin.error_share_hint")
        ) from wrong
    return percent / 100
