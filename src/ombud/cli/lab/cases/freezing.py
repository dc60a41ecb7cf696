"""`ombud lab freeze`: the evidence of cases, kept in a file."""

from pathlib import Path

import typer

from ombud.cli.console import HOME, JSON, errors_said, plan_values, print_json, progress, write_file
from ombud.cli.lab.asking import DATASET, PLAN, SPLIT, TAGS, TARGET, chosen_cases
from ombud.cli.lab.judging import lab_workspace
from ombud.cli.lab.target import complete, target_of


def freeze(
    dataset: Path = DATASET,
    out: Path = typer.Option(..., "--out", help="The .jsonl to write."),
    target: str = TARGET,
    plan: list[str] = PLAN,
    split: str = SPLIT,
    tags: list[str] = TAGS,
    as_json: bool = JSON,
    home: Path | None = HOME,
) -> None:
    """Search for every case and keep what was found, also for those that are to be denied:
    `lab run --evidence` then answers from that, whatever the search does by then."""
    del home
    with errors_said(as_json):
        from ombud.lab import freeze_cases, frozen_text

        workspace = lab_workspace()
        cases, _ = chosen_cases(dataset, split, 1.0, 0, tags)
        with progress(not as_json) as on_progress:
            source = target_of(workspace, target, on_progress=on_progress)
            work = freeze_cases(cases, source, plan_values(list(plan)), on_progress)
            frozen = complete(work, source)
        write_file(out, frozen_text(frozen))
        passages = sum(len(one.hits) for one in frozen)
        empty = sum(not one.hits for one in frozen)
        if as_json:
            print_json(
                {"cases": len(frozen), "passages": passages, "empty": empty, "file": str(out)}
            )
            return
        print(f"Kept {passages} passages of {len(frozen)} cases ({empty} without any) in {out}.")
        print(f"`ombud lab run {dataset} --split {split} --evidence {out}` answers from them.")
