"""`ombud lab calibrate`: from which confidence on to answer."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from ombud.cli.console import HOME, JSON, errors_said, print_json, progress, write_file
from ombud.cli.lab.asking import (
    CONCURRENCY,
    DATASET,
    SECONDS,
    TARGET,
    chosen_cases,
    run_options,
)
from ombud.cli.lab.judging import lab_workspace
from ombud.cli.lab.target import complete, instruments, target_of

if TYPE_CHECKING:
    from ombud.lab import Risk


def calibrate(
    dataset: Path = DATASET,
    target: str = TARGET,
    most: float | None = typer.Option(
        None,
        "--at-most",
        min=0,
        max=1,
        help="Largest share of answers to questions that the documents do not answer.",
    ),
    concurrency: int = CONCURRENCY,
    seconds: float = SECONDS,
    plot: Path | None = typer.Option(
        None, "--plot", help="Where the plot goes; empty = .ombud/lab/calibrate-DATASET.svg."
    ),
    as_json: bool = JSON,
    home: Path | None = HOME,
) -> None:
    """The least confidence to answer: chosen on the dev split, its risk and coverage shown on the
    test split."""
    del home
    with errors_said(as_json):
        from ombud.lab import decisions, read_run, run_cases, undecided

        workspace = lab_workspace()
        found = []
        aside = 0
        with progress(not as_json) as on_progress:
            asked = target_of(workspace, target, seconds, on_progress)
            for split in ("dev", "test"):
                cases, notes = chosen_cases(dataset, split, 1.0, 0)
                wanted = [case for case in cases if case.expect in {"answer", "deny"}]
                options = run_options(
                    dataset,
                    name=f"calibrate {dataset.stem}",
                    split=split,
                    metrics="outcome_accuracy,citation_recall",
                    plan=["abstain=0"],
                    notes=notes,
                    concurrency=concurrency,
                    seconds=seconds,
                )
                tools = instruments(workspace, asked, options.metrics)
                work = run_cases(
                    wanted,
                    asked,
                    workspace.store,
                    options,
                    instruments=tools,
                    on_progress=on_progress,
                    reuse=True,
                )
                made = complete(work, asked)
                observed = read_run(workspace.store, made.id).observations
                found.append(decisions(observed))
                aside += undecided(observed)
        where = plot or workspace.data / "lab" / f"calibrate-{dataset.stem}.svg"
        _say_risk(found[0], found[1], most, where, as_json)
        if aside and not as_json:
            print(f"{aside} answers were given without a search; no threshold changes them.")


def _say_risk(dev: Any, test: Any, most: float | None, where: Path, as_json: bool) -> None:
    from ombud.charts import Series, draw_lines
    from ombud.cli.printing.tables import between, figure, table
    from ombud.lab import choose_threshold, decision_accuracy, risk_area, risk_coverage

    at = choose_threshold(dev, most)
    rows = risk_coverage(test)
    right = decision_accuracy(test, at)
    kept = sum(decision.confidence >= at for decision in test) / len(test)
    curve = list(map(_risk_point, rows))
    plot = draw_lines(
        "Risk against coverage (test split)",
        ("share of questions answered", "risk"),
        [Series("answered without an answer in the documents", curve)],
        marks=[(kept, f"abstain {at:g}")],
    )
    write_file(where, plot)
    if as_json:
        print_json(
            {
                "abstain": at,
                "test": list(map(_risk_json, rows)),
                "accuracy": right.value,
                "area": risk_area(test),
                "plot": str(where),
            }
        )
        return
    cells: list[tuple[str, ...]] = []
    for row in rows:
        cells.append(
            (
                f"{row.coverage:.0%}",
                figure(row.threshold),
                figure(row.unanswerable.value),
                between(row.unanswerable.low, row.unanswerable.high),
                figure(row.wrong.value),
                str(row.wrong.total),
            )
        )
    print(table(RISK_HEAD, cells))
    area = f"{risk_area(test):.3f} (test split, {len(test)} questions)"
    print(f"\nArea under the risk-coverage curve: {area}.")
    print(f"Chosen on dev ({len(dev)} questions): answer from confidence {at:g}.")
    accuracy = f"{figure(right.value)} ({between(right.low, right.high)})"
    print(f"On test it answers {kept:.0%} and decides {accuracy} rightly. In ombud.toml:")
    print(f"\n[plan]\nabstain = {at:g}")


RISK_HEAD = (
    *("coverage", "confidence", "unanswerable answered", "95 %"),
    *("or without the evidence", "n"),
)


def _risk_point(row: "Risk") -> tuple[float, float, float | None, float | None]:
    risk = row.unanswerable
    return (row.coverage, risk.value or 0.0, risk.low, risk.high)


def _risk_json(row: "Risk") -> dict[str, Any]:
    return {
        "coverage": row.coverage,
        "threshold": row.threshold,
        "risk": row.unanswerable.value,
        "wrong": row.wrong.value,
    }
