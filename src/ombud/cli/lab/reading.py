"""The verbs of `ombud lab` that read what runs have left: list, show, compare, report, gate, trend,
and files."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from ombud.cli.console import (
    HOME,
    JSON,
    errors_said,
    print_json,
    progress,
    write_file,
)
from ombud.cli.lab.json_output import (
    contrast_json,
    fall_json,
    head_json,
    report_json,
    run_json,
    step_json,
)
from ombud.cli.lab.judging import judge_of, lab_workspace
from ombud.cli.lab.target import instruments, target_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from ombud.app import Workspace
    from ombud.charts import Series
    from ombud.lab import CaseDifference, Metric, RecordedRun, Step, Verdict
    from ombud.types import Run

RUN = typer.Argument(
    help="Its id, the beginning of the id, its name (the newest of that name), or `last`."
)
WORST = 10
TESTS_USED = (
    "p: paired permutation test, Holm-corrected. "
    "detectable: the least difference these cases can show."
)


def list_all(as_json: bool = JSON, home: Path | None = HOME) -> None:
    """All runs, newest first."""
    del home
    with errors_said(as_json):
        from ombud.cli.printing.tables import table
        from ombud.store import list_runs

        known = list_runs(lab_workspace().store)
        if as_json:
            print_json({"runs": [run.model_dump(mode="json") for run in known]})
            return
        rows = [
            (
                run.id,
                run.name,
                f"{run.dataset} ({run.split})",
                run.target,
                str(run.cases),
                run.state,
                _when(run),
            )
            for run in known
        ]
        print(
            table(("run", "name", "dataset", "target", "cases", "state", "started"), rows, left=4)
        )
        if not known:
            print("No runs yet. `ombud lab run DATASET` makes one.")


def show(
    run: str = RUN,
    case: str = typer.Option("", "--case", help="Everything about one case."),
    by: str = typer.Option(
        "type",
        "--by",
        help="Group the figures by type, tag, country, persona or tests (component).",
    ),
    as_json: bool = JSON,
    home: Path | None = HOME,
) -> None:
    """A run's figures and its worst cases; with --case one case: queries, rankings, answer, claims,
    scores."""
    del home
    with errors_said(as_json):
        from ombud.errors import BadRequest
        from ombud.lab import GROUPS, read_run

        if by not in GROUPS:
            raise BadRequest(f"`{by}` is no way to group.", hint=f"Known: {', '.join(GROUPS)}.")
        recorded = read_run(lab_workspace().store, run)
        if case:
            _show_case(recorded, case, as_json)
            return
        if as_json:
            print_json(run_json(recorded))
            return
        _say_run(recorded, by)


def _say_run(recorded: "RecordedRun", by: str) -> None:
    from ombud.cli.printing.tables import closing, summary_table
    from ombud.lab import GROUPS

    run = recorded.run
    cases = f"{len(recorded.cases)} of {run.cases} cases of {run.dataset}"
    print(f"Run {run.id} ({run.name}), {run.state}: {cases}")
    setup = f"target {run.target}, configuration {run.digest}"
    print(f"Split {run.split}, {setup}, started {_when(run)}")
    for note in run.notes:
        print(f"Note: {note}")
    groups = [group for group in GROUPS if group in ("overall", by)]
    print()
    print(summary_table(recorded.summary(groups)))
    print()
    print(closing(recorded))
    where_found = recorded.where_found()
    if where_found.scores:
        cases = f"the {len(where_found.cases)} cases whose evidence the search brought back"
        print(f"\nAnswers to {cases}:\n")
        print(summary_table(where_found.summary(["overall"])))
    _say_worst(recorded)


def _say_worst(recorded: "RecordedRun") -> None:
    """Some cases that were lost or failed."""
    worst = [seen for seen in recorded.observations if seen.lost or seen.error][:WORST]
    print("\nSuch as:" if worst else "")
    for seen in worst:
        print(f"  {seen.case.id}: {seen.error or seen.lost}: {seen.case.question}")


def compare(
    first: str = RUN,
    second: str = RUN,
    by: list[str] = typer.Option(
        [],
        "--by",
        help="Also by type, tag, country, persona or tests (component); may be repeated.",
    ),
    metric: str = typer.Option(
        "", "--metric", help="Whose differences are listed case by case; empty = the first."
    ),
    as_json: bool = JSON,
    home: Path | None = HOME,
) -> None:
    """Two runs on the same cases: differences with intervals and tests, then case by case, worst
    first."""
    del home
    with errors_said(as_json):
        from ombud.cli.printing.tables import contrast_table, figure
        from ombud.lab import GROUPS, changes, compare_runs, parse_metric, read_run

        store = lab_workspace().store
        a, b = read_run(store, first), read_run(store, second)
        groups = GROUPS if as_json else [group for group in GROUPS if group in {"overall", *by}]
        rows = compare_runs(a, b, groups)
        chosen = str(parse_metric(metric)) if metric else rows[0].metric
        moved = changes(a, b, chosen)
        if as_json:
            print_json(
                {
                    "first": head_json(a.run),
                    "second": head_json(b.run),
                    "metrics": list(map(contrast_json, rows)),
                    "cases": list(map(_difference_json, moved)),
                }
            )
            return
        print(f"first:  {a.run.id} ({a.run.name})\nsecond: {b.run.id} ({b.run.name})\n")
        print(contrast_table(rows))
        print(f"\n{TESTS_USED}")
        print(f"\n{len(moved)} cases differ in {chosen}:")
        for difference in moved[:WORST]:
            values = f"{figure(difference.first.value)} -> {figure(difference.second.value)}"
            print(f"  {values}  {difference.case.id}: {difference.case.question}")


def _difference_json(difference: "CaseDifference") -> dict[str, Any]:
    return {
        "case": difference.case.id,
        "metric": difference.metric,
        "first": difference.first.value,
        "second": difference.second.value,
    }


def report(
    runs: list[str] = RUN,
    html: Path | None = typer.Option(
        None, "--html", help="One file that holds everything, for people."
    ),
    markdown: Path | None = typer.Option(None, "--markdown", help="Tables only."),
    as_json: bool = JSON,
    home: Path | None = HOME,
) -> None:
    """Write what runs found: tables, plots, differences and every case, in one file that needs
    nothing else; or the figures and differences as JSON."""
    del home
    with errors_said(as_json):
        from ombud.errors import BadRequest
        from ombud.lab import html_report, markdown_report, read_run

        if html is None and markdown is None and not as_json:
            raise BadRequest(
                "Where should the report go?", hint="--html FILE, --markdown FILE or --json."
            )
        store = lab_workspace().store
        recorded = [read_run(store, run) for run in runs]
        for path, write in ((html, html_report), (markdown, markdown_report)):
            if path:
                write_file(path, write(recorded))
        written = [str(path) for path in (html, markdown) if path]
        if as_json:
            print_json({"written": written, **report_json(recorded)})
        else:
            print(f"Wrote {' and '.join(written)}.")


def gate(
    baseline: str = typer.Option(..., "--baseline", help="The run that must not be fallen behind."),
    candidate: str = typer.Option(
        "last", "--candidate", help="The run to judge; the newest when not given."
    ),
    metrics: str = typer.Option("", "--metrics", help="Those to look at; empty = all but latency."),
    junit: Path | None = typer.Option(
        None, "--junit", help="Also write the verdict as JUnit XML, for a build server."
    ),
    unreviewed: bool = typer.Option(
        False, "--unreviewed", help="Let synthetic cases count that nobody has accepted."
    ),
    as_json: bool = JSON,
    home: Path | None = HOME,
) -> None:
    """Exit code 1, and the reasons, when anything got worse beyond noise: overall, or for a tag,
    type or country."""
    del home
    with errors_said(as_json):
        from ombud.lab import as_junit, parse_metrics, read_run
        from ombud.lab import check_gate as judge

        workspace = lab_workspace()
        a, b = (read_run(workspace.store, run) for run in (baseline, candidate))
        chosen = list(map(str, parse_metrics(metrics)))
        bar = workspace.settings.lab.judge_bar
        verdict = judge(a, b, chosen, allow_unreviewed=unreviewed, judge_bar=bar)
        if junit:
            write_file(junit, as_junit(verdict, f"{b.run.name} against {a.run.name}"))
        if as_json:
            falls = list(map(fall_json, verdict.falls))
            print_json(
                {
                    "passed": verdict.passed,
                    "baseline": head_json(a.run),
                    "candidate": head_json(b.run),
                    "falls": falls,
                    "left_out": dict(verdict.left_out),
                }
            )
        else:
            _say_verdict(verdict, a.run, b.run)
        if not verdict.passed:
            raise typer.Exit(1)


def trend(
    run: str = typer.Argument("last", help="Whose dataset is followed."),
    metric: list[str] = typer.Option(
        [], "--metric", help="Metrics to follow; empty = the first of the run."
    ),
    plot: Path | None = typer.Option(None, "--plot", help="Also draw it into this .svg file."),
    as_json: bool = JSON,
    home: Path | None = HOME,
) -> None:
    """All runs of one dataset over time, each compared with the one before."""
    del home
    with errors_said(as_json):
        from ombud.lab import compute_trend, parse_metric, read_run, same_dataset
        from ombud.store import list_runs

        store = lab_workspace().store
        last = read_run(store, run)
        runs = [read_run(store, other.id) for other in same_dataset(list_runs(store), last.run)]
        names = [str(parse_metric(name)) for name in metric]
        if not names:
            names = list(last.metrics[:1])
        followed = {name: compute_trend(runs, name) for name in names}
        if plot:
            write_file(plot, _draw_trend(last.run, followed))
        if as_json:
            print_json({"trend": _trend_json(followed)})
            return
        for name, steps in followed.items():
            _say_trend(name, steps)


def _draw_trend(run: "Run", followed: "Mapping[str, Sequence[Step]]") -> str:
    from ombud.charts import draw_lines

    title = f"Runs of {run.dataset} ({run.split})"
    series = [_series(name, steps) for name, steps in followed.items()]
    return draw_lines(title, ("run", "mean"), series)


def _trend_json(followed: "Mapping[str, Sequence[Step]]") -> dict[str, Any]:
    trends: dict[str, Any] = {}
    for name, steps in followed.items():
        trends[name] = list(map(step_json, steps))
    return trends


def _series(name: str, steps: "Sequence[Step]") -> "Series":
    from ombud.charts import Series

    points: list[tuple[float, float, float | None, float | None]] = []
    for number, step in enumerate(steps, start=1):
        mean = step.line.mean
        if mean.value is not None:
            points.append((float(number), mean.value, mean.low, mean.high))
    return Series(name, points)


def _say_trend(name: str, steps: "Sequence[Step]") -> None:
    from ombud.cli.printing.tables import BETTER, between, figure, table

    rows: list[tuple[str, ...]] = []
    for step in steps:
        difference = better = ""
        if step.since:
            difference = figure(step.since.comparison.difference, sign=True)
            better = BETTER[step.since.better]
        mean = step.line.mean
        rows.append(
            (
                step.run.id,
                step.run.name,
                _when(step.run),
                step.run.digest,
                figure(mean.value),
                between(mean.low, mean.high),
                difference,
                better,
            )
        )
    head = ("run", "name", "started", "configuration", name, "95 %", "since", "")
    print(table(head, rows, left=4))


def rescore(
    run: str = RUN,
    metrics: str = typer.Option(
        "", "--metrics", help="Such as token_f1,chrf; empty = those that the run has."
    ),
    as_json: bool = JSON,
    home: Path | None = HOME,
) -> None:
    """Score the stored answers of a run again, or in further metrics. The assistant is not asked
    again; a judge only where it has not judged yet in this version."""
    del home
    with errors_said(as_json):
        from ombud.lab import parse_metrics, read_run
        from ombud.lab import rescore as again

        workspace = lab_workspace()
        recorded = read_run(workspace.store, run)
        chosen = parse_metrics(metrics or ",".join(recorded.metrics))
        target = target_of(workspace, recorded.run.target)
        with progress(not as_json) as on_progress:
            tools = instruments(workspace, target, chosen)
            count = again(workspace.store, recorded.run, chosen, tools, on_progress=on_progress)
            _judge_again(workspace, recorded.run, chosen, on_progress)
        if as_json:
            print_json(run_json(read_run(workspace.store, recorded.run.id)))
        else:
            print(f"Scored {count} cases in {', '.join(map(str, chosen))}.")


def _judge_again(
    workspace: "Workspace",
    run: "Run",
    chosen: "Sequence[Metric]",
    on_progress: "Callable[[str, int, int], None]",
) -> None:
    import asyncio

    from ombud.lab import judge_metrics, no_judge, split_judged

    _, given = split_judged(chosen)
    if not given:
        return
    judge = judge_of(workspace, chosen)
    if judge is None:
        raise no_judge(given)
    asked = judge(run.id)
    asyncio.run(judge_metrics(workspace.store, run, chosen, asked, on_progress=on_progress))


def score(
    qrels: Path = typer.Option(..., "--qrels", help="Judgements, TREC or BEIR."),
    run: Path = typer.Option(..., "--run", help="A TREC run."),
    metrics: str = typer.Option(
        "ndcg@10,recall@10,map,mrr", "--metrics", help="Metrics of plain rankings."
    ),
    as_json: bool = JSON,
    home: Path | None = HOME,
) -> None:
    """Score rankings of any system in TREC's formats; the values are trec_eval's."""
    del home
    with errors_said(as_json):
        from ombud.cli.printing.tables import summary_table
        from ombud.lab import parse_metrics, read_qrels, read_rankings, score_rankings, summarise
        from ombud.types import Case

        judged = read_qrels(qrels)
        scores = score_rankings(judged, read_rankings(run), parse_metrics(metrics))
        if as_json:
            means: dict[str, Any] = {}
            for line in summarise(
                [Case(id=q, question="-") for q in judged], scores, by=["overall"]
            ):
                means[line.metric] = {
                    "mean": line.mean.value,
                    "valid": line.mean.valid,
                    "total": line.mean.total,
                }
            queries: dict[str, Any] = {}
            for one in scores:
                queries.setdefault(one.case_id, {})[one.metric] = one.value
            print_json({"metrics": means, "queries": queries})
            return
        print(
            summary_table(
                summarise([Case(id=q, question="-") for q in judged], scores, by=["overall"])
            )
        )


def delete(run: str = RUN, as_json: bool = JSON, home: Path | None = HOME) -> None:
    """Forget a run: its answers and scores. Looks at a sealed split stay counted."""
    del home
    with errors_said(as_json):
        from ombud.store import delete_run, find_run

        store = lab_workspace().store
        found = find_run(store, run)
        delete_run(store, found.id)
        if as_json:
            print_json({"deleted": found.id})
        else:
            print(f"Deleted run {found.id} ({found.name}).")


def _show_case(recorded: "RecordedRun", case: str, as_json: bool) -> None:
    from ombud.cli.lab.case import case_text
    from ombud.errors import NotFound

    found = next((seen for seen in recorded.observations if seen.case.id == case), None)
    if found is None:
        some = ", ".join(seen.case.id for seen in recorded.observations[:5])
        raise NotFound(f"Run {recorded.run.id} has no case `{case}`.", hint=f"Such as {some}.")
    scores = [score for score in recorded.scores if score.case_id == case]
    if as_json:
        print_json(
            {
                **found.model_dump(mode="json"),
                "scores": [score.model_dump(mode="json") for score in scores],
            }
        )
    else:
        print(case_text(found, scores))


def _say_verdict(verdict: "Verdict", baseline: "Run", candidate: "Run") -> None:
    word = "PASS" if verdict.passed else "FAIL"
    runs = f"{candidate.id} ({candidate.name}) against {baseline.id} ({baseline.name})"
    print(f"{word}: {runs}, {verdict.cases} cases")
    print(f"Looked at {', '.join(verdict.checked)}; overall, by type, tag and country.")
    for metric, why in verdict.left_out.items():
        print(f"Not looked at: {metric}, for {why}.")
    for fall in verdict.falls:
        print(f"* {fall.said}")
        for change in fall.worst:
            print(f"    {change.case.id}: {change.case.question}")


def _when(run: "Run") -> str:
    return run.started.astimezone().strftime("%Y-%m-%d %H:%M") if run.started else ""
