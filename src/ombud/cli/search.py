"""`ombud search`."""

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from ombud.cli.batch import plan_of, print_failure, question_of, read_lines
from ombud.cli.console import (
    AS_OF,
    COUNTRY,
    HOME,
    JSON,
    ROLE,
    day,
    errors_said,
    open_workspace,
    person,
    plan_values,
    print_json,
)
from ombud.cli.printing.terminal import STEPS, open_page, waiting
from ombud.cli.process import collect_nothing
from ombud.errors import BadRequest, OmbudError

if TYPE_CHECKING:
    from ombud.app import Workspace
    from ombud.types import Evidence, Trace

MODES = ("hybrid", "sparse", "dense")


def search_passages(
    query: str = typer.Argument("", help="What to look for."),
    country: str = COUNTRY,
    role: list[str] = ROLE,
    k: int = typer.Option(None, "-k", min=1, max=100, help="Passages to return."),
    mode: str = typer.Option("", "--mode", help="hybrid, sparse or dense."),
    as_of: str = AS_OF,
    plan: list[str] = typer.Option(
        [], "--plan", metavar="KEY=VALUE", help="Change a knob of this search."
    ),
    batch: Path = typer.Option(None, "--batch", help="Questions, one JSON object a line."),
    as_json: bool = JSON,
    home: Path | None = HOME,
) -> None:
    """Search the passages that this person may read, best first."""
    del home
    if not batch:
        collect_nothing()
    from ombud.app import asking

    with errors_said(as_json or batch is not None):
        if mode and mode not in MODES:
            raise BadRequest(f"`{mode}` is not a mode.", hint=f"Known: {', '.join(MODES)}.")
        if bool(query.strip()) == (batch is not None):
            raise BadRequest(
                "Give a question or --batch FILE.", hint='Such as ombud search "notice period".'
            )
        chosen = plan_values(plan)
        if k:
            chosen["k"] = k
        if mode:
            chosen["mode"] = mode
        if batch:
            raise typer.Exit(asyncio.run(_batch(open_workspace(), batch, chosen)))
        asker = person(country, role)
        today = day(as_of)
        with waiting(STEPS["search"], visible=not as_json):
            workspace = open_workspace()
            evidence, trace = asyncio.run(
                asking.search(workspace, query, asker, as_of=today, plan=chosen)
            )
        if as_json:
            print_json({"hits": rows(evidence), "trace": trace.model_dump(mode="json")})
        else:
            _say(evidence, trace)


def rows(evidence: "Evidence") -> list[dict[str, Any]]:
    """Return hits as the API gives them."""
    fields = {
        "document_id",
        "uri",
        "title",
        "trail",
        "header",
        "page_from",
        "page_to",
        "start",
        "end",
        "text",
    }
    dates = {"effective_from", "effective_to"}
    return [
        {"chunk_id": hit.chunk.id}
        | hit.chunk.model_dump(mode="json", include=fields | dates)
        | {
            "score": hit.score,
            "found_by": hit.found_by,
            "scope": "local" if hit.chunk.countries else "shared",
        }
        for hit in evidence.hits
    ]


async def _batch(workspace: "Workspace", path: Path, chosen: dict[str, Any]) -> int:
    from ombud.app import asking

    code = 0
    for identity, row in read_lines(path):
        try:
            if isinstance(row, OmbudError):
                raise row
            question = question_of(row)
            evidence, trace = await asking.search(
                workspace,
                question.text,
                question.asker,
                as_of=question.as_of,
                history=question.history,
                plan=plan_of(row, chosen),
            )
        except OmbudError as failed:
            print_failure(identity, failed)
            code = 1
            continue
        print_json({"id": identity, "hits": rows(evidence), "trace": trace.model_dump(mode="json")})
    return code


def _say(evidence: "Evidence", trace: "Trace") -> None:
    page = open_page()
    for number, hit in enumerate(evidence.hits, start=1):
        chunk = hit.chunk
        place = f", page {chunk.page_from}" if chunk.page_from else ""
        where = ", ".join(chunk.countries) or "global"
        head = f"{number}. {' > '.join(chunk.trail)}  [{where}]  {hit.score:.4f}"
        page.line(head, style="bold")
        page.line(f"{chunk.uri}{place}", indent=3, style="dim")
        page.markdown(f"{chunk.header}\n{chunk.text}".strip(), indent=3)
        page.line("")
    if not evidence.hits:
        page.line("Nothing was found that this person may read.")
    for note in (*trace.notes, *trace.degraded):
        page.line(f"Note: {note}", style="italic")
