"""What slides, and some of it sheets, hold beside text: shapes, pictures, tables, charts as tables
of their numbers, diagrams as lists."""

import re
from collections.abc import Iterator, Mapping
from xml.etree.ElementTree import Element

from ombud.documents.blocks import list_of, paragraph, pipe_table, table_blocks, tidy
from ombud.documents.office.numbering import whole
from ombud.documents.runs import run, unmarked
from ombud.types import Block

MOST_POINTS = 10_000
"""Of one series of a chart."""
_FILE = re.compile(r"\S+\.(?:png|jpe?g|gif|bmp|tiff?|svg|emf|wmf|webp)", re.IGNORECASE)
_HIDDEN = Element("hidden")
_GROUPS = frozenset(
    ("grpSp", "AlternateContent", "Choice", "twoCellAnchor", "oneCellAnchor", "absoluteAnchor")
)
_SKIPPED = {"pPr", "rPr", "endParaRPr", "tcPr", "Fallback"}


def shapes(tree: Element | None) -> Iterator[Element]:
    """In the order they are read aloud; groups are opened. Each that is not shown is an element
    of the name "hidden"."""
    for node in tree if tree is not None else ():
        properties = node.find("*/cNvPr")
        if properties is not None and properties.get("hidden") in {"1", "true"}:
            yield _HIDDEN
        elif node.tag in {"sp", "pic", "graphicFrame"}:
            yield node
        elif node.tag in _GROUPS:
            yield from shapes(node)


def picture(shape: Element) -> Iterator[Block]:
    """What a picture shows, unless that is only the name of its file."""
    properties = shape.find("nvPicPr/cNvPr")
    described = tidy(unmarked(properties.get("descr", ""))) if properties is not None else ""
    if described and not _FILE.fullmatch(described):
        yield paragraph(described)


def words(node: Element, links: Mapping[str, str] | None = None) -> str:
    """Text of a paragraph or a cell; paragraphs and line breaks count as white space. links:
    relation -> address outside of the file."""
    texts = []
    for child in node:
        if child.tag == "r":
            texts.append(_run(child, links or {}))
        elif child.tag == "t":
            texts.append(child.text or "")
        elif child.tag == "br":
            texts.append(" ")
        elif child.tag not in _SKIPPED:
            texts.append(words(child, links))
    if node.tag == "p":
        texts.append(" ")
    return "".join(texts)


def _run(node: Element, links: Mapping[str, str]) -> str:
    text = node.findtext("t") or ""
    look = node.find("rPr")
    if look is None:
        return unmarked(text)
    click = look.find("hlinkClick")
    return run(
        text,
        struck=look.get("strike", "noStrike") != "noStrike",
        superscript=(whole(look.get("baseline")) or 0) > 0,
        link=links.get(click.get("r:id", ""), "") if click is not None else "",
    )


def table(node: Element, links: Mapping[str, str]) -> Iterator[Block]:
    """A merged cell is said in each of its places, as a reader would see it."""
    rows: list[list[str]] = []
    for line in node.iterfind("tr"):
        above = rows[-1] if rows else []
        row: list[str] = []
        for cell in line.iterfind("tc"):
            column = len(row)
            text = tidy(words(cell, links))
            if cell.get("hMerge") in {"1", "true"} and row:
                text = row[-1]
            elif cell.get("vMerge") in {"1", "true"} and column < len(above):
                text = above[column]
            row.append(text)
        rows.append(row)
    yield from table_blocks(rows)


def chart(root: Element | None) -> Iterator[Block]:
    """The title, and a row of each category with the value of each series."""
    if root is None:
        return
    title = root.find("chart/title")
    title_text = tidy(words(title)) if title is not None else ""
    if title_text:
        yield paragraph(title_text)
    text = pipe_table(_chart_rows(root))
    if text:
        yield Block(kind="table", text=text)


def _chart_rows(root: Element) -> list[list[str]]:
    """The names of the series, then for each category its name and values; [] without values."""
    names = [""]
    columns: list[dict[int, str]] = []
    categories: dict[int, str] = {}
    for series in root.iter("ser"):
        values = _points(series, "val") or _points(series, "yVal")
        if not values:
            continue
        names.append(" ".join(_points(series, "tx").values()))
        columns.append(values)
        # The first series to name a category decides.
        categories = {**_points(series, "xVal"), **_points(series, "cat"), **categories}
    if not columns:
        return []
    rows = [names]
    for position in sorted(set().union(*columns)):
        values_here = [column.get(position, "") for column in columns]
        rows.append([categories.get(position, ""), *values_here])
    return rows


def _points(series: Element, role: str) -> dict[int, str]:
    """Position -> value as it was when the deck was saved."""
    points: dict[int, str] = {}
    for point in series.iterfind(f"{role}//pt"):
        position = whole(point.get("idx"))
        if position is not None and len(points) < MOST_POINTS:
            points[position] = _short(point.findtext("v") or "")
    return points


def _short(value: str) -> str:
    """Charts keep 0.1 as 0.10000000000000001."""
    try:
        return f"{float(value):.10g}" if len(value) > 10 else value
    except ValueError:
        return value


def diagram(root: Element | None) -> Iterator[Block]:
    """SmartArt: its texts, in the order of its outline pane."""
    if root is None:
        return
    texts = [tidy(words(point)) for point in root.iterfind("ptLst/pt/t")]
    yield from list_of([f"- {text}" for text in texts if text])
