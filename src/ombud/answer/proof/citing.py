"""Claims and citations: numbering, merging, and the last check before anything is shown."""

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from ombud.answer.proof.checking import check_quote
from ombud.text import with_links
from ombud.types import Annotation, Citation, Claim, Document, Hit

LOOKS = re.compile(r"</?(?:em|strong|b|i|u|s|span|small|mark|sub|sup)(?:\s[^<>]*)?>", re.IGNORECASE)
"""Tags that only say how words look."""
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
    """A citation of start:end of the chunk's document, or None where the stored text does not say
    the same."""
    chunk = hit.chunk
    document = stored(chunk.document_id, chunk.version)
    inside = chunk.text[start - chunk.start : end - chunk.start]
    if document is None or not check_quote(inside, document.text, start, end):
        return None
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
    """The page of the block that holds `offset`; None for formats without pages."""
    position = 0
    for block in document.blocks:
        position += len(block.text) + 2
        if offset < position:
            return block.page
    return None


def number(citations: Sequence[Citation]) -> tuple[list[Citation], list[int]]:
    """(distinct citations in order of first use, position of each given one among them)."""
    distinct: list[Citation] = []
    places: list[int] = []
    for citation in citations:
        if citation not in distinct:
            distinct.append(citation)
        places.append(distinct.index(citation))
    return distinct, places


def escaped(text: str) -> str:
    """`text` with brackets around numbers escaped: a footnote of a document is no marker of
    ours."""
    return re.sub(r"(?<!\\)\[(?=\d+\])", r"\\[", text)


def inert(text: str) -> str:
    """`text` in which no link, picture or tag of Markdown or HTML is live: it can be read, not
    followed. Tags that only say how words look are left out."""
    without_links = re.sub(r"(?<!\\)\](?=[(:])", r"\\]", LOOKS.sub("", text))
    return re.sub(r"(?<!\\)<(?=[A-Za-z/!?])", r"\\<", without_links)


def as_markdown(text: str, start: int = 0, annotations: Sequence[Annotation] = ()) -> str:
    """Markdown of `text`, which begins at `start` of its document: its own links and tags can be
    read, not followed; live are those of the annotations alone."""
    return with_links(text, start, annotations, lambda words: inert(escaped(words)))


def marked(markdown: str, places: Sequence[int]) -> str:
    """With its markers, [1] for place 0; under a table they stand on a line of their own."""
    markers = ""
    for place in dict.fromkeys(places):
        markers += f"[{place + 1}]"
    if not markers:
        return markdown
    if markdown.rstrip().endswith("|"):
        return f"{markdown}\n\n{markers}"
    return f"{markdown.rstrip()} {markers}"
