"""`ombud lab check`: what would change if drafts were in force."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from ombud.cli.console import (
    HOME,
    JSON,
    day,
    errors_said,
    open_workspace,
    person,
    print_json,
    progress,
    write_file,
)

if TYPE_CHECKING:
    from ombud.app import DraftCheck

DRAFTS = typer.Argument(None, metavar="DRAFT", help="Files as they should come into force.")
ON = typer.Option("", "--on", help="First day in force, such as 2026-07-01; else as drafts say.")
REPLACES = typer.Option(
    [],
    "--replaces",
    metavar="[FILE=]URI",
    help="What a draft replaces; else what it says, or the document of its title.",
)
INTO = typer.Option("", "--into", help="Folder for new documents, such as handbook/gb.")

MADE = typer.Option(
    20, "--made", min=0, help="Questions made from the drafts, and as many from what they replace."
)
COUNTRIES = typer.Option([], "--country", help="Only people of this country; may be repeated.")


def check(
    drafts: list[Path] = DRAFTS,
    on: str = ON,
    replaces: list[str] = REPLACES,
    into: str = INTO,
    cases: Path | None = typer.Option(
        None, "--cases", help="Cases to ask as well: a .jsonl or .csv file, or a folder of them."
    ),
    from_log: int = typer.Option(
        0, "--from-log", min=0, help="Past questions to ask, at most; needs [lab] harvest = true."
    ),
    made: int = MADE,
    country: list[str] = COUNTRIES,
    concurrency: int = typer.Option(
        4, "--concurrency", min=1, max=256, help="Questions asked at the same time."
    ),
    show: int = typer.Option(10, "--show", min=0, help="Changed answers to print; 0 = none."),
    html: Path | None = typer.Option(None, "--html", help="Write all into one HTML file."),
    markdown: Path | None = typer.Option(
        None, "--markdown", help="Write all into a Markdown file."
    ),
    as_json: bool = JSON,
    home: Path | None = HOME,
) -> None:
    """Ask the index as it is and as it would be with the drafts; which answers change, and
    whether the rules of [publish] let it. Exit code 1 where they do not."""
    del home
    with errors_said(as_json):
        from ombud.app import DraftChoices, QuestionChoices, check_drafts, check_json
        from ombud.lab import read_cases, select_split

        workspace = open_workspace()
        choices = DraftChoices(on=day(on), replaces=tuple(replaces), into=into)
        questions = QuestionChoices(
            cases=select_split(read_cases(cases), "open") if cases else (),
            from_log=from_log,
            made=made,
            countries=tuple(person(code, []).country or "" for code in country),
        )
        with progress(not as_json) as on_progress:
            checked = check_drafts(
                workspace,
                drafts or [],
                choices,
                questions,
                concurrency=concurrency,
                on_progress=on_progress,
            )
        _write(checked, workspace.settings.general.name, html, markdown)
        told = check_json(checked)
        if as_json:
            print_json(told)
        else:
            _say(told, show)
        if not checked.go:
            raise typer.Exit(1)


def _write(checked: "DraftCheck", name: str, html: Path | None, markdown: Path | None) -> None:
    from ombud.app import check_html, check_markdown

    if html:
        write_file(html, check_html(checked, name))
    if markdown:
        write_file(markdown, check_markdown(checked, name))


def _say(told: dict[str, Any], show: int) -> None:
    _say_drafts(told)
    seconds = sum(told["seconds"].values())
    print(f"\n{told['questions']} questions, each asked twice ({seconds:.1f} s)\n")
    print(_table_of(told))
    for one in told["sentences"][:show]:
        _say_sentence(one)
    for change in told["changes"][:show]:
        _say_change(change)
    left = len(told["changes"]) - show
    if left > 0:
        print(f"\nand {left} more; --html FILE writes all of them.")
    if told["revise"]:
        ids = ", ".join(case["id"] for case in told["revise"])
        print(f"\nCases to be revised, whose evidence does not stand in the drafts: {ids}")
    print("\nGo." if told["go"] else "\nNo go:")
    for reason in told["reasons"]:
        print(f"  {reason}")


def _say_drafts(told: dict[str, Any]) -> None:
    for draft in told["drafts"]:
        countries = ", ".join(draft["countries"]) or "every country"
        before = f"in place of {draft['replaces']}" if draft["replaces"] else "replaces nothing"
        print(f"{draft['file']}: {before}, from {draft['begins']}, {countries}")
    for note in told["notes"]:
        print(f"  {note}")


def _table_of(told: dict[str, Any]) -> str:
    from ombud.cli.printing.tables import table

    kinds = [kind for kind, count in told["counts"].items() if count]
    rows: list[list[str]] = []
    for country, counts in told["countries"].items():
        rows.append([country or "none", *(str(counts[kind]) for kind in kinds)])
    rows.append(["all", *(str(told["counts"][kind]) for kind in kinds)])
    return table(["country", *(kind.replace("_", " ") for kind in kinds)], rows)


def _say_sentence(one: dict[str, str]) -> None:
    before = _short(one["before"]) or "not there"
    print(f"\n{one['heading']}\n  {before}\n  -> {_short(one['after']) or 'taken out'}")


def _say_change(change: dict[str, Any]) -> None:
    kinds = ", ".join(change["kinds"]).replace("_", " ")
    print(f"\n{change['question']}\n  {change['country'] or 'no country'}: {kinds}")
    if change["figures_before"] or change["figures_after"]:
        before = ", ".join(change["figures_before"]) or "nothing"
        after = ", ".join(change["figures_after"]) or "nothing"
        print(f"  figures: {before} -> {after}")
    print(f"  now:   {_short(change['live']['text'])}")
    print(f"  draft: {_short(change['draft']['text'])}")


def _short(text: str, most: int = 300) -> str:
    line = " ".join(text.split())
    return line if len(line) <= most else line[:most].rstrip() + " …"
