"""The answer card: the sentence, list item or table that answers, the rest of its section below it,
and further sections folded to their first line; all of it word for word."""

from collections.abc import Iterator, Sequence
from itertools import groupby, takewhile
from typing import NamedTuple

from ombud.answer.proof.citing import (
    Composed,
    Stored,
    as_markdown,
    citation_of,
    find_source,
    inert,
    page_at,
)
from ombud.answer.quoting.applying import Applying, applying_rows
from ombud.answer.quoting.sections import RankedSection
from ombud.answer.quoting.spans import (
    ANNOUNCES,
    LEAD_IN,
    LIST_MARK,
    AnswerSpan,
    candidate_spans,
    item_of,
    kind_of,
    odds,
    pieces_in,
    points_back,
    run_of,
    section_of,
    table_head,
    with_short_end,
    words_in,
)
from ombud.messages import message
from ombud.text import message_language
from ombud.types import Chunk, Citation, Claim, Document, Evidence, Hit, Question

MOST_WORDS = 120
"""Of the section that leads."""
FOLDED_WORDS = 60
"""Of the first line of a further section."""
MOST_ROWS = 4
"""Of a table that is too long to be shown whole."""
ALIKE = 0.2
"""Odds of a further row of such a table, beside those of its likeliest."""
LONGEST_SECTION = 40_000
"""Characters; of a longer one only the passage that was found is looked at."""
MOST_LINES = 60
"""Lines above an item in which what introduces its list is looked for."""


class _Words(NamedTuple):
    """Words of a document. start: -1 for what stands there only as a heading."""

    text: str
    start: int


class _Place(NamedTuple):
    """A section as its document holds it."""

    document: Document
    pieces: Sequence[AnswerSpan]
    """Its sentences, list items and table rows in reading order."""
    at: int
    """Of the piece that answers, in `pieces`."""
    lead: AnswerSpan
    """That piece."""
    heading: str
    applying: Applying
    language: str
    """Of the question."""


class _Paragraph(NamedTuple):
    words: Sequence[_Words]
    below: str = ""
    """How much of a list or a table is left out."""
    is_table: bool = False


class _Excerpt(NamedTuple):
    """The displayed part of a section."""

    first: int
    """Place of its first piece."""
    last: int
    leading: _Paragraph
    """What answers."""
    others: Sequence[_Paragraph]


def answer_card(
    sections: Sequence[RankedSection], question: Question, stored: Stored, *, folded: bool = False
) -> Composed:
    """Return verbatim claims: the first section as far as there is room, of the others the first
    line. A section that the stored text does not bear out is left out.

    folded: of the first section the first line alone, too."""
    claims: list[Claim] = []
    citations: list[Citation] = []
    paragraphs: list[str] = []
    for section in sections:
        place = locate_section(section, question, stored)
        if place is None:
            continue
        is_whole = not citations and not folded
        excerpt = whole_excerpt(place) if is_whole else first_line_excerpt(place)
        marker = f" [{len(citations) + 1}]"
        for paragraph in (excerpt.leading, *excerpt.others):
            plain = "".join(part.text for part in paragraph.words).strip()
            claims.append(Claim(text=inert(plain), citations=(len(citations),)))
        first, last = place.pieces[excerpt.first], place.pieces[excerpt.last]
        citations.append(citation_of(first.hit.chunk, place.document, first.start, last.end))
        paragraphs += card_paragraphs(place, excerpt, marker, is_first=is_whole)
    return Composed(tuple(claims), tuple(citations), "\n\n".join(paragraphs))


def card_paragraphs(
    place: _Place, excerpt: _Excerpt, marker: str, *, is_first: bool
) -> Iterator[str]:
    """Yield Markdown: an answering sentence or item in bold, its section's heading and the rest.
    Tables and lines of further sections come below their heading."""
    heading = f"*{as_markdown(place.heading)}*"
    leading = _markdown(excerpt.leading, place)
    if excerpt.leading.is_table:  # the marker stands in the last cell
        leading = f"{leading.removesuffix('|').rstrip()}{marker} |"
    else:
        leading += marker
    if is_first and not excerpt.leading.is_table:
        yield _in_bold(leading, marker)
        yield heading
    else:
        yield heading
        yield leading
    if excerpt.leading.below:
        yield f"*{excerpt.leading.below}*"
    for paragraph in excerpt.others:
        yield _markdown(paragraph, place)
        if paragraph.below:
            yield f"*{paragraph.below}*"


def _markdown(paragraph: _Paragraph, place: _Place) -> str:
    annotations = place.document.annotations
    return "".join(as_markdown(part.text, part.start, annotations) for part in paragraph.words)


def _in_bold(leading: str, marker: str) -> str:
    plain = " ".join(leading.removesuffix(marker).split())
    return f"**{plain.replace('**', '').replace('__', '')}**{marker}"


# The section in its document ------------------------------------------------------------------


def locate_section(section: RankedSection, question: Question, stored: Stored) -> _Place | None:
    """Return the section as its document holds it; None where the stored text does not bear out
    the span that leads."""
    stored_section = section_pieces(section, stored)
    if stored_section is None:
        return None
    document, pieces, at = stored_section
    lead = pieces[at]._replace(score=section.lead.score)
    pieces[at] = lead
    return _Place(
        document=document,
        pieces=pieces,
        at=at,
        lead=lead,
        heading=section_heading(section.lead),
        applying=applying_rows(pieces, question),
        language=message_language(question.text),
    )


def section_pieces(
    section: RankedSection, stored: Stored
) -> tuple[Document, list[AnswerSpan], int] | None:
    """Return the document of a section, its sentences, list items and table rows in reading order,
    and the place of the one that leads; None where the stored text does not bear that one out."""
    lead = with_short_end(section.lead)
    chunk = lead.hit.chunk
    document = find_source(lead.hit, lead.start, lead.end, stored)
    if document is None:
        return None
    scores = {span.start: span.score for span in section.spans}
    for start, end in (_bounds(document, lead), (chunk.start, chunk.start + len(chunk.text))):
        pieces = _pieces_between(start, end, document, lead, scores)
        for at, piece in enumerate(pieces):
            if piece.start <= lead.start < piece.end:
                return document, pieces, at
    return None


def _bounds(document: Document, lead: AnswerSpan) -> tuple[int, int]:
    """Start and end of the blocks around a span, up to a heading or the end of the page."""
    page = page_at(document, lead.start)
    begin = end = 0
    for start, block in document.placed_blocks():
        if block.kind == "heading" or block.page != page:
            if start > lead.start:
                break
            begin = end = start + len(block.text)
        else:
            begin = begin if begin < end else start
            end = start + len(block.text)
    return (begin, end) if end - begin <= LONGEST_SECTION else (0, 0)


def _pieces_between(
    start: int, end: int, document: Document, lead: AnswerSpan, scores: dict[int, float]
) -> list[AnswerSpan]:
    chunk = lead.hit.chunk
    around: Chunk = chunk.model_copy(
        update={
            "text": document.text[start:end],
            "start": start,
            "end": end,
            "trail": (*chunk.trail[:-1], section_of(lead)),
            "header": chunk.header if start == chunk.start else "",
            "annotations": document.annotations_in(start, end),
        }
    )
    hit = Hit(chunk=around, score=lead.hit.score)
    pieces: list[AnswerSpan] = []
    for span in map(with_short_end, candidate_spans(Evidence(shared=(hit,)))):
        pieces.append(span._replace(score=scores.get(span.start, 0.0)))
    return pieces


def section_heading(span: AnswerSpan) -> str:
    """Return the document's title and the section's heading: without "What is not reimbursed" a
    list reads as its opposite."""
    chunk = span.hit.chunk
    section = section_of(span) if len(chunk.trail) > 1 else ""
    names = dict.fromkeys(filter(None, (chunk.title, section)))
    return " · ".join(names).replace("*", "")


# What is shown of it ----------------------------------------------------------------------------


def whole_excerpt(place: _Place) -> _Excerpt:
    """Return the answering pieces and as many around them as fit; of a long table only rows."""
    led_by = leading_places(place, MOST_WORDS)
    leading = leading_paragraph(led_by, place)
    first, last = led_by[0], led_by[-1]
    table = leading_table(place)
    if not table or _count_words(table) <= MOST_WORDS:
        room = MOST_WORDS - _count_words([place.pieces[one] for one in led_by])
        first, last = widen(first, last, place, room)
    rest = [one for one in range(first, last + 1) if one not in led_by]
    kind = kind_of(place.lead)
    if kind != "text" and any(kind_of(place.pieces[one]) == kind for one in rest):
        rest = list(range(first, last + 1))  # a list keeps its numbers, a table its order
    runs = group_places(rest, place)
    others = [render_paragraph(run, place, earlier=leading.words) for run in runs]
    return _Excerpt(first, last, leading, others)


def first_line_excerpt(place: _Place) -> _Excerpt:
    led_by = leading_places(place, FOLDED_WORDS)
    return _Excerpt(led_by[0], led_by[-1], leading_paragraph(led_by, place), ())


def leading_places(place: _Place, most: int) -> list[int]:
    """Return the places of the answering pieces: a sentence after those that it refers back to, a
    list item, or table rows."""
    lead, pieces = place.lead, place.pieces
    kind = kind_of(lead)
    if kind == "row":
        return _places(leading_rows(place, most), place)
    if kind == "item":
        item = item_of(lead, run_of(lead, pieces))
        whole = item if _count_words(item) <= FOLDED_WORDS else [lead]
        return _places(whole, place)
    first = place.at
    while first and points_back(pieces[first].text):
        first -= 1
    return list(range(first, place.at + 1))


def leading_rows(place: _Place, most: int) -> list[AnswerSpan]:
    """Return the rows that apply; else a clear leader, a short table as a whole, or the few
    likeliest rows."""
    rows = leading_table(place)
    applying = [row for row in rows if row.place in place.applying]
    if applying:
        return applying
    likeliest = sorted(rows, key=odds, reverse=True)[:MOST_ROWS]
    alike = [row for row in rows if row in likeliest and odds(row) >= ALIKE * odds(place.lead)]
    is_short = _count_words(rows) <= most
    return rows if is_short and len(alike) > 1 else alike


def leading_table(place: _Place) -> list[AnswerSpan]:
    """Return the rows of the leading table; empty if none leads."""
    return run_of(place.lead, place.pieces) if kind_of(place.lead) == "row" else []


def widen(first: int, last: int, place: _Place, room: int) -> tuple[int, int]:
    """Extend first and last place towards the likelier neighbour, the next on a tie, until there is
    no room left. The rows of a table come together or not at all: a part reads as the whole."""
    pieces = place.pieces
    while room > 0:
        before = first - len(_neighbour(pieces[:first][::-1]))
        after = last + len(_neighbour(pieces[last + 1 :]))
        fitting: list[tuple[float, int, int, int]] = []
        sides = (before, last, pieces[before:first]), (first, after, pieces[last + 1 : after + 1])
        for start, end, added in sides:
            words = _count_words(added)
            if added and words <= MOST_WORDS:
                fitting.append((max(piece.score for piece in added), end, start, words))
        if not fitting:
            break
        _, last, first, words = max(fitting)
        room -= words
    return first, last


def _neighbour(pieces: Sequence[AnswerSpan]) -> Sequence[AnswerSpan]:
    """Return the first of the pieces, or the rows of the table that it begins."""
    rows = list(takewhile(lambda piece: kind_of(piece) == "row", pieces))
    return rows or pieces[:1]


def _places(spans: Sequence[AnswerSpan], place: _Place) -> list[int]:
    starts = {span.start for span in spans}
    return [number for number, piece in enumerate(place.pieces) if piece.start in starts]


def group_places(places: Sequence[int], place: _Place) -> Iterator[list[int]]:
    """Group places into tables, lists and paragraphs."""

    def key(at: int) -> tuple[bool, int]:
        piece = place.pieces[at]
        is_text = kind_of(piece) == "text"
        return is_text, -1 if is_text else run_of(piece, place.pieces)[0].start

    for _, run in groupby(places, key=key):
        yield list(run)


def _count_words(spans: Sequence[AnswerSpan]) -> int:
    return sum(words_in(span.text) for span in spans)


# Words ------------------------------------------------------------------------------------------


def leading_paragraph(led_by: Sequence[int], place: _Place) -> _Paragraph:
    """Return the answering text, an item after the line that introduces its list."""
    first = place.pieces[led_by[0]]
    kind = kind_of(first)
    if kind == "row":
        return render_rows(led_by, place)
    words = slice_text(led_by, place)
    if kind == "text":
        return _Paragraph([words])
    mark = LIST_MARK.match(words.text)
    shift = mark.end() if mark else 0
    item = _Words(words.text[shift:], words.start + shift)
    introduction = (line_above_list(first, place.document), parent_of(first, place.document))
    above = list(filter(None, introduction))
    if not above:
        above = [_Words(f"{place.heading.split(' · ')[-1]}:", -1)]
    leading: list[_Words] = []
    for part in above:
        leading += [part, _Words(" ", -1)]
    return _Paragraph([*leading, item])


def render_paragraph(run: Sequence[int], place: _Place, earlier: Sequence[_Words]) -> _Paragraph:
    """Render rows, items or sentences without repeating `said`, and count the items left out."""
    first = place.pieces[run[0]]
    kind = kind_of(first)
    if kind == "row":
        return render_rows(run, place)
    words = lines_to_repeat(first, place, earlier) if kind == "item" else []
    for number, part in enumerate(contiguous_places(run)):
        if number:
            words.append(_Words("\n" if kind == "item" else "\n\n", -1))
        words.append(slice_text(part, place))
    if kind == "text":
        return _Paragraph(words)
    items = run_of(first, place.pieces)
    starts = {place.pieces[one].start for one in run}
    left = pieces_in([piece for piece in items if piece.start not in starts])
    return _Paragraph(
        words, message("answer.more_items", place.language, count=left) if left > 0 else ""
    )


def lines_to_repeat(item: AnswerSpan, place: _Place, earlier: Sequence[_Words]) -> list[_Words]:
    lead_in, parent = line_above_list(item, place.document), parent_of(item, place.document)
    words: list[_Words] = []
    if lead_in and lead_in not in earlier:
        words += [lead_in, _Words("\n\n", -1)]
    if parent:
        words += [_Words("- ", -1), parent, _Words("\n", -1)]
    return words


def contiguous_places(places: Sequence[int]) -> Iterator[list[int]]:
    """Split places into contiguous runs."""
    for _, run in groupby(enumerate(places), key=lambda numbered: numbered[1] - numbered[0]):
        yield [place for _, place in run]


def render_rows(rows: Sequence[int], place: _Place) -> _Paragraph:
    """Render rows below the head of their table, marking those that apply. If a long table is cut
    and none applies, count the rows left out."""
    pieces = [place.pieces[row] for row in rows]
    words: list[_Words] = [_Words(table_head(pieces[0]), -1)]
    applies = False
    for row in pieces:
        fact = place.applying.get(row.place, "")
        text = row.text.strip()
        if fact:
            applies = True
            text = f"{text.removesuffix('|').rstrip()} ← **{inert(fact)}** |"
        words += [_Words("\n", -1), _Words(text, -1 if fact else row.start)]
    table = run_of(pieces[0], place.pieces)
    left = len(table) - len(pieces)
    is_long = _count_words(table) > MOST_WORDS
    below = (
        message("answer.more_rows", place.language, count=left)
        if left and is_long and not applies
        else ""
    )
    return _Paragraph(words, below, is_table=True)


def slice_text(places: Sequence[int], place: _Place) -> _Words:
    """Return the document's text from the first piece to the last, a list item with its marker."""
    first, last = place.pieces[places[0]], place.pieces[places[-1]]
    start = first.start
    if LIST_MARK.match(first.text):
        start = place.document.text.rfind("\n", 0, start) + 1
    return _Words(place.document.text[start : last.end], start)


def line_above_list(item: AnswerSpan, document: Document) -> _Words | None:
    """Return the line that introduces an item's list: "Nobody may use it to:" inverts its
    meaning."""
    lines, start, indent = lines_above(item, document)
    for line in reversed(lines):
        start -= len(line) + 1
        if line.strip() and not LIST_MARK.match(line) and _indent(line) <= indent:
            introduces = LEAD_IN.search(line) or ANNOUNCES.search(line) or line.strip() == item.lead
            return _stripped(line, start) if introduces else None
    return None


def parent_of(item: AnswerSpan, document: Document) -> _Words | None:
    """Return the list item that contains a nested one."""
    lines, start, indent = lines_above(item, document)
    for line in reversed(lines):
        start -= len(line) + 1
        if line.strip() and _indent(line) < indent:
            mark = LIST_MARK.match(line)
            return _stripped(line[mark.end() :], start + mark.end()) if mark else None
    return None


def lines_above(item: AnswerSpan, document: Document) -> tuple[list[str], int, int]:
    """Return the lines above an item's line, where that line starts, and its indent."""
    above = document.text[: item.start].rsplit("\n", MOST_LINES + 1)
    start_of_line = above.pop()
    lines = above[-MOST_LINES:]
    return lines, item.start - len(start_of_line), _indent(f"{start_of_line}{item.text}")


def _stripped(line: str, start: int) -> _Words:
    return _Words(line.strip(), start + _indent(line))


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())
