"""What `ombud lab tune`, `ablate` and `noise` found, as tables and as JSON."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ombud.cli.console import print_json, write_file
from ombud.cli.lab.json_output import contrast_json, head_json
from ombud.cli.printing.tables import NONE, between, chance, figure, table

if TYPE_CHECKING:
    from ombud.lab import (
        Ablation,
        Cell,
        Contrast,
        FinishedSearch,
        MetricNoise,
        Nested,
        RecordedRun,
        Trial,
        Tuned,
        Tuning,
    )

SHOWN = 5
"""Trials of one objective in the table."""
BARS = 30
"""Characters of the longest bar of a histogram."""
VERDICTS = {True: "better", False: "WORSE", None: "within noise"}
NOT_IN_TURN = (
    "Times of the search were taken under whatever load there was and do not compare; those of the "
    "front were taken in turn."
)


def tuned(found: "Tuned", tuning: "Tuning", where: Path, as_json: bool) -> None:
    """Prints a search and its report, and draws its front where it has two objectives."""
    from ombud.lab import TIMES

    search = found.search
    drawn = len(tuning.objectives) > 1
    if drawn:
        write_file(where, _front_plot(search, tuning.objectives))
    if as_json:
        print_json(_tuned_json(found, str(where) if drawn else ""))
        return
    tried = len(search.trials) - 1
    print(
        f"{tried} of {search.cells} settings tried on the dev split ({len(search.asked)} cases), "
        "beside the present ones:\n"
    )
    print(_trial_table(search, tuning.objectives))
    if set(tuning.objectives) & TIMES:
        print(f"\n{NOT_IN_TURN}")
    if drawn:
        print(f"\n* on the front of {' and '.join(tuning.objectives)}. Plot: {where}")
    _say_finalists(found)


def nested(found: "Nested", objective: str, as_json: bool) -> None:
    """Prints what nested cross-validation came to."""
    compared = found.comparison
    if as_json:
        print_json(_nested_json(found, objective))
        return
    rows: list[tuple[str, ...]] = []
    for fold in found.folds:
        values = (fold.tuned, fold.held_out, fold.present)
        rows.append((fold.chosen.label, str(fold.cases), *map(figure, values)))
    head = ("settings that the other folds chose", "cases", "there", "held out", "present there")
    print(table(head, rows))
    print(f"\n{objective}, mean of the held-out folds: {figure(found.figure)}.")
    present = f"{figure(found.present.value)} in the present settings"
    own = f"{figure(found.tuned.value)} in settings tuned without it"
    gain = figure(compared.difference, sign=True)
    span = between(compared.low, compared.high, sign=True)
    print(f"Each case once ({compared.pairs}): {present}, {own}.")
    print(f"Difference {gain} ({span}), p {chance(compared.p)}; the search's own luck is in it.")


CONTRAST = ("metric", "present", "tuned", "difference", "95 %", "p", "n", "")
ABLATION = ("without", "metric", "whole", "without it", "difference", "95 %", "p", "changed", "")


def ablation(rows: "Sequence[Ablation]", as_json: bool) -> None:
    """Prints a line for each part and metric."""
    if as_json:
        listed: list[dict[str, Any]] = []
        for row in rows:
            own = {"part": row.part, "set": dict(row.cell), "run": row.run, "changed": row.changed}
            listed.append(own | contrast_json(row.contrast))
        print_json({"parts": listed})
        return
    cells: list[tuple[str, ...]] = []
    for row in rows:
        *shown, pairs, verdict = _contrast_cells(row.contrast)
        cells.append((row.part, *shown, f"{row.changed}/{pairs}", verdict))
    print(table(ABLATION, cells, left=2))
    print("\nDifference: without the part minus the whole, paired. changed: cases whose value")
    print("differs at all. p: paired permutation test, Holm-corrected over the table.")


def noise(
    recorded: "RecordedRun", found: "Sequence[MetricNoise]", times: int, as_json: bool
) -> None:
    """Prints how the variance of each metric is made up."""
    if as_json:
        listed = list(map(_noise_json, found))
        print_json({"run": head_json(recorded.run), "times": times, "metrics": listed})
        return
    cases = len(recorded.cases)
    print(
        f"Run {recorded.run.id} ({recorded.run.name}), {cases} cases, each asked {times} times:\n"
    )
    rows: list[tuple[str, ...]] = []
    for one in found:
        variance = one.variance
        of_case, of_answer, of_judge = variance.shares
        rows.append(
            (
                one.metric,
                f"{figure(min(one.means))} to {figure(max(one.means))}",
                f"{of_case:.0%}",
                f"{of_answer:.0%}",
                _judge_share(one, of_judge),
                figure(variance.deviation),
                figure(variance.noise_of_mean),
                f"{len(one.wavering)}/{variance.cases}",
            )
        )
    head = ("metric", "means", "case", "answer", "judge", "deviation", "of the mean", "wavering")
    print(table(head, rows))
    print("\ncase, answer, judge: shares of the variance. of the mean: standard deviation of one")
    print("run's mean by noise alone. wavering: cases whose values differ from time to time.")
    for one in found:
        if one.histogram:
            print(f"\n{one.metric}: standard deviation {figure(one.variance.deviation)}")
            print(_histogram(one.histogram))


def _say_finalists(found: "Tuned") -> None:
    if not found.finalists:
        print("\nNothing that was tried is better on dev than the present settings.")
        return
    cases = len(found.present.cases)
    print(f"\nOn the test split, which was not tuned on ({cases} cases):\n")
    rows: list[tuple[str, ...]] = []
    for finalist in found.finalists:
        for contrast in finalist.contrasts:
            rows.append((finalist.trial.label, *_contrast_cells(contrast)))
    print(table(("settings", *CONTRAST), rows, left=2))
    print("\np: paired permutation test, Holm-corrected over the table.")
    if found.looks:
        print(f"{found.looks} other settings of this study were shown on the test split before.")
    best = found.finalists[0]
    if best.trial is found.search.front[0]:
        print(f"\nThe best of dev, for ombud.toml:\n\n{_as_toml(best.trial.cell)}")


def _judge_share(one: "MetricNoise", share: float) -> str:
    """A judge who graded each answer once cannot be told from the answers."""
    if one.is_judged and one.variance.judge is None:
        return NONE
    return f"{share:.0%}"


def _histogram(counts: Mapping[int, int]) -> str:
    most = max(counts.values())
    lines: list[str] = []
    for grade, count in counts.items():
        bar = "█" * round(BARS * count / most)
        lines.append(f"{grade} {bar} {count}")
    return "\n".join(lines)


def _trial_table(search: "FinishedSearch", objectives: Sequence[str]) -> str:
    """The present settings, and the front or, of one objective, the best few."""
    from ombud.lab import direction

    shown = [*search.front]
    if len(objectives) == 1:
        sign = direction(objectives[0])
        valued = [trial for trial in search.trials if trial.values[0] is not None]
        # Stable, so that the first of several as good stands first, as in the choice.
        valued.sort(key=lambda trial: -sign * (trial.values[0] or 0.0))
        shown = valued[:SHOWN]
    if search.present not in shown:
        shown.append(search.present)
    rows: list[tuple[str, ...]] = []
    for trial in shown:
        star = "*" if trial in search.front else ""
        values = list(map(figure, trial.values))
        rows.append((trial.label, star, *values, f"{trial.valid}/{len(search.asked)}"))
    return table(("settings", "", *objectives, "n"), rows)


def _contrast_cells(contrast: "Contrast") -> tuple[str, ...]:
    found = contrast.comparison
    return (
        contrast.metric,
        figure(contrast.first),
        figure(contrast.second),
        figure(found.difference, sign=True),
        between(found.low, found.high, sign=True),
        chance(contrast.adjusted),
        str(found.pairs),
        VERDICTS[contrast.better],
    )


def _front_plot(search: "FinishedSearch", objectives: Sequence[str]) -> str:
    """The first objective against the second."""
    from ombud.charts import Point, draw_scatter
    from ombud.lab import TIMES

    shown: Sequence[Trial] = search.trials
    if set(objectives) & TIMES:  # other times do not compare with those of the front
        shown = list({trial.run.id: trial for trial in (search.present, *search.front)}.values())
    points: list[Point] = []
    for trial in shown:
        y, x = trial.values[:2]
        if x is not None and y is not None:
            points.append(Point(trial.label, x, y, front=trial in search.front))
    title = f"{objectives[0]} against {objectives[1]}, dev split"
    return draw_scatter(title, (objectives[1], objectives[0]), points)


def _tuned_json(found: "Tuned", plot: str) -> dict[str, Any]:
    search = found.search
    finalists: list[dict[str, Any]] = []
    for finalist in found.finalists:
        contrasts = list(map(contrast_json, finalist.contrasts))
        finalists.append({**_trial_json(finalist.trial), "test": contrasts})
    return {
        "cells": search.cells,
        "dev_cases": len(search.asked),
        "test_cases": len(found.present.cases),
        "present": _trial_json(search.present),
        "trials": list(map(_trial_json, search.trials)),
        "front": list(map(_trial_json, search.front)),
        "finalists": finalists,
        "looks": found.looks,
        "plot": plot,
    }


def _trial_json(trial: "Trial") -> dict[str, Any]:
    return {
        "cell": dict(trial.cell),
        "values": trial.values,
        "valid": trial.valid,
        "run": trial.run.id,
    }


def _nested_json(found: "Nested", objective: str) -> dict[str, Any]:
    compared = found.comparison
    folds: list[dict[str, Any]] = []
    for fold in found.folds:
        folds.append(
            {
                "cell": dict(fold.chosen.cell),
                "cases": fold.cases,
                "tuned": fold.tuned,
                "held_out": fold.held_out,
                "present": fold.present,
            }
        )
    return {
        "objective": objective,
        "folds": folds,
        "figure": found.figure,
        "present": found.present.value,
        "tuned": found.tuned.value,
        "difference": compared.difference,
        "low": compared.low,
        "high": compared.high,
        "p": compared.p,
        "pairs": compared.pairs,
    }


def _noise_json(one: "MetricNoise") -> dict[str, Any]:
    variance = one.variance
    return {
        "metric": one.metric,
        "means": one.means,
        "variance": {"case": variance.case, "answer": variance.answer, "judge": variance.judge},
        "shares": dict(zip(("case", "answer", "judge"), variance.shares, strict=True)),
        "deviation": variance.deviation,
        "noise_of_mean": variance.noise_of_mean,
        "cases": variance.cases,
        "answers": variance.answers,
        "values": variance.values,
        "wavering": one.wavering,
        "histogram": one.histogram,
    }


def _as_toml(cell: "Cell") -> str:
    """As it stands in ombud.toml; what is unset there is left out."""
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
        kept = [line for line in lines if not line.endswith("= null")]
        blocks.append("\n".join([f"[{name}]", *kept]))
    return "\n\n".join(blocks)


def _toml_value(value: Any) -> str:
    if isinstance(value, dict):
        pairs = [f"{key} = {_toml_value(inner)}" for key, inner in value.items()]
        return f"{{ {', '.join(pairs)} }}"
    return json.dumps(value)
