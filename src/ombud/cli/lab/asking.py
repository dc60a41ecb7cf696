"""`ombud lab run`, and what others share that ask a target."""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from ombud.cli.console import (
    HOME,
    JSON,
    errors_said,
    plan_values,
    print_json,
    progress,
)
from ombud.cli.lab.json_output import run_json
from ombud.cli.lab.judging import lab_workspace
from ombud.cli.lab.scoring import score_again, score_ranked
from ombud.cli.lab.target import complete, frozen_target, instruments, target_of

if TYPE_CHECKING:
    from ombud.app import Workspace
    from ombud.lab import RecordedRun, RunOptions, Target
    from ombud.types import Case

DATASET_HELP = (
    "Cases: a .jsonl, .csv or .json file (of RAGAS, LangSmith, Langfuse, Phoenix, too), a "
    "folder of them, or a BEIR or TREC folder."
)
COLUMNS = typer.Option(
    "",
    "--columns",
    help="Where things stand in a row of another tool, such as question=query,answer=gold; a "
    "header of a CSV, or a path into a record.",
)
DATASET = typer.Argument(help=DATASET_HELP)
TARGET = typer.Option(
    "local",
    "--target",
    help="What is asked: `local`, this workspace; the address of an ombud; or any other system: "
    "module:function, the address of [target] in ombud.toml, or a .toml file with such a table.",
)
PLAN = typer.Option(
    [], "--plan", metavar="KEY=VALUE", help="Change a knob for every case; may be repeated."
)
METRICS = typer.Option("", "--metrics", help="Such as recall@8,token_f1; empty = the usual ones.")
SPLIT = typer.Option("open", "--split", help="dev, test, sealed, or open: dev and test.")
SAMPLE = typer.Option(
    1.0, "--sample", help="Ask this share of the cases only, the same ones each time."
)
SEED = typer.Option(0, "--seed", help="Which ones.")
TAGS = typer.Option(
    [], "--tag", help="Cases with this tag only; may be repeated: with any of them."
)
RANKINGS = typer.Option(
    None,
    "--rankings",
    help="Ask nothing: score a TREC run of any system; DATASET holds the qrels, TREC or BEIR.",
)
CONCURRENCY = typer.Option(4, "--concurrency", min=1, max=256, help="Cases asked at the same time.")
LEAD = typer.Option(
    "", "--lead", help="The metric of figures and order; empty = the judged composite, or a share."
)
SECONDS = typer.Option(120.0, "--seconds", min=0.001, help="Longest time for one case.")


def run(
    dataset: Path | None = typer.Argument(None, help=DATASET_HELP),
    target: str = TARGET,
    columns: str = COLUMNS,
    plan: list[str] = PLAN,
    metrics: str = METRICS,
    name: str = typer.Option("", "--name", help="How the run is called; empty = as the dataset."),
    split: str = SPLIT,
    sample: float = SAMPLE,
    seed: int = SEED,
    tags: list[str] = TAGS,
    evidence: Path | None = typer.Option(
        None, "--evidence", help="Answer from what `lab freeze` has kept, instead of searching."
    ),
    triage: bool = typer.Option(
        True, "--triage/--no-triage", help="With --evidence: look at the message first."
    ),
    rescore: str = typer.Option(
        "",
        "--rescore",
        metavar="RUN",
        help="Ask nothing: score the stored answers of this run again, or in further --metrics.",
    ),
    rankings: Path | None = RANKINGS,
    concurrency: int = CONCURRENCY,
    seconds: float = SECONDS,
    as_json: bool = JSON,
    home: Path | None = HOME,
) -> None:
    """Ask every case, score the answers, keep everything. Stopped in the middle, the same command
    goes on."""
    del home
    with errors_said(as_json):
        from ombud.app import asker_for, judge_of
        from ombud.errors import BadRequest
        from ombud.lab import SystemTarget, run_cases, usual_metrics

        if rescore:
            score_again(rescore, metrics, as_json)
            return
        if dataset is None:
            raise BadRequest("Which cases?", hint="Name a file of cases, or --rescore RUN.")
        if rankings:
            score_ranked(dataset, rankings, metrics, as_json)
            return
        workspace = lab_workspace()
        cases, notes = draw_cases(
            tagged_cases(dataset, tags, columns), dataset, split, sample, seed
        )
        with progress(not as_json) as on_progress:
            named = target_of(workspace, target, seconds, on_progress)
            asked_target: Target = named
            if evidence:
                asked_target = frozen_target(named, evidence, cases, triage=triage)
                notes += (f"Answered from the evidence in {evidence.name}, not from a search.",)
            options = run_options(
                dataset,
                name=name,
                split=split,
                metrics=metrics
                or usual_metrics(cases, of_ombud=not isinstance(named, SystemTarget)),
                plan=plan,
                notes=notes,
                concurrency=concurrency,
                seconds=seconds,
            )
            if target == "local" and not evidence:
                _check_documents(workspace, plan_values(list(plan)))
            work = run_cases(
                cases,
                asked_target,
                workspace.store,
                options,
                instruments=instruments(workspace, asked_target, options.metrics),
                on_progress=on_progress,
                judge_of=judge_of(workspace, options.metrics),
                asker=asker_for(workspace, cases),
            )
            made = complete(work, named)
        say_run(workspace, made.id, as_json)


def _check_documents(workspace: "Workspace", plan: Mapping[str, Any]) -> None:
    """Raise SetupError where ombud would answer without a document, unless that is what the plan
    measures."""
    from ombud.errors import SetupError
    from ombud.index import blocking

    if plan.get("k") != 0 and not any(blocking(workspace.engine.documents()).values()):
        raise SetupError(
            "Without --target ombud itself is measured, and this workspace has no documents.",
            hint="Name your system: --target module:function, or the address of [target]. To "
            "measure ombud, index documents first: `ombud sync FOLDER`.",
        )


def chosen_cases(
    dataset: Path,
    split: str,
    share: float,
    seed: int,
    tags: Sequence[str] = (),
) -> tuple[tuple["Case", ...], tuple[str, ...]]:
    return draw_cases(tagged_cases(dataset, tags), dataset, split, share, seed)


def draw_cases(
    whole: "Sequence[Case]", dataset: Path, split: str, share: float, seed: int
) -> tuple[tuple["Case", ...], tuple[str, ...]]:
    """Draw the cases of a split, or a share of them, with notes on them."""
    from ombud.errors import LabError
    from ombud.lab import (
        OPEN,
        contaminated,
        contamination_note,
        draw_sample,
        select_split,
        split_of,
    )

    chosen = select_split(whole, split)
    if not chosen:
        raise LabError(
            f"{dataset}: none of its {len(whole)} cases is in the split `{split}`.",
            hint=_where_cases_are(whole),
        )
    note = contamination_note(contaminated(whole), chosen)
    notes = (note,) if note else ()
    sealed = sum(split_of(case.id) == "sealed" for case in whole)
    if sealed and split == OPEN:
        notes = (
            *notes,
            f"{sealed} of {len(whole)} cases are sealed and left out; `--split sealed` asks them, "
            "on the day of a release.",
        )
    if share == 1:
        return chosen, notes
    drawn = draw_sample(chosen, share, seed)
    return drawn, (*notes, f"Exploratory: {len(drawn)} of {len(chosen)} cases (seed {seed}).")


def _where_cases_are(cases: "Sequence[Case]") -> str:
    """Tell which splits hold the cases, and how one gets a case into another."""
    from ombud.lab import split_of

    if not cases:
        return "There is no case, or none with such a tag."
    counts = Counter(split_of(case.id) for case in cases)
    listed = ", ".join(f"{count} in `{name}`" for name, count in sorted(counts.items()))
    return f"There are {listed}. The split of a case follows from its id: rename a case to move it."


def tagged_cases(dataset: Path, tags: Sequence[str], columns: str = "") -> "Sequence[Case]":
    """Read the cases with any of the tags; all without tags."""
    from ombud.errors import LabError
    from ombud.lab import parse_columns, read_cases

    cases = read_cases(dataset, parse_columns(columns))
    chosen = [case for case in cases if not tags or set(tags) & set(case.tags)]
    if not chosen:
        all_tags = sorted({tag for case in cases for tag in case.tags})
        raise LabError(
            f"No case is tagged `{'` or `'.join(tags)}`.", hint=f"Tags: {', '.join(all_tags)}."
        )
    return chosen


def run_options(
    dataset: Path,
    *,
    name: str,
    split: str,
    metrics: str,
    plan: Sequence[str],
    notes: tuple[str, ...],
    concurrency: int,
    seconds: float,
    study: bool = False,
) -> "RunOptions":
    from ombud.lab import RunOptions, parse_metrics
    from ombud.settings import merge_plan

    changes = plan_values(list(plan))
    merge_plan(changes, served=False)  # what is misspelt is said before anything is asked
    called = name or dataset.resolve().stem
    return RunOptions(
        metrics=parse_metrics(metrics),
        name=called,
        dataset=str(dataset.resolve()),
        split=split,
        plan=changes,
        study=called if study else "",
        concurrency=concurrency,
        seconds=seconds,
        notes=notes,
    )


def say_run(workspace: "Workspace", run_id: str, as_json: bool) -> None:
    from ombud.cli.printing.terminal import open_page
    from ombud.lab import closing, figures_table, read_run

    recorded = read_run(workspace.store, run_id)
    if as_json:
        print_json(run_json(recorded))
        return
    made, page = recorded.run, open_page()
    page.line(f"{len(recorded.cases)} cases of {made.dataset} ({made.split}), target {made.target}")
    for note in (*made.notes, *short_rankings(recorded), *other_names(recorded)):
        page.line(f"Note: {note}")
    page.markdown("\n" + figures_table([("", line) for line in recorded.summary(["overall"])]))
    page.markdown("\n" + closing(recorded))
    verbs = f"`ombud lab show {made.id}`, `ombud lab report {made.id} --html report.html`"
    page.line(f"\nRun {made.id} ({made.name}): {verbs}.")


def short_rankings(recorded: "RecordedRun") -> list[str]:
    """List the metrics that look further down than the target returns."""
    from ombud.lab import parse_metric

    config = recorded.run.config
    plan = {**config.get("plan", {}), **config.get("set", {})}
    k = plan.get("k")
    if not k:
        return []
    cut: list[str] = []
    for name in recorded.metrics:
        metric = parse_metric(name)
        if metric.cutoff and not metric.words and metric.cutoff > k:
            cut.append(str(metric))
    return [f"{', '.join(cut)}: only {k} passages come back (plan.k)."] if cut else []


def other_names(recorded: "RecordedRun") -> list[str]:
    """Say when a system names documents otherwise than the cases do: then nothing looks found."""
    returned = {
        hit.chunk.uri for seen in recorded.observations for hit in seen.hits or () if seen.lacks
    }
    wanted = {item.document for case in recorded.cases for item in case.evidence}
    returned.discard("")
    if not returned or not wanted or returned & wanted:
        return []
    return [
        f"no id that the target gave (such as `{min(returned)}`) is a document of the cases "
        f"(such as `{min(wanted)}`): nothing can count as found until both use the same names."
    ]
