"""`ombud index`: what is there, tidying up, and making it anew."""

from pathlib import Path

import typer

from ombud.cli.console import HOME, JSON, errors_said, open_workspace, print_json, progress
from ombud.cli.printing.help import WholeHelp

app = typer.Typer(cls=WholeHelp, help="The index of passages.", no_args_is_help=True)


@app.command()
def stats(as_json: bool = JSON, home: Path | None = HOME) -> None:
    """Show passages, documents, embedder, languages and size on disk."""
    del home
    with errors_said(as_json):
        from ombud.app import index_stats

        figures = index_stats(open_workspace())
        if as_json:
            print_json(figures)
            return
        for name, value in figures.items():
            print(f"{name:<12} {', '.join(value) if isinstance(value, list) else value}")


@app.command()
def optimize(as_json: bool = JSON, home: Path | None = HOME) -> None:
    """Merge small pieces, bring the search indexes up to date and drop old versions; a sync does it
    by itself."""
    del home
    with errors_said(as_json):
        from ombud.app import index_stats, optimize_index

        workspace = open_workspace()
        before = index_stats(workspace)["megabytes"]
        optimize_index(workspace)
        after = index_stats(workspace)["megabytes"]
        if as_json:
            print_json({"megabytes_before": before, "megabytes": after})
        else:
            print(f"The index takes {after} MB; it was {before} MB.")


@app.command()
def rebuild(as_json: bool = JSON, home: Path | None = HOME) -> None:
    """Make the index anew from the stored texts, after a change of embedder or chunker; servers
    keep answering."""
    del home
    with errors_said(as_json):
        from ombud.app import rebuild_workspace

        workspace = open_workspace()
        with progress(not as_json) as on_progress:
            made = rebuild_workspace(workspace, on_progress)
        if as_json:
            print_json(made._asdict())
            return
        print(f"The index was made anew: {made.chunks} passages of {made.documents} documents.")
        if made.missing:
            missing = f"{len(made.missing)} texts are no longer stored, such as {made.missing[0]}"
            print(f"{missing}: run `ombud sync`.")
