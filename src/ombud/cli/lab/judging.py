"""The rubrics of judges, and the workspace with its own among them."""

from typing import TYPE_CHECKING

from ombud.cli.console import open_workspace, print_json

if TYPE_CHECKING:
    from ombud.app import Workspace


def say_rubrics(name: str, as_json: bool) -> None:
    """Print every rubric, those of the workspace among them, or all of one."""
    from ombud.cli.printing.terminal import open_page
    from ombud.errors import UnknownName
    from ombud.lab import markdown_table, read_rubrics, rubric_text

    rubrics = read_rubrics(open_workspace().home / "rubrics")
    if name and name not in rubrics:
        raise UnknownName(
            f"No rubric is called `{name}`.", hint=f"There are: {', '.join(rubrics)}."
        )
    chosen = [rubrics[name]] if name else list(rubrics.values())
    if as_json:
        print_json({"rubrics": [rubric.model_dump(mode="json") for rubric in chosen]})
    elif name:
        print(rubric_text(rubrics[name]))
    else:
        rows = [(rubric.name, rubric.unit, rubric.what) for rubric in chosen]
        open_page().markdown(markdown_table(("rubric", "range", "what it grades"), rows, left=3))


def lab_workspace() -> "Workspace":
    """Open the workspace and register its own rubrics as metrics."""
    from ombud.lab import add_rubrics

    workspace = open_workspace()
    add_rubrics(workspace.home / "rubrics")
    return workspace
