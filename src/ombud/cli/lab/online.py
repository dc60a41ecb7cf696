"""`ombud lab variants`: what people who got another plan show."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from ombud.cli.console import HOME, JSON, day, errors_said, open_workspace, print_json

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ombud.lab import LiveFigure, VariantAdvice


def variants(
    since: str = typer.Option("", "--since", help="Answers from this day on, such as 2026-01-31."),
    country: str = typer.Option("", "--country", help="Askers of one country only."),
    as_json: bool = JSON,
    home: Path | None = HOME,
) -> None:
    """The experiments of ombud.toml compared on the people who are in them: what was answered, what
    went to a person, thumbs, cost, with intervals; and what to do with each."""
    del home
    with errors_said(as_json):
        from ombud.lab import advise, compare_variants, live_answers

        workspace = open_workspace()
        first = day(since)
        began = first.isoformat() if first else ""
        rows = compare_variants(live_answers(workspace.store, began, country.upper()))
        advice = advise(rows)
        if as_json:
            print_json(_as_json(rows, advice))
            return
        _say(rows, advice)


def _as_json(rows: "Sequence[LiveFigure]", advice: "Sequence[VariantAdvice]") -> dict[str, Any]:
    from dataclasses import asdict

    figures: list[dict[str, Any]] = []
    for row in rows:
        own = asdict(row)
        own["mean"] = {"value": row.mean.value, "low": row.mean.low, "high": row.mean.high}
        figures.append(own)
    return {"figures": figures, "advice": list(map(asdict, advice))}


def _say(rows: "Sequence[LiveFigure]", advice: "Sequence[VariantAdvice]") -> None:
    from ombud.cli.printing.tables import between, figure, table

    cells: list[tuple[str, ...]] = []
    for row in rows:
        if row.mean.value is None:
            continue
        against = ""
        if row.difference is not None:
            against = f"{figure(row.difference)} ({between(row.low, row.high)})"
        shown = (str(row.answers), str(row.people), figure(row.mean.value), against)
        tested = (figure(row.adjusted), figure(row.detectable))
        cells.append((row.variant or "none", row.figure, *shown, *tested))
    if not cells:
        print("Nobody has asked anything yet.")
        return
    head = ("variant", "figure", "answers", "people", "mean", "against none, 95 %")
    print(table((*head, "p (Holm)", "detectable"), cells))
    for one in advice:
        print(f"\n{one.variant}: {one.advice} ({one.why}).")
        if one.advice == "turn it off":
            print(f"In ombud.toml: [experiment.{one.variant.partition('+')[0]}] off = true.")
    if advice:
        print("\nLooked at again and again, chance is taken for a difference: decide once.")
    else:
        print("\nNo answer was given in an experiment.")
