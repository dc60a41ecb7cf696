"""Retrieval metrics of a case: is the evidence among the hits, and how far up.

A case names evidence by document and quote, a target returns chunks. A hit *carries* an evidence
item when it is of the same document and holds the quote, or at least half of it where the chunk's
border cuts the quote; an item without a quote (from a BEIR folder) is carried by every hit of its
document. For map and ndcg the hits become a ranking of evidence items, each at its first carrying
hit; further items of the same hit take the next free ranks, and later hits that carry nothing new
are not relevant. So overlapping chunks are never paid twice and both stay within 0-1; to this
ranking trec_eval's formulas apply. precision and mrr count hits as they are."""

from collections.abc import Sequence
from functools import lru_cache

from ombud.lab.cases.quotes import first_words, holds, normalise, pieces, shared, union
from ombud.lab.metrics import rankings
from ombud.lab.metrics.metric import Metric, Undefined, Value
from ombud.lab.metrics.overlap import token_f1
from ombud.types import Hit, Observation, Passage

NO_HITS = Undefined("no hits were recorded")
NO_EVIDENCE = Undefined("the case names no evidence")
NO_QUOTES = Undefined("the case's evidence has no quotes")
NOTHING_TO_FIND = Undefined("the case is to be denied: nothing should be found")
FOUND_NOTHING = Undefined("nothing was found")


def ranked(observation: Observation, metric: Metric) -> Value:
    """hit, map, mrr, ndcg, ndcg_exp, precision and recall over evidence items (see the module)."""
    hits = _to_judge(observation)
    if isinstance(hits, Undefined):
        return hits
    evidence = observation.case.evidence
    top = hits[: metric.cutoff]
    if metric.name in {"precision", "hit", "mrr"}:
        gains = [int(carries_any(hit, evidence)) for hit in top]
        return rankings.score_gains(metric, tuple(gains), (1,) * len(evidence))
    if metric.name == "recall":
        matched = 0
        for item in evidence:
            matched += _first_rank(top, item) is not None
        return matched / len(evidence)
    ranks = [_first_rank(hits, item) for item in evidence]
    grades = [item.grade for item in evidence]
    gains = _gains_by_rank(ranks, grades)
    return rankings.score_gains(metric, tuple(gains), tuple(grades))


def page_recall(observation: Observation, metric: Metric) -> Value:
    """Mean over evidence items: is their page among the pages of the top k hits.

    A page is (uri, page) where both the item and the hit have pages, else the uri.
    """
    hits = _to_judge(observation)
    if isinstance(hits, Undefined):
        return hits
    top = hits[: metric.cutoff]
    evidence = observation.case.evidence
    matched = 0
    for item in evidence:
        matched += any(_on_page(hit, place) for place in item.places for hit in top)
    return matched / len(evidence)


def quote_recall(observation: Observation, metric: Metric) -> Value:
    """Mean over evidence items: does the quote lie inside the union of one document's returned
    intervals.

    Returned are the top k hits, or the first k words of the hits in order (the hit that crosses is
    cut there)."""
    hits = _to_judge(observation)
    if isinstance(hits, Undefined):
        return hits
    quoted = []
    for item in observation.case.evidence:
        if normalise(item.quote):
            quoted.append(item)
    if not quoted:
        return NO_QUOTES
    k = metric.cutoff or len(hits)
    returned = first_words(pieces(hits), k) if metric.words else pieces(hits[:k])
    texts = union(returned)
    matched = 0
    for item in quoted:
        matched += any(holds(texts.get(place.document, ()), place.quote) for place in item.places)
    return matched / len(quoted)


def context_f1(observation: Observation, metric: Metric) -> Value:
    """Token F1 of the top k hits' texts, joined, against all gold quotes, joined."""
    hits = _to_judge(observation)
    if isinstance(hits, Undefined):
        return hits
    gold = " ".join(item.quote for item in observation.case.evidence)
    if not normalise(gold):
        return NO_QUOTES
    returned = " ".join(hit.chunk.text for hit in hits[: metric.cutoff])
    return token_f1(returned, gold)


def words_returned(observation: Observation, metric: Metric) -> Value:
    """White-space separated words in the top k hits, repeated table headers left out; 0 when
    nothing was found."""
    if observation.hits is None:
        return NO_HITS
    words = 0
    for hit in observation.hits[: metric.cutoff]:
        words += len(hit.chunk.text.split())
    return float(words)


def average_score(observation: Observation, metric: Metric) -> Value:
    """Mean score of the top k hits, in the target's own scale."""
    if observation.hits is None:
        return NO_HITS
    top = observation.hits[: metric.cutoff]
    return sum(hit.score for hit in top) / len(top) if top else FOUND_NOTHING


def _to_judge(observation: Observation) -> Sequence[Hit] | Undefined:
    if observation.case.expect == "deny":
        return NOTHING_TO_FIND
    if not observation.case.evidence:
        return NO_EVIDENCE
    return NO_HITS if observation.hits is None else observation.hits


def _carries(hit: Hit, place: Passage) -> bool:
    return place.document in _uris(hit) and _half(hit.chunk.text, place.quote)


def _uris(hit: Hit) -> list[str]:
    """List the documents that contain a passage."""
    return [hit.chunk.uri, *(copy.uri for copy in hit.copies)]


@lru_cache(maxsize=16384)
def _half(text: str, quote: str) -> bool:
    """Cached, because every rank metric of a case asks the same."""
    wanted = normalise(quote)
    return not wanted or 2 * shared(text, quote) >= len(wanted)


def carries_any(hit: Hit, evidence: Sequence[Passage]) -> bool:
    """Tell whether the passage contains at least half of one of the evidence items."""
    return any(_carries(hit, place) for item in evidence for place in item.places)


def _first_rank(hits: Sequence[Hit], item: Passage) -> int | None:
    for rank, hit in enumerate(hits, start=1):
        if carries_any(hit, [item]):
            return rank
    return None


def _gains_by_rank(ranks: Sequence[int | None], grades: Sequence[int]) -> list[int]:
    """Place each item at its first hit, or at the next free rank after it; higher grades first."""
    placed = []
    for rank, grade in zip(ranks, grades, strict=True):
        if rank is not None:
            placed.append((rank, -grade))
    gains: list[int] = []
    for rank, negative_grade in sorted(placed):
        gains += [0] * (rank - 1 - len(gains))
        gains.append(-negative_grade)
    return gains


def _on_page(hit: Hit, item: Passage) -> bool:
    chunk = hit.chunk
    if chunk.uri != item.document:
        return item.document in _uris(hit)
    if item.page is None or chunk.page_from is None:
        return True
    return chunk.page_from <= item.page <= (chunk.page_to or chunk.page_from)
