"""`ombud ask`."""

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

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
from ombud.cli.printing.terminal import open_page, waiting
from ombud.cli.process import collect_nothing
from ombud.errors import BadRequest, OmbudError

if TYPE_CHECKING:
    from ombud.app import Workspace
    from ombud.cli.printing.terminal import Page
    from ombud.types import Answer, CitedDocument


def ask_question(
    question: str = typer.Argument("", help="The question."),
    country: str = COUNTRY,
    role: list[str] = ROLE,
    persona: str = typer.Option("employee", "--persona", help="Whom the answer is written for."),
    as_of: str = AS_OF,
    plan: list[str] = typer.Option(
        [], "--plan", metavar="KEY=VALUE", help="Change a knob of this answer."
    ),
    batch: Path = typer.Option(None, "--batch", help="Questions, one JSON object a line."),
    as_json: bool = JSON,
    home: Path | None = HOME,
) -> None:
    """Answer a question from the documents, with citations."""
    del home
    if not batch:
        collect_nothing()
    from ombud.app import asking

    with errors_said(as_json or batch is not None):
        if bool(question.strip()) == (batch is not None):
            raise BadRequest(
                "Give a question or --batch FILE.",
                hint='Such as ombud ask "How much leave do I get?".',
            )
        changes = plan_values(plan)
        if batch:
            raise typer.Exit(asyncio.run(_batch(open_workspace(), batch, changes)))
        from ombud.types import Question

        typed = Question(
            text=question, asker=person(country, role, persona=persona), as_of=day(as_of)
        )
        with waiting("Opening the index", visible=not as_json) as on_event:
            workspace = open_workspace()
            answer = asyncio.run(asking.ask(workspace, typed, plan=changes, on_event=on_event))
        if as_json:
            print_json(answer.model_dump(mode="json"))
        else:
            _say(answer)


async def _batch(workspace: "Workspace", path: Path, changes: dict[str, object]) -> int:
    """Ask several questions concurrently, and print the answers in the order of the file."""
    from ombud.app import asking

    settings = workspace.settings
    # Where no chat model is waited for, each is answered as if it were asked alone.
    at_once = settings.server.concurrency if settings.models.chat else workspace.reading_places
    limit = asyncio.Semaphore(at_once)

    async def one(row: object) -> "Answer":
        async with limit:
            if isinstance(row, OmbudError):
                raise row
            assert isinstance(row, dict)  # noqa: S101 - read_lines gives nothing else
            return await asking.ask(workspace, question_of(row), plan=plan_of(row, changes))

    code = 0
    running = [(identity, asyncio.create_task(one(row))) for identity, row in read_lines(path)]
    for identity, task in running:
        try:
            answer = await task
        except OmbudError as failed:
            print_failure(identity, failed)
            code = 1
        else:
            print_json({"id": identity, "answer": answer.model_dump(mode="json")})
    return code


def _say(answer: "Answer") -> None:
    page = open_page()
    page.markdown(answer.text)
    further = [text for text in answer.suggestions if text not in answer.text]
    if further:
        page.line("\nYou may ask, for instance:", style="bold")
    for text in further:
        page.line(f"  {text}")
    if answer.sources:
        page.line("\nSources:", style="bold")
    for source in answer.sources:
        say_source(page, answer, source)
    for contact in answer.contacts:
        parts = filter(None, (contact.name, contact.mail, contact.phone))
        page.line(f"\nContact: {', '.join(parts)}")
    for note in (*answer.trace.notes, *answer.trace.degraded):
        page.line(f"\nNote: {note}", style="italic")


def say_source(page: "Page", answer: "Answer", source: "CitedDocument") -> None:
    numbers = ""
    pages: dict[int, None] = {}
    for position in source.citations:
        numbers += f"[{position + 1}]"
        number = answer.citations[position].page
        if number:
            pages[number] = None
    covers = f": {source.covers}" if source.covers else ""
    page.line(f"{numbers} {source.title}{covers}")
    on_pages = "".join(f", page {number}" for number in pages)
    page.line(f"{source.uri}{on_pages}", indent=4, style="dim")
    if source.also_in:
        titles = ", ".join(copy.title for copy in source.also_in)
        page.line(f"also in: {titles}", indent=4, style="dim")
