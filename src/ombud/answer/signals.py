"""What can be measured of a question and its evidence before anything is written: the input of
abstention."""

import math
import re
from collections.abc import Iterable, Mapping, Sequence

from ombud.answer.quoting.choosing import best_stretch
from ombud.answer.quoting.spans import AnswerSpan, SpanRow, coverage
from ombud.index import Engine, blocking
from ombud.retrieve import SearchResult, chunk_terms, query_terms
from ombud.types import Hit

DEPTH = 5
"""Hits looked at: what is further down rarely decides whether the documents answer."""
RAREST = 3
"""The rarest terms are what a question is about: its subject rather than its phrasing."""
WORD = re.compile(r"[^\W\d_]{4,30}")
LONGEST = 1000
"""Characters of a message in which words are looked for that no passage has."""
LONG = 20
"""Terms from which a question counts as long. A long one is never covered whole, so coverage needs
its length."""


def measure_signals(
    terms: Sequence[str], found: SearchResult, engine: Engine, spans: Sequence[SpanRow]
) -> dict[str, float]:
    """Signals, each about 0 to 1, from which the probability is computed that the documents answer.

    terms: index terms of the question as it was said. spans: features of the sentences of the
    evidence."""
    best = found.best
    weights = term_weights(terms, engine)
    terms_of = _terms_of(found.evidence.hits[:DEPTH])
    unheld = _idf(blocking(engine.stats()).chunks, 0)
    known = 0
    for weight in weights.values():
        known += weight < unheld
    total = sum(weights.values()) or 1.0
    return {
        "cosine": max(0.0, best.get("dense", 0.0)),
        "cosine_span": _best(row["cosine"] for row in spans),
        "coverage_best": _best(coverage(weights, held) for held in terms_of),
        "coverage_all": coverage(weights, set().union(*terms_of)),
        "known_terms": known / max(1, len(weights)),
        "rare_held": _rare_held(weights, terms_of),
        "length": min(len(weights), LONG) / LONG,
        "sparse_share": best.get("sparse", 0.0) / total,
        "span_match": _best(row["cosine"] * row["terms"] for row in spans),
        "span_terms": _best(row["terms"] for row in spans),
    }


def span_signals(ranked: Sequence[AnswerSpan]) -> dict[str, float]:
    """How likely the best sentence is to answer, the best stretch of sentences, and all of them.

    ranked: with their likelihoods, best first."""
    scores = [span.score for span in ranked]
    stretch = best_stretch(ranked)
    return {
        "span_best": _logit(max(scores, default=0.0)),
        "span_second": _logit(sorted(scores)[-2] if len(scores) > 1 else 0.0),
        "span_stretch": math.sqrt(sum(span.score**2 for span in stretch)),
    }


def _logit(probability: float) -> float:
    """On the scale on which small likelihoods differ, kept between -6 and 6."""
    inside = min(max(probability, 1e-3), 1 - 1e-3)
    return max(-6.0, min(6.0, math.log(inside / (1 - inside))))


def _terms_of(hits: Sequence[Hit]) -> list[set[str]]:
    return [set(chunk_terms(hit.chunk)) for hit in hits]


def _best(values: Iterable[float]) -> float:
    return max(values, default=0.0)


def _rare_held(weights: Mapping[str, float], terms_of: Sequence[set[str]]) -> float:
    """The largest share of the rarest terms that one hit holds."""
    rarest = sorted(weights, key=lambda term: -weights[term])[:RAREST]
    if not rarest:
        return 0.0
    return _best(len(held.intersection(rarest)) / len(rarest) for held in terms_of)


def unheard(text: str, hits: Sequence[Hit], engine: Engine, most: int = 3) -> tuple[str, ...]:
    """Words of a message, as they were written, that none of the passages has: the rarest, in the
    order of the text."""
    held = set[str]().union(*_terms_of(hits))
    term_of: dict[str, str] = {}
    for word in WORD.findall(text[:LONGEST]):
        terms = query_terms(word, engine)
        if len(terms) == 1 and terms[0] not in held:
            term_of[word] = terms[0]
    missing = list(term_of)
    weights = term_weights(list(term_of.values()), engine)
    rarest_first = sorted(missing, key=lambda word: -weights[term_of[word]])
    return tuple(sorted(rarest_first[:most], key=missing.index))


def term_weights(terms: Sequence[str], engine: Engine) -> dict[str, float]:
    """Inverse document frequency of each term, ln(1 + (N - n + .5) / (n + .5)) as in BM25."""
    stats = blocking(engine.stats(list(dict.fromkeys(terms))))
    weights: dict[str, float] = {}
    for term, holders in stats.documents_with.items():
        weights[term] = _idf(stats.chunks, holders)
    return weights


def _idf(chunks: int, holders: int) -> float:
    return math.log(1 + (chunks - holders + 0.5) / (holders + 0.5))
