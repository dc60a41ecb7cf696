"""A document as a page shows it: blocks cut into runs, the cited passage marked by its code-point
offsets.

`static/passage.js` does the same for the sources panel. Nothing here makes HTML; the template
escapes every run."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from ombud.types import Block, Document

_CELL = re.compile(r"(?<=\|)((?:\\.|[^|\\])*)(?=\|)")
_ITEM = re.compile(r"^(?P<indent>\s*)(?P<marker>[-*•]|\(?\w{1,3}[.)])\s+")


@dataclass(frozen=True)
class TextRun:
    text: str
    marked: bool = False


@dataclass(frozen=True)
class PassageLine:
    """An item of a list, or a row of a table (one list of runs per cell)."""

    cells: tuple[tuple[TextRun, ...], ...]
    depth: int = 0
    marker: str = ""


@dataclass(frozen=True)
class View:
    """One block, ready to be shown."""

    kind: str
    anchor: str
    level: int = 0
    page: int | None = None
    """Set where a new page begins."""
    runs: tuple[TextRun, ...] = ()
    head: PassageLine | None = None
    lines: tuple[PassageLine, ...] = ()
    words: str = field(default="", compare=False)


class _Pen:
    """Cuts text into runs, in a document where [start, end) is marked."""

    def __init__(self, start: int, end: int) -> None:
        self.start, self.end = start, end

    def runs(self, text: str, base: int) -> tuple[TextRun, ...]:
        first = min(max(self.start - base, 0), len(text))
        last = min(max(self.end - base, first), len(text))
        pieces = [(text[:first], False), (text[first:last], True), (text[last:], False)]
        return tuple(TextRun(piece, marked) for piece, marked in pieces if piece)


def view(document: Document, start: int = 0, end: int = 0) -> list[View]:
    """The blocks of a document in order."""
    pen, views, at, page = _Pen(start, end), [], 0, None
    for number, block in enumerate(document.blocks):
        found = document.text.find(block.text, at)
        base = at if found < 0 else found
        turned = block.page if block.page != page else None
        page = block.page or page
        views.append(_block(block, base, pen, f"b{number}", turned))
        at = base + len(block.text)
    if not document.blocks:
        views = [
            View("text", f"b{n}", runs=pen.runs(text, base))
            for n, (base, text) in enumerate(_parts(document.text))
        ]
    return views


def outline(views: list[View]) -> list[View]:
    """The headings worth a table of contents: the upper two levels in use below the title."""
    headings = [view for view in views if view.kind == "heading"]
    levels = sorted({view.level for view in headings})
    if len([view for view in headings if view.level == levels[0]]) == 1:  # the title itself
        levels = levels[1:]
    kept = [view for view in headings if view.level in levels[:1]]
    return kept if len(kept) > 2 else []


def ranks(views: list[View]) -> dict[int, int]:
    """Level of a heading in the document -> level on the page, where the title is 1 and no level is
    left out."""
    levels = sorted({view.level for view in views if view.kind == "heading"})
    return {level: min(rank, 6) for rank, level in enumerate(levels, start=2)}


def _block(block: Block, base: int, pen: _Pen, anchor: str, page: int | None) -> View:
    level, words = block.level, block.text
    if block.kind == "table":
        rows = [
            PassageLine(_cells(line, at, pen))
            for at, line in _lines(block.text, base)
            if not _is_rule(line)
        ]
        return View(
            "table",
            anchor,
            level,
            page,
            head=rows[0] if rows else None,
            lines=tuple(rows[1:]),
            words=words,
        )
    if block.kind == "list":
        return View(
            "list", anchor, level, page, lines=tuple(_items(block.text, base, pen)), words=words
        )
    return View(block.kind, anchor, level, page, runs=pen.runs(block.text, base), words=words)


def _cells(line: str, base: int, pen: _Pen) -> tuple[tuple[TextRun, ...], ...]:
    """The cells of one row of a Markdown table."""
    inner, shift = line.strip(), len(line) - len(line.lstrip())
    cells = []
    for cell in _CELL.finditer(inner):
        text = cell.group(1)
        lead = len(text) - len(text.lstrip())
        runs = pen.runs(text.strip(), base + shift + cell.start(1) + lead)
        cells.append(tuple(TextRun(run.text.replace("\\|", "|"), run.marked) for run in runs))
    return tuple(cells)


def _items(text: str, base: int, pen: _Pen) -> Iterator[PassageLine]:
    """The items of a list; a line without a marker is one of its own, as deep as it is indented."""
    for at, line in _lines(text, base):
        found = _ITEM.match(line)
        cut = found.end() if found else len(line) - len(line.lstrip())
        marker = found["marker"] if found else ""
        indent = len(found["indent"]) if found else max(0, cut - 2)
        shown = "" if marker in {"-", "*"} else marker
        yield PassageLine(
            (pen.runs(line[cut:], at + cut),), min(indent // 2, 3), shown if found else " "
        )


def _lines(text: str, base: int) -> Iterator[tuple[int, str]]:
    for line in text.split("\n"):
        yield base, line
        base += len(line) + 1


def _parts(text: str) -> Iterator[tuple[int, str]]:
    at = 0
    for part in text.split("\n\n"):
        yield at, part
        at += len(part) + 2


def _is_rule(line: str) -> bool:
    return bool(re.fullmatch(r"\|(?:\s*:?-+:?\s*\|)+", line.strip()))
