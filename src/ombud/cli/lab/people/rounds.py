"""`ombud lab round`: past questions answered and rated before something is published."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from ombud.cli.console import HOME, JSON, day, errors_said, print_json, progress, write_file
from ombud.cli.lab.judging import lab_workspace
from ombud.cli.lab.target import complete, target_of
from ombud.cli.publishing.checking import INTO, ON, REPLACES

if TYPE_CHECKING:
    from collections.abc import Callable

    from ombud.app import PolicyDraft, Workspace
    from ombud.lab import AnnotationTask, RoundReport, Target
    from ombud.types import Case

    OnProgress = Callable[[str, int, int], None]

LOG = "log"
KEY = "annotation.key.json"
FACTS = "round.json"
ASKED = "outcome_accuracy"


def publishing_round(
    folder: Path = typer.Argument(help="Where the sheets go, and where --read finds them."),
    topic: str = typer.Option("", "--topic", help="What is about to be published, in its words."),
    size: int = typer.Option(50, "--sample", min=1, help="Questions to draw."),
    source: str = typer.Option(
        LOG, "--from", help="`log`, the kept conversations of those who agreed, or a file of cases."
    ),
    raters: str = typer.Option("", "--raters", help="Such as ann,bob,cem; two rate each answer."),
    criteria: str = typer.Option("natwest", "--criteria", help="What they rate."),
    target: str = typer.Option("local", "--target", help="`local`, or the address of a server."),
    draft: list[Path] = typer.Option(
        [], "--draft", help="Answer as if this draft were in force; may be repeated."
    ),
    on: str = ON,
    replaces: list[str] = REPLACES,
    into: str = INTO,
    seed: int = typer.Option(0, "--seed", help="Which questions, and who rates what."),
    read: bool = typer.Option(False, "--read", help="Read the sheets, write the report."),
    bar: float = typer.Option(4.0, "--bar", help="Rating from which an answer is good enough."),
    share: float = typer.Option(0.8, "--share", min=0, max=1, help="Share that must be."),
    as_json: bool = JSON,
    home: Path | None = HOME,
) -> None:
    """Draw past questions on a topic, answer them, with drafts in force where named, give each
    answer to two raters; then, with --read, a go or no-go. Exit code 1 unless it is a go."""
    del home
    with errors_said(as_json):
        from ombud.app import DraftChoices, LocalTarget, with_drafts
        from ombud.errors import BadRequest

        workspace = lab_workspace()
        if read:
            report = _report(workspace, folder, bar, share)
            _say(report, folder, as_json)
            if report.decision != "go":
                raise typer.Exit(1)
            return
        names = [name.strip() for name in raters.split(",") if name.strip()]
        if not topic or not names:
            raise BadRequest("About what, and rated by whom?", hint="--topic T --raters ann,bob")
        cases = _drawn(workspace, source, topic, size, seed)
        facts: dict[str, Any] = {"topic": topic, "criteria": criteria, "seed": seed}
        with progress(not as_json) as on_progress:
            if draft:
                choices = DraftChoices(on=day(on), replaces=tuple(replaces), into=into)
                with with_drafts(workspace, draft, choices, on_progress) as drafted:
                    facts["digest"] = drafted.digest
                    cases = _on_first_day(cases, drafted.drafts)
                    drafted_target = LocalTarget(drafted.workspace)
                    run = _answered(workspace, cases, topic, drafted_target, on_progress)
            else:
                run = _answered(workspace, cases, topic, target_of(workspace, target), on_progress)
        _write(workspace, folder, run, names, facts)
        if as_json:
            print_json({"questions": len(cases), "run": run, "folder": str(folder)})
            return
        print(f"{len(cases)} questions about {topic} are answered (run {run}).")
        print(f"Each rater gets their own sheet of {folder} and annotation.guide.md.")
        print(f"Then: `ombud lab round {folder} --read`.")


def _drawn(
    workspace: "Workspace", source: str, topic: str, size: int, seed: int
) -> "Sequence[Case]":
    from ombud.lab import (
        check_consent,
        choose_on_topic,
        harvest_questions,
        read_cases,
        select_split,
    )

    if source != LOG:
        return choose_on_topic(select_split(read_cases(Path(source)), "open"), topic, size, seed)
    check_consent(workspace.settings.lab.harvest)
    harvest = harvest_questions(workspace.store, seed=seed)
    return choose_on_topic(harvest.cases, topic, size, seed)


def _on_first_day(cases: "Sequence[Case]", drafts: "Sequence[PolicyDraft]") -> "Sequence[Case]":
    """Date the cases to the day when all drafts are in force; a case with a day of its own keeps
    it."""
    first = max(draft.begins for draft in drafts)
    dated: list[Case] = []
    for case in cases:
        dated.append(case if case.as_of else case.model_copy(update={"as_of": first}))
    return dated


def _answered(
    workspace: "Workspace",
    cases: "Sequence[Case]",
    topic: str,
    target: "Target",
    on_progress: "OnProgress",
) -> str:
    """Answer the cases and return the id of the run."""
    from ombud.lab import RunOptions, parse_metrics, run_cases

    options = RunOptions(parse_metrics(ASKED), name=f"round: {topic}", dataset=f"round {topic}")
    work = run_cases(cases, target, workspace.store, options, on_progress=on_progress)
    return complete(work, target).id


def _write(
    workspace: "Workspace",
    folder: Path,
    run: str,
    raters: "Sequence[str]",
    facts: dict[str, Any],
) -> None:
    from ombud.lab import annotation_key, annotation_sheet, assign_raters, criteria_set

    chosen = criteria_set(facts["criteria"])
    seed = facts["seed"]
    tasks = _tasks(workspace, run, seed)
    assigned = assign_raters([task.item for task in tasks], raters, seed=seed)
    for rater in raters:
        own = [task for task in tasks if rater in assigned[task.item]]
        sheet = annotation_sheet(own, chosen, rater, seed)
        write_file(folder / f"annotation.{rater}.csv", sheet)
    write_file(folder / "annotation.guide.md", chosen.guide())
    write_file(folder / KEY, annotation_key(tasks, chosen))
    content = {**facts, "run": run, "raters": list(raters)}
    write_file(folder / FACTS, json.dumps(content, ensure_ascii=False, indent=1) + "\n")


def _tasks(workspace: "Workspace", run: str, seed: int) -> "Sequence[AnnotationTask]":
    from ombud.lab import draw_tasks, read_run

    return draw_tasks([read_run(workspace.store, run)], seed=seed)


def _report(workspace: "Workspace", folder: Path, bar: float, share: float) -> "RoundReport":
    from ombud.app import store_round
    from ombud.errors import BadRequest
    from ombud.lab import criteria_set, read_key, read_ratings, round_report

    try:
        facts = json.loads((folder / FACTS).read_text(encoding="utf-8"))
    except (OSError, ValueError) as wrong:
        raise BadRequest(
            f"{folder} holds no round: {wrong}.",
            hint="`ombud lab round FOLDER --topic T --raters ann,bob` begins one.",
        ) from wrong
    chosen = criteria_set(facts["criteria"])
    sheets = [folder / f"annotation.{rater}.csv" for rater in facts["raters"]]
    _, items = read_key(folder / KEY)
    result = read_ratings(sheets, chosen.levels, items)
    tasks = _tasks(workspace, facts["run"], facts["seed"])
    report = round_report(facts["topic"], tasks, result, chosen, bar=bar, required=share)
    if "digest" in facts:
        store_round(workspace, facts["digest"], report.decision)
    return report


def _say(report: "RoundReport", folder: Path, as_json: bool) -> None:
    from ombud.lab import round_markdown

    written = folder / "report.md"
    write_file(written, round_markdown(report))
    if as_json:
        rows = [{**one._asdict(), "share": one.share} for one in report.shares]
        print_json(
            {
                "decision": report.decision,
                "answers": report.answers,
                "bar": report.bar,
                "required": report.required,
                "shares": rows,
                "concerns": [one.task.case for one in report.concerns],
                "open": report.open,
                "report": str(written),
            }
        )
        return
    print(round_markdown(report).split("## Agreement", maxsplit=1)[0].strip())
    print(f"\n{len(report.concerns)} responses of concern. Written to {written}.")
