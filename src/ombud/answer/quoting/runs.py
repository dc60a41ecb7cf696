"""What belongs together in a document: rows of a table, items of a list, sentences of a
paragraph."""

from collections.abc import Sequence

from ombud.answer.quoting.spans import LIST_MARK, AnswerSpan, goes_on_in_item, is_row, section_of


def run_of(span: AnswerSpan, everything: Sequence[AnswerSpan]) -> list[AnswerSpan]:
    """The rows of its table, the items of its list or the sentences of its paragraph, in reading
    order, the span itself among them."""
    kind = kind_of(span)
    near: list[AnswerSpan] = []
    chunk_id = span.hit.chunk.id
    for other in everything:
        if other.hit.chunk.id == chunk_id and kind_of(other) == kind:
            near.append(other)
    near.sort(key=lambda other: other.start)
    starts = [other.start for other in near]
    return _run_around(starts.index(span.start), near)


def _run_around(place: int, near: list[AnswerSpan]) -> list[AnswerSpan]:
    """Those that follow each other, with the one at `place` among them."""
    run = [near[place]]
    for before in reversed(near[:place]):
        if not together(before, run[0]):
            break
        run.insert(0, before)
    for after in near[place + 1 :]:
        if not together(run[-1], after):
            break
        run.append(after)
    return run


def together(first: AnswerSpan, second: AnswerSpan) -> bool:
    """Whether the second goes on right where the first ends: sentences of a paragraph, items of one
    list, rows of one table."""
    chunk = first.hit.chunk
    kind = kind_of(first)
    if second.hit.chunk.id != chunk.id:
        return False
    if kind_of(second) != kind or second.start < first.end:
        return False
    begin = first.end - chunk.start
    end = second.start - chunk.start
    between = chunk.text[begin:end]
    if kind == "text":
        return not between.strip("*_ ") and "\n" not in between
    return first.lead == second.lead and "\n\n" not in between


def item_of(span: AnswerSpan, run: Sequence[AnswerSpan]) -> list[AnswerSpan]:
    """The sentences of the list item that a span is of; run: `run_of` the span."""
    item: list[AnswerSpan] = []
    for other in run:
        if not goes_on_in_item(other):
            if other.start > span.start:
                break
            item.clear()
        item.append(other)
    return item


def pieces_in(run: Sequence[AnswerSpan]) -> int:
    """Rows of a table, items of a list, or sentences."""
    return sum(not goes_on_in_item(span) for span in run)


def kind_of(span: AnswerSpan) -> str:
    """row | item | text; every sentence of a list item is one."""
    if is_row(span.text):
        return "row"
    is_item = LIST_MARK.match(span.text) or goes_on_in_item(span)
    return "item" if is_item else "text"


def in_page_order(chosen: Sequence[AnswerSpan]) -> list[AnswerSpan]:
    """Chosen spans page by page and section by section, the section that leads first, and inside of
    it as they stand there: what a likelihood tells is what to show, not in which order to read it.
    A table that leads stays before what stands above it."""
    pages = list(dict.fromkeys(span.hit.chunk.uri for span in chosen))
    leading = _section_key(chosen[0]) if chosen else None
    tables_lead = bool(chosen) and kind_of(chosen[0]) == "row"

    def place(span: AnswerSpan) -> tuple[int, bool, bool, int]:
        is_leading = _section_key(span) == leading
        is_behind = is_leading and tables_lead and kind_of(span) != "row"
        return pages.index(span.hit.chunk.uri), not is_leading, is_behind, span.start

    return sorted(chosen, key=place)


def _section_key(span: AnswerSpan) -> tuple[str, tuple[str, ...], str]:
    chunk = span.hit.chunk
    return chunk.uri, chunk.trail, section_of(span)
