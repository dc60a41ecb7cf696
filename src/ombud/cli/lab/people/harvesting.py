"""`ombud lab harvest`: real questions as cases for review."""

from pathlib import Path

import typer

from ombud.cli.console import (
    HOME,
    JSON,
    day,
    errors_said,
    open_workspace,
    print_json,
    write_file,
)


def harvest(
    out: Path = typer.Option(..., "--out", help="The .jsonl of cases to write."),
    size: int = typer.Option(50, "--n", min=1, help="How many questions at most."),
    since: str = typer.Option("", "--since", help="Asked from this day on, such as 2026-01-31."),
    topic: str = typer.Option("", "--topic", help="Answered from documents of this topic only."),
    seed: int = typer.Option(0, "--seed", help="Which ones."),
    as_json: bool = JSON,
    home: Path | None = HOME,
) -> None:
    """Real questions of those who agreed ([lab] harvest), without who asked them, as cases that
    people still have to accept (`lab review`)."""
    del home
    with errors_said(as_json):
        from ombud.lab import cases_text, check_consent, harvest_questions

        workspace = open_workspace()
        check_consent(workspace.settings.lab.harvest)
        first = day(since)
        began = first.isoformat() if first else ""
        found = harvest_questions(workspace.store, size, seed=seed, since=began, topic=topic)
        write_file(out, cases_text(found.cases))
        if as_json:
            print_json(
                {
                    "cases": len(found.cases),
                    "seen": found.seen,
                    "left_out": found.left_out,
                    "file": str(out),
                }
            )
            return
        print(f"Wrote {len(found.cases)} questions of {found.seen} answers to {out}.")
        for why, count in found.left_out.items():
            print(f"  left out, {why}: {count}")
        print("Names are blanked by patterns: read each before you pass it on (`lab review`).")
