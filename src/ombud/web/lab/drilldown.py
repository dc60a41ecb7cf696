"""`/lab/cases` and `/lab/case`: what a run did with each case, down to every stage of a search."""

from typing import Annotated

from fastapi import APIRouter, Query
from fastapi.responses import HTMLResponse

from ombud.app import inspecting
from ombud.web.admin.forms import render_admin
from ombud.web.api import CurrentWorkspace
from ombud.web.live.secrets import Asking

Named = Annotated[str, Query(max_length=200)]
router = APIRouter(include_in_schema=False)


@router.get("/lab/cases", response_class=HTMLResponse)
def cases(
    workspace: CurrentWorkspace,
    caller: Asking,
    run: Named,
    only: Annotated[str, Query(max_length=20)] = "",
    begin: Annotated[int, Query(ge=0)] = 0,
) -> str:
    """List the cases of a run, or only the failed ones."""
    listed = inspecting.list_cases(workspace, run, only_wrong=only == "wrong", begin=begin)
    later = begin + inspecting.LISTED
    return render_admin(
        "lab/cases.html",
        workspace,
        caller,
        listed=listed,
        only=only,
        begin=begin,
        earlier=max(0, begin - inspecting.LISTED),
        later=later if later < listed.fitting else 0,
    )


@router.get("/lab/case", response_class=HTMLResponse)
def case(workspace: CurrentWorkspace, caller: Asking, run: Named, case: Named) -> str:
    details = inspecting.show_case(workspace, run, case)
    return render_admin("lab/case.html", workspace, caller, found=details)
