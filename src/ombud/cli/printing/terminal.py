"""Results as a person at a terminal reads them, and as a program does that they are piped to.

rich is loaded for a terminal only: it takes a tenth of a second.
"""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Protocol

WIDEST = 100
"""Columns of text: longer lines are hard to read."""
STEPS = {"search": "Searching the documents", "compose": "Writing the answer"}
"""What is announced of an answer -> what it is called."""

OnEvent = Callable[[str, dict[str, Any]], None]


class Page(Protocol):
    """A place to print results to. indent: columns before every line."""

    def markdown(self, text: str, *, indent: int = 0) -> None: ...

    def line(self, text: str, *, indent: int = 0, style: str = "") -> None: ...


class PlainPage:
    """Everything as it is, so that Markdown stays Markdown."""

    def markdown(self, text: str, *, indent: int = 0) -> None:
        self.line(text, indent=indent)

    def line(self, text: str, *, indent: int = 0, style: str = "") -> None:
        del style
        margin = " " * indent
        print(margin + f"\n{margin}".join(text.split("\n")))


class TerminalText:
    """Tables, lists and bold words as such, lines wrapped at words."""

    def __init__(self) -> None:
        from rich.console import Console

        self._console = Console(highlight=False)
        self._console.width = min(self._console.width, WIDEST)

    def markdown(self, text: str, *, indent: int = 0) -> None:
        from rich.markdown import Markdown

        self._print(Markdown(text), indent)

    def line(self, text: str, *, indent: int = 0, style: str = "") -> None:
        from rich.text import Text

        self._print(Text(text, style=style), indent)

    def _print(self, renderable: Any, indent: int) -> None:
        from rich.padding import Padding

        self._console.print(Padding(renderable, (0, 0, 0, indent)))


def open_page() -> Page:
    """Return the page for stdout."""
    return TerminalText() if sys.stdout.isatty() else PlainPage()


@contextmanager
def waiting(first: str, *, visible: bool = True) -> Iterator[OnEvent | None]:
    """Show a spinner with the present step for the length of the block. Yields the listener of
    steps; None, and no spinner, if nobody watches."""
    if not (visible and sys.stdout.isatty() and sys.stderr.isatty()):
        yield None
        return
    from rich.console import Console

    with Console(stderr=True).status(f"{first} …") as status:
        proven: set[int] = set()

        def on_event(name: str, data: dict[str, Any]) -> None:
            if name == "status":
                step = data["step"]
                status.update(f"{STEPS.get(step, step)} …")
            elif name == "claim":
                proven.add(data["index"])
                status.update(f"{STEPS['compose']}, {len(proven)} proven …")

        yield on_event
