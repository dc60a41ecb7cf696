"""Read the graphics of slides and sheets: shapes, pictures, tables, charts as tables of their
numbers, diagrams as lists."""

import re
from collections.abc import Iterator, Mapping
from xml.etree.ElementTree import Element

from ombud.documents.blocks import list_of, paragraph, pipe_table, table_blocks, tidy
from ombud.documents.office.numbering import whole
from ombud.documents.runs import run, unmarked
from ombud.types import Block

MAX_POINTS = 10_000
"""Points of a series of a chart."""
_FILE = re.compile(r"\S+\.(?:png|jpe?g|gif|bmp|tiff?|svg|emf|wmf|webp)", re.IGNORECASE)
_HIDDEN = Element("hidden")
_GROUPS = frozenset(
    ("grpSp", "AlternateContent", "Choice", "twoCellAnchor", "oneCellAnchor", "absoluteAnchor")
)
_SKIPPED = {"pPr", "rPr", "endParaRPr", "tcPr", "Fallback"}


def shapes(tree: Element | None) -> Iterator[Element]:
    """Yield shapes in the order in which they are read aloud, also those in groups; a hidden one is
    an element with the name "hidden"."""
    for node in tree if tree is not None else ():
        properties = node.find("*/cNvPr")
        if properties is not None and properties.get("hidden") in {"1", "true"}:
            yield _HIDDEN
        elif node.tag in {"sp", "pic", "graphicFrame"}:
            yield node
        elif node.tag in _GROUPS:
            yield from shapes(node)


def picture(shape: Element) -> Iterator[Block]:
    """Yield the description of a picture, unless it is only the name of its file."""
    properties = shape.find("nvPicPr/cNvPr")
    described = tidy(unmarked(properties.get("descr", ""))) if properties is not None else ""
    if described and not _FILE.fullmatch(described):
        yield paragraph(described)


def words(node: Element, links: Mapping[str, str] | None = None) -> str:
    """Read the text of a paragraph or cell; paragraphs and line breaks become white space. links:
    relation -> external address."""
    texts = []
    for child in node:
        if child.tag == "r":
            texts.append(read_run(child, links or {}))
        elif child.tag == "t":
            texts.append(child.text or "")
        elif child.tag == "br":
            texts.append(" ")
        elif child.tag not in _SKIPPED:
            texts.append(words(child, links))
    if node.tag == "p":
        texts.append(" ")
    return "".join(texts)


def read_run(node: Element, links: Mapping[str, str]) -> str:
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
    """Read a table; a merged cell is repeated in each of its places."""
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
    """Read a chart: its title, and a table with a row per category and a column per series."""
    if root is None:
        return
    title = root.find("chart/title")
    title_text = tidy(words(title)) if title is not None else ""
    if title_text:
        yield paragraph(title_text)
    text = pipe_table(chart_rows(root))
    if text:
        yield Block(kind="table", text=text)


def chart_rows(root: Element) -> list[list[str]]:
    """Make a row of the names of series, then one of the name and values of each category; none
    without values."""
    names = [""]
    columns: list[dict[int, str]] = []
    categories: dict[int, str] = {}
    for series in root.iter("ser"):
        values = read_points(series, "val") or read_points(series, "yVal")
        if not values:
            continue
        names.append(" ".join(read_points(series, "tx").values()))
        columns.append(values)
        # The first series to name a category decides.
        categories = {**read_points(series, "xVal"), **read_points(series, "cat"), **categories}
    if not columns:
        return []
    rows = [names]
    for position in sorted(set().union(*columns)):
        values_here = [column.get(position, "") for column in columns]
        rows.append([categories.get(position, ""), *values_here])
    return rows


def read_points(series: Element, role: str) -> dict[int, str]:
    """Map positions to the values that were saved with the deck."""
    points: dict[int, str] = {}
    for point in series.iterfind(f"{role}//pt"):
        position = whole(point.get("idx"))
        if position is not None and len(points) < MAX_POINTS:
            points[position] = shorten_value(point.findtext("v") or "")
    return points


def shorten_value(value: str) -> str:
    """Shorten a value; charts store 0.1 as 0.10000000000000001."""
    try:
        return f"{float(value):.10g}" if len(value) > 10 else value
    except ValueError:
        return value


def diagram(root: Element | None) -> Iterator[Block]:
    """Read SmartArt: its texts, in the order of its outline pane."""
    if root is None:
        return
    texts = [tidy(words(point)) for point in root.iterfind("ptLst/pt/t")]
    yield from list_of([f"- {text}" for text in texts if text])
