"""PDF: lines and tables of each page become blocks."""

from collections import Counter
from collections.abc import Iterator

from ombud.documents.blocks import ParsedFile
from ombud.documents.pdf.borderless import MOST_PAGES, tables_without_lines
from ombud.documents.pdf.columns import columns_of
from ombud.documents.pdf.headings import HeadingLevels, Item, usual_size
from ombud.documents.pdf.lines import PdfLine, lines_of
from ombud.documents.pdf.notes import mark_notes
from ombud.documents.pdf.ocr import FEWEST, PACKAGE, installed, languages, needs_reading, recognise
from ombud.documents.pdf.page.placing import Edge
from ombud.documents.pdf.page.words import PdfPage, read_pages
from ombud.documents.pdf.paragraphs import PageBlocks
from ombud.documents.pdf.running import without_running
from ombud.documents.pdf.tables import Table, aligned, ruled
from ombud.errors import SourceError
from ombud.types import Block, Loss


def read(data: bytes, pages: int) -> ParsedFile:
    """Blocks with the page they stand on. Raises SourceError when the pages hold (almost) no
    text."""
    pdf_pages = read_pages(data, pages)
    _recognise_scanned(data, pdf_pages)
    characters = sum(page.characters for page in pdf_pages)
    if characters < FEWEST * max(1, len(pdf_pages)):
        raise _without_text()
    tables = _ruled_tables(pdf_pages)
    without_running(pdf_pages, _boxes(tables))
    levels = HeadingLevels(pdf_pages)
    without_ruled = [page for page in pdf_pages if page.number not in tables]
    tables |= _undrawn(data, without_ruled, len(pdf_pages))
    blocks: list[Block] = []
    for page in pdf_pages:
        mark_notes(page, levels.body)
        items = list(_items(page, tables.get(page.number, [])))
        blocks += PageBlocks(page, items, levels).blocks
    loss = Loss(hidden=sum(page.hidden for page in pdf_pages))
    return ParsedFile(list(_continued(blocks)), loss=loss)


def _recognise_scanned(data: bytes, pages: list[PdfPage]) -> None:
    """Put words on the pages that are pictures, where OCR is installed."""
    scanned = [page for page in pages if needs_reading(page)]
    if not scanned or not installed():
        return
    sizes: Counter[float] = Counter()
    for page in pages:
        sizes.update(word.size for word in page.words)
    recognise(data, scanned, usual_size(sizes))


def _ruled_tables(pages: list[PdfPage]) -> dict[int, list[Table]]:
    """Page number -> its tables drawn with lines; no empty lists."""
    tables = {}
    for page in pages:
        drawn = ruled(page)
        if drawn:
            tables[page.number] = drawn
    return tables


def _boxes(tables: dict[int, list[Table]]) -> dict[int, list[Edge]]:
    """Page number -> where its tables stand."""
    boxes = {}
    for number, tables_of_page in tables.items():
        boxes[number] = [table.box for table in tables_of_page]
    return boxes


def _without_text() -> SourceError:
    if installed():
        known = ", ".join(languages())
        return SourceError(
            "The PDF has almost no text, and OCR found no more in its pictures.",
            hint=f"Is it in another language than {known}? Install {PACKAGE}-LANGUAGE for it.",
        )
    return SourceError(
        "The PDF has almost no text, so its pages are probably scanned: it needs OCR.",
        hint=f"Install {PACKAGE} (on Debian: apt install {PACKAGE}) and sync again.",
    )


def _undrawn(data: bytes, pages: list[PdfPage], total: int) -> dict[int, list[Table]]:
    """Tables by page that xberg makes of pages where words stand in columns but no lines are
    drawn."""
    wanted = [page for page in pages if _stands_in_columns(page)]
    tables: dict[int, list[Table]] = {}
    if wanted and total <= MOST_PAGES:
        for table in tables_without_lines(data, wanted):
            tables.setdefault(table.page, []).append(table)
    return tables


def _stands_in_columns(page: PdfPage) -> bool:
    return any(True for _ in aligned(page.number, lines_of(page.words)))


def _items(page: PdfPage, tables: list[Table]) -> Iterator[Item]:
    """Lines and tables of a page in reading order."""
    boxes = [table.box for table in tables]
    page.words = [word for word in page.words if not word.is_in_any(boxes)]
    if tables:
        yield from _in_order(page.number, lines_of(page.words), tables)
        return
    parts = columns_of(page)
    if len(parts) == 1:
        yield from _in_order(page.number, lines_of(parts[0]), [])
        return
    for words in parts:
        # Beside another column words in line are no table.
        yield from sorted(lines_of(words), key=_top)


def _in_order(number: int, lines: list[PdfLine], tables: list[Table]) -> list[Item]:
    """The lines, those in columns as tables, and the tables that are known, from top to bottom."""
    items: list[Item] = list(tables)
    taken: set[int] = set()
    for start, end, table in aligned(number, lines):
        items.append(table)
        taken.update(range(start, end))
    items += [line for position, line in enumerate(lines) if position not in taken]
    return sorted(items, key=_top)


def _top(item: Item) -> float:
    return item.box[1] if isinstance(item, Table) else item.top


def _continued(blocks: list[Block]) -> Iterator[Block]:
    """The blocks; a table that goes on over a page break has its header again."""
    before: Block | None = None
    for block in blocks:
        if before and block.kind == before.kind == "table" and block.page != before.page:
            block = _with_header(before, block)
        yield block
        before = block


def _with_header(before: Block, block: Block) -> Block:
    """A table that goes on after a page break says its header again, if it does not do so
    itself."""
    header, rule, *_ = before.text.split("\n")
    first, _, *others = block.text.split("\n")
    is_as_wide = first.count(" | ") == header.count(" | ")
    if first == header or not is_as_wide or block.bbox is None:
        return block
    text = "\n".join([header, rule, first, *others])
    return block.model_copy(update={"text": text})
