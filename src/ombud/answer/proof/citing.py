"""Claims and citations, and the last check before anything is shown."""

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from ombud.text import straight_quotes, with_links
from ombud.types import Annotation, Chunk, Citation, Claim, Document, Hit

LOOKS = re.compile(r"</?(?:em|strong|b|i|u|s|span|small|mark|sub|sup)(?:\s[^<>]*)?>", re.IGNORECASE)
"""Tags that only say how words look."""
SMALL_FIGURES = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
Stored = Callable[[str, str], Document | None]
"""(document id, digest) -> that version of the document with text and blocks; None when it is no
longer kept."""


class Composed(NamedTuple):
    """An answer's body before it is an answer."""

    claims: tuple[Claim, ...]
    citations: tuple[Citation, ...]
    text: str

    @property
    def cited_chunks(self) -> set[str]:
        return {citation.chunk_id for citation in self.citations}


def cite(hit: Hit, start: int, end: int, stored: Stored) -> Citation | None:
    """Cite start:end of the chunk's document; None if the stored text differs."""
    document = find_source(hit, start, end, stored)
    return citation_of(hit.chunk, document, start, end) if document else None


def find_source(hit: Hit, start: int, end: int, stored: Stored) -> Document | None:
    """Return the stored document of a chunk; None if it differs from the chunk at start:end."""
    chunk = hit.chunk
    document = stored(chunk.document_id, chunk.version)
    quote = chunk.text[start - chunk.start : end - chunk.start]
    return document if document and check_quote(quote, document.text, start, end) else None


def check_quote(quote: str, text: str, start: int, end: int) -> bool:
    """Tell whether `quote` is what stands at start:end of the stored text, white space and
    typographic quotes aside."""
    stored, quoted = straight_quotes(text[start:end]), straight_quotes(quote)
    return bool(quote.strip()) and stored.split() == quoted.split()


def citation_of(chunk: Chunk, document: Document, start: int, end: int) -> Citation:
    """Cite start:end of the chunk's document."""
    return Citation(
        chunk_id=chunk.id,
        document_id=chunk.document_id,
        title=chunk.title,
        uri=chunk.uri,
        page=page_at(document, start),
        quote=document.text[start:end],
        start=start,
        end=end,
        digest=chunk.digest,
        parser=chunk.parser,
        annotations=document.annotations_in(start, end),
        trail=chunk.trail,
        scope="local" if chunk.countries else "shared",
        effective_from=chunk.effective_from,
        effective_to=chunk.effective_to,
    )


def page_at(document: Document, offset: int) -> int | None:
    """Return the page at `offset`; None for formats without pages."""
    page: int | None = None
    for start, block in document.placed_blocks():
        if offset < start:
            break
        page = block.page
    return page


def escaped(text: str) -> str:
    """Escape brackets around numbers: a document's footnote is not one of our markers."""
    return re.sub(r"(?<!\\)\[(?=\d+\])", r"\\[", text)


def inert(text: str) -> str:
    """Disable links, pictures and tags of Markdown and HTML. Tags that only format are left out."""
    return re.sub(r"(?<!\\)(?:\](?=[(:])|<(?=[A-Za-z/!?]))", r"\\\g<0>", LOOKS.sub("", text))


def as_markdown(text: str, start: int = 0, annotations: Sequence[Annotation] = ()) -> str:
    """Return Markdown in which only the links of the annotations are live and footnote marks are
    superscript.

    start: where `text` begins in its document."""
    parts: list[str] = []
    done = 0
    for mark in sorted(annotations, key=lambda one: one.start):
        first, last = mark.start - start, mark.end - start
        if mark.kind == "footnote" and done <= first and last <= len(text):
            parts.append(with_links(text[done:first], start + done, annotations, _plain))
            parts.append(_raised(text[first:last]))
            done = last
    parts.append(with_links(text[done:], start + done, annotations, _plain))
    return "".join(parts)


def _plain(words: str) -> str:
    return inert(escaped(words))


def _raised(mark: str) -> str:
    """Return a numeric footnote mark as superscript, any other mark unchanged."""
    figures = mark.strip("[]")
    return f"{figures.translate(SMALL_FIGURES)}⁾" if figures.isdecimal() else _plain(mark)


def marked(markdown: str, places: Sequence[int]) -> str:
    """Add the markers, [1] for place 0; under a table they get a line of their own."""
    markers = ""
    for place in dict.fromkeys(places):
        markers += f"[{place + 1}]"
    if not markers:
        return markdown
    if markdown.rstrip().endswith("|"):
        return f"{markdown}\n\n{markers}"
    return f"{markdown.rstrip()} {markers}"
