"""A document as a page shows it: blocks cut into runs, the cited passage marked by its code-point
offsets.

`static/passage.js` does the same for the sources panel. Nothing here makes HTML; the template
escapes every run."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

from ombud.text import link_host
from ombud.types import Annotation, Block, Document

_CELL = re.compile(r"(?<=\|)((?:\\.|[^|\\])*)(?=\|)")
_BULLETS = {"-", "*"}
"""Markers that the page draws itself."""
DEEPEST = 3
_ITEM = re.compile(r"^(?P<indent>\s*)(?P<marker>[-*•]|\(?\w{1,3}[.)])\s+")


@dataclass(frozen=True)
class TextRun:
    text: str
    marked: bool = False
    url: str = ""
    host: str = ""
    """Where the link that ends here leads to, if its words do not say so themselves."""
    note: str = ""
    """What a footnote mark leads to."""
    is_struck: bool = False
    """Whether it is no part of the text any more."""


@dataclass(frozen=True)
class PassageLine:
    """An item of a list, or a row of a table (one list of runs per cell)."""

    cells: tuple[tuple[TextRun, ...], ...]
    depth: int = 0
    marker: str = ""


@dataclass(frozen=True)
class View:
    """A block prepared for display."""

    kind: str
    anchor: str
    level: int = 0
    page: int | None = None
    """Set where a new page begins."""
    runs: tuple[TextRun, ...] = ()
    head: PassageLine | None = None
    lines: tuple[PassageLine, ...] = ()
    words: str = field(default="", compare=False)

    @property
    def every_run(self) -> Iterator[TextRun]:
        """Yield its runs, those of cells and items included."""
        yield from self.runs
        for line in filter(None, (self.head, *self.lines)):
            for cell in line.cells:
                yield from cell


class _Pen:
    """Cuts text into runs, in a document with annotations where [start, end) is marked."""

    def __init__(self, start: int, end: int, annotations: Sequence[Annotation] = ()) -> None:
        self.start, self.end = start, end
        self._annotations = sorted(
            annotations, key=lambda annotation: (annotation.start, annotation.end)
        )
        self._starts = [annotation.start for annotation in self._annotations]

    def runs(self, text: str, base: int) -> tuple[TextRun, ...]:
        """Split a text into styled runs. base: where the text begins in the document."""
        first = min(max(self.start - base, 0), len(text))
        last = min(max(self.end - base, first), len(text))
        annotations = self.within(base, base + len(text))
        cuts = {0, first, last, len(text)}
        for one in annotations:
            cuts |= {max(one.start - base, 0), min(one.end - base, len(text))}
        hosts: dict[int, str] = {}
        for one in annotations:
            if one.kind == "link":
                hosts[one.end] = link_host(text[one.start - base : one.end - base], one.url)
        runs: list[TextRun] = []
        for begin, end in pairwise(sorted(cuts)):
            runs += [_struck(one) for one in annotations if one.start == base + begin == one.end]
            is_marked = first <= begin < last
            run = TextRun(text[begin:end], marked=is_marked, host=hosts.get(base + end, ""))
            runs.append(_annotated(run, annotations, base + begin))
        runs += [_struck(one) for one in annotations if one.start == base + len(text) == one.end]
        return tuple(runs)

    def struck(self, start: int, end: int) -> list[TextRun]:
        """Return the struck words in a stretch that is not displayed itself, such as before a list
        marker."""
        annotations = self.within(start, end - 1)
        return [_struck(one) for one in annotations if one.kind == "struck"]

    def within(self, start: int, end: int) -> list[Annotation]:
        """Return the annotations that begin in a stretch of text; no link spans two stretches."""
        first = bisect_left(self._starts, start)
        last = bisect_right(self._starts, end)
        return self._annotations[first:last]


def _struck(annotation: Annotation) -> TextRun:
    return TextRun(annotation.text, is_struck=True)


def _annotated(run: TextRun, annotations: Sequence[Annotation], start: int) -> TextRun:
    for one in annotations:
        if one.start <= start < one.end:
            run = replace(run, url=run.url or one.url, note=run.note or one.text)
    return run


def view(document: Document, start: int = 0, end: int = 0) -> list[View]:
    """Return the blocks of a document in order."""
    pen = _Pen(start, end, document.annotations)
    views: list[View] = []
    if not document.blocks:
        for number, (base, text) in enumerate(_parts(document.text)):
            views.append(View("text", f"b{number}", runs=pen.runs(text, base)))
        return views
    position = 0
    page: int | None = None
    for number, block in enumerate(document.blocks):
        at = document.text.find(block.text, position)
        base = position if at < 0 else at
        new_page = block.page if block.page != page else None
        page = block.page or page
        views.append(_block(block, base, pen, f"b{number}", new_page))
        position = base + len(block.text)
    return views


def outline(views: list[View]) -> list[View]:
    """Return the headings for a table of contents: the upper two levels in use below the title."""
    headings = [view for view in views if view.kind == "heading"]
    levels = sorted({view.level for view in headings})
    if len([view for view in headings if view.level == levels[0]]) == 1:  # the title itself
        levels = levels[1:]
    upper = [view for view in headings if view.level in levels[:1]]
    return upper if len(upper) > 2 else []


def ranks(views: list[View]) -> dict[int, int]:
    """Map heading levels of the document to levels on the page, where the title is 1 and no level
    is skipped."""
    levels = sorted({view.level for view in views if view.kind == "heading"})
    return {level: min(rank, 6) for rank, level in enumerate(levels, start=2)}


def _block(block: Block, base: int, pen: _Pen, anchor: str, page: int | None) -> View:
    block_view = View(block.kind, anchor, block.level, page, words=block.text)
    if block.kind == "table":
        rows: list[PassageLine] = []
        for start, line in _lines(block.text, base):
            if not is_rule(line):
                rows.append(PassageLine(_cells(line, start, pen)))
        return replace(block_view, head=rows[0] if rows else None, lines=tuple(rows[1:]))
    if block.kind == "list":
        return replace(block_view, lines=tuple(_items(block.text, base, pen)))
    return replace(block_view, runs=pen.runs(block.text, base))


def _cells(line: str, base: int, pen: _Pen) -> tuple[tuple[TextRun, ...], ...]:
    """Return the cells of one row of a Markdown table."""
    start = base + _indent(line)
    cells: list[tuple[TextRun, ...]] = []
    for cell in _CELL.finditer(line.strip()):
        text = cell.group(1)
        runs = pen.runs(text.strip(), start + cell.start(1) + _indent(text))
        if not cells:
            runs = (*pen.struck(base, start + cell.start(1)), *runs)
        cells.append(tuple(replace(run, text=run.text.replace("\\|", "|")) for run in runs))
    return tuple(cells)


def _indent(text: str) -> int:
    return len(text) - len(text.lstrip())


def _items(text: str, base: int, pen: _Pen) -> Iterator[PassageLine]:
    """Return the items of a list. A line without a marker is an item at the depth of its indent."""
    for start, line in _lines(text, base):
        item = _ITEM.match(line)
        if item:
            cut = item.end()
            indent = len(item["indent"])
            marker = "" if item["marker"] in _BULLETS else item["marker"]
        else:
            cut = _indent(line)
            indent = max(0, cut - 2)
            marker = " "
        runs = (*pen.struck(start, start + cut), *pen.runs(line[cut:], start + cut))
        yield PassageLine((runs,), depth=min(indent // 2, DEEPEST), marker=marker)


def _lines(text: str, base: int) -> Iterator[tuple[int, str]]:
    for line in text.split("\n"):
        yield base, line
        base += len(line) + 1


def _parts(text: str) -> Iterator[tuple[int, str]]:
    at = 0
    for part in text.split("\n\n"):
        yield at, part
        at += len(part) + 2


def is_rule(line: str) -> bool:
    return bool(re.fullmatch(r"\|(?:\s*:?-+:?\s*\|)+", line.strip()))
