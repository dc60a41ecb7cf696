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
from pydantic import Field

from ombud.app import Workspace, library, rating, studying, trying
from ombud.errors import BadRequest
from ombud.lab import (
    RecordedRun,
    figure_of,
    html_report,
    interval_of,
    read_run,
    summarise,
    title_of,
)
from ombud.store import count_looks, list_runs
from ombud.types import Run
from ombud.web.admin.forms import shown
from ombud.web.api import CurrentWorkspace
from ombud.web.live.secrets import Asking
from ombud.web.shapes import Asked, PlanFields, Shape

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
    return shown(
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
    """Its means over all cases, with intervals; none while it runs."""
    if run.state != "done":
        return []
    recorded = read_run(workspace.store, run.id)
    lines = summarise(recorded.cases, recorded.scores, by=("overall",), repeats=500)
    found: list[Figure] = []
    for line in lines:
        value = line.mean.value
        if value is not None:
            interval = interval_of(line.mean, line.metric)
            found.append(Figure(title_of(line.metric), figure_of(value, line.metric), interval))
    return found[:FIGURES]


@router.get("/lab/report", response_class=HTMLResponse)
async def report(
    workspace: CurrentWorkspace, run: Annotated[list[str], Query(max_length=MOST_COMPARED)]
) -> Response:
    """One run, or several beside the first: metrics with intervals, differences beyond noise, cost,
    and each case with its searches, hits, answer and reasons. A page with styles of its own, which
    its policy lets in by their digests; it holds no script."""
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
    """A sweep, an ablation or a search as pictures."""
    found = studying.show_study(workspace, name, metric)
    return shown("lab/study.html", workspace, caller, called=name, study=found)


def _report(workspace: Workspace, names: list[str]) -> str:
    runs: list[RecordedRun] = [read_run(workspace.store, name) for name in names]
    if not runs:
        raise BadRequest("No run is named.", hint="Choose one or more.")
    in_order = sorted(runs, key=lambda one: _began(one.run))
    cases = [
        (f"/lab/cases?run={quote(one.run.id, safe='')}", f"Cases of {one.run.name}")
        for one in in_order
    ]
    return html_report(in_order, links=(("/lab", "The lab"), *cases))


def _digest(style: str) -> str:
    """As a policy names what it lets in (CSP 3, 6.7.3.3)."""
    digest = base64.b64encode(sha256(style.encode()).digest()).decode()
    return f"'sha256-{digest}'"


# The playground -----------------------------------------------------------------------------------


class RouteIn(Shape):
    question: Asked
    plan: PlanFields = None


@router.get("/playground", response_class=HTMLResponse)
def playground(workspace: CurrentWorkspace, caller: Asking) -> str:
    """HyPA-RAG's demo, on one's own documents."""
    audiences = library.known_audiences(workspace)
    models = workspace.settings.models
    return shown(
        "lab/playground.html",
        workspace,
        caller,
        choices=trying.choices(workspace),
        samples=trying.SAMPLES,
        countries=audiences.get("countries", []),
        roles=audiences.get("roles", []),
        chat=models.chat or "",
    )


@router.post("/playground/route")
def route(body: RouteIn, workspace: CurrentWorkspace) -> dict[str, Any]:
    """How complex a question is taken to be, and what that sets."""
    return trying.route(workspace, body.question, body.plan or {})


class PagesIn(Shape):
    versions: list[tuple[str, str]] = Field(max_length=100)
    """Id and digest of each document."""


@router.post("/playground/pages")
def pages(body: PagesIn, workspace: CurrentWorkspace) -> dict[str, int]:
    """Id -> how many pages a document has."""
    return trying.pages(workspace, body.versions)
