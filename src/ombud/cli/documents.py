"""`ombud documents`."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from ombud.cli.console import (
    COUNTRY,
    HOME,
    JSON,
    ROLE,
    errors_said,
    open_workspace,
    person,
    print_json,
    write_file,
)
from ombud.cli.printing.help import WholeHelp
from ombud.cli.printing.tables import table

if TYPE_CHECKING:
    from ombud.app import Workspace
    from ombud.types import Document, Person

app = typer.Typer(cls=WholeHelp, help="What is indexed.", no_args_is_help=True)


@app.command("list")
def list_all(
    country: str = COUNTRY, role: list[str] = ROLE, as_json: bool = JSON, home: Path | None = HOME
) -> None:
    """List all documents; with --country or --role, those that such a person may read today."""
    from ombud.app import library
    from ombud.types import CONTENT

    del home
    with errors_said(as_json):
        documents = library.documents(open_workspace(), _reader(country, role))
        if as_json:
            print_json(
                {"documents": [d.model_dump(mode="json", exclude=set(CONTENT)) for d in documents]}
            )
            return
        if documents:
            print(_listed(documents))
        else:
            print("No documents. `ombud sync FOLDER` indexes some.")


@app.command()
def show(
    document: str = typer.Argument(help="Id or uri."),
    country: str = COUNTRY,
    role: list[str] = ROLE,
    as_json: bool = JSON,
    home: Path | None = HOME,
) -> None:
    """Show one document: its metadata, and its text as it was parsed."""
    from ombud.app import library

    del home
    with errors_said(as_json):
        stored = library.document(open_workspace(), document, _reader(country, role))
        if as_json:
            print_json(stored.model_dump(mode="json"))
        else:
            _say(stored)


@app.command()
def delete(
    document: str = typer.Argument(help="Id or uri."),
    certify: bool = typer.Option(
        False, "--certify", help="Also purge what repeats it, and prove it."
    ),
    to: Path | None = typer.Option(
        None, "--to", help="With --certify: write the certificate into this file, as JSON."
    ),
    as_json: bool = JSON,
    home: Path | None = HOME,
) -> None:
    """Remove a document from the index and the store. A file that is still there comes back with
    the next sync."""
    from ombud.app import library

    del home
    with errors_said(as_json):
        if certify:
            _certify(open_workspace(), document, to, as_json)
            return
        gone = library.delete_document(open_workspace(), document)
        if as_json:
            print_json({"deleted": gone.id, "uri": gone.uri})
        else:
            print(f"Deleted {gone.uri}.")


def _certify(workspace: "Workspace", document: str, to: Path | None, as_json: bool) -> None:
    from ombud.app import certificate_json, certify_deletion

    made = certify_deletion(workspace, document)
    written = certificate_json(made)
    if to:
        write_file(to, json.dumps(written, indent=2, ensure_ascii=False) + "\n")
    if as_json:
        print_json(written)
    else:
        print(f"{made.uri} ({made.digest[:12]}), {made.at}")
        for place in made.places:
            print(
                f"  {'gone' if not place.found else 'STILL THERE'}: {place.name}"
                + f" ({place.said})" * bool(place.said)
            )
        for elsewhere in made.not_covered:
            print(f"  not covered: {elsewhere}")
        for case in made.retire:
            print(f"  to retire: {case}")
        if made.source:
            print(f"  {made.source}")
    if not made.gone:
        raise typer.Exit(1)


def _listed(documents: Sequence["Document"]) -> str:
    head = ("id", "country", "uri", "until", "title")
    rows: list[tuple[str, ...]] = []
    for document in documents:
        where = ",".join(document.countries) or "global"
        until = str(document.effective_to or "")
        rows.append((document.id, where, document.uri, until, document.title))
    return table(head, rows, left=len(head))


def _reader(country: str, roles: list[str]) -> "Person | None":
    return person(country, roles) if country or roles else None


def _say(document: "Document") -> None:
    from ombud.documents import describe_loss
    from ombud.text import with_links
    from ombud.types import CONTENT

    facts = document.model_dump(mode="json", exclude={*CONTENT, "title", "loss"})
    print(document.title)
    for name, value in facts.items():
        if value:
            print(f"  {name}: {value}")
    if document.loss:
        print(f"  left out: {describe_loss(document.loss)}")
    print(f"\n{with_links(document.text, 0, document.annotations, escape=str)}")
