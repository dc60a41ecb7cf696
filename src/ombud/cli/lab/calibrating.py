"""`ombud lab tune --confidence`: from which confidence on to answer."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from ombud.cli.console import print_json, progress, write_file
from ombud.cli.lab.asking import chosen_cases, run_options
from ombud.cli.lab.judging import lab_workspace
from ombud.cli.lab.target import complete, instruments, target_of

if TYPE_CHECKING:
    from ombud.lab import Risk


def choose_confidence(
    dataset: Path,
    target: str,
    most: float | None,
    plot: Path | None,
    *,
    concurrency: int,
    seconds: float,
    as_json: bool,
) -> None:
    """Choose the least confidence to answer on the dev split, and show its risk and coverage on the
    test split."""
    from ombud.lab import decisions, read_run, run_cases, undecided

    workspace = lab_workspace()
    halves = []
    aside = 0
    with progress(not as_json) as on_progress:
        measured = target_of(workspace, target, seconds, on_progress)
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
            tools = instruments(workspace, measured, options.metrics)
            work = run_cases(
                wanted,
                measured,
                workspace.store,
                options,
                instruments=tools,
                on_progress=on_progress,
                reuse=True,
            )
            made = complete(work, measured)
            observed = read_run(workspace.store, made.id).observations
            halves.append(decisions(observed))
            aside += undecided(observed)
    where = plot or workspace.data / "lab" / f"calibrate-{dataset.stem}.svg"
    _say_risk(halves[0], halves[1], most, where, as_json)
    if aside and not as_json:
        print(f"{aside} answers were given without a search; no threshold changes them.")


def _say_risk(dev: Any, test: Any, most: float | None, where: Path, as_json: bool) -> None:
    from ombud.cli.printing.terminal import open_page
    from ombud.lab import (
        Series,
        choose_threshold,
        decision_accuracy,
        draw_lines,
        interval_words,
        markdown_table,
        risk_area,
        risk_coverage,
    )

    at = choose_threshold(dev, most)
    rows = risk_coverage(test)
    right = decision_accuracy(test, at)
    answered = sum(decision.confidence >= at for decision in test) / len(test)
    curve = list(map(_risk_point, rows))
    plot = draw_lines(
        "Risk against coverage (test split)",
        ("share of questions answered", "risk"),
        [Series("answered without an answer in the documents", curve)],
        marks=[(answered, f"abstain {at:g}")],
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
        risk, wrong = row.unanswerable, row.wrong
        cells.append(
            (
                f"{row.coverage:.0%}",
                f"{row.threshold:.3f}",
                "" if risk.value is None else f"{risk.value:.1%}",
                interval_words(risk, "0-1"),
                "" if wrong.value is None else f"{wrong.value:.1%}",
                str(wrong.total),
            )
        )
    page = open_page()
    page.markdown(markdown_table(RISK_HEAD, cells))
    area = f"{risk_area(test):.3f} (test split, {len(test)} questions)"
    page.line(f"\nArea under the risk-coverage curve: {area}.")
    page.line(f"Chosen on dev ({len(dev)} questions): answer from confidence {at:g}.")
    accuracy = f"{right.value:.1%} ({interval_words(right, '0-1')})"
    page.line(f"On test it answers {answered:.0%} and decides {accuracy} rightly. In ombud.toml:")
    page.line(f"\n[plan]\nabstain = {at:g}")


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
