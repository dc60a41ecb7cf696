"""What `ombud lab tune` and `ablate` found, as tables and as JSON."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ombud.cli.console import print_json, write_file
from ombud.cli.lab.json_output import contrast_json

if TYPE_CHECKING:
    from ombud.cli.printing.terminal import Page
    from ombud.lab import (
        Ablation,
        Cell,
        FinishedSearch,
        Trial,
        Tuned,
        Tuning,
    )

SHOWN = 5
"""Trials of one objective in the table."""
NOT_IN_TURN = (
    "Times of the search were taken under whatever load there was and do not compare; those of the "
    "front were taken in turn."
)


def say_tuned(tuned: "Tuned", tuning: "Tuning", where: Path, as_json: bool) -> None:
    """Print a search and its report, and draw its front if it has two objectives."""
    from ombud.cli.printing.terminal import open_page
    from ombud.lab import TIMES

    search = tuned.search
    drawn = len(tuning.objectives) > 1
    if drawn:
        write_file(where, _front_plot(search, tuning.objectives))
    if as_json:
        print_json(_tuned_json(tuned, str(where) if drawn else ""))
        return
    page = open_page()
    tried = len(search.trials) - 1
    page.line(
        f"{tried} of {search.cells} settings tried on the dev split ({len(search.asked)} cases), "
        "beside the present ones:\n"
    )
    page.markdown(_trial_table(search, tuning.objectives))
    if set(tuning.objectives) & TIMES:
        page.line(f"\n{NOT_IN_TURN}")
    if drawn:
        page.line(f"\n* on the front of {' and '.join(tuning.objectives)}. Plot: {where}")
    _say_finalists(tuned, page)


def say_ablation(rows: "Sequence[Ablation]", as_json: bool) -> None:
    """Print a line for each part and metric."""
    from ombud.cli.printing.terminal import open_page
    from ombud.lab import ContrastRow, contrast_table

    if as_json:
        listed: list[dict[str, Any]] = []
        for row in rows:
            own = {"part": row.part, "set": dict(row.cell), "run": row.run, "changed": row.changed}
            listed.append(own | contrast_json(row.contrast))
        print_json({"parts": listed})
        return
    contrasts: list[ContrastRow] = []
    for row in rows:
        contrasts.append(ContrastRow(row.contrast, row.part, f"{row.changed} cases differ"))
    page = open_page()
    page.markdown(contrast_table(contrasts, "without", first="whole", second="without it"))
    page.line("\nDifference: without the part minus the whole, paired.")
    page.line("p: paired permutation test, Holm-corrected over the table.")


def _say_finalists(tuned: "Tuned", page: "Page") -> None:
    from ombud.lab import ContrastRow, contrast_table

    if not tuned.finalists:
        page.line("\nNothing that was tried is better on dev than the present settings.")
        return
    cases = len(tuned.present.cases)
    page.line(f"\nOn the test split, which was not tuned on ({cases} cases):\n")
    rows: list[ContrastRow] = []
    for finalist in tuned.finalists:
        for contrast in finalist.contrasts:
            rows.append(ContrastRow(contrast, finalist.trial.label))
    page.markdown(contrast_table(rows, "settings", first="present", second="tuned"))
    page.line("\np: paired permutation test, Holm-corrected over the table.")
    if tuned.looks:
        page.line(f"{tuned.looks} other settings of this study were shown on the test split.")
    best = tuned.finalists[0]
    if best.trial is tuned.search.front[0]:
        page.line(f"\nThe best of dev, for ombud.toml:\n\n{_as_toml(best.trial.cell)}")


def _trial_table(search: "FinishedSearch", objectives: Sequence[str]) -> str:
    """Tabulate the present settings and the front or, with one objective, the best few."""
    from ombud.lab import direction, figure_of, markdown_table

    listed = [*search.front]
    if len(objectives) == 1:
        sign = direction(objectives[0])
        valued = [trial for trial in search.trials if trial.values[0] is not None]
        # Stable, so that the first of several as good stands first, as in the choice.
        valued.sort(key=lambda trial: -sign * (trial.values[0] or 0.0))
        listed = valued[:SHOWN]
    if search.present not in listed:
        listed.append(search.present)
    rows: list[tuple[str, ...]] = []
    for trial in listed:
        star = "*" if trial in search.front else ""
        values = map(figure_of, trial.values, objectives)
        rows.append((trial.label, star, *values, f"{trial.valid}/{len(search.asked)}"))
    return markdown_table(("settings", "front", *objectives, "n"), rows, left=2)


def _front_plot(search: "FinishedSearch", objectives: Sequence[str]) -> str:
    """Plot the first objective against the second."""
    from ombud.lab import TIMES, Point, draw_scatter

    plotted: Sequence[Trial] = search.trials
    if set(objectives) & TIMES:  # other times do not compare with those of the front
        plotted = list({trial.run.id: trial for trial in (search.present, *search.front)}.values())
    points: list[Point] = []
    for trial in plotted:
        y, x = trial.values[:2]
        if x is not None and y is not None:
            points.append(Point(trial.label, x, y, front=trial in search.front))
    title = f"{objectives[0]} against {objectives[1]}, dev split"
    return draw_scatter(title, (objectives[1], objectives[0]), points)


def _tuned_json(tuned: "Tuned", plot: str) -> dict[str, Any]:
    search = tuned.search
    finalists: list[dict[str, Any]] = []
    for finalist in tuned.finalists:
        contrasts = list(map(contrast_json, finalist.contrasts))
        finalists.append({**_trial_json(finalist.trial), "test": contrasts})
    return {
        "cells": search.cells,
        "dev_cases": len(search.asked),
        "test_cases": len(tuned.present.cases),
        "present": _trial_json(search.present),
        "trials": list(map(_trial_json, search.trials)),
        "front": list(map(_trial_json, search.front)),
        "finalists": finalists,
        "looks": tuned.looks,
        "plot": plot,
    }


def _trial_json(trial: "Trial") -> dict[str, Any]:
    return {
        "cell": dict(trial.cell),
        "values": trial.values,
        "valid": trial.valid,
        "run": trial.run.id,
    }


def _as_toml(cell: "Cell") -> str:
    """Write the settings as they stand in ombud.toml, without those that are unset."""
    from ombud.lab import part

    sections: dict[str, list[str]] = {}
    for key, value in part(cell, "plan").items():
        sections.setdefault("plan", []).append(f"{key} = {_toml_value(value)}")
    for key, value in cell.items():
        section, _, field = key.partition(".")
        if section != "plan":
            sections.setdefault(section, []).append(f"{field} = {_toml_value(value)}")
    blocks: list[str] = []
    for name, lines in sections.items():
        set_lines = [line for line in lines if not line.endswith("= null")]
        blocks.append("\n".join([f"[{name}]", *set_lines]))
    return "\n\n".join(blocks)


def _toml_value(value: Any) -> str:
    if isinstance(value, dict):
        pairs = [f"{key} = {_toml_value(inner)}" for key, inner in value.items()]
        return f"{{ {', '.join(pairs)} }}"
    return json.dumps(value)
