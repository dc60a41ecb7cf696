"""`[lab] judge_share`: a judge grades a share of the answers that people got, within a budget of
its own. A day's grades are a run, without a word on who asked."""

import asyncio
import uuid
from collections.abc import Sequence
from datetime import UTC, datetime
from itertools import islice

from ombud.app.watching.judges import judge_of
from ombud.app.workspace import Workspace
from ombud.errors import SetupError
from ombud.lab import (
    LIVE,
    Metric,
    add_rubrics,
    check_consent,
    judge_metrics,
    no_judge,
    parse_metrics,
    sample_live,
)
from ombud.store import (
    Done,
    acquire_lease,
    judge_costs,
    list_runs,
    read_observations,
    save_done,
    save_run,
    start_run,
)
from ombud.types import Observation, Run

GRADED_AT_ONCE = 4
"""Answers between two looks at the budget."""


def judge_live(workspace: Workspace) -> str:
    """Grade what of today's share has no grade yet; returns a line on it, empty where there is
    nothing to say. Raises LabError without consent, SetupError without a budget, a judge, or the
    judge's price, and Busy if another process does it."""
    lab = workspace.settings.lab
    if not lab.judge_share:
        return ""
    check_consent(lab.harvest)
    if not lab.judge_budget:
        raise SetupError(
            "Live answers are not judged: they have no budget.",
            hint="Set `judge_budget` under [lab], in US dollars a day.",
        )
    add_rubrics(workspace.home / "rubrics")
    metrics = parse_metrics(lab.judge_metrics)
    judge = judge_of(workspace, metrics)
    if judge is None:
        raise no_judge(metrics)
    today = datetime.now(UTC).date().isoformat()
    with acquire_lease(workspace.store, "lab live"):
        run = _run_of(workspace, today, metrics)
        seen = {
            observation.case.id for _, observation in read_observations(workspace.store, run.id)
        }
        drawn = sample_live(workspace.store, lab.judge_share, today)
        waiting = (observation for observation in drawn if observation.case.id not in seen)
        while not _is_spent(workspace, run):
            asyncio.run(judge_metrics(workspace.store, run, metrics, judge(run.id)))
            batch = list(islice(waiting, GRADED_AT_ONCE))
            if not batch:
                return ""
            run = _keep(workspace, run, batch)
    return f"judged share: the budget of {today} is used, {run.cases} answers were drawn"


def _run_of(workspace: Workspace, day: str, metrics: Sequence[Metric]) -> Run:
    name = LIVE + day
    for run in list_runs(workspace.store, digest=name):
        return run
    run = Run(
        id=uuid.uuid4().hex[:8],
        name=name,
        dataset="live answers",
        dataset_digest=name,
        target="local",
        config={"metrics": list(map(str, metrics))},
        digest=name,
        cases=0,
        state="done",
        started=datetime.now(UTC),
        notes=("A share of the answers that people got, without who asked.",),
    )
    start_run(workspace.store, run)
    return run


def _is_spent(workspace: Workspace, run: Run) -> bool:
    price = judge_costs(workspace.store, run.id).price
    if price is None:
        raise SetupError(
            "Live answers are not judged: what the judge costs is not known.",
            hint="Give its price under [models.prices]; 0 for a model of your own.",
        )
    return price >= workspace.settings.lab.judge_budget


def _keep(workspace: Workspace, run: Run, batch: Sequence[Observation]) -> Run:
    rows = [Done(run.cases + number, one, ()) for number, one in enumerate(batch)]
    save_done(workspace.store, run.id, rows)
    run = run.model_copy(update={"cases": run.cases + len(batch), "ended": datetime.now(UTC)})
    save_run(workspace.store, run)
    return run
