"""What owners see of the desk: its report."""

from datetime import date

from fastapi import APIRouter, Response
from fastapi.responses import HTMLResponse

from ombud.app import reporting
from ombud.messages import country_name, format_day, message
from ombud.web.admin.forms import render_admin
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
