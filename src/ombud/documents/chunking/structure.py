"""The chunker `structure`: cuts along headings, paragraphs, lists and tables.

A section (everything under one heading) is cut into pieces that should stay whole: a paragraph, a
list with its lead-in, a table. Pieces that fit are packed together; a block that does not fit is
cut at its own joints. Headings live in the trail, where they are embedded and searched with every
chunk below them."""

from collections.abc import Iterator
from dataclasses import dataclass

from ombud.documents.chunking.cuts import spans
from ombud.documents.outline import (
    ChunkBounds,
    Count,
    Embed,
    OutlineSection,
    fitting,
    sections,
    table_header,
)
from ombud.settings import IndexSettings
from ombud.types import Block, Document


@dataclass(frozen=True)
class ChunkPiece:
    """Something that is put into a chunk as it is."""

    start: int
    end: int
    tokens: int
    page: int | None
    header: str = ""
    leads: bool = False
    """Announces what comes next, such as "The following applies:", and should not be parted from
    it."""


def cut(
    document: Document, settings: IndexSettings, count: Count, embed: Embed | None = None
) -> Iterator[ChunkBounds]:
    """Chunks in reading order; headings are in none of their texts, but where several sections
    share a chunk."""
    most = settings.size
    for section in _joined(list(_worthwhile(list(sections(document)))), most, count):
        yield from _pack(section, document, most, count)


def _worthwhile(found: list[OutlineSection]) -> Iterator[OutlineSection]:
    """Sections with a body, and headings that nothing follows: those stand for themselves.

    A title alone is left out, unless the document has nothing else.
    """
    filled = any(section.body for section in found)
    for position, section in enumerate(found):
        if section.body:
            yield section
        elif section.heading:
            after = found[position + 1] if position + 1 < len(found) else None
            if (after is None or after.level <= section.level) and not (
                filled and section.trail == section.above
            ):
                yield section


def _joined(found: list[OutlineSection], most: int, count: Count) -> Iterator[OutlineSection]:
    """Neighbouring sections of one parent become one while they fit a chunk together, their
    headings in its trail.

    A section of two lines finds little and says little alone (dev: +.04 quote recall@1000w).
    """
    run: list[OutlineSection] = []
    tokens = 0
    for section in found:
        more = count(" ".join((*section.trail[-1:], *(block.text for block, _ in section.body))))
        if run and not (
            _are_siblings(run[-1], section)
            and tokens + more + count(" > ".join(section.above)) <= most
        ):
            yield _as_one(run)
            run, tokens = [], 0
        run.append(section)
        tokens += more
    if run:
        yield _as_one(run)


def _are_siblings(one: OutlineSection, other: OutlineSection) -> bool:
    return one.heading is not None and one.level == other.level and one.above == other.above


def _as_one(run: list[OutlineSection]) -> OutlineSection:
    """The first heading stands only in the trail, the others also where they are in the text."""
    if len(run) == 1 and run[0].body:
        return run[0]
    headed = [(section, section.heading) for section in run if section.heading]
    body = [pair for section, heading in headed for pair in (heading, *section.body)]
    name = " / ".join(heading[0].text for _, heading in headed)
    return OutlineSection(run[0].above, None, body[1:] if run[0].body else body, name)


def _pack(
    section: OutlineSection, document: Document, most: int, count: Count
) -> Iterator[ChunkBounds]:
    """Pieces of one section, packed evenly: three chunks of 170 tokens rather than 256, 250 and
    4."""
    text, trail = document.text, fitting(section.trail, most, count)
    above = " > ".join(trail) + "\n"
    room = max(1, most - count(above))
    pieces = list(_pieces(section, document.language, room, count))
    total = sum(piece.tokens for piece in pieces)
    goal = min(room, total / max(1, -(-total // room)) * 1.1)
    at = 0
    while at < len(pieces):
        end = _extent(pieces, at, room, goal)
        head = pieces[at].header + "\n" if pieces[at].header else ""
        # Tokens of pieces do not quite add up; the whole chunk is what must fit.
        while (
            end > at + 1
            and count(above + head + text[pieces[at].start : pieces[end - 1].end]) > most
        ):
            end -= 1
        while end > at + 1 and end < len(pieces) and pieces[end - 1].leads:
            end -= 1
        taken = pieces[at:end]
        pages = tuple(piece.page for piece in taken if piece.page is not None)
        part = text[taken[0].start : taken[-1].end]
        # A nested item that opens a chunk has nothing to be indented from.
        start = taken[-1].end - len(part.lstrip())
        yield ChunkBounds(start, taken[-1].end, trail, pages, taken[0].header)
        at = end


def _extent(pieces: list[ChunkPiece], at: int, room: int, goal: float) -> int:
    """End of the run of pieces from `at` that belong into one chunk."""
    end, tokens = at + 1, pieces[at].tokens
    while end < len(pieces) and tokens + pieces[end].tokens <= room:
        leads, follows = pieces[end].leads, pieces[end - 1].leads
        ahead = pieces[end].tokens + (
            pieces[end + 1].tokens if leads and end + 1 < len(pieces) else 0
        )
        if tokens + ahead > goal and tokens > goal / 2 and not follows:
            break
        tokens += pieces[end].tokens
        end += 1
    return end


def _pieces(
    section: OutlineSection, language: str, room: int, count: Count
) -> Iterator[ChunkPiece]:
    for position, (block, at) in enumerate(section.body):
        follower = section.body[position + 1][0] if position + 1 < len(section.body) else None
        leads = follower is not None and _announces(block, follower)
        tokens = count(block.text)
        if tokens <= room:
            yield ChunkPiece(at, at + len(block.text), tokens, block.page, leads=leads)
            continue
        header = table_header(block, room, count)
        left = room - count(header + "\n") if header else room
        for number, span in enumerate(spans(block, left, count, language)):
            repeated = header if number else ""
            yield ChunkPiece(at + span.start, at + span.end, span.tokens, block.page, repeated)


def _announces(block: Block, follower: Block) -> bool:
    if block.kind == "heading":
        return True
    if block.kind != "text" or follower.kind not in {"list", "table", "code"}:
        return False
    return block.text.endswith((":", "：")) or (follower.kind == "list" and len(block.text) < 200)
