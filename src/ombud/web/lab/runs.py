"""`/lab`: runs with their intervals, compared and looked into case by case; datasets. And
`/playground`: one question, every knob."""

import asyncio
import base64
import re
from hashlib import sha256
from typing import Annotated, Any, NamedTuple
from urllib.parse import quote

from fastapi import APIRouter, Query, Response
from fastapi.responses import HTMLResponse
from markupsafe import Markup
from pydantic import Field

from ombud.app import Workspace, library, rating, studying, trying
from ombud.errors import BadRequest
from ombud.lab import (
    RecordedRun,
    figure_of,
    html_report,
    interval_of,
    read_run,
    study_body,
    title_of,
)
from ombud.messages import message
from ombud.store import count_looks, list_runs
from ombud.types import Run
from ombud.web.admin.forms import render_admin
from ombud.web.api import CurrentWorkspace
from ombud.web.live.secrets import Asking
from ombud.web.shapes import PlanFields, QuestionText, Shape

LISTED = 60
"""Runs of the list, the newest first; the figures of the first ten are worked out."""
FIGURED = 10
FIGURES = 4
"""Of one run."""
MOST_COMPARED = 8
_STYLE = re.compile(r"<style>(.*?)</style>", re.DOTALL)
router = APIRouter(include_in_schema=False)


@router.get("/lab", response_class=HTMLResponse)
def lab(workspace: CurrentWorkspace, caller: Asking) -> str:
    runs = list_runs(workspace.store)
    newest = sorted(runs, key=_began, reverse=True)[:LISTED]
    figures = {run.id: _figures(workspace, run) for run in newest[:FIGURED]}
    return render_admin(
        "lab/runs.html",
        workspace,
        caller,
        runs=newest,
        count=len(runs),
        figures=figures,
        datasets=trying.datasets(workspace),
        studies=studying.list_studies(workspace),
        sessions=rating.list_sessions(workspace),
        looks=count_looks(workspace.store),
    )


def _began(run: Run) -> str:
    return run.started.isoformat() if run.started else ""


class Figure(NamedTuple):
    title: str
    value: str
    interval: str
    """Such as `59 to 83 %`; empty where there is none."""


def _figures(workspace: Workspace, run: Run) -> list[Figure]:
    """Return a run's means over all cases, with intervals; none while it runs."""
    if run.state != "done":
        return []
    recorded = read_run(workspace.store, run.id)
    figures: list[Figure] = []
    for metric in recorded.metrics:
        mean = recorded.overall(metric).mean
        if mean.value is not None:
            interval = interval_of(mean, metric)
            figures.append(Figure(title_of(metric), figure_of(mean.value, metric), interval))
        if len(figures) == FIGURES:
            break
    return figures


@router.get("/lab/report", response_class=HTMLResponse)
async def report(
    workspace: CurrentWorkspace, run: Annotated[list[str], Query(max_length=MOST_COMPARED)]
) -> Response:
    """Show one run, or compare several with the first: metrics with intervals, differences beyond
    noise, cost, and each case. The page has styles of its own, which its policy allows by their
    digests, and no script."""
    html = await asyncio.to_thread(_report, workspace, run)
    styles = " ".join(map(_digest, _STYLE.findall(html)))
    policy = f"default-src 'none'; style-src {styles}; img-src data:; base-uri 'none'"
    return HTMLResponse(html, headers={"content-security-policy": policy})


@router.get("/lab/study", response_class=HTMLResponse)
def study(
    workspace: CurrentWorkspace,
    caller: Asking,
    name: Annotated[str, Query(max_length=200)],
    metric: Annotated[str, Query(max_length=200)] = "",
) -> str:
    """Chart a sweep, an ablation or a search."""
    results = studying.show_study(workspace, name, metric)
    return render_admin(
        "lab/study.html",
        workspace,
        caller,
        called=name,
        study=results,
        body=Markup(study_body(results.plots)),  # noqa: S704 - the lab has escaped it
    )


def _report(workspace: Workspace, names: list[str]) -> str:
    runs: list[RecordedRun] = [read_run(workspace.store, name) for name in names]
    if not runs:
        raise BadRequest(
            message("evaluation.error_no_run"), hint=message("evaluation.error_no_run_hint")
        )
    in_order = sorted(runs, key=lambda one: _began(one.run))
    cases = [
        (
            f"/lab/cases?run={quote(one.run.id, safe='')}",
            message("evaluation.cases_of", name=one.run.name),
        )
        for one in in_order
    ]
    return html_report(in_order, links=(("/lab", message("evaluation.back")), *cases))


def _digest(style: str) -> str:
    """Return the digest of a style for the content policy (CSP 3, 6.7.3.3)."""
    digest = base64.b64encode(sha256(style.encode()).digest()).decode()
    return f"'sha256-{digest}'"


# The playground -----------------------------------------------------------------------------------


class RouteIn(Shape):
    question: QuestionText
    plan: PlanFields = None


@router.get("/playground", response_class=HTMLResponse)
def playground(workspace: CurrentWorkspace, caller: Asking) -> str:
    """Show HyPA-RAG's demo for the workspace's own documents."""
    audiences = library.known_audiences(workspace)
    models = workspace.settings.models
    return render_admin(
        "lab/playground.html",
        workspace,
        caller,
        choices=trying.choices(workspace),
        samples=trying.SAMPLES,
        countries=audiences.get("countries", []),
        roles=audiences.get("roles", []),
        chat=models.chat or "",
        graph=workspace.settings.index.graph,
    )


@router.post("/playground/route")
def route(body: RouteIn, workspace: CurrentWorkspace) -> dict[str, Any]:
    """Show the complexity of a question and the plan fields that it sets."""
    return trying.route(workspace, body.question, body.plan or {})


class PagesIn(Shape):
    versions: list[tuple[str, str]] = Field(max_length=100)
    """Id and digest of each document."""


@router.post("/playground/pages")
def pages(body: PagesIn, workspace: CurrentWorkspace) -> dict[str, int]:
    """Map document ids to their number of pages."""
    return trying.pages(workspace, body.versions)
