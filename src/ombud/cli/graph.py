"""`ombud graph`."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

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
    print_json,
)
from ombud.cli.printing.help import WholeHelp

if TYPE_CHECKING:
    from ombud.graph import Neighbourhood

app = typer.Typer(
    cls=WholeHelp,
    help="What documents say as triplets of subject, predicate and object.",
    no_args_is_help=True,
)


@app.command()
def show(
    term: str = typer.Argument(help="A name, such as `annual leave` or `section 20-871`."),
    depth: int = typer.Option(
        1, "--depth", min=1, max=3, help="Triplets from the term to the farthest entity."
    ),
    country: str = COUNTRY,
    role: list[str] = ROLE,
    as_of: str = AS_OF,
    as_json: bool = JSON,
    home: Path | None = HOME,
) -> None:
    """Show what the documents say of a term; with --country or --role, those that such a person may
    read."""
    del home
    with errors_said(as_json):
        from ombud.app import graph_around

        reader = person(country, role) if country or role else None
        neighbourhood = graph_around(open_workspace(), term, reader, depth, day(as_of))
        if as_json:
            print_json(
                {
                    "term": term,
                    "entities": neighbourhood.keys,
                    "triplets": rows_of(neighbourhood),
                    "left_out": neighbourhood.left_out,
                }
            )
        else:
            _say(neighbourhood)


@app.command()
def stats(as_json: bool = JSON, home: Path | None = HOME) -> None:
    """Show how the graph is made, and how many documents, triplets and entities it has."""
    del home
    with errors_said(as_json):
        from ombud.app import graph_stats

        figures = graph_stats(open_workspace())
        if as_json:
            print_json(figures)
            return
        for name, value in figures.items():
            print(f"{name.replace('_', ' '):<11} {value}")


PASSAGE_FIELDS = {
    *("document_id", "uri", "title", "trail", "page_from"),
    *("countries", "effective_from", "effective_to"),
}


def rows_of(neighbourhood: "Neighbourhood") -> list[dict[str, Any]]:
    """Return triplets with the passages that support them."""
    rows: list[dict[str, Any]] = []
    for edge in neighbourhood.edges:
        chunk = neighbourhood.chunks[edge.triplet.chunk_id]
        passage = chunk.model_dump(mode="json", include=PASSAGE_FIELDS)
        rows.append({**edge.triplet.model_dump(), **passage})
    return rows


def _say(neighbourhood: "Neighbourhood") -> None:
    """Print distinct statements grouped by subject, with the documents that make them."""
    names: dict[str, str] = {}
    places: dict[str, dict[tuple[str, str], dict[str, None]]] = {}
    for edge, row in zip(neighbourhood.edges, rows_of(neighbourhood), strict=True):
        names.setdefault(edge.subject_key, row["subject"])
        statements = places.setdefault(edge.subject_key, {})
        page = f", page {row['page_from']}" if row["page_from"] else ""
        statement = (row["predicate"], row["object"])
        statements.setdefault(statement, {})[f"{row['uri']}{page}"] = None
    for key, name in names.items():
        print(name)
        for (predicate, thing), documents in places[key].items():
            print(f"  {predicate}: {thing}")
            print(f"      {'; '.join(documents)}")
    if neighbourhood.left_out:
        print(f"{neighbourhood.left_out} more are left out.")
