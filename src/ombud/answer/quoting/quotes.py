"""Spans to an answer: what belongs together stays together, and every piece carries its own
marker."""

import re
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from ombud.answer import wording
from ombud.answer.proof.citing import Composed, Stored, as_markdown, cite, inert, number
from ombud.answer.quoting.runs import kind_of, pieces_in, run_of, together
from ombud.answer.quoting.spans import (
    ANNOUNCES,
    LEAD_IN,
    LIST_MARK,
    AnswerSpan,
    goes_on_in_item,
    section_of,
    table_head,
)
from ombud.types import Citation, Claim

NUMBERING = re.compile(r"^[\d.]+\s+")
MOST_LINES = 60
"""Lines above an item in which what introduces its list is looked for."""
TABLE_HEAD = re.compile(r"^\s*\|(?:\s*:?-+:?\s*\|)+\s*$", re.MULTILINE)
"""The line below the head of a table."""
HEAD_LINES = 2
INDENT = "  "
"""Of an item under another."""
FEW = 2
"""Rows or items left out between two chosen ones that are put back."""


Applying = Mapping[tuple[str, int], str]
"""(chunk id, start) of a row -> the fact by which it applies, and whose that is."""
NOBODY: Applying = MappingProxyType({})


def quote_spans(
    spans: Sequence[AnswerSpan],
    everything: Sequence[AnswerSpan],
    stored: Stored,
    applying: Applying = NOBODY,
) -> Composed:
    """Verbatim claims in the order of `spans`; a span that the stored text does not bear out is
    left out.

    everything: all spans of the evidence, from which gaps inside lists and tables are filled.
    applying: rows that apply to the asker; they stand first in their table and are marked.
    """
    pieces, citations = _proven(_fill_gaps(spans, everything), stored)
    several_documents = len({citation.uri for citation in citations}) > 1
    claims: list[Claim] = []
    paragraphs: list[str] = []
    last_heading = ""
    for group in _groups(pieces):
        places = dict.fromkeys(piece.place for piece in group)
        first = group[0].span
        lead = line_above_list(first, stored) if kind_of(first) == "item" else ""
        run = run_of(first, everything)
        is_listed = pieces_in(run) > 1
        plain = _text(group, lead, is_listed=is_listed, markers=False, stored=stored)
        claims.append(
            Claim(
                text=inert(plain),
                citations=tuple(places),
            )
        )
        heading = _heading(first, several_documents=several_documents)
        if heading and heading != last_heading:
            paragraphs.append(f"**{as_markdown(heading)}**")
        last_heading = heading
        if _says_the_same(lead, heading):
            lead = ""
        shown = _text(
            group, lead, is_listed=is_listed, markers=True, stored=stored, applying=applying
        )
        paragraphs.append(shown)
        left_out = _left_out(group, pieces, run, applying, stored)
        if left_out:
            paragraphs.append(left_out)
    return Composed(tuple(claims), tuple(citations), "\n\n".join(paragraphs))


def _says_the_same(lead: str, heading: str) -> bool:
    """Whether a list's lead-in only says the heading above it again."""
    plain = lead.strip(" #*_:").lower()
    return bool(plain) and heading.lower().rstrip(" :").endswith(plain)


def _left_out(
    group: Sequence["_Piece"],
    pieces: Sequence["_Piece"],
    run: Sequence[AnswerSpan],
    applying: Applying,
    stored: Stored,
) -> str:
    """How much of a table or a list is not shown; nothing where one row applies to the asker, for
    that one suffices. run: all of its rows or items, of a table as far as one passage has them."""
    kind = kind_of(group[0].span)
    applies = any((span.hit.chunk.id, span.start) in applying for span in run)
    if applies or kind == "text":
        return ""
    shown = [piece.span for piece in pieces]
    count = _rows_left(group, shown, run, stored) if kind == "row" else _pieces_left(shown, run)
    if count <= 0:
        return ""
    more = wording.MORE_ROWS if kind == "row" else wording.MORE_ITEMS
    return f"*{more.format(count=count)}*"


def _pieces_left(shown: Sequence[AnswerSpan], run: Sequence[AnswerSpan]) -> int:
    return pieces_in([span for span in run if not _holds(shown, span)])


def _rows_left(
    group: Sequence["_Piece"],
    shown: Sequence[AnswerSpan],
    run: Sequence[AnswerSpan],
    stored: Stored,
) -> int:
    """None beside a row that was chosen alone, nor where more of the table follows."""
    first = group[0].span
    table = _table_around(first, stored)
    if table is None:
        return 0 if len(group) == 1 else _pieces_left(shown, run)
    beside = sum(_is_in(span, first, table) for span in shown)
    if beside == 1 or _goes_on(group, shown, table):
        return 0
    return table.rows - beside


class _Table(NamedTuple):
    """A table of a document, which several passages may share."""

    start: int
    end: int
    rows: int
    """Below its head."""


def _table_around(row: AnswerSpan, stored: Stored) -> _Table | None:
    """None where the document is not kept, or has no head above its rows."""
    chunk = row.hit.chunk
    document = stored(chunk.document_id, chunk.version)
    if document is None:
        return None
    above = document.text[: row.start].split("\n")
    start = row.start - len(above.pop())
    while above and above[-1].lstrip().startswith("|"):
        start -= len(above.pop()) + 1
    lines = 0
    end = start
    for line in document.text[start:].split("\n"):
        if not line.lstrip().startswith("|"):
            break
        lines += 1
        end += len(line) + 1
    rows = lines - len(TABLE_HEAD.findall(document.text[start:end])) * HEAD_LINES
    return _Table(start, end, rows) if rows < lines else None


def _is_in(span: AnswerSpan, row: AnswerSpan, table: _Table) -> bool:
    is_same = span.hit.chunk.document_id == row.hit.chunk.document_id
    return is_same and table.start <= span.start < table.end


def _goes_on(group: Sequence["_Piece"], shown: Sequence[AnswerSpan], table: _Table) -> bool:
    """Whether rows of the same table, out of another passage, follow what is shown here."""
    last = group[-1].span
    place = shown.index(last)
    return any(_is_in(span, last, table) for span in shown[place + 1 :])


class _Piece(NamedTuple):
    span: AnswerSpan
    place: int
    """Of its citation."""


def _proven(spans: Sequence[AnswerSpan], stored: Stored) -> tuple[list[_Piece], list[Citation]]:
    """The spans that the stored text bears out, and their citations, each once."""
    borne_out: list[AnswerSpan] = []
    citations: list[Citation] = []
    for span in spans:
        citation = cite(span.hit, span.start, span.end, stored)
        if citation:
            borne_out.append(span)
            citations.append(citation)
    distinct, places = number(citations)
    return list(map(_Piece, borne_out, places)), distinct


def _fill_gaps(spans: Sequence[AnswerSpan], everything: Sequence[AnswerSpan]) -> list[AnswerSpan]:
    """The chosen spans, and of lists and tables the few that stand between two chosen."""
    filled: list[AnswerSpan] = []
    for span in spans:
        if _holds(filled, span):
            continue
        if filled and together(filled[-1], span):
            between = _between(filled[-1], span, run_of(span, everything))
            filled += [other for other in between if not _holds(filled, other)]
        filled.append(span)
    return filled


def _holds(spans: Sequence[AnswerSpan], span: AnswerSpan) -> bool:
    places = [(other.hit.chunk.id, other.start) for other in spans]
    return (span.hit.chunk.id, span.start) in places


def _between(
    first: AnswerSpan, second: AnswerSpan, family: Sequence[AnswerSpan]
) -> Sequence[AnswerSpan]:
    """The few of the family that stand between two chosen; none where they are many."""
    between: list[AnswerSpan] = []
    for span in family:
        if first.end <= span.start < second.start:
            between.append(span)
    return between if len(between) <= FEW else ()


def _groups(pieces: Sequence[_Piece]) -> list[list[_Piece]]:
    """Runs of rows of one table, items of one list, and sentences that follow each other."""
    groups: list[list[_Piece]] = []
    for piece in pieces:
        previous = groups[-1][-1] if groups else None
        if previous and together(previous.span, piece.span):
            groups[-1].append(piece)
        else:
            groups.append([piece])
    return groups


def _text(
    group: Sequence[_Piece],
    lead: str,
    *,
    is_listed: bool,
    markers: bool,
    stored: Stored,
    applying: Applying = NOBODY,
) -> str:
    """A group; lead: the line that introduces its list; is_listed: whether that has other items,
    shown or not; markers: as Markdown, with the numbers of its citations and its links. A row that
    applies is marked behind its last cell."""
    first = group[0].span
    kind = kind_of(first)
    lines = _lines(group, kind, markers=markers, applying=applying)
    if markers:
        lead = _linked_above(lead, first, stored)
    if kind == "item" and (len(lines) > 1 or is_listed):
        return _listed(group, lines, lead, stored, markers=markers)
    if kind == "row":
        head = table_head(first)
        return "\n".join([as_markdown(head) if markers else head, *lines])
    if kind == "text":
        return " ".join(lines)
    if goes_on_in_item(first):
        return lines[0]
    parent = _parent_of(first, stored)
    above = parent.text if parent else ""
    if markers:
        above = _linked_above(above, first, stored)
    return " ".join(filter(None, (lead, above, lines[0])))


def _listed(
    group: Sequence[_Piece], lines: Sequence[str], lead: str, stored: Stored, *, markers: bool
) -> str:
    """Items as a list, those under another behind its words, whether or not it is quoted."""
    items: list[str] = []
    levels: dict[int, int] = {}
    for piece, line in zip(_first_pieces(group), lines, strict=True):
        parent = _parent_of(piece.span, stored)
        if parent and parent.start not in levels:
            levels[parent.start] = 0
            text = _linked_above(parent.text, piece.span, stored) if markers else parent.text
            items.append(f"- {text}")
        level = levels[parent.start] + 1 if parent else 0
        levels[_start_of_line(piece.span)] = level
        items.append(f"{INDENT * level}- {line}")
    listed = "\n".join(items)
    return f"{lead}\n\n{listed}" if lead else listed


def _first_pieces(group: Sequence[_Piece]) -> list[_Piece]:
    """Of each line, as `_lines` puts them together."""
    first: list[_Piece] = []
    last: AnswerSpan | None = None
    for piece in group:
        goes_on = last and goes_on_in_item(piece.span) and _on_one_line(last, piece.span)
        if not goes_on:
            first.append(piece)
        last = piece.span
    return first


def _start_of_line(span: AnswerSpan) -> int:
    """Place in the document of the line on which a span begins."""
    chunk = span.hit.chunk
    return chunk.start + chunk.text.rfind("\n", 0, span.start - chunk.start) + 1


def _lines(group: Sequence[_Piece], kind: str, *, markers: bool, applying: Applying) -> list[str]:
    """Rows, items or sentences; a further sentence of an item stands behind the one before it."""
    lines: list[str] = []
    last: AnswerSpan | None = None
    for piece in group:
        fact = applying.get((piece.span.hit.chunk.id, piece.span.start), "")
        line = _line(piece, kind, markers=markers, fact=fact)
        if last and goes_on_in_item(piece.span) and _on_one_line(last, piece.span):
            lines[-1] += f" {line}"
        else:
            lines.append(line)
        last = piece.span
    return lines


def _on_one_line(first: AnswerSpan, second: AnswerSpan) -> bool:
    """Whether two spans of a passage are of the same item, a short sentence between them or not."""
    chunk = first.hit.chunk
    return "\n" not in chunk.text[first.end - chunk.start : second.start - chunk.start]


class _Parent(NamedTuple):
    """The list item under which another stands."""

    start: int
    """Of its line in the document."""
    text: str


def line_above_list(item: AnswerSpan, stored: Stored) -> str:
    """The line that introduces the list of an item, also where it stands in an earlier passage:
    "Nobody may use it to:" turns the items round."""
    chunk = item.hit.chunk
    document = stored(chunk.document_id, chunk.version)
    if item.lead or document is None:
        return item.lead.strip()
    above = document.text[: item.start].rsplit("\n", MOST_LINES + 1)
    indent = _indent(above.pop())
    for line in filter(str.strip, reversed(above[-MOST_LINES:])):
        if not LIST_MARK.match(line) and _indent(line) <= indent:
            return line.strip() if _introduces(line) else ""
    return ""


def _parent_of(item: AnswerSpan, stored: Stored) -> _Parent | None:
    """None of an item that stands under no other."""
    chunk = item.hit.chunk
    document = stored(chunk.document_id, chunk.version)
    if document is None:
        return None
    above = document.text[: item.start].rsplit("\n", MOST_LINES + 1)
    start = item.start - len(above[-1])
    indent = _indent(above.pop())
    for line in reversed(above[-MOST_LINES:]):
        start -= len(line) + 1
        if line.strip() and _indent(line) < indent:
            mark = LIST_MARK.match(line)
            return _Parent(start, LIST_MARK.sub("", line).strip()) if mark else None
    return None


def _linked_above(words: str, span: AnswerSpan, stored: Stored) -> str:
    """Markdown of words that stand above a span of the document, with their links."""
    document = stored(span.hit.chunk.document_id, span.hit.chunk.version)
    start = document.text.rfind(words, 0, span.start) if document else -1
    if document is None or start < 0:
        return as_markdown(words)
    return as_markdown(words, start, document.annotations)


def _introduces(line: str) -> bool:
    return bool(LEAD_IN.search(line) or ANNOUNCES.search(line))


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _line(piece: _Piece, kind: str, *, markers: bool, fact: str = "") -> str:
    text = piece.span.text
    if markers:
        text = as_markdown(text, piece.span.start, piece.span.hit.chunk.annotations)
    if kind == "item":
        text = LIST_MARK.sub("", text)
    text = text.strip()
    if not markers:
        return text
    marker = f" [{piece.place + 1}]"
    if kind == "row":
        mark = f" ← **{inert(fact)}**" if fact else ""
        return f"{text.rstrip('|').rstrip()}{marker}{mark} |"
    return text + marker


def _heading(span: AnswerSpan, *, several_documents: bool) -> str:
    """The section's heading, behind the document's title where there are several: a list under
    "What is not reimbursed" reads as its opposite without it, and of two blind readers of 110
    answers of dev none would rather have one without."""
    chunk = span.hit.chunk
    section = NUMBERING.sub("", section_of(span)) if len(chunk.trail) > 1 else ""
    parts = [chunk.title] if several_documents else []
    parts.append(section or chunk.title)
    return " · ".join(dict.fromkeys(parts)).replace("*", "")
