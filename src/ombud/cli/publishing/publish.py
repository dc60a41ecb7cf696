"""`ombud publish`."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from ombud.cli.console import HOME, JSON, day, errors_said, open_workspace, print_json, progress
from ombud.cli.publishing.checking import (
    CASES,
    CONCURRENCY,
    COUNTRIES,
    DRAFTS,
    FROM_LOG,
    HTML,
    INTO,
    MADE,
    MARKDOWN,
    ON,
    REPLACES,
    SHOW,
    questions_of,
)
from ombud.cli.publishing.checking import check as check_only
from ombud.errors import BadRequest

if TYPE_CHECKING:
    from ombud.app import Publication


def put_in_force(
    drafts: list[Path] = DRAFTS,
    on: str = ON,
    replaces: list[str] = REPLACES,
    into: str = INTO,
    force: str = typer.Option(
        "", "--force", metavar="REASON", help="Publish though no check says go, and say why."
    ),
    check: bool = typer.Option(
        False, "--check", help="Publish nothing: say which answers the drafts would change."
    ),
    cases: Path | None = CASES,
    from_log: int = FROM_LOG,
    made: int = MADE,
    country: list[str] = COUNTRIES,
    concurrency: int = CONCURRENCY,
    show: int = SHOW,
    html: Path | None = HTML,
    markdown: Path | None = MARKDOWN,
    undo: str = typer.Option("", "--undo", metavar="ID", help="Take a publication back."),
    list_all: bool = typer.Option(False, "--list", help="Show publications, newest first."),
    as_json: bool = JSON,
    home: Path | None = HOME,
) -> None:
    """Put drafts in force on their day. What they replace ends the day before; needs a --check of
    just these drafts that said go. --check asks the index as it is and as it would be: exit code 1
    where the rules of [publish] do not let the drafts come into force."""
    del home
    with errors_said(as_json):
        from ombud.app import DraftChoices, list_publications, publish_drafts, undo_publication

        if sum((bool(drafts), bool(undo), list_all)) != 1:
            raise BadRequest(
                "Say one thing: drafts to publish, --undo ID, or --list.",
                hint="Such as `ombud publish travel.md --on 2027-01-01`.",
            )
        choices = DraftChoices(on=day(on), replaces=tuple(replaces), into=into)
        if check:
            questions = questions_of(cases, from_log, made, country)
            check_only(
                drafts,
                choices,
                questions,
                concurrency=concurrency,
                show=show,
                html=html,
                markdown=markdown,
                as_json=as_json,
            )
            return
        workspace = open_workspace()
        if list_all:
            say_all(list_publications(workspace), as_json)
            return
        with progress(not as_json) as on_progress:
            if undo:
                done = undo_publication(workspace, undo, on_progress=on_progress)
            else:
                done = publish_drafts(
                    workspace,
                    drafts,
                    choices,
                    force=force,
                    on_progress=on_progress,
                )
        if as_json:
            print_json(json_of(done.publication) | {"notes": list(done.notes)})
            return
        for note in done.notes:
            print(note)
        print(line_of(done.publication))


def say_all(publications: list["Publication"], as_json: bool) -> None:
    if as_json:
        print_json({"publications": list(map(json_of, publications))})
        return
    for publication in publications:
        print(f"{publication.at[:16]}  {line_of(publication)}")
    if not publications:
        print("Nothing was published yet.")


STATES = {"begun": "cut off", "done": "published", "undone": "taken back"}


def line_of(publication: "Publication") -> str:
    documents: list[str] = []
    for document in publication.documents:
        instead = f" in place of {document.replaces}" if document.replaces else ""
        documents.append(f"{document.uri} from {document.begins}{instead}")
    line = f"{publication.id} {STATES[publication.state]}: {', '.join(documents)}"
    return f"{line} (forced: {publication.forced})" if publication.forced else line


def json_of(publication: "Publication") -> dict[str, Any]:
    return publication.model_dump(mode="json")
