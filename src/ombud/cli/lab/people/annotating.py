"""`ombud lab annotate` and `grade`: sheets for people to fill in, and what came back."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from ombud.cli.console import HOME, JSON, errors_said, open_workspace, print_json, write_file

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ombud.lab import AnnotationResult, Grading, RecordedRun, UnjudgedShare

RUNS = typer.Argument(None, help="Runs, each by id, name or `last`.", show_default=False)
SHOWN = 10


def annotate(
    runs: list[str] | None = RUNS,
    out: Path | None = typer.Option(
        None, "--out", help="The sheet to write; with --read, where the ratings go."
    ),
    criteria: str = typer.Option("", "--criteria", help="natwest (the default) or hypa."),
    raters: str = typer.Option("", "--raters", help="Such as ann,bob: a sheet for each."),
    size: int | None = typer.Option(None, "--n", min=1, help="Cases to draw; empty = all."),
    seed: int = typer.Option(0, "--seed", help="Which ones, and in which order."),
    read: list[Path] = typer.Option([], "--read", help="A filled-in sheet; may be repeated."),
    key: Path | None = typer.Option(
        None, "--key", help="The key that was written with it; empty = found beside the sheet."
    ),
    as_json: bool = JSON,
    home: Path | None = HOME,
) -> None:
    """Have people rate answers: a sheet without a word on who answered, then back into ratings for
    `lab agree` and `lab align`."""
    del home
    with errors_said(as_json):
        from ombud.errors import BadRequest

        sheets = [*read, *map(Path, runs or ())] if read else []
        if out is None:
            raise BadRequest("Where should it go?", hint="--out FILE.csv")
        if sheets:
            _read_back(sheets, key, out, as_json)
            return
        written = _write_sheets(
            runs or (), out, criteria or "natwest", raters=raters, size=size, seed=seed
        )
        if as_json:
            print_json(written)
            return
        print(f"Wrote {written['items']} answers to {', '.join(written['sheets'])}.")
        print(f"Give raters the sheet and {written['guide']}.")
        print(f"Keep {written['key']} to yourself: it says who answered.")


def _write_sheets(
    runs: "Sequence[str]",
    out: Path,
    criteria: str,
    *,
    raters: str,
    size: int | None,
    seed: int,
) -> dict[str, Any]:
    from ombud.lab import annotation_key, annotation_sheet, criteria_set, draw_tasks

    chosen = criteria_set(criteria)
    tasks = draw_tasks(_recorded(runs), size, seed)
    names = [name.strip() for name in raters.split(",") if name.strip()]
    written: list[Path] = []
    for name in names or [""]:
        path = out.with_name(f"{out.stem}.{name}{out.suffix}") if name else out
        write_file(path, annotation_sheet(tasks, chosen, name, seed))
        written.append(path)
    guide = out.with_suffix(".guide.md")
    write_file(guide, chosen.guide())
    key = key_of(out)
    write_file(key, annotation_key(tasks, chosen))
    return {
        "items": len(tasks),
        "sheets": list(map(str, written)),
        "guide": str(guide),
        "key": str(key),
    }


def key_of(sheet: Path) -> Path:
    return sheet.with_suffix(".key.json")


def _recorded(runs: "Sequence[str]") -> "list[RecordedRun]":
    from ombud.errors import BadRequest
    from ombud.lab import read_run

    if not runs:
        raise BadRequest("Which run?", hint="Name one, such as `last`.")
    store = open_workspace().store
    return [read_run(store, run) for run in runs]


def _read_back(sheets: "Sequence[Path]", key: Path | None, out: Path, as_json: bool) -> None:
    from ombud.lab import criteria_set, ratings_sheet, read_annotations, read_key

    found = read_key(key or _found_key(sheets[0]))
    result = read_annotations(sheets, criteria_set(found["criteria"]), found["items"])
    write_file(out, ratings_sheet(result.ratings, found["items"]))
    if as_json:
        print_json(_result_json(result, out))
        return
    _say_result(result, out)


def _found_key(sheet: Path) -> Path:
    """`FILE.csv` and `FILE.RATER.csv` have the key `FILE.key.json`."""
    for stem in (sheet.stem, sheet.stem.rpartition(".")[0]):
        path = sheet.with_name(f"{stem}.key.json")
        if stem and path.is_file():
            return path
    return key_of(sheet)


def _result_json(result: "AnnotationResult", out: Path) -> dict[str, Any]:
    return {
        "ratings": len(result.ratings),
        "file": str(out),
        "missing": [cell._asdict() for cell in result.missing],
        "wrong": [cell._asdict() for cell in result.wrong],
        "comments": [
            {"item": item, "rater": rater, "comment": text}
            for (item, rater), text in result.comments.items()
        ],
    }


def _say_result(result: "AnnotationResult", out: Path) -> None:
    print(f"Wrote {len(result.ratings)} ratings to {out}: `ombud lab agree {out}`.")
    for cells, what in ((result.wrong, "out of range"), (result.missing, "empty")):
        if cells:
            print(f"{len(cells)} cells are {what}:")
        for cell in cells[:SHOWN]:
            print(f"  {cell.place}, item {cell.item}, {cell.criterion}: {cell.why}")
        if len(cells) > SHOWN:
            print(f"  and {len(cells) - SHOWN} more (--json lists all)")


# Grading passages ---------------------------------------------------------------------------------


def grade(
    runs: list[str] | None = RUNS,
    depth: int = typer.Option(10, "--depth", min=1, help="Passages of each case in each run."),
    out: Path | None = typer.Option(
        None, "--out", help="The pool to write; with --cases, the cases with their new evidence."
    ),
    judged: list[Path] = typer.Option(
        [], "--judged", help="An earlier pool: what it grades is left out; may be repeated."
    ),
    read: list[Path] = typer.Option([], "--read", help="A graded pool; may be repeated."),
    qrels: Path | None = typer.Option(None, "--qrels", help="TREC qrels to write, by document."),
    cases: Path | None = typer.Option(
        None, "--cases", help="The runs' dataset: its own evidence counts too."
    ),
    as_json: bool = JSON,
    home: Path | None = HOME,
) -> None:
    """Have people grade the best passages of several runs (2 answers, 1 helps, 0 neither), without
    a word on who found them; then write qrels and say how much is still ungraded."""
    del home
    with errors_said(as_json):
        from ombud.errors import BadRequest
        from ombud.lab import pool_passages, pool_sheet, read_grades

        if read:
            _read_grades(read, runs or (), depth, (qrels, cases, out), as_json)
            return
        if out is None:
            raise BadRequest("Where should the pool go?", hint="--out pool.csv")
        known = read_grades(judged).items
        recorded = _recorded(runs or ())
        pool = pool_passages(recorded, depth, known)
        write_file(out, pool_sheet(pool))
        if as_json:
            print_json({"passages": len(pool), "file": str(out), "depth": depth})
            return
        questions = len({passage.case for passage in pool})
        print(f"Wrote {len(pool)} passages of {questions} questions to {out}.")
        print("Grade them 2 (answers), 1 (helps) or 0 (neither) in the column `grade`.")


def _read_grades(
    pools: "Sequence[Path]",
    runs: "Sequence[str]",
    depth: int,
    files: tuple[Path | None, Path | None, Path | None],
    as_json: bool,
) -> None:
    """files: where the qrels go, the dataset, where its cases with the new evidence go."""
    from ombud.errors import BadRequest
    from ombud.lab import read_grades, unjudged_share

    qrels, dataset, out = files
    if out and not dataset:
        raise BadRequest("Evidence of which cases?", hint="--cases DATASET")
    if not (qrels or out):
        raise BadRequest(
            "Where should the grades go?", hint="--qrels FILE, or --cases DATASET --out FILE"
        )
    found = read_grades(pools)
    recorded = _recorded(runs) if runs else []
    _write_grades(found, *files)
    shares = [unjudged_share(run, depth, found.items) for run in recorded]
    written = [str(path) for path in (qrels, out) if path]
    _say_grades(found, shares, depth, written, as_json)


def _write_grades(
    found: "Grading", qrels: Path | None, dataset: Path | None, out: Path | None
) -> None:
    from ombud.lab import cases_text, qrels_lines, qrels_of_grades, read_cases, with_grades

    cases = read_cases(dataset) if dataset else ()
    if qrels:
        lines = qrels_lines(qrels_of_grades(found.graded, cases))
        write_file(qrels, "".join(f"{line}\n" for line in lines))
    if out:
        write_file(out, cases_text(with_grades(cases, found.graded)))


def _say_grades(
    found: "Grading",
    shares: "Sequence[UnjudgedShare]",
    depth: int,
    written: "Sequence[str]",
    as_json: bool,
) -> None:
    counts: Mapping[int, int] = _by_grade(found)
    if as_json:
        print_json(
            {
                "graded": len(found.graded),
                "by_grade": counts,
                "ungraded": list(found.ungraded),
                "wrong": list(found.wrong),
                "depth": depth,
                "unjudged": [{**share._asdict(), "share": share.share} for share in shares],
                "written": list(written),
            }
        )
        return
    listed = ", ".join(f"{count} of grade {grade}" for grade, count in counts.items())
    print(f"{len(found.graded)} passages are graded ({listed}). Wrote {' and '.join(written)}.")
    if found.ungraded:
        print(f"{len(found.ungraded)} have no grade yet, the first in {found.ungraded[0]}.")
    for wrong in found.wrong[:SHOWN]:
        print(f"  {wrong} is none of 0, 1 and 2")
    for share in shares:
        part = "no passages" if share.share is None else f"{share.share:.1%}"
        counted = f"{share.unjudged} of {share.passages} passages, {share.cases} cases"
        print(f"Unjudged at depth {depth} in {share.run} ({share.name}): {part} ({counted}).")


def _by_grade(found: "Grading") -> dict[int, int]:
    counts = dict.fromkeys((2, 1, 0), 0)
    for one in found.graded:
        counts[one.grade] += 1
    return counts
