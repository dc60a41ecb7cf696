"""Read the annotations of a PDF page: links, struck passages, and shapes above its letters."""

import ctypes
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from pypdfium2 import raw  # type: ignore[import-untyped]

from ombud.documents.pdf.page.entries import PageEntry, entry_of, is_unseen
from ombud.documents.pdf.page.placing import Edge, PagePlacing

MAX_ANNOTATIONS = 2000
"""Annotations of one page."""
_FLAT = frozenset(
    (
        raw.FPDF_ANNOT_LINK,
        raw.FPDF_ANNOT_POPUP,
        raw.FPDF_ANNOT_TEXT,
        raw.FPDF_ANNOT_UNDERLINE,
        raw.FPDF_ANNOT_WIDGET,
    )
)
"""Kinds that do not cover letters."""


class PageLink(NamedTuple):
    box: Edge
    url: str


@dataclass
class Annotations:
    links: list[PageLink] = field(default_factory=list)
    struck: list[Edge] = field(default_factory=list)
    """Boxes of words that are marked as struck out."""
    redacted: list[Edge] = field(default_factory=list)
    """Boxes of words that are marked to be redacted."""
    covers: list[Edge] = field(default_factory=list)
    """Boxes of shapes that may cover letters."""
    entries: list[PageEntry] = field(default_factory=list)
    hidden: list[PageEntry] = field(default_factory=list)


def annotations_of(document: Any, page: Any, place: PagePlacing) -> Annotations:
    """Read the annotations of a page."""
    annotations = Annotations()
    marked = {
        raw.FPDF_ANNOT_STRIKEOUT: annotations.struck,
        raw.FPDF_ANNOT_REDACT: annotations.redacted,
    }
    for number in range(min(raw.FPDFPage_GetAnnotCount(page), MAX_ANNOTATIONS)):
        annotation = raw.FPDFPage_GetAnnot(page, number)
        if not annotation:
            continue
        try:
            kind = raw.FPDFAnnot_GetSubtype(annotation)
            boxes = list(annotation_boxes(annotation, place))
            if kind == raw.FPDF_ANNOT_LINK:
                url = link_url(document, annotation)
                annotations.links.extend(PageLink(box, url) for box in boxes if url)
            elif kind in marked:
                marked[kind].extend(boxes)
            elif kind not in _FLAT:
                annotations.covers.extend(boxes)
            lines = list(filter(str.strip, entry_of(document, annotation).splitlines()))
            if lines and boxes:
                is_visible = place.shows(boxes[0]) and not is_unseen(annotation)
                entries = annotations.entries if is_visible else annotations.hidden
                entries.append(PageEntry(boxes[0], lines))
        finally:
            raw.FPDFPage_CloseAnnot(annotation)
    return annotations


def annotation_boxes(annotation: Any, place: PagePlacing) -> Iterator[Edge]:
    """Yield the box of each line that it marks, or the one around all."""
    count = raw.FPDFAnnot_CountAttachmentPoints(annotation)
    quad = raw.FS_QUADPOINTSF()
    for number in range(min(count, MAX_ANNOTATIONS)):
        if raw.FPDFAnnot_GetAttachmentPoints(annotation, number, ctypes.byref(quad)):
            xs = quad.x1, quad.x2, quad.x3, quad.x4
            ys = quad.y1, quad.y2, quad.y3, quad.y4
            yield place.box(min(xs), min(ys), max(xs), max(ys))
    rectangle = raw.FS_RECTF()
    if not count and raw.FPDFAnnot_GetRect(annotation, ctypes.byref(rectangle)):
        yield place.box(rectangle.left, rectangle.bottom, rectangle.right, rectangle.top)


def link_url(document: Any, annotation: Any) -> str:
    """Return the address of a link; empty for one within the document."""
    action = raw.FPDFLink_GetAction(raw.FPDFAnnot_GetLink(annotation))
    if not action:
        return ""
    length = raw.FPDFAction_GetURIPath(document, action, None, 0)
    buffer = ctypes.create_string_buffer(length)
    raw.FPDFAction_GetURIPath(document, action, buffer, length)
    return buffer.value.decode("utf-8", errors="replace")
