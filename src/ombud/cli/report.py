"""`ombud report`."""

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from ombud.cli.console import HOME, JSON, day, errors_said, open_workspace, print_json, write_file
from ombud.cli.printing.help import WholeHelp
from ombud.cli.printing.tables import path_lines

if TYPE_CHECKING:
    from ombud.app import Gaps

app = typer.Typer(
    cls=WholeHelp, help="Reports for the owners of the policies.", no_args_is_help=True
)


@app.callback()
def reports() -> None:
    """More than one report may come."""


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
    """What is asked and not answered, where documents contradict each other (asks a chat model),
    what is out of force; nobody who asked is shown."""
    del home
    with errors_said(as_json):
        from ombud.app import find_gaps as collect
        from ombud.app import gaps_json, render_gaps

        workspace = open_workspace()
        found = collect(workspace, day(since), asks_model=True)
        if html:
            write_file(html, render_gaps(found, workspace.settings.general.name))
        if as_json:
            print_json(gaps_json(found))
        else:
            _say(found)
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
    """What a question costs: calls of models, tokens and price, by the way its answer came
    about."""
    del home
    with errors_said(as_json):
        from ombud.app import find_usage, usage_json

        usage = find_usage(open_workspace(), day(since))
        if as_json:
            print_json(usage_json(usage))
            return
        print(f"{usage.since} to {usage.until}")
        lines = path_lines(usage.paths)
        print("\n".join(lines) if lines else "No model was asked, so there was nothing to pay.")


def _say(found: "Gaps") -> None:
    _say_counts(found)
    print("\nNot answered whole:")
    for topic in found.unanswered:
        print(f"  {topic.people:>4} people, {topic.questions:>4} questions  {topic.label}")
        if topic.words:
            print(f"       said: {', '.join(topic.words)}")
        for words in topic.examples:
            print(f"       “{words}”")
    others = "questions in groups too small to show"
    _others(found.unanswered_others, others, bool(found.unanswered))
    _say_contradictions(found)
    print("\nOut of force, still asked for:")
    for row in found.out_of_force:
        days = f"{row['from'] or ''} to {row['to'] or ''}"
        print(f"  {row['people']:>4} people  {row['title']} ({row['uri']}), {days}")
    others = "documents, each asked for by fewer"
    _others(found.out_of_force_others, others, bool(found.out_of_force))
    print("\nAsked most:")
    for topic in found.asked:
        whole = 100 * topic.outcomes.get("full", 0) // topic.questions
        print(f"  {topic.people:>4} people, {whole:>3} % answered whole  {topic.label}")
    _others(found.asked_others, "questions on topics of fewer", bool(found.asked))


def _say_counts(found: "Gaps") -> None:
    most_first = sorted(found.outcomes.items(), key=lambda outcome: -outcome[1])
    counts = ", ".join(f"{count:,} {name}" for name, count in most_first)
    outcomes = f" ({counts})" if counts else ""
    print(f"{found.since} to {found.until}: {found.questions:,} questions{outcomes}")
    sensitive = f"fewer than {found.group_size} people's"
    if found.sensitive is not None:
        sensitive = f"{found.sensitive:,}"
    print(f"Sensitive, only counted: {sensitive} answers")


def _say_contradictions(found: "Gaps") -> None:
    print("\nContradictions:")
    for one in found.contradictions:
        print(f"  {one['about']}")
        for side in (one["first"], one["second"]):
            print(f"    {side['title']} ({side['uri']}): {side['says']}")
    if found.contradictions_note:
        print(f"  {found.contradictions_note}")
    elif not found.contradictions:
        print("  none")


def _others(count: int, what: str, any_shown: bool) -> None:
    if count:
        print(f"  and {count:,} {what}")
    elif not any_shown:
        print("  none")
