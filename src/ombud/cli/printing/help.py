"""Lists of verbs whose descriptions are whole."""

from typing import Any

from typer.core import TyperGroup


class WholeHelp(TyperGroup):
    """Says the first sentence of every verb and wraps it, where typer would cut it to one line."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        rows: list[tuple[str, str]] = []
        for name in self.list_commands(ctx):
            command = self.get_command(ctx, name)
            if command and not command.hidden:
                rows.append((name, first_sentence(command.help or "")))
        if rows:
            with formatter.section("Commands"):
                formatter.write_dl(rows)


def first_sentence(text: str) -> str:
    """Of a docstring, on one line."""
    paragraph = " ".join(text.partition("\n\n")[0].split())
    sentence, stop, _ = paragraph.partition(". ")
    return sentence + stop.strip()
