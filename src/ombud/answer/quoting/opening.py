"""The page that a single word names: what it covers, and its headings."""

from collections.abc import Sequence, Set

from ombud.answer.proof.citing import Composed, Stored, as_markdown, citation_of, find_source, inert
from ombud.text import analyse
from ombud.types import Block, Chunk, Citation, Claim, Document, Hit

MOST_HEADINGS = 12
LONGEST_CITED = 600
"""Characters of what is cited of a section: of a longer block its first sentences or line."""


def open_page(terms: Set[str], hits: Sequence[Hit], stored: Stored) -> Composed | None:
    """Return the first page whose title holds all terms; None where no title does."""
    for hit in hits:
        chunk = hit.chunk
        if not terms or not terms <= set(analyse(chunk.title, chunk.language)):
            continue
        document = find_source(hit, chunk.start, chunk.start + len(chunk.text), stored)
        if document:
            return _page(chunk, document)
    return None


def _page(chunk: Chunk, document: Document) -> Composed:
    places = list(document.placed_blocks())
    claims: list[Claim] = []
    citations: list[Citation] = []
    paragraphs = [f"*{as_markdown(chunk.title)}*"]
    summary = next(((start, block) for start, block in places if block.kind == "text"), None)
    if summary:
        citations.append(_cited(chunk, document, *summary))
        text = citations[0].quote
        claims.append(Claim(text=inert(text), citations=(0,)))
        paragraphs.append(f"{as_markdown(text, summary[0], document.annotations)} [1]")
    listed: list[str] = []
    for heading, start, block in _sections(places, chunk.title):
        citations.append(_cited(chunk, document, start, block))
        claims.append(Claim(text=inert(citations[-1].quote), citations=(len(citations) - 1,)))
        listed.append(f"- {as_markdown(heading.strip('*# '))} [{len(citations)}]")
    if listed:
        paragraphs.append("\n".join(listed))
    return Composed(tuple(claims), tuple(citations), "\n\n".join(paragraphs))


def _sections(places: Sequence[tuple[int, Block]], title: str) -> list[tuple[str, int, Block]]:
    """Yield each heading but the title, and the first text below it."""
    sections: list[tuple[str, int, Block]] = []
    heading = ""
    for start, block in places:
        if block.kind == "heading":
            heading = block.text
        elif heading:
            if heading != title:
                sections.append((heading, start, block))
            heading = ""
    return sections[:MOST_HEADINGS]


def _cited(chunk: Chunk, document: Document, start: int, block: Block) -> Citation:
    text = block.text
    if len(text) > LONGEST_CITED:
        text = text[:LONGEST_CITED].rpartition(". ")[0] or text.partition("\n")[0]
    return citation_of(chunk, document, start, start + len(text))
