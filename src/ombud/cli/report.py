"""`ombud report`."""

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from ombud.cli.console import HOME, JSON, day, errors_said, open_workspace, print_json, write_file
from ombud.cli.printing.help import WholeHelp
from ombud.cli.printing.terminal import open_page

if TYPE_CHECKING:
    from ombud.app import Gaps

app = typer.Typer(
    cls=WholeHelp, help="Reports for the owners of the policies.", no_args_is_help=True
)


@app.callback()
def reports() -> None:
    """Group the reports."""


@app.command()
def gaps(
    since: str = typer.Option(
        "", "--since", help="First day, such as 2026-01-31; the last 90 days when not given."
    ),
    html: Path | None = typer.Option(
        None, "--html", help="Write the report into this file, which needs nothing else."
    ),
    as_json: bool = JSON,
    home: Path | None = HOME,
) -> None:
    """Report questions that are asked and not answered, contradictions between documents (asks a
    chat model), and documents out of force; nobody who asked is identified."""
    del home
    with errors_said(as_json):
        from ombud.app import find_gaps as collect
        from ombud.app import gaps_json, render_gaps

        workspace = open_workspace()
        report = collect(workspace, day(since), asks_model=True)
        if html:
            write_file(html, render_gaps(report, workspace.settings.general.name))
        if as_json:
            print_json(gaps_json(report))
        else:
            _say(report)
            if html:
                print(f"Wrote {html}.")


@app.command()
def costs(
    since: str = typer.Option(
        "", "--since", help="First day, such as 2026-01-31; the last 30 days when not given."
    ),
    as_json: bool = JSON,
    home: Path | None = HOME,
) -> None:
    """Report what a question costs: model calls, tokens and price, by the way its answer came
    about."""
    del home
    with errors_said(as_json):
        from ombud.app import find_usage, usage_json
        from ombud.lab import costs_table

        usage = find_usage(open_workspace(), day(since))
        if as_json:
            print_json(usage_json(usage))
            return
        print(f"{usage.since} to {usage.until}")
        if usage.paths:
            open_page().markdown(costs_table(usage.paths))
        else:
            print("No model was asked, so there was nothing to pay.")


def _say(report: "Gaps") -> None:
    say_counts(report)
    print("\nNot answered whole:")
    for topic in report.unanswered:
        print(f"  {topic.people:>4} people, {topic.questions:>4} questions  {topic.label}")
        if topic.words:
            print(f"       said: {', '.join(topic.words)}")
        for words in topic.examples:
            print(f"       “{words}”")
    others = "questions in groups too small to show"
    _others(report.unanswered_others, others, bool(report.unanswered))
    say_contradictions(report)
    print("\nOut of force, still asked for:")
    for row in report.out_of_force:
        days = f"{row['from'] or ''} to {row['to'] or ''}"
        print(f"  {row['people']:>4} people  {row['title']} ({row['uri']}), {days}")
    others = "documents, each asked for by fewer"
    _others(report.out_of_force_others, others, bool(report.out_of_force))
    print("\nAsked most:")
    for topic in report.asked:
        whole = 100 * topic.outcomes.get("full", 0) // topic.questions
        print(f"  {topic.people:>4} people, {whole:>3} % answered whole  {topic.label}")
    _others(report.asked_others, "questions on topics of fewer", bool(report.asked))


def say_counts(report: "Gaps") -> None:
    most_first = sorted(report.outcomes.items(), key=lambda outcome: -outcome[1])
    counts = ", ".join(f"{count:,} {name}" for name, count in most_first)
    outcomes = f" ({counts})" if counts else ""
    print(f"{report.since} to {report.until}: {report.questions:,} questions{outcomes}")
    sensitive = f"fewer than {report.group_size} people's"
    if report.sensitive is not None:
        sensitive = f"{report.sensitive:,}"
    print(f"Sensitive, only counted: {sensitive} answers")


def say_contradictions(report: "Gaps") -> None:
    print("\nContradictions:")
    for one in report.contradictions:
        print(f"  {one['about']}")
        for side in (one["first"], one["second"]):
            print(f"    {side['title']} ({side['uri']}): {side['says']}")
    if report.contradictions_note:
        print(f"  {report.contradictions_note}")
    elif not report.contradictions:
        print("  none")


def _others(count: int, what: str, has_lines: bool) -> None:
    if count:
        print(f"  and {count:,} {what}")
    elif not has_lines:
        print("  none")
