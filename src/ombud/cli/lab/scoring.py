"""`ombud lab run` without asking: stored answers scored again, and rankings of any system."""

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ombud.cli.console import print_json, progress
from ombud.cli.lab.json_output import run_json
from ombud.cli.lab.judging import lab_workspace
from ombud.cli.lab.target import instruments, target_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ombud.app import Workspace
    from ombud.lab import Metric
    from ombud.types import Run

RANKED = "ndcg@10,recall@10,map,mrr"
"""Metrics of plain rankings."""


def score_again(named: str, metrics: str, as_json: bool) -> None:
    """Score the stored answers of a run; a judge is asked only where it has not judged yet in this
    version."""
    from ombud.lab import parse_metrics, read_run, rescore

    workspace = lab_workspace()
    recorded = read_run(workspace.store, named)
    chosen = parse_metrics(metrics or ",".join(recorded.metrics))
    is_ombud = "system" not in recorded.run.config
    target = target_of(workspace, recorded.run.target) if is_ombud else None
    with progress(not as_json) as on_progress:
        tools = instruments(workspace, target, chosen)
        count = rescore(workspace.store, recorded.run, chosen, tools, on_progress=on_progress)
        judge_again(workspace, recorded.run, chosen, on_progress)
    if as_json:
        print_json(run_json(read_run(workspace.store, recorded.run.id)))
    else:
        print(f"Scored {count} cases in {', '.join(map(str, chosen))}.")


def judge_again(
    workspace: "Workspace",
    run: "Run",
    chosen: "Sequence[Metric]",
    on_progress: "Callable[[str, int, int], None]",
) -> None:
    from ombud.app import judge_of
    from ombud.lab import judge_metrics, no_judge, split_judged

    _, judged = split_judged(chosen)
    if not judged:
        return
    judge = judge_of(workspace, chosen)
    if judge is None:
        raise no_judge(judged)
    chosen_judge = judge(run.id)
    asyncio.run(judge_metrics(workspace.store, run, chosen, chosen_judge, on_progress=on_progress))


def score_ranked(qrels: Path, rankings: Path, metrics: str, as_json: bool) -> None:
    """Score rankings in TREC's formats; the values are trec_eval's."""
    from ombud.cli.printing.terminal import open_page
    from ombud.lab import (
        figures_table,
        parse_metrics,
        read_qrels,
        read_rankings,
        score_rankings,
        summarise,
    )
    from ombud.types import Case

    judged = read_qrels(qrels)
    scores = score_rankings(judged, read_rankings(rankings), parse_metrics(metrics or RANKED))
    lines = summarise([Case(id=query, question="-") for query in judged], scores, by=["overall"])
    if not as_json:
        open_page().markdown(figures_table([("", line) for line in lines]))
        return
    means: dict[str, Any] = {}
    for line in lines:
        mean = line.mean
        means[line.metric] = {"mean": mean.value, "valid": mean.valid, "total": mean.total}
    queries: dict[str, Any] = {}
    for one in scores:
        queries.setdefault(one.case_id, {})[one.metric] = one.value
    print_json({"metrics": means, "queries": queries})
