"""Word documents, read from their XML.

Own code rather than xberg: that gives neither the automatic numbers of headings and clauses ("1.2",
"(b)"), which people cite, nor headings that are only set in bold."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from xml.etree.ElementTree import Element

from ombud.documents.blocks import ParsedFile, pipe_table, tidy
from ombud.documents.office.docx_styles import (
    Numbering,
    Style,
    W,
    inherited,
    is_on,
    read_numbering,
    read_styles,
    value,
    whole,
)
from ombud.documents.office.packages import Program, broken, opened
from ombud.types import Block

_WORD = Program("Word", "Word document", ".docx")
_SKIPPED = {f"{W}del", f"{W}moveFrom", f"{W}pPr", f"{W}rPr", f"{W}instrText", f"{W}footnoteReference",
            "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"}  # fmt: skip
_BOX = f"{W}txbxContent"
_ENDS = (".", ";", ",", ":", "?", "!")


def read(data: bytes, pages: int) -> ParsedFile:
    """Headings, paragraphs, lists and clauses with their numbers, tables, text boxes; no headers or
    footers."""
    del pages
    with opened(data, _WORD) as package:
        body = package.part("word/document.xml")
        styles = read_styles(package.part("word/styles.xml"))
        numbering = read_numbering(package.part("word/numbering.xml"))
    if body is None:
        raise broken(_WORD)
    reader = _Reader(styles, numbering)
    blocks = list(reader.blocks(body.find(f"{W}body")))
    return ParsedFile(
        list(_headings_levelled(_bold_headings(blocks, reader.emphasised), reader.titles))
    )


@dataclass
class _Reader:
    styles: dict[str, Style]
    numbering: Numbering
    emphasised: set[int] = field(default_factory=set)
    """Positions of blocks that are short and wholly bold or in capitals."""
    titles: set[int] = field(default_factory=set)
    """Positions of blocks in the style Title."""

    def blocks(self, body: Element | None) -> Iterator[Block]:
        items: list[str] = []
        at = 0
        for node in _flow(body):
            made = (
                self._table(node)
                if node.tag == f"{W}tbl"
                else self._paragraph(node, at + bool(items))
            )
            for block in made:
                if block.kind == "list":
                    items.append(block.text)
                    continue
                if items:
                    yield Block(kind="list", text="\n".join(items))
                    items, at = [], at + 1
                yield block
                at += 1
        if items:
            yield Block(kind="list", text="\n".join(items))

    def _paragraph(self, node: Element, at: int) -> list[Block]:
        properties = node.find(f"{W}pPr")
        chain = inherited(self.styles, value(properties, f"{W}pStyle") or "")
        boxes = [
            block for box in node.iter(_BOX) for inner in _flow(box) for block in self._boxed(inner)
        ]
        text = tidy(_words(node))
        if not text or any(
            re.match(r"toc \d|table of figures|toc heading", style.name) for style in chain
        ):
            return boxes
        label, depth = self._number(properties, chain)
        level = _heading_level(properties, chain)
        if level:
            if chain and chain[0].name == "title":
                self.titles.add(at)
            # A bullet before a heading is decoration.
            return [
                Block(
                    kind="heading",
                    text=f"{label} {text}" if label not in {"", "-"} else text,
                    level=level,
                ),
                *boxes,
            ]
        if label:
            return [Block(kind="list", text=f"{'  ' * depth}{label} {text}"), *boxes]
        if (
            len(text) <= 100
            and not text.endswith(_ENDS)
            and (_is_bold(node, chain) or _is_capital(text))
        ):
            self.emphasised.add(at)
        return [Block(kind="text", text=text), *boxes]

    def _boxed(self, node: Element) -> list[Block]:
        if node.tag == f"{W}tbl":
            return self._table(node)
        text = tidy(_words(node))
        return [Block(kind="text", text=text)] if text else []

    def _number(self, properties: Element | None, chain: list[Style]) -> tuple[str, int]:
        """(number as printed, depth), ("", 0) for a paragraph outside lists."""
        number = value(properties, f"{W}numPr/{W}numId")
        level = whole(value(properties, f"{W}numPr/{W}ilvl"))
        for style in chain:
            number = style.number if number is None else number
            level = style.level if level is None else level
        if number is None or number == "0":
            return "", 0
        depth = min(max(level or 0, 0), 8)
        return self.numbering.label(number, depth), depth

    def _table(self, table: Element) -> list[Block]:
        rows: list[list[str]] = []
        for row in table.findall(f"{W}tr"):
            cells: list[str] = []
            for cell in _cells(row):
                text = tidy(self._cell(cell))
                merge = cell.find(f"{W}tcPr/{W}vMerge")
                if (
                    merge is not None
                    and merge.get(f"{W}val") != "restart"
                    and rows
                    and len(cells) < len(rows[-1])
                ):
                    text = rows[-1][len(cells)]
                span = whole(value(cell, f"{W}tcPr/{W}gridSpan")) or 1
                cells += [text] * max(1, min(span, 100))
            rows.append(cells)
        if max((len(row) for row in rows), default=0) < 2:
            # A box around text, not a table.
            return [Block(kind="text", text=cell) for row in rows for cell in row if cell]
        text = pipe_table(rows)
        return [Block(kind="table", text=text)] if text else []

    def _cell(self, cell: Element) -> str:
        """Words of a cell, inner tables included; an item keeps its number."""
        words = []
        for paragraph in cell.iter(f"{W}p"):
            properties = paragraph.find(f"{W}pPr")
            label, _ = self._number(
                properties, inherited(self.styles, value(properties, f"{W}pStyle") or "")
            )
            words.append(f"{label} {_words(paragraph)}" if label else _words(paragraph))
        return " ".join(words)


def _flow(parent: Element | None) -> Iterator[Element]:
    """Paragraphs and tables in order, through content controls and tracked insertions."""
    for node in parent if parent is not None else ():
        if node.tag in {f"{W}p", f"{W}tbl"}:
            yield node
        elif node.tag in {f"{W}sdt", f"{W}sdtContent", f"{W}ins", f"{W}smartTag", f"{W}customXml"}:
            yield from _flow(node)


def _cells(row: Element) -> Iterator[Element]:
    for node in row:
        if node.tag == f"{W}tc":
            yield node
        elif node.tag in {f"{W}sdt", f"{W}sdtContent"}:
            yield from _cells(node)


def _words(node: Element) -> str:
    """Text of a paragraph as printed: no deletions, field codes, or text boxes, which are read
    apart."""
    said = []
    for child in node:
        if child.tag in _SKIPPED or child.tag == _BOX:
            continue
        if child.tag == f"{W}t":
            said.append(child.text or "")
        elif child.tag in {f"{W}tab", f"{W}br", f"{W}cr"}:
            said.append(" ")
        elif child.tag == f"{W}noBreakHyphen":
            said.append("-")
        else:
            said.append(_words(child))
    return "".join(said)


def _heading_level(properties: Element | None, chain: list[Style]) -> int:
    """1 to 9, or 0 for a paragraph that is no heading."""
    outline = whole(value(properties, f"{W}outlineLvl"))
    if outline is None and chain and chain[0].name == "title":
        return 1
    for style in chain:
        if outline is None and (named := re.match(r"heading ([1-9])", style.name)):
            return int(named.group(1))
        outline = style.outline if outline is None else outline
    return outline + 1 if outline is not None and 0 <= outline < 9 else 0


def _is_bold(node: Element, chain: list[Style]) -> bool:
    inherits = next((style.bold for style in chain if style.bold is not None), False)
    bold = [
        inherits if (said := is_on(run, f"{W}rPr/{W}b")) is None else said
        for run in node.iter(f"{W}r")
        if _words(run).strip()
    ]
    return bool(bold) and all(bold)


def _is_capital(text: str) -> bool:
    return text.isupper() and sum(1 for c in text if c.isalpha()) >= 5


def _bold_headings(blocks: list[Block], emphasised: set[int]) -> list[Block]:
    """Short bold lines before text become headings, one level below the heading they stand
    under."""
    level, made = 0, []
    for at, block in enumerate(blocks):
        follower = blocks[at + 1] if at + 1 < len(blocks) else None
        if block.kind == "heading":
            level = block.level
        elif (
            at in emphasised
            and follower is not None
            and (follower.kind != "table" or len(block.text) < 60)
        ):
            block = block.model_copy(update={"kind": "heading", "level": min(level + 1, 6)})
        made.append(block)
    return made


def _headings_levelled(blocks: list[Block], titles: set[int]) -> Iterator[Block]:
    """Under a title all other headings are one level deeper."""
    titled = len(titles) == 1
    for at, block in enumerate(blocks):
        deeper = titled and block.kind == "heading" and at not in titles
        yield block.model_copy(update={"level": block.level + 1}) if deeper else block
