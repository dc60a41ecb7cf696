"""`ombud publish --check`: what would change if drafts were in force."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from ombud.cli.console import open_workspace, person, print_json, progress, write_file

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ombud.app import DraftCheck, DraftChoices, QuestionChoices

DRAFTS = typer.Argument(None, metavar="DRAFT", help="Files as they should come into force.")
ON = typer.Option("", "--on", help="First day in force, such as 2026-07-01; else as drafts say.")
REPLACES = typer.Option(
    [],
    "--replaces",
    metavar="[FILE=]URI",
    help="What a draft replaces; else what it says, or the document of its title.",
)
INTO = typer.Option("", "--into", help="Folder for new documents, such as handbook/gb.")

CASES = typer.Option(
    None, "--cases", help="Of --check: cases to ask as well, a file or a folder of them."
)
FROM_LOG = typer.Option(
    0, "--from-log", min=0, help="Of --check: past questions, at most; needs [lab] harvest."
)
MADE = typer.Option(
    20, "--made", min=0, help="Of --check: headings to ask for, of drafts and of the old each."
)
COUNTRIES = typer.Option(
    [], "--country", help="Of --check: only people of this country; may be repeated."
)
CONCURRENCY = typer.Option(
    4, "--concurrency", min=1, max=256, help="Of --check: questions asked at the same time."
)
SHOW = typer.Option(10, "--show", min=0, help="Of --check: changed answers to print; 0 = none.")
HTML = typer.Option(None, "--html", help="Of --check: write all into one HTML file.")
MARKDOWN = typer.Option(None, "--markdown", help="Of --check: write all into a Markdown file.")


def questions_of(
    cases: Path | None, from_log: int, made: int, country: "Sequence[str]"
) -> "QuestionChoices":
    """Collect what a check is to ask."""
    from ombud.app import QuestionChoices
    from ombud.lab import read_cases, select_split

    return QuestionChoices(
        cases=select_split(read_cases(cases), "open") if cases else (),
        from_log=from_log,
        made=made,
        countries=tuple(person(code, []).country or "" for code in country),
    )


def check(
    drafts: "Sequence[Path]",
    choices: "DraftChoices",
    questions: "QuestionChoices",
    *,
    concurrency: int,
    show: int,
    html: Path | None,
    markdown: Path | None,
    as_json: bool,
) -> None:
    """Ask the index as it is and as it would be with the drafts. Exit code 1 where the rules of
    [publish] do not let them come into force."""
    from ombud.app import check_drafts, check_json

    workspace = open_workspace()
    with progress(not as_json) as on_progress:
        checked = check_drafts(
            workspace,
            drafts,
            choices,
            questions,
            concurrency=concurrency,
            on_progress=on_progress,
        )
    _write(checked, workspace.settings.general.name, html, markdown)
    content = check_json(checked)
    if as_json:
        print_json(content)
    else:
        _say(content, show)
    if not checked.go:
        raise typer.Exit(1)


def _write(checked: "DraftCheck", name: str, html: Path | None, markdown: Path | None) -> None:
    from ombud.app import check_html, check_markdown

    if html:
        write_file(html, check_html(checked, name))
    if markdown:
        write_file(markdown, check_markdown(checked, name))


def _say(content: dict[str, Any], show: int) -> None:
    say_drafts(content)
    seconds = sum(content["seconds"].values())
    print(f"\n{content['questions']} questions, each asked twice ({seconds:.1f} s)\n")
    print(table_of(content))
    for one in content["sentences"][:show]:
        say_sentence(one)
    for change in content["changes"][:show]:
        say_change(change)
    left = len(content["changes"]) - show
    if left > 0:
        print(f"\nand {left} more; --html FILE writes all of them.")
    if content["revise"]:
        ids = ", ".join(case["id"] for case in content["revise"])
        print(f"\nCases to be revised, whose evidence does not stand in the drafts: {ids}")
    print("\nGo." if content["go"] else "\nNo go:")
    for reason in content["reasons"]:
        print(f"  {reason}")


def say_drafts(content: dict[str, Any]) -> None:
    for draft in content["drafts"]:
        countries = ", ".join(draft["countries"]) or "every country"
        before = f"in place of {draft['replaces']}" if draft["replaces"] else "replaces nothing"
        print(f"{draft['file']}: {before}, from {draft['begins']}, {countries}")
    for note in content["notes"]:
        print(f"  {note}")


def table_of(content: dict[str, Any]) -> str:
    from ombud.cli.printing.tables import table

    kinds = [kind for kind, count in content["counts"].items() if count]
    rows: list[list[str]] = []
    for country, counts in content["countries"].items():
        rows.append([country or "none", *(str(counts[kind]) for kind in kinds)])
    rows.append(["all", *(str(content["counts"][kind]) for kind in kinds)])
    return table(["country", *(kind.replace("_", " ") for kind in kinds)], rows)


def say_sentence(one: dict[str, str]) -> None:
    before = _short(one["before"]) or "not there"
    print(f"\n{one['heading']}\n  {before}\n  -> {_short(one['after']) or 'taken out'}")


def say_change(change: dict[str, Any]) -> None:
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
