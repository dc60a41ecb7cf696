"""Parse Word documents from their XML.

Own code rather than xberg, which returns neither the automatic numbers of headings and clauses
("1.2", "(b)"), which people cite, nor headings that are only set in bold."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import zip_longest
from xml.etree.ElementTree import Element

from ombud.documents.blocks import (
    Edges,
    ParsedFile,
    heading,
    list_of,
    paragraph,
    table_blocks,
    tidy,
)
from ombud.documents.office import docx_names as w
from ombud.documents.office.docx_styles import (
    Numbering,
    Style,
    inherited,
    is_on,
    numbering_of,
    read_numbering,
    read_styles,
    value,
)
from ombud.documents.office.docx_words import WordRuns, note_texts, number_notes
from ombud.documents.office.numbering import whole
from ombud.documents.office.packages import Package, Program, broken, opened
from ombud.documents.runs import plain, run, unmarked
from ombud.types import Block, Loss

_DOCUMENT = "word/document.xml"
_NOTES = (
    ("footnotes", w.FOOTNOTE, w.FOOTNOTE_REFERENCE),
    ("endnotes", w.ENDNOTE, w.ENDNOTE_REFERENCE),
)
"""Part, element of a note, element that refers to it."""
_WORD = Program("Word", "Word document", ".docx")
_BLOCKS = frozenset((w.PARAGRAPH, w.TABLE))
_CONTAINERS = (w.CONTENT_CONTROL, w.CONTROLLED_CONTENT, w.INSERTED, w.SMART_TAG, w.CUSTOM_XML)
_LEVEL_STYLE = re.compile(r"heading ([1-9])")
_CONTENTS_STYLE = re.compile(r"toc \d|table of figures|toc heading")
_WIDEST = 100
"""Columns that a cell may span."""
LONGEST_EMPHASISED = 100
"""Characters of a bold line that may be a heading."""
LONGEST_ABOVE_TABLE = 60
_ENDS = (".", ";", ",", ":", "?", "!")


def read(data: bytes, pages: int) -> ParsedFile:
    """Parse headings, paragraphs, numbered lists and clauses, tables, text boxes, notes below their
    references, and descriptions of pictures; headers and footers come last."""
    del pages
    with opened(data, _WORD) as package:
        document = package.part(_DOCUMENT)
        body = document.find(w.BODY) if document is not None else None
        if body is None:
            raise broken(_WORD)
        for alternatives in document.iter(w.ALTERNATIVES) if document is not None else ():
            # The fallback is for programs that cannot display the first alternative.
            for fallback in alternatives.findall(w.FALLBACK):
                alternatives.remove(fallback)
        styles = read_styles(package.part("word/styles.xml"))
        numbering = read_numbering(package.part("word/numbering.xml"))
        words = WordRuns(styles, package.links(_DOCUMENT), number_notes(body))
        notes = read_notes(package, styles)
        edges = read_edges(package, body, styles)
    reader = _Reader(styles, numbering, words, notes)
    blocks = reader.read(body)
    blocks = promote_bold_lines(blocks, reader.emphasised)
    blocks = list(level_headings(blocks, reader.titles))
    blocks += edges.blocks()
    loss = Loss(hidden=reader.hidden, pictures=reader.pictures, repeated=edges.repeated)
    return ParsedFile(blocks, loss=loss)


def read_notes(package: Package, styles: dict[str, Style]) -> dict[tuple[str, str], str]:
    """Map (element of the reference, id) to the words of the note."""
    notes: dict[tuple[str, str], str] = {}
    for part, name, reference in _NOTES:
        path = f"word/{part}.xml"
        words = WordRuns(styles, package.links(path))
        for identity, text in note_texts(package.part(path), name, words).items():
            notes[reference, identity] = text
    return notes


def read_edges(package: Package, body: Element, styles: dict[str, Style]) -> Edges:
    edges = Edges()
    unseen = unseen_edges(package, body)
    for name, relation in package.relations(_DOCUMENT).items():
        if relation.kind not in {"header", "footer"} or name in unseen:
            continue
        words = WordRuns(styles, package.links(relation.path))
        root = package.part(relation.path)
        for node in root.iter(w.PARAGRAPH) if root is not None else ():
            codes = [code.text or "" for code in node.iter(w.FIELD_CODE)]
            codes += [code.get(w.INSTRUCTION, "") for code in node.iter(w.SIMPLE_FIELD)]
            counts_pages = any(code.split()[:1] in (["PAGE"], ["NUMPAGES"]) for code in codes)
            edges.add(tidy(words.read(node)), counts_pages=counts_pages)
    return edges


def unseen_edges(package: Package, body: Element) -> set[str]:
    """List the headers of first and even pages if these are switched off: files keep them."""
    references = [node for name in w.EDGE_REFERENCES for node in body.iter(name)]
    off = {"first", "even"}.intersection(node.get(w.PAGES) for node in references)
    if any(is_on(section, w.HAS_FIRST) for section in body.iter(w.SECTION)):
        off.discard("first")
    if off and is_on(package.part("word/settings.xml"), w.HAS_EVEN):
        off.discard("even")
    return {node.get(w.RELATION, "") for node in references if node.get(w.PAGES) in off}


@dataclass
class _Reader:
    styles: dict[str, Style]
    numbering: Numbering
    words: WordRuns
    notes: dict[tuple[str, str], str]
    """(element of a reference, id) -> words of the note."""
    pictures: int = 0
    """Number of pictures without a description."""
    hidden: int = 0
    """Number of hidden rows."""
    emphasised: set[int] = field(default_factory=set)
    """Positions of blocks that are short and all bold or all in capitals."""
    titles: set[int] = field(default_factory=set)
    """Positions of blocks in the style Title."""

    def read(self, body: Element | None) -> list[Block]:
        blocks: list[Block] = []
        items: list[str] = []
        for node in flow_elements(body):
            # The items so far become a block as soon as something else follows.
            position = len(blocks) + bool(items)
            for block in self._blocks(node, position):
                if block.kind == "list":
                    items.append(block.text)
                    continue
                blocks += list_of(items)
                items = []
                blocks.append(block)
        return blocks + list_of(items)

    def _blocks(self, node: Element, position: int) -> list[Block]:
        """Read the blocks of a table or paragraph, the first of which gets that position."""
        if node.tag == w.TABLE:
            return [*self._table(node), *self._below(node)]
        # Numbers in the boxes are counted first.
        boxes = self._boxes(node)
        block = self._paragraph(node, position)
        below = [*boxes, *self._below(node)]
        return [block, *below] if block else below

    def _below(self, node: Element) -> Iterator[Block]:
        """Yield descriptions of pictures and the notes that a paragraph or table refers to."""
        for picture in node.iter(w.PICTURE_PROPERTIES):
            described = tidy(unmarked(picture.get("descr", "")))
            is_file_name = " " not in described and "." in described[-5:]
            if described and not is_file_name:
                yield paragraph(described)
            elif next(node.iter(w.TEXT_BOX), None) is None:
                self.pictures += 1
        for reference in node.iter() if self.notes else ():
            name = reference.tag, reference.get(w.ID, "")
            if name in self.notes and name in self.words.notes:
                mark = run(self.words.notes[name], footnote_ref=True)
                yield paragraph(f"{mark} {self.notes[name]}")

    def _paragraph(self, node: Element, position: int) -> Block | None:
        properties = node.find(w.PARAGRAPH_PROPERTIES)
        chain = inherited(self.styles, value(properties, w.PARAGRAPH_STYLE) or "")
        text = tidy(self.words.read(node, chain))
        # An empty paragraph counts, too.
        label, depth = self._number(properties, chain)
        is_contents = any(_CONTENTS_STYLE.match(style.name) for style in chain)
        if not text or is_contents:
            return None
        level = heading_level(properties, chain)
        if level:
            if is_title(chain):
                self.titles.add(position)
            return make_heading(text, label, level)
        if label:
            return Block(kind="list", text=f"{'  ' * depth}{label} {text}")
        visible = plain(text)
        may_be_heading = len(visible) <= LONGEST_EMPHASISED and not visible.endswith(_ENDS)
        if may_be_heading and (is_in_capitals(visible) or self._is_bold(node, chain)):
            self.emphasised.add(position)
        return paragraph(text)

    def _boxes(self, node: Element) -> list[Block]:
        """Read the text boxes anchored to a paragraph."""
        blocks = []
        for box in node.iter(w.TEXT_BOX):
            for inner in flow_elements(box):
                if inner.tag == w.TABLE:
                    blocks += self._table(inner)
                elif text := tidy(self.words.read(inner)):
                    blocks.append(paragraph(text))
        return blocks

    def _number(self, properties: Element | None, chain: list[Style]) -> tuple[str, int]:
        """Return the number as printed and its depth; ("", 0) for a paragraph outside lists."""
        numbering = numbering_of(properties)
        number = value(numbering, w.PARAGRAPH_LIST)
        level = whole(value(numbering, w.PARAGRAPH_LEVEL))
        for style in chain:
            if number is None:
                number = style.number
            if level is None:
                level = style.level
        if number is None or number == "0":
            return "", 0
        depth = min(max(level or 0, 0), 8)
        return self.numbering.label(number, depth), depth

    def _table(self, table: Element) -> list[Block]:
        rows: list[list[str]] = []
        for row in child_elements(table, w.ROW):
            properties = row.find(w.ROW_PROPERTIES)
            if properties is not None and properties.find(w.DELETED) is not None:
                continue
            if is_on(properties, w.ROW_HIDDEN):
                self.hidden += 1
                continue
            rows.append(self._row(row, above=rows[-1] if rows else []))
        return list(table_blocks(rows))

    def _row(self, row: Element, above: list[str]) -> list[str]:
        """Read the cells of a row; a merged one is repeated in each of its places."""
        row_properties = row.find(w.ROW_PROPERTIES)
        cells = [""] * limit_columns(value(row_properties, w.COLUMNS_BEFORE), least=0)
        for cell in child_elements(row, w.CELL):
            column = len(cells)
            text = tidy(self._cell(cell))
            properties = cell.find(w.CELL_PROPERTIES)
            if properties is not None and properties.find(w.CELL_DELETED) is not None:
                text = ""
            merge = properties.find(w.ROW_MERGE) if properties is not None else None
            continues_above = merge is not None and merge.get(w.VALUE) != "restart"
            if continues_above and column < len(above):
                text = above[column]
            cells += [text] * limit_columns(value(properties, w.COLUMN_SPAN), least=1)
        return cells + [""] * limit_columns(value(row_properties, w.COLUMNS_AFTER), least=0)

    def _cell(self, cell: Element) -> str:
        """Read the words of a cell with its inner tables; items keep their numbers."""
        texts = []
        for node in cell.iter(w.PARAGRAPH):
            properties = node.find(w.PARAGRAPH_PROPERTIES)
            chain = inherited(self.styles, value(properties, w.PARAGRAPH_STYLE) or "")
            label, _ = self._number(properties, chain)
            words = self.words.read(node, chain)
            texts.append(f"{label} {words}" if label else words)
        return " ".join(texts)

    def _is_bold(self, node: Element, chain: list[Style]) -> bool:
        by_style = next((style.bold for style in chain if style.bold is not None), False)
        has_words = False
        for part in node.iter(w.RUN):
            if not self.words.read(part).strip():
                continue
            by_run = is_on(part.find(w.RUN_PROPERTIES), w.BOLD)
            is_bold = by_style if by_run is None else by_run
            if not is_bold:
                return False
            has_words = True
        return has_words


def limit_columns(number: str | None, *, least: int) -> int:
    """Read a number of columns, within limits."""
    return max(least, min(whole(number) or least, _WIDEST))


def flow_elements(parent: Element | None) -> Iterator[Element]:
    """Yield paragraphs and tables in order, also in content controls and tracked insertions."""
    if parent is None:
        return
    for node in parent:
        if node.tag in _BLOCKS:
            yield node
        elif node.tag in _CONTAINERS:
            yield from flow_elements(node)


def child_elements(parent: Element, name: str) -> Iterator[Element]:
    """Yield rows of a table or cells of a row, also in content controls."""
    for node in parent:
        if node.tag == name:
            yield node
        elif node.tag in _CONTAINERS:
            yield from child_elements(node, name)


def make_heading(text: str, label: str, level: int) -> Block:
    # A bullet before a heading is decoration.
    if label and label != "-":
        text = f"{label} {text}"
    return heading(text, level)


def is_title(chain: list[Style]) -> bool:
    """Tell whether a paragraph has the style that Word calls Title."""
    return bool(chain) and chain[0].name == "title"


def heading_level(properties: Element | None, chain: list[Style]) -> int:
    """Return the level of a heading, 1 to 9; 0 for other paragraphs."""
    outline = whole(value(properties, w.OUTLINE_LEVEL))
    if outline is None and is_title(chain):
        return 1
    for style in chain:
        if outline is not None:
            break
        named = _LEVEL_STYLE.match(style.name)
        if named:
            return int(named.group(1))
        outline = style.outline
    return outline + 1 if outline is not None and 0 <= outline < 9 else 0


def is_in_capitals(text: str) -> bool:
    return text.isupper() and sum(map(str.isalpha, text)) >= 5


def promote_bold_lines(blocks: list[Block], emphasised: set[int]) -> list[Block]:
    """Turn short bold lines before text into headings, one level below the heading above them."""
    level = 0
    headed = []
    for position, (block, following) in enumerate(zip_longest(blocks, blocks[1:])):
        if block.kind == "heading":
            level = block.level
        # Above a table, a longer line is its caption.
        elif (
            position in emphasised
            and following is not None
            and (following.kind != "table" or len(block.text) < LONGEST_ABOVE_TABLE)
        ):
            block = block.model_copy(update={"kind": "heading", "level": min(level + 1, 6)})
        headed.append(block)
    return headed


def level_headings(blocks: list[Block], titles: set[int]) -> Iterator[Block]:
    """Move all other headings one level below a single title."""
    has_title = len(titles) == 1
    for position, block in enumerate(blocks):
        if has_title and block.kind == "heading" and position not in titles:
            yield block.model_copy(update={"level": block.level + 1})
        else:
            yield block
