"""Lists of verbs whose descriptions are whole."""

from typing import Any

from typer.core import TyperGroup


class WholeHelp(TyperGroup):
    """Says the first sentence of every verb and wraps it, where typer would cut it to one line;
    verbs of one `rich_help_panel` stand together under its name."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        panels: dict[str, list[tuple[str, str]]] = {}
        for name in self.list_commands(ctx):
            command = self.get_command(ctx, name)
            if command and not command.hidden:
                panel = getattr(command, "rich_help_panel", None) or "Commands"
                row = (name, first_sentence(command.help or ""))
                panels.setdefault(panel, []).append(row)
        for panel, rows in panels.items():
            with formatter.section(panel):
                formatter.write_dl(rows)


def first_sentence(text: str) -> str:
    """Return the first sentence of a docstring on one line."""
    paragraph = " ".join(text.partition("\n\n")[0].split())
    sentence, stop, _ = paragraph.partition(". ")
    return sentence + stop.strip()
