"""What slides hold beside text: tables, charts as tables of their numbers, diagrams as lists."""

from collections.abc import Iterator
from xml.etree.ElementTree import Element

from ombud.documents.blocks import pipe_table, tidy
from ombud.documents.office.docx_styles import whole
from ombud.types import Block

MOST_POINTS = 10_000
"""Of one series of a chart."""
_SKIPPED = {"pPr", "rPr", "endParaRPr", "tcPr", "Fallback"}


def words(node: Element) -> str:
    """Text of a paragraph or a cell; paragraphs and line breaks count as white space."""
    said = []
    for child in node:
        if child.tag == "t":
            said.append(child.text or "")
        elif child.tag == "br":
            said.append(" ")
        elif child.tag not in _SKIPPED:
            said.append(words(child))
    return "".join(said) + (" " if node.tag == "p" else "")


def table(node: Element) -> Iterator[Block]:
    """A merged cell is said in each of its places, as a reader would see it."""
    rows: list[list[str]] = []
    for line in node.iterfind("tr"):
        row: list[str] = []
        for cell in line.iterfind("tc"):
            text = tidy(words(cell))
            if cell.get("hMerge") in {"1", "true"} and row:
                text = row[-1]
            elif cell.get("vMerge") in {"1", "true"} and rows and len(row) < len(rows[-1]):
                text = rows[-1][len(row)]
            row.append(text)
        rows.append(row)
    if max((len(row) for row in rows), default=0) < 2:
        yield from (Block(kind="text", text=cell) for row in rows for cell in row if cell)
    elif text := pipe_table(rows):
        yield Block(kind="table", text=text)


def chart(root: Element | None) -> Iterator[Block]:
    """The title, and a row of each category with the value of each series."""
    if root is None:
        return
    title = root.find("chart/title")
    if title is not None and (text := tidy(words(title))):
        yield Block(kind="text", text=text)
    names, columns = [], []
    categories: dict[int, str] = {}
    for series in root.iter("ser"):
        values = _points(series, "val") or _points(series, "yVal")
        if values:
            names.append(" ".join(_points(series, "tx").values()))
            columns.append(values)
            categories = {**_points(series, "xVal"), **_points(series, "cat"), **categories}
    order = sorted({position for values in columns for position in values})
    rows = [[categories.get(at, ""), *(values.get(at, "") for values in columns)] for at in order]
    if text := pipe_table([["", *names], *rows]) if rows else "":
        yield Block(kind="table", text=text)


def _points(series: Element, role: str) -> dict[int, str]:
    """Position -> value as it was when the deck was saved."""
    found: dict[int, str] = {}
    for point in series.iterfind(f"{role}//pt"):
        position = whole(point.get("idx"))
        if position is not None and len(found) < MOST_POINTS:
            found[position] = _short(point.findtext("v") or "")
    return found


def _short(value: str) -> str:
    """Charts keep 0.1 as 0.10000000000000001."""
    try:
        return f"{float(value):.10g}" if len(value) > 10 else value
    except ValueError:
        return value


def diagram(root: Element | None) -> Iterator[Block]:
    """SmartArt: its texts, in the order of its outline pane."""
    items = (
        [text for point in root.iterfind("ptLst/pt/t") if (text := tidy(words(point)))]
        if root is not None
        else []
    )
    if items:
        yield Block(kind="list", text="\n".join(f"- {item}" for item in items))
