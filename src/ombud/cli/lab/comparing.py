"""The verbs of `ombud lab` that set runs beside each other: compare, report, gate."""

import asyncio
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
from ombud.cli.lab.asking import LEAD, SECONDS
from ombud.cli.lab.json_output import contrast_json, fall_json, head_json, report_json
from ombud.cli.lab.judging import lab_workspace
from ombud.cli.lab.showing import RUN, WORST
from ombud.cli.lab.target import target_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ombud.app import Workspace
    from ombud.lab import CaseDifference, Contrast, Target, Verdict
    from ombud.types import Run

TESTS_USED = (
    "p: paired permutation test, Holm-corrected. "
    "detectable: the least difference these cases can show."
)


def compare(
    first: str = RUN,
    second: str = RUN,
    by: list[str] = typer.Option(
        [],
        "--by",
        help="Also by type, tag, country, persona or tests (component); may be repeated.",
    ),
    metrics: str = typer.Option(
        "", "--metrics", help="These only: p is corrected for their number; empty = all."
    ),
    primary: str = typer.Option(
        "",
        "--primary",
        help="What the comparison is made for: its p is not corrected for the others, and it is "
        "listed case by case; empty = the first, corrected like the others.",
    ),
    timed: int = typer.Option(
        0, "--timed", min=0, help="First ask so many cases warm, of each run in turn; 0 = do not."
    ),
    seconds: float = SECONDS,
    as_json: bool = JSON,
    home: Path | None = HOME,
) -> None:
    """Compare two runs on the same cases: with intervals and tests, then case by case, worst
    first."""
    del home
    with errors_said(as_json):
        from ombud.lab import GROUPS, changes, compare_runs, parse_metrics, read_run

        workspace = lab_workspace()
        store = workspace.store
        if timed:
            _time_in_turn(workspace, (first, second), timed, seconds, as_json)
        a, b = read_run(store, first), read_run(store, second)
        groups = GROUPS if as_json else [group for group in GROUPS if group in {"overall", *by}]
        leading = next(map(str, parse_metrics(primary)), "")
        named = list(map(str, parse_metrics(f"{primary},{metrics}" if metrics else "")))
        for metric in named:
            changes(a, b, metric)  # raises where a run does not have it
        rows = compare_runs(a, b, groups, named, leading)
        chosen = leading or (named[0] if named else rows[0].metric)
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
        _say_comparison((a.run, b.run), rows, leading, moved)


def _say_comparison(
    runs: "tuple[Run, Run]",
    rows: "Sequence[Contrast]",
    primary: str,
    moved: "Sequence[CaseDifference]",
) -> None:
    from ombud.cli.printing.terminal import open_page
    from ombud.lab import ContrastRow, contrast_table, figure_of

    page = open_page()
    for place, run in zip(("first: ", "second:"), runs, strict=True):
        page.line(f"{place} {run.id} ({run.name})")
    table = contrast_table(map(ContrastRow, rows), first="first", second="second")
    page.markdown(f"\n{table}")
    page.line(f"\n{TESTS_USED}")
    if hidden := _hidden_by_correction(rows, primary):
        page.line(hidden)
    metric = moved[0].metric if moved else primary or rows[0].metric
    page.line(f"\n{len(moved)} cases differ in {metric}:")
    for difference in moved[:WORST]:
        ends = (difference.first.value, difference.second.value)
        values = " -> ".join(figure_of(end, metric) for end in ends)
        page.line(f"  {values}  {difference.case.id}: {difference.case.question}")


def _hidden_by_correction(rows: "Sequence[Contrast]", primary: str) -> str:
    """Name --primary where one metric alone differs, and only its correction for the others hides
    that."""
    from ombud.lab import LEVEL, direction, p_value

    differing = []
    for row in rows:
        is_overall = row.group == "overall" and direction(row.metric)
        if is_overall and row.comparison.p is not None and row.comparison.p <= LEVEL:
            differing.append(row)
    if primary or len(differing) != 1 or differing[0].better is not None:
        return ""
    metric, p = differing[0].metric, p_value(differing[0].comparison.p)
    return (
        f"Only {metric} differs, and only before correction (p {p}). Was the change made for it, "
        f"decided before looking? Then: --primary {metric}."
    )


def _time_in_turn(
    workspace: "Workspace", runs: tuple[str, str], cases: int, seconds: float, as_json: bool
) -> None:
    """Keep times that may be compared with the runs, as `warm_latency`."""
    from ombud.lab import time_runs
    from ombud.store import find_run

    with progress(not as_json) as on_progress:

        def set_up(run: "Run") -> "Target":
            target = target_of(workspace, run.target, seconds, on_progress)
            changed = run.config.get("changed", {})
            return target.variant(changed) if changed else target

        chosen = [find_run(workspace.store, run) for run in runs]
        work = time_runs(chosen, workspace.store, set_up, cases=cases, on_progress=on_progress)
        asyncio.run(work)


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
    lead: str = LEAD,
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
                write_file(path, write(recorded, lead=lead))
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
