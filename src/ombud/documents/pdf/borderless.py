"""Tables without ruling lines, by xberg.

Measured on the 40 ICDAR 2013 documents (cell adjacency F1, micro / macro): xberg alone .82 / .62,
our ruled tables and columns .71 / .74, our ruled tables with xberg for the pages without drawn
lines .87 / .81."""

import asyncio
from typing import Any

from ombud.documents.pdf.tables import Table
from ombud.documents.pdf.words import PdfPage

MOST_PAGES = 300
"""Above, columns are found by our own simple rule: xberg reads the whole file again, at 50 pages a
second."""


def borderless(data: bytes, pages: list[PdfPage]) -> list[Table]:
    """Every table that xberg sees, with its place; [] when it fails, because the words are there
    without it."""
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

    async def extract() -> Any:
        source = xberg.ExtractInput(
            kind="bytes", bytes=data, mime_type="application/pdf", filename="document.pdf"
        )
        return await xberg.extract(source, config)

    try:
        results = asyncio.run(extract()).results
    except (xberg.XbergError, RuntimeError):
        return []
    heights = {page.number: page.height for page in pages}
    found = []
    for table in results[0].tables if results else ():
        box = table.bounding_box
        if box is None or table.page_number not in heights or len(table.cells) < 2:
            continue
        height = heights[table.page_number]
        place = (box.x0, height - max(box.y0, box.y1), box.x1, height - min(box.y0, box.y1))
        found.append(
            Table(table.page_number, place, [[cell or "" for cell in row] for row in table.cells])
        )
    return found
