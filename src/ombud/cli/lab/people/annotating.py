"""`ombud lab annotate`: sheets for people to fill in, and what came back."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from ombud.cli.console import HOME, JSON, errors_said, open_workspace, print_json, write_file

if TYPE_CHECKING:
    from ombud.lab import FaultyCell, RecordedRun

RUNS = typer.Argument(None, help="Runs, each by id, name or `last`.", show_default=False)
SHOWN = 10


def annotate(
    runs: list[str] | None = RUNS,
    out: Path | None = typer.Option(
        None, "--out", help="The sheet to write; with --read, where what people said goes."
    ),
    passages: bool = typer.Option(
        False, "--passages", help="Have the passages graded that the runs found."
    ),
    lowest: str = typer.Option(
        "",
        "--lowest",
        metavar="METRIC",
        help="Have a judge's lowest grades confirmed or corrected.",
    ),
    criteria: str = typer.Option("natwest", "--criteria", help="natwest or hypa."),
    raters: str = typer.Option("", "--raters", help="Such as ann,bob: a sheet for each."),
    sample: int | None = typer.Option(None, "--sample", min=1, help="Cases to draw; empty = all."),
    seed: int = typer.Option(0, "--seed", help="Which ones, and in which order."),
    depth: int = typer.Option(10, "--depth", min=1, help="Passages of each case in each run."),
    read: list[Path] = typer.Option([], "--read", help="A filled-in sheet; may be repeated."),
    cases: Path | None = typer.Option(
        None, "--cases", help="Of --passages --read: the dataset that gets the new evidence."
    ),
    key: Path | None = typer.Option(
        None, "--key", help="The key that was written with it; empty = found beside the sheet."
    ),
    as_json: bool = JSON,
    home: Path | None = HOME,
) -> None:
    """Have people rate answers: a sheet without a word on who answered. With --passages or
    --lowest: the passages found, or the lowest grades of a judge. With --read: one file of what
    several sheets say."""
    del home
    with errors_said(as_json):
        from ombud.errors import BadRequest

        named = runs or []
        sheets = [*read, *map(Path, named)] if read else []
        if sheets and lowest:
            _say_checked_grades(sheets, as_json)
        elif out is None:
            raise BadRequest("Where should it go?", hint="--out FILE.csv")
        elif sheets and passages:
            _read_grades(sheets, cases, out, as_json)
        elif sheets:
            _merge_sheets(sheets, key, out, as_json)
        elif passages:
            _write_pool(named, depth, out, as_json)
        elif lowest:
            _write_lowest(named, lowest, sample, out, as_json)
        else:
            _write_sheets(named, out, criteria, raters, size=sample, seed=seed, as_json=as_json)


def _recorded(runs: Sequence[str]) -> "list[RecordedRun]":
    from ombud.errors import BadRequest
    from ombud.lab import read_run

    if not runs:
        raise BadRequest("Which run?", hint="Name one, such as `last`.")
    store = open_workspace().store
    return [read_run(store, run) for run in runs]


def _write_sheets(
    runs: Sequence[str],
    out: Path,
    criteria: str,
    raters: str,
    *,
    size: int | None,
    seed: int,
    as_json: bool,
) -> None:
    from ombud.lab import annotation_key, annotation_sheet, criteria_set, draw_tasks

    chosen = criteria_set(criteria)
    tasks = draw_tasks(_recorded(runs), size, seed)
    names = [name.strip() for name in raters.split(",") if name.strip()]
    written: list[str] = []
    for name in names or [""]:
        path = out.with_name(f"{out.stem}.{name}{out.suffix}") if name else out
        write_file(path, annotation_sheet(tasks, chosen, name, seed))
        written.append(str(path))
    guide, key = out.with_suffix(".guide.md"), out.with_suffix(".key.json")
    write_file(guide, chosen.guide())
    write_file(key, annotation_key(tasks, chosen))
    if as_json:
        files = {"sheets": written, "guide": str(guide), "key": str(key)}
        print_json({"items": len(tasks), **files})
        return
    print(f"Wrote {len(tasks)} answers to {', '.join(written)}.")
    print(f"Give raters the sheet and {guide}.")
    print(f"Keep {key} to yourself: it says who answered.")


def _merge_sheets(sheets: Sequence[Path], key: Path | None, out: Path, as_json: bool) -> None:
    from ombud.lab import criteria_set, find_key, ratings_text, read_key, read_ratings

    criteria, items = read_key(key or find_key(sheets))
    rated = read_ratings(sheets, criteria_set(criteria).levels, items)
    write_file(out, ratings_text(rated))
    if as_json:
        faulty = {"missing": cells_json(rated.missing), "wrong": cells_json(rated.wrong)}
        print_json({"ratings": len(rated.ratings), "file": str(out), **faulty})
        return
    print(f"Wrote {len(rated.ratings)} ratings to {out}: `ombud lab agree {out}`.")
    say_faulty(rated.wrong, "wrong")
    say_faulty(rated.missing, "empty")


def cells_json(cells: "Sequence[FaultyCell]") -> list[dict[str, str]]:
    return [cell._asdict() for cell in cells]


def say_faulty(cells: "Sequence[FaultyCell]", what: str) -> None:
    """Print the first cells that are no ratings."""
    if cells:
        print(f"{len(cells)} cells are {what}:")
    for cell in cells[:SHOWN]:
        print(f"  {cell.place}, item {cell.item}, {cell.criterion}: {cell.why}")
    if len(cells) > SHOWN:
        print(f"  and {len(cells) - SHOWN} more (--json lists all)")


def _write_pool(runs: Sequence[str], depth: int, out: Path, as_json: bool) -> None:
    from ombud.lab import pool_passages, pool_sheet

    pool = pool_passages(_recorded(runs), depth)
    write_file(out, pool_sheet(pool))
    if as_json:
        print_json({"passages": len(pool), "file": str(out), "depth": depth})
        return
    questions = len({passage.case for passage in pool})
    print(f"Wrote {len(pool)} passages of {questions} questions to {out}.")
    print("Grade them 2 (answers), 1 (helps) or 0 (neither) in the column `value`.")


def _read_grades(pools: Sequence[Path], dataset: Path | None, out: Path, as_json: bool) -> None:
    """Write the dataset's cases with their new evidence into a .jsonl, else TREC qrels."""
    from ombud.errors import BadRequest
    from ombud.lab import (
        cases_text,
        qrels_lines,
        qrels_of_grades,
        read_cases,
        read_grades,
        with_grades,
    )

    grades = read_grades(pools)
    cases = read_cases(dataset) if dataset else ()
    if out.suffix != ".jsonl":
        lines = qrels_lines(qrels_of_grades(grades, cases))
        write_file(out, "".join(f"{line}\n" for line in lines))
    elif dataset:
        write_file(out, cases_text(with_grades(cases, grades)))
    else:
        raise BadRequest("Evidence of which cases?", hint="--cases DATASET, or --out FILE.qrels")
    counts = Counter(int(rating.value) for rating in grades.ratings)
    graded = len(grades.ratings)
    if as_json:
        faulty = {"ungraded": cells_json(grades.missing), "wrong": cells_json(grades.wrong)}
        print_json({"graded": graded, "by_grade": counts, **faulty, "file": str(out)})
        return
    counted = ", ".join(f"{counts[grade]} of grade {grade}" for grade in (2, 1, 0))
    print(f"{graded} passages are graded ({counted}). Wrote {out}.")
    say_faulty(grades.wrong, "wrong")
    say_faulty(grades.missing, "empty")


def _write_lowest(
    runs: Sequence[str], metric: str, size: int | None, out: Path, as_json: bool
) -> None:
    from ombud.lab import grades_sheet, lowest_grades

    rows: list[dict[str, object]] = []
    for recorded in _recorded(runs):
        rows += lowest_grades(recorded, metric, size)
    write_file(out, grades_sheet(rows))
    if as_json:
        print_json({"grades": len(rows), "file": str(out)})
        return
    print(f"Wrote the {len(rows)} lowest grades to {out}.")
    print("Write what each should be into `value`: the grade itself confirms it.")


def _say_checked_grades(sheets: Sequence[Path], as_json: bool) -> None:
    """Say how many grades were corrected."""
    from ombud.lab import corrected_grades, wilson_interval

    checked, corrected = corrected_grades(sheets)
    low, high = wilson_interval(len(corrected), checked)
    if as_json:
        share = {"corrected": len(corrected), "checked": checked, "low": low, "high": high}
        print_json({**share, "grades": corrected})
        return
    interval = f"{low:.0%} to {high:.0%} of such low grades"
    print(f"{len(corrected)} of {checked} grades were corrected ({interval}).")
    for one in corrected:
        note = f": {one['note']}" if one["note"] else ""
        place = f"{one['run']} {one['case']}, {one['metric']}"
        print(f"  {place}: {one['grade']:g} should be {one['value']:g}{note}")
