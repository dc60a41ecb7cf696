"""Annotations of a PDF page: links, struck passages, and what may lie above its letters."""

import ctypes
from collections.abc import Iterator
from typing import Any, NamedTuple

from pypdfium2 import raw  # type: ignore[import-untyped]

from ombud.documents.pdf.page.placing import Edge, PagePlacing

MOST_ANNOTATIONS = 2000
"""Of one page."""
_FLAT = frozenset(
    (
        raw.FPDF_ANNOT_LINK,
        raw.FPDF_ANNOT_POPUP,
        raw.FPDF_ANNOT_TEXT,
        raw.FPDF_ANNOT_UNDERLINE,
        raw.FPDF_ANNOT_WIDGET,
    )
)
"""Kinds that cover nothing."""


class PageLink(NamedTuple):
    box: Edge
    url: str


class Annotations(NamedTuple):
    links: list[PageLink]
    struck: list[Edge]
    """Boxes of words that are marked as struck out."""
    covers: list[Edge]
    """Boxes of shapes that may lie above letters."""


def annotations_of(document: Any, page: Any, place: PagePlacing) -> Annotations:
    found = Annotations([], [], [])
    for number in range(min(raw.FPDFPage_GetAnnotCount(page), MOST_ANNOTATIONS)):
        annotation = raw.FPDFPage_GetAnnot(page, number)
        if not annotation:
            continue
        try:
            kind = raw.FPDFAnnot_GetSubtype(annotation)
            boxes = list(_boxes(annotation, place))
            if kind == raw.FPDF_ANNOT_LINK:
                url = _url(document, annotation)
                found.links.extend(PageLink(box, url) for box in boxes if url)
            elif kind == raw.FPDF_ANNOT_STRIKEOUT:
                found.struck.extend(boxes)
            elif kind not in _FLAT:
                found.covers.extend(boxes)
        finally:
            raw.FPDFPage_CloseAnnot(annotation)
    return found


def _boxes(annotation: Any, place: PagePlacing) -> Iterator[Edge]:
    """Find the box of each line that it marks, or the one around all."""
    count = raw.FPDFAnnot_CountAttachmentPoints(annotation)
    quad = raw.FS_QUADPOINTSF()
    for number in range(min(count, MOST_ANNOTATIONS)):
        if raw.FPDFAnnot_GetAttachmentPoints(annotation, number, ctypes.byref(quad)):
            xs = quad.x1, quad.x2, quad.x3, quad.x4
            ys = quad.y1, quad.y2, quad.y3, quad.y4
            yield place.box(min(xs), min(ys), max(xs), max(ys))
    rectangle = raw.FS_RECTF()
    if not count and raw.FPDFAnnot_GetRect(annotation, ctypes.byref(rectangle)):
        yield place.box(rectangle.left, rectangle.bottom, rectangle.right, rectangle.top)


def _url(document: Any, annotation: Any) -> str:
    """Return the address that a link leads to; empty within the document."""
    action = raw.FPDFLink_GetAction(raw.FPDFAnnot_GetLink(annotation))
    if not action:
        return ""
    length = raw.FPDFAction_GetURIPath(document, action, None, 0)
    buffer = ctypes.create_string_buffer(length)
    raw.FPDFAction_GetURIPath(document, action, buffer, length)
    return buffer.value.decode("utf-8", errors="replace")
