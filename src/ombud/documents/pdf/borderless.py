"""Find tables without ruling lines by xberg, which is used for pages without drawn lines only: on
others our ruled tables are better."""

import asyncio
from typing import Any

from ombud.documents.pdf.page.words import PdfPage
from ombud.documents.pdf.tables import Table

MAX_PAGES = 300
"""Pages above which our own simple rule finds columns: xberg reads the whole file again, at 50
pages a second."""


def tables_without_lines(data: bytes, pages: list[PdfPage]) -> list[Table]:
    """Find tables with their places; [] if xberg fails, as the words are there without it."""
    import xberg

    config = xberg.ExtractionConfig(
        use_cache=False,
        disable_ocr=True,
        extraction_timeout_secs=None,
        pages=xberg.PageConfig(extract_pages=True),
        pdf_options=xberg.PdfConfig(
            extract_tables=True, extract_metadata=False, extract_form_fields=False
        ),
    )
    source = xberg.ExtractInput(
        kind="bytes", bytes=data, mime_type="application/pdf", filename="document.pdf"
    )

    async def extract() -> Any:
        return await xberg.extract(source, config)

    try:
        results = asyncio.run(extract()).results
    except (xberg.XbergError, RuntimeError):
        return []
    heights = {page.number: page.height for page in pages}
    tables = []
    for extracted in results[0].tables if results else ():
        table = place_table(extracted, heights)
        if table:
            tables.append(table)
    return tables


def place_table(extracted: Any, heights: dict[int, float]) -> Table | None:
    """Convert a table of xberg to our coordinates; None without a place on one of the pages, or
    with a single row."""
    box = extracted.bounding_box
    height = heights.get(extracted.page_number)
    if box is None or height is None or len(extracted.cells) < 2:
        return None
    top = height - max(box.y0, box.y1)
    bottom = height - min(box.y0, box.y1)
    rows = []
    for cells in extracted.cells:
        rows.append([cell or "" for cell in cells])
    return Table(extracted.page_number, (box.x0, top, box.x1, bottom), rows)
