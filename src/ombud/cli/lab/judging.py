"""The judge that the settings name, what it is told, and what it came to."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from ombud.cli.console import HOME, JSON, errors_said, open_workspace, print_json

if TYPE_CHECKING:
    from ombud.app import Workspace
    from ombud.lab import Judge, Metric


def rubrics(
    name: str = typer.Argument("", help="One of them: all that a judge or a rater is told."),
    as_json: bool = JSON,
    home: Path | None = HOME,
) -> None:
    """What judges and raters go by: every rubric, those of the workspace among them."""
    del home
    with errors_said(as_json):
        from ombud.cli.printing.tables import table
        from ombud.errors import UnknownName
        from ombud.lab import read_rubrics, rubric_text

        known = read_rubrics(open_workspace().home / "rubrics")
        if name and name not in known:
            raise UnknownName(
                f"No rubric is called `{name}`.", hint=f"There are: {', '.join(known)}."
            )
        shown = [known[name]] if name else list(known.values())
        if as_json:
            print_json({"rubrics": [rubric.model_dump(mode="json") for rubric in shown]})
        elif name:
            print(rubric_text(known[name]))
        else:
            rows = [(rubric.name, rubric.unit, rubric.what) for rubric in shown]
            print(table(("rubric", "range", "what it grades"), rows))


def lab_workspace() -> "Workspace":
    """The workspace, its own rubrics taken into the table of metrics."""
    from ombud.lab import add_rubrics

    workspace = open_workspace()
    add_rubrics(workspace.home / "rubrics")
    return workspace


def judge_of(
    workspace: "Workspace", metrics: "Sequence[Metric]"
) -> "Callable[[str], Judge] | None":
    """Run id -> its judge; None where no metric needs one, or no model is set up for it."""
    from ombud.app import PROMPTS
    from ombud.cli.lab.target import embed_of
    from ombud.lab import Judge, JudgePolicy, StoredReplies, split_judged
    from ombud.prompts import load_sections

    _, given = split_judged(metrics)
    chat = workspace.models.chat("judge") if given else None
    if chat is None:
        return None
    settings = workspace.settings
    prompt = load_sections("judge", chat.name, workspace.home / PROMPTS)
    relevancy = any(metric.name == "ragas.answer_relevancy" for metric in given)
    embed = embed_of(workspace) if relevancy else None
    policy = JudgePolicy(
        form=settings.lab.judge_form,
        repeats=settings.lab.judge_repeats,
        window=settings.lab.judge_window,
        seconds=settings.models.timeout_seconds,
    )

    def of_run(run_id: str) -> Judge:
        replies = StoredReplies(workspace.store, run_id)
        return Judge(chat, prompt.words, policy, replies=replies, embed=embed)

    return of_run
