"""Word documents, read from their XML.

Own code rather than xberg: that gives neither the automatic numbers of headings and clauses ("1.2",
"(b)"), which people cite, nor headings that are only set in bold."""

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
_CONTROLS = frozenset((w.CONTENT_CONTROL, w.CONTROLLED_CONTENT))
_CONTAINERS = _CONTROLS | {w.INSERTED, w.SMART_TAG, w.CUSTOM_XML}
_LEVEL_STYLE = re.compile(r"heading ([1-9])")
_CONTENTS_STYLE = re.compile(r"toc \d|table of figures|toc heading")
_WIDEST = 100
"""Columns that a cell may span."""
LONGEST_EMPHASISED = 100
"""Characters of a bold line that may be a heading."""
LONGEST_ABOVE_TABLE = 60
_ENDS = (".", ";", ",", ":", "?", "!")


def read(data: bytes, pages: int) -> ParsedFile:
    """Headings, paragraphs, lists and clauses with their numbers, tables, text boxes, notes below
    what refers to them, descriptions of pictures; at the end what stands in headers and footers."""
    del pages
    with opened(data, _WORD) as package:
        document = package.part(_DOCUMENT)
        body = document.find(w.BODY) if document is not None else None
        if body is None:
            raise broken(_WORD)
        styles = read_styles(package.part("word/styles.xml"))
        numbering = read_numbering(package.part("word/numbering.xml"))
        words = WordRuns(styles, package.links(_DOCUMENT), number_notes(body))
        notes = _read_notes(package, styles)
        edges = _read_edges(package, WordRuns(styles))
    reader = _Reader(styles, numbering, words, notes)
    blocks = reader.read(body)
    blocks = _bold_headings(blocks, reader.emphasised)
    blocks = list(_headings_levelled(blocks, reader.titles))
    blocks += edges.blocks()
    loss = Loss(hidden=reader.hidden, pictures=reader.pictures, repeated=edges.repeated)
    return ParsedFile(blocks, loss=loss)


def _read_notes(package: Package, styles: dict[str, Style]) -> dict[tuple[str, str], str]:
    """(element of the reference, id) -> words of the note."""
    notes: dict[tuple[str, str], str] = {}
    for part, name, reference in _NOTES:
        path = f"word/{part}.xml"
        words = WordRuns(styles, package.links(path))
        for identity, text in note_texts(package.part(path), name, words).items():
            notes[reference, identity] = text
    return notes


def _read_edges(package: Package, words: WordRuns) -> Edges:
    edges = Edges()
    for relation in package.relations(_DOCUMENT).values():
        root = package.part(relation.path) if relation.kind in {"header", "footer"} else None
        for node in root.iter(w.PARAGRAPH) if root is not None else ():
            edges.add(tidy(words.read(node)), counts_pages=_counts_pages(node))
    return edges


def _counts_pages(node: Element) -> bool:
    """Tell whether a paragraph shows the number of the page."""
    codes = [code.text or "" for code in node.iter(w.FIELD_CODE)]
    codes += [code.get(w.INSTRUCTION, "") for code in node.iter(w.SIMPLE_FIELD)]
    return any(code.split()[:1] in (["PAGE"], ["NUMPAGES"]) for code in codes)


@dataclass
class _Reader:
    styles: dict[str, Style]
    numbering: Numbering
    words: WordRuns
    notes: dict[tuple[str, str], str]
    """(element of a reference, id) -> words of the note."""
    pictures: int = 0
    """Pictures that nothing describes."""
    hidden: int = 0
    """Rows that are not shown."""
    emphasised: set[int] = field(default_factory=set)
    """Positions of blocks that are short and wholly bold or in capitals."""
    titles: set[int] = field(default_factory=set)
    """Positions of blocks in the style Title."""

    def read(self, body: Element | None) -> list[Block]:
        blocks: list[Block] = []
        items: list[str] = []
        for node in _flow(body):
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
        """The blocks of a table or paragraph, the first of which will stand at that position."""
        if node.tag == w.TABLE:
            return [*self._table(node), *self._below(node)]
        # Numbers in the boxes are counted first.
        boxes = self._boxes(node)
        block = self._paragraph(node, position)
        below = [*boxes, *self._below(node)]
        return [block, *below] if block else below

    def _below(self, node: Element) -> Iterator[Block]:
        """Descriptions of pictures and the notes that a paragraph or table refers to."""
        for picture in node.iter(w.PICTURE_PROPERTIES):
            described = tidy(unmarked(picture.get("descr", "")))
            is_file_name = " " not in described and "." in described[-5:]
            if described and not is_file_name:
                yield paragraph(described)
            elif next(node.iter(w.TEXT_BOX), None) is None:
                self.pictures += 1
        for reference in node.iter():
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
        if not text or _is_contents(chain):
            return None
        level = _heading_level(properties, chain)
        if level:
            if _is_title(chain):
                self.titles.add(position)
            return _heading(text, label, level)
        if label:
            return Block(kind="list", text=f"{'  ' * depth}{label} {text}")
        shown = plain(text)
        if _may_be_heading(shown) and (self._is_bold(node, chain) or _is_capital(shown)):
            self.emphasised.add(position)
        return paragraph(text)

    def _boxes(self, node: Element) -> list[Block]:
        """What stands in text boxes that hang on a paragraph."""
        blocks = []
        for box in node.iter(w.TEXT_BOX):
            for inner in _flow(box):
                blocks += self._boxed(inner)
        return blocks

    def _boxed(self, node: Element) -> list[Block]:
        if node.tag == w.TABLE:
            return self._table(node)
        text = tidy(self.words.read(node))
        return [paragraph(text)] if text else []

    def _number(self, properties: Element | None, chain: list[Style]) -> tuple[str, int]:
        """(number as printed, depth), ("", 0) for a paragraph outside lists."""
        number = value(properties, w.PARAGRAPH_LIST)
        level = whole(value(properties, w.PARAGRAPH_LEVEL))
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
        for row in table.findall(w.ROW):
            if row.find(w.ROW_DELETED) is not None:
                continue
            if is_on(row, w.ROW_HIDDEN):
                self.hidden += 1
                continue
            rows.append(self._row(row, above=rows[-1] if rows else []))
        return list(table_blocks(rows))

    def _row(self, row: Element, above: list[str]) -> list[str]:
        """The cells of a row; a merged one is said in each of its places."""
        cells = [""] * _limited(value(row, w.COLUMNS_BEFORE), least=0)
        for cell in _cells(row):
            column = len(cells)
            text = tidy(self._cell(cell))
            if _continues_above(cell) and column < len(above):
                text = above[column]
            cells += [text] * _limited(value(cell, w.COLUMN_SPAN), least=1)
        return cells + [""] * _limited(value(row, w.COLUMNS_AFTER), least=0)

    def _cell(self, cell: Element) -> str:
        """Words of a cell, inner tables included; an item keeps its number."""
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
            by_run = is_on(part, w.BOLD)
            is_bold = by_style if by_run is None else by_run
            if not is_bold:
                return False
            has_words = True
        return has_words


def _limited(number: str | None, *, least: int) -> int:
    """Return how many columns something spans."""
    return max(least, min(whole(number) or least, _WIDEST))


def _continues_above(cell: Element) -> bool:
    """Whether a cell is merged with the one above it."""
    merge = cell.find(w.ROW_MERGE)
    return merge is not None and merge.get(w.VALUE) != "restart"


def _flow(parent: Element | None) -> Iterator[Element]:
    """Paragraphs and tables in order, through content controls and tracked insertions."""
    if parent is None:
        return
    for node in parent:
        if node.tag in _BLOCKS:
            yield node
        elif node.tag in _CONTAINERS:
            yield from _flow(node)


def _cells(row: Element) -> Iterator[Element]:
    for node in row:
        if node.tag == w.CELL:
            yield node
        elif node.tag in _CONTROLS:
            yield from _cells(node)


def _heading(text: str, label: str, level: int) -> Block:
    # A bullet before a heading is decoration.
    if label and label != "-":
        text = f"{label} {text}"
    return heading(text, level)


def _is_contents(chain: list[Style]) -> bool:
    """Whether a paragraph is part of a table of contents."""
    return any(_CONTENTS_STYLE.match(style.name) for style in chain)


def _is_title(chain: list[Style]) -> bool:
    """Whether a paragraph is in the style that Word calls Title."""
    return bool(chain) and chain[0].name == "title"


def _heading_level(properties: Element | None, chain: list[Style]) -> int:
    """1 to 9, or 0 for a paragraph that is no heading."""
    outline = whole(value(properties, w.OUTLINE_LEVEL))
    if outline is None and _is_title(chain):
        return 1
    for style in chain:
        if outline is not None:
            break
        named = _LEVEL_STYLE.match(style.name)
        if named:
            return int(named.group(1))
        outline = style.outline
    return outline + 1 if outline is not None and 0 <= outline < 9 else 0


def _may_be_heading(text: str) -> bool:
    return len(text) <= LONGEST_EMPHASISED and not text.endswith(_ENDS)


def _is_capital(text: str) -> bool:
    return text.isupper() and sum(1 for c in text if c.isalpha()) >= 5


def _bold_headings(blocks: list[Block], emphasised: set[int]) -> list[Block]:
    """Short bold lines before text become headings, one level below the heading they stand
    under."""
    level = 0
    headed = []
    for position, (block, following) in enumerate(zip_longest(blocks, blocks[1:])):
        if block.kind == "heading":
            level = block.level
        elif position in emphasised and _stands_above(block, following):
            block = block.model_copy(update={"kind": "heading", "level": min(level + 1, 6)})
        headed.append(block)
    return headed


def _stands_above(block: Block, following: Block | None) -> bool:
    """Whether something follows that a line may be the heading of; above a table a longer one is
    its caption."""
    if following is None:
        return False
    return following.kind != "table" or len(block.text) < LONGEST_ABOVE_TABLE


def _headings_levelled(blocks: list[Block], titles: set[int]) -> Iterator[Block]:
    """Under a title all other headings are one level deeper."""
    has_title = len(titles) == 1
    for position, block in enumerate(blocks):
        if has_title and block.kind == "heading" and position not in titles:
            yield block.model_copy(update={"level": block.level + 1})
        else:
            yield block
