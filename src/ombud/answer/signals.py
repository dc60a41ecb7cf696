"""What can be measured of a question and its evidence before anything is written: the input of
abstention."""

import json
import math
import re
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ombud.answer.quoting.sections import RankedSection
from ombud.answer.quoting.spans import SpanRow, coverage
from ombud.errors import ModelError
from ombud.index import Engine, blocking
from ombud.models import Embedder
from ombud.retrieve import SearchResult, chunk_terms, query_terms
from ombud.types import Hit

ASKABLE = Path(__file__).with_name("policy_likeness.json")
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
    terms: Sequence[str], results: SearchResult, engine: Engine, spans: Sequence[SpanRow]
) -> dict[str, float]:
    """Measure the signals, about 0 to 1, from which confidence is estimated.

    terms: index terms of the question as typed. spans: features of the sentences of the
    evidence."""
    best = results.best
    weights = term_weights(terms, engine)
    terms_of = _terms_of(results.evidence.hits[:DEPTH])
    rarest = _idf(blocking(engine.stats()).chunks, 0)
    occurring = 0
    for weight in weights.values():
        occurring += weight < rarest
    total = sum(weights.values()) or 1.0
    return {
        "cosine": max(0.0, best.get("dense", 0.0)),
        "cosine_span": max((row["cosine"] for row in spans), default=0.0),
        "coverage_best": max((coverage(weights, terms) for terms in terms_of), default=0.0),
        "coverage_all": coverage(weights, set().union(*terms_of)),
        "known_terms": occurring / max(1, len(weights)),
        "rare_held": rare_coverage(weights, terms_of),
        "length": min(len(weights), LONG) / LONG,
        "sparse_share": best.get("sparse", 0.0) / total,
        "span_match": max((row["cosine"] * row["terms"] for row in spans), default=0.0),
        "span_terms": max((row["terms"] for row in spans), default=0.0),
    }


def section_signals(ranked: Sequence[RankedSection]) -> dict[str, float]:
    """Return how likely the best sentences and sections are to answer. ranked: likeliest first."""
    scores = sorted((span.score for section in ranked for span in section.spans), reverse=True)
    best, second, *_ = *scores, 0.0, 0.0
    best_section, second_section, *_ = *(section.likelihood for section in ranked), 0.0, 0.0
    return {
        "span_best": _logit(best),
        "span_second": _logit(second),
        "section_best": best_section,
        "section_second": second_section,
    }


def _logit(probability: float) -> float:
    """Return the logit, clipped to -6 to 6."""
    inside = min(max(probability, 1e-3), 1 - 1e-3)
    return max(-6.0, min(6.0, math.log(inside / (1 - inside))))


def _terms_of(hits: Sequence[Hit]) -> list[set[str]]:
    return [set(chunk_terms(hit.chunk)) for hit in hits]


def rare_coverage(weights: Mapping[str, float], terms_of: Sequence[set[str]]) -> float:
    """Return the largest share of the rarest terms that one hit has."""
    rarest = sorted(weights, key=lambda term: -weights[term])[:RAREST]
    if not rarest:
        return 0.0
    return max((len(terms.intersection(rarest)) / len(rarest) for terms in terms_of), default=0.0)


def missing_terms(text: str, hits: Sequence[Hit], engine: Engine, most: int = 3) -> tuple[str, ...]:
    """Return the rarest words of a message that none of the passages has, in the order of the text.
    Question words such as "how much" do not count."""
    text = text[:LONGEST]
    unknown = set(query_terms(text, engine)).difference(*_terms_of(hits))
    term_of: dict[str, str] = {}
    for word in WORD.findall(text):
        terms = query_terms(word, engine)
        if len(terms) == 1 and terms[0] in unknown:
            term_of[word] = terms[0]
    missing = list(term_of)
    weights = term_weights(list(term_of.values()), engine)
    rarest_first = sorted(missing, key=lambda word: -weights[term_of[word]])
    return tuple(sorted(rarest_first[:most], key=missing.index))


def term_weights(terms: Sequence[str], engine: Engine) -> dict[str, float]:
    """Return the inverse document frequency of each term, ln(1 + (N - n + .5) / (n + .5)) as in
    BM25."""
    stats = blocking(engine.stats(list(dict.fromkeys(terms))))
    weights: dict[str, float] = {}
    for term, holders in stats.documents_with.items():
        weights[term] = _idf(stats.chunks, holders)
    return weights


def _idf(chunks: int, holders: int) -> float:
    return math.log(1 + (chunks - holders + 0.5) / (holders + 0.5))


class AskableWeights(NamedTuple):
    """Logistic regression on the vector of a message."""

    embedder: str
    """Fingerprint of the one that made the vectors; with another the signal is unknown."""
    weight: npt.NDArray[np.float64]
    bias: float


def askable(text: str, embedder: Embedder | None) -> float:
    """Return the log odds that a message asks what policies answer, not for something done or to
    come. Not a number where the embedder is not that of the training, or fails."""
    weights = load_askable()
    if embedder is None or embedder.fingerprint != weights.embedder:
        return float("nan")
    try:
        (vector,) = embedder.embed([text])
    except ModelError:
        return float("nan")
    return float(np.asarray(vector, np.float64) @ weights.weight + weights.bias)


@cache
def load_askable() -> AskableWeights:
    content = json.loads(ASKABLE.read_text(encoding="utf-8"))
    return AskableWeights(
        embedder=content["embedder"],
        weight=np.array(content["weight"]),
        bias=content["bias"],
    )
