"""Spans to an answer: what belongs together stays together, and every piece carries its own
marker."""

from collections.abc import Sequence
from itertools import groupby

from ombud.answer.proof.citing import Composed, Stored, cite, escaped, inert, number
from ombud.answer.quoting.spans import LIST_MARK, AnswerSpan, is_row, table_head
from ombud.types import Citation, Claim

FEW = 2
"""Rows or items left out between two chosen ones that are put back."""
SHORT = 3
"""Rows or items up to which a table or list is shown whole: half of one misleads."""


def quote_spans(
    spans: Sequence[AnswerSpan], everything: Sequence[AnswerSpan], stored: Stored
) -> Composed:
    """Verbatim claims in the order of `spans`; a span that the stored text does not bear out is
    left out.

    everything: all spans of the evidence, from which gaps inside lists and tables are filled.
    """
    whole = _fill_gaps(spans, everything)
    proven = [(span, c) for span in whole if (c := cite(span.hit, span.start, span.end, stored))]
    citations, places = number([c for _, c in proven])
    pieces = [(span, place) for (span, _), place in zip(proven, places, strict=True)]
    claims: list[Claim] = []
    parts: list[str] = []
    several = len({c.uri for c in citations}) > 1
    last = ""
    for group in _groups(pieces):
        cited = tuple(dict.fromkeys(place for _, place in group))
        claims.append(Claim(text=inert(_text(group, markers=False)), citations=cited))
        citation = citations[cited[0]]
        if several and citation.uri != last:
            parts.append(f"**{_heading(citation)}**")
        last = citation.uri
        parts.append(inert(_text(group, markers=True)))
    return Composed(tuple(claims), tuple(citations), "\n\n".join(parts))


def _fill_gaps(spans: Sequence[AnswerSpan], everything: Sequence[AnswerSpan]) -> list[AnswerSpan]:
    """The chosen spans; short lists and tables whole, and in longer ones the few that stand between
    two chosen."""
    filled: list[AnswerSpan] = []
    for span in spans:
        if any(span.hit.chunk.id == s.hit.chunk.id and span.start == s.start for s in filled):
            continue
        family = _family(span, everything)
        if len(family) <= SHORT:
            filled += family
            continue
        if filled and _together(filled[-1], span):
            between = [s for s in family if filled[-1].end <= s.start < span.start]
            filled += between if len(between) <= FEW else []
        filled.append(span)
    return filled


def _family(span: AnswerSpan, everything: Sequence[AnswerSpan]) -> list[AnswerSpan]:
    """The rows of its table or items of its list, in reading order; a sentence stands alone."""
    if _kind(span) == "text":
        return [span]
    near = [
        s for s in everything if s.hit.chunk.id == span.hit.chunk.id and _kind(s) == _kind(span)
    ]
    near.sort(key=lambda s: s.start)
    at = next(i for i, s in enumerate(near) if s.start == span.start)
    first = last = at
    while first and _together(near[first - 1], near[first]):
        first -= 1
    while last + 1 < len(near) and _together(near[last], near[last + 1]):
        last += 1
    return near[first : last + 1]


def _groups(pieces: Sequence[tuple[AnswerSpan, int]]) -> list[list[tuple[AnswerSpan, int]]]:
    """Runs of rows of one table, items of one list, and sentences that follow each other."""
    label = 0
    labelled: list[tuple[int, tuple[AnswerSpan, int]]] = []
    for piece in pieces:
        if not labelled or not _together(labelled[-1][1][0], piece[0]):
            label += 1
        labelled.append((label, piece))
    return [[piece for _, piece in run] for _, run in groupby(labelled, key=lambda pair: pair[0])]


def _together(one: AnswerSpan, other: AnswerSpan) -> bool:
    if one.hit.chunk.id != other.hit.chunk.id or _kind(one) != _kind(other):
        return False
    chunk = one.hit.chunk
    between = chunk.text[one.end - chunk.start : other.start - chunk.start]
    if _kind(one) == "text":
        return not between.strip() and "\n" not in between
    return one.lead == other.lead and "\n\n" not in between


def _kind(span: AnswerSpan) -> str:
    if is_row(span.text):
        return "row"
    return "item" if LIST_MARK.match(span.text) else "text"


def _text(group: Sequence[tuple[AnswerSpan, int]], *, markers: bool) -> str:
    first = group[0][0]
    shown = escaped if markers else str
    marks = [f" [{place + 1}]" if markers else "" for _, place in group]
    kind = _kind(first)
    if kind == "row":
        rows = [
            _marked_row(shown(span.text.strip()), mark)
            for (span, _), mark in zip(group, marks, strict=True)
        ]
        return "\n".join([table_head(first), *rows])
    texts = [
        shown(LIST_MARK.sub("", span.text) if kind == "item" else span.text).strip()
        for span, _ in group
    ]
    said = [text + mark for text, mark in zip(texts, marks, strict=True)]
    if kind == "text":
        return " ".join(said)
    if len(said) == 1:
        return f"{first.lead.strip()} {said[0]}".strip()
    return "\n".join(
        [*([first.lead.strip(), ""] if first.lead else []), *(f"- {line}" for line in said)]
    )


def _marked_row(row: str, mark: str) -> str:
    return f"{row.rstrip('|').rstrip()}{mark} |" if mark else row


def _heading(citation: Citation) -> str:
    return citation.title.replace("*", "")
