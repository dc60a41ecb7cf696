"""What can be measured of a question and its evidence before anything is written: the input of
abstention."""

import math
import re
from collections.abc import Sequence

from ombud.answer.quoting.spans import SpanRow, chunk_terms, coverage
from ombud.index import Engine, blocking
from ombud.retrieve import SearchResult, query_terms
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
    weights = term_weights(terms, engine)
    hits = found.evidence.hits[:DEPTH]
    held = [chunk_terms(hit) for hit in hits]
    rare = sorted(weights, key=lambda term: -weights[term])[:RAREST]
    unheld = _weight(engine, 0)
    return {
        "cosine": max(0.0, found.best.get("dense", 0.0)),
        "cosine_span": max((row["cosine"] for row in spans), default=0.0),
        "coverage_best": max((coverage(weights, terms_) for terms_ in held), default=0.0),
        "coverage_all": coverage(weights, set().union(*held)),
        "known_terms": sum(weights[t] < unheld for t in weights) / max(1, len(weights)),
        "rare_held": max(
            (sum(t in terms_ for t in rare) / len(rare) for terms_ in held if rare), default=0.0
        ),
        "length": min(len(weights), LONG) / LONG,
        "sparse_share": found.best.get("sparse", 0.0) / (sum(weights.values()) or 1.0),
        "span_match": max((row["cosine"] * row["terms"] for row in spans), default=0.0),
        "span_terms": max((row["terms"] for row in spans), default=0.0),
    }


def unheard(text: str, hits: Sequence[Hit], engine: Engine, most: int = 3) -> tuple[str, ...]:
    """Words of a message, as they were written, that none of the passages has: the rarest, in the
    order of the text."""
    held = set[str]().union(*(chunk_terms(hit) for hit in hits))
    words = {
        word: query_terms(word, engine) for word in dict.fromkeys(WORD.findall(text[:LONGEST]))
    }
    missing = {
        word: terms[0] for word, terms in words.items() if len(terms) == 1 and terms[0] not in held
    }
    weights = term_weights(list(missing.values()), engine)
    rarest = sorted(missing, key=lambda word: -weights[missing[word]])[:most]
    return tuple(word for word in missing if word in rarest)


def term_weights(terms: Sequence[str], engine: Engine) -> dict[str, float]:
    """Inverse document frequency of each term, ln(1 + (N - n + .5) / (n + .5)) as in BM25."""
    stats = blocking(engine.stats(list(dict.fromkeys(terms))))
    return {term: _idf(stats.chunks, n) for term, n in stats.documents_with.items()}


def _weight(engine: Engine, holders: int) -> float:
    return _idf(blocking(engine.stats()).chunks, holders)


def _idf(chunks: int, holders: int) -> float:
    return math.log(1 + (chunks - holders + 0.5) / (holders + 0.5))
