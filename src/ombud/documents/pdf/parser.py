"""Parse PDF: lines and tables of each page become blocks."""

from collections.abc import Iterator
from itertools import chain

from ombud.documents.blocks import ParsedFile
from ombud.documents.pdf.borderless import MAX_PAGES, tables_without_lines
from ombud.documents.pdf.columns import columns_of
from ombud.documents.pdf.continued import repeat_headers
from ombud.documents.pdf.headings import HeadingLevels, Item
from ombud.documents.pdf.hyphens import BrokenWords
from ombud.documents.pdf.lines import PdfLine, lines_of
from ombud.documents.pdf.notes import mark_notes
from ombud.documents.pdf.ocr import PACKAGE, installed, languages, ocr_pages
from ombud.documents.pdf.page.words import PdfPage, read_pages
from ombud.documents.pdf.paragraphs import PageBlocks
from ombud.documents.pdf.running import without_running
from ombud.documents.pdf.tables import Table, find_aligned_tables, find_ruled_tables
from ombud.errors import SourceError
from ombud.types import Block, Loss


def read(data: bytes, pages: int) -> ParsedFile:
    """Parse blocks with their pages. Raises SourceError if no page has text."""
    pdf_pages = read_pages(data, pages)
    loss = ocr_pages(data, pdf_pages, HeadingLevels(pdf_pages).body)
    if not any(page.has_words for page in pdf_pages if page.number not in loss.pages):
        raise without_text_error()
    parts = list(chain.from_iterable(page.parts for page in pdf_pages))
    broken = BrokenWords(parts)
    tables = {id(part): find_ruled_tables(part, broken) for part in parts}
    running = without_running(parts, tables)
    levels = HeadingLevels(parts)
    without_ruled = [page for page in pdf_pages if not tables[id(page)]]
    tables |= borderless_tables(data, without_ruled, len(pdf_pages))
    items: list[list[Item]] = []
    for part in parts:
        mark_notes(part, levels.body)
        items.append(list(page_items(part, tables[id(part)])))
    repeat_headers(list(filter(None, items)))
    blocks: list[Block] = []
    for part, part_items in zip(parts, items, strict=True):
        blocks += PageBlocks(part, part_items, levels, broken).blocks
    loss += Loss(hidden=sum(page.hidden for page in pdf_pages), repeated=running.numbers)
    return ParsedFile([*blocks, *running.blocks(blocks)], loss=loss)


def without_text_error() -> SourceError:
    if installed():
        names = ", ".join(languages())
        return SourceError(
            "The PDF has no text, and OCR found no more in its pictures.",
            hint=f"Is it in another language than {names}? Install {PACKAGE}-LANGUAGE for it.",
        )
    return SourceError(
        "The PDF has no text, so its pages are probably scanned: it needs OCR.",
        hint=f"Install {PACKAGE} (on Debian: apt install {PACKAGE}) and sync again.",
    )


def borderless_tables(data: bytes, pages: list[PdfPage], total: int) -> dict[int, list[Table]]:
    """Find the tables, by page, of pages with words in columns but without drawn lines."""
    candidates = {
        page.number: page
        for page in pages
        if any(find_aligned_tables(page.number, lines_of(page.words)))
    }
    tables: dict[int, list[Table]] = {}
    if candidates and total <= MAX_PAGES:
        for table in tables_without_lines(data, list(candidates.values())):
            tables.setdefault(id(candidates[table.page]), []).append(table)
    return tables


def page_items(page: PdfPage, tables: list[Table]) -> Iterator[Item]:
    """Yield lines and tables of a page in reading order."""
    boxes = [table.box for table in tables]
    page.words = [word for word in page.words if not word.is_in_any(boxes)]
    if tables:
        yield from order_items(page.number, lines_of(page.words), tables)
        return
    parts = columns_of(page)
    if len(parts) == 1:
        yield from order_items(page.number, lines_of(parts[0]), [])
        return
    for words in parts:
        # Next to another column, aligned words are no table.
        yield from sorted(lines_of(words), key=top_of)


def order_items(number: int, lines: list[PdfLine], tables: list[Table]) -> list[Item]:
    """Order lines and tables from top to bottom; aligned lines become tables."""
    items: list[Item] = list(tables)
    taken: set[int] = set()
    for start, end, table in find_aligned_tables(number, lines):
        items.append(table)
        taken.update(range(start, end))
    items += [line for position, line in enumerate(lines) if position not in taken]
    return sorted(items, key=top_of)


def top_of(item: Item) -> float:
    return item.box[1] if isinstance(item, Table) else item.top
