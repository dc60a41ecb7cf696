"""`/lab/datasets`: cases edited on a page, each change a version with its author and reason."""

import asyncio
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import HTMLResponse

from ombud.app import Workspace, callers, datasets
from ombud.errors import BadRequest
from ombud.lab import read_cases
from ombud.messages import message
from ombud.types import Case
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


@router.get("/lab/datasets", response_class=HTMLResponse)
def listed(workspace: CurrentWorkspace, caller: Asking) -> str:
    return _list(workspace, caller)


@router.post("/lab/datasets")
async def upload(request: Request, workspace: CurrentWorkspace, caller: Asking) -> Response:
    """Take a file of cases as the first version of a dataset, or as the next one."""
    form = await read_form(request, _list)
    if not form.files:
        raise BadRequest(message("admin.error_no_file"), hint=message("evaluation.error_file_hint"))
    name = form.one("name")
    cases = await asyncio.to_thread(_read, form.files[0])
    base = dict(await asyncio.to_thread(datasets.list_datasets, workspace)).get(name)
    why, by = form.one("why"), (actor(caller), caller.name)
    number = base.number if base else 0
    await asyncio.to_thread(
        datasets.add_version, workspace, name, cases, why=why, by=by, base=number
    )
    return back_to(f"/lab/datasets/{name}")


@router.get("/lab/datasets/{name}", response_class=HTMLResponse)
def shown(
    name: str,
    workspace: CurrentWorkspace,
    caller: Asking,
    version: Annotated[int, Query(ge=0)] = 0,
    case: Annotated[str, Query(max_length=200)] = "",
) -> str:
    seen = datasets.show_dataset(workspace, name, version)
    edited = next((one for one in seen.cases if one.id == case), None)
    return render_admin("lab/dataset.html", workspace, caller, seen=seen, edited=edited)


@router.post("/lab/datasets/{name}")
async def change(
    name: str, request: Request, workspace: CurrentWorkspace, caller: Asking
) -> Response:
    """Change, add or remove a case: a new version."""
    form = await read_form(request)
    await asyncio.to_thread(_change, workspace, name, form, caller)
    return back_to(f"/lab/datasets/{name}")


def _change(workspace: Workspace, name: str, form: Form, caller: callers.Caller) -> None:
    seen = datasets.show_dataset(workspace, name, form.number("version"))
    fields = {
        "question": form.one("question"),
        "reference": form.one("reference"),
        "expect": form.one("expect"),
        "tags": form.one("tags").split(),
    }
    removed = form.one("do") == "remove"
    cases = datasets.change_case(seen, form.one("case"), None if removed else fields)
    by = (actor(caller), caller.name)
    datasets.add_version(workspace, name, cases, why=form.one("why"), by=by, base=seen.number)


def _read(file: tuple[str, bytes]) -> tuple[Case, ...]:
    with TemporaryDirectory() as folder:
        path = Path(folder, Path(file[0]).name or "cases.jsonl")
        path.write_bytes(file[1])
        return tuple(read_cases(path))


def _list(workspace: Workspace, caller: Asking, refused: RefusedForm = NOT_REFUSED) -> str:
    return render_admin(
        "lab/datasets.html",
        workspace,
        caller,
        refused,
        datasets=datasets.list_datasets(workspace),
    )
