"""Case by case: in which order, and what of an answer and its passages is marked."""

import re
from collections.abc import Callable, Sequence
from statistics import fmean

from ombud.lab.cases.quotes import holds, normalise, pieces, shared, union
from ombud.lab.report.sides import Side, cases_of
from ombud.lab.report.wording import is_share
from ombud.types import Answer, Case, Hit, Passage

_MARKED = re.compile(r"(\[\d{1,4}\]|\*\*[^*\n]+\*\*)")
CaseOrder = tuple[bool, float, float, float]


def worst_first(sides: Sequence[Side], leading: str, metrics: Sequence[str]) -> list[Case]:
    """Sort cases: failed ones first, then by the leading metric, or by the mean of the other shares
    if that has no value."""
    shares = list(filter(is_share, metrics))
    return sorted(cases_of(sides), key=_order(sides, leading, shares))


def _order(
    sides: Sequence[Side], leading: str, shares: Sequence[str]
) -> Callable[[Case], CaseOrder]:
    def order(case: Case) -> CaseOrder:
        measured: list[float] = []
        led: list[float] = []
        by_side = [_values(side, case, shares) for side in sides]
        for values in by_side:
            measured += values.values()
            if leading in values:
                led.append(values[leading])
        middle = fmean(measured) if measured else 1.0
        baseline = by_side[0].get(leading, 0)
        fall = min(led, default=0) - baseline
        return not _has_failed(sides, case), min(led, default=middle), fall, middle

    return order


def _values(side: Side, case: Case, metrics: Sequence[str]) -> dict[str, float]:
    """Return the values of a case, by metric, without missing ones."""
    values = {}
    for metric in metrics:
        score = side.values.get(metric, {}).get(case.id)
        if score and score.value is not None:
            values[metric] = score.value
    return values


def _has_failed(sides: Sequence[Side], case: Case) -> bool:
    for side in sides:
        seen = side.seen.get(case)
        if seen and seen.error:
            return True
    return False


def carries_quote(hit: Hit, case: Case) -> bool:
    """Tell whether a hit contains at least half of one of the case's quotes, as a chunk border may
    cut it."""
    for item in case.evidence:
        if item.document != hit.chunk.uri:
            continue
        if 2 * shared(hit.chunk.text, item.quote) >= len(normalise(item.quote)):
            return True
    return False


def stands_in(item: Passage, hits: Sequence[Hit]) -> bool:
    """Tell whether an item of the evidence was retrieved: its quote, or its document if it has
    none."""
    of_document = pieces(hit for hit in hits if hit.chunk.uri == item.document)
    texts = union(of_document).get(item.document, ())
    return holds(texts, item.quote) if normalise(item.quote) else bool(texts)


def answer_spans(answer: Answer) -> list[tuple[str, str]]:
    """Split an answer into (kind, words): text, bold, or the number of one of its citations."""
    return [_span(part, len(answer.citations)) for part in _MARKED.split(answer.text)]


def _span(part: str, citations: int) -> tuple[str, str]:
    inner = part[1:-1]
    if part.startswith("[") and inner.isdecimal() and 1 <= int(inner) <= citations:
        return "cite", inner
    if len(part) > 4 and part.startswith("**") and part.endswith("**"):
        return "bold", part[2:-2]
    return "text", part
