"""Chunks and rows in one line each, and BM25 by the book."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ombud.index import Filter, Leg, Row
from ombud.types import Chunk

EVERYTHING = Filter(countries=None, reader=None, status=("draft", "published", "withdrawn"))


def chunk(document: str, number: int = 0, text: str = "leave", **fields: Any) -> Chunk:
    given: dict[str, Any] = {"title": document, "uri": f"s/{document}", "digest": "1"}
    given |= {"text": text, "start": 0, "end": len(text)} | fields
    return Chunk(id=f"{document}-{number}", document_id=document, **given)


def row(of: Chunk, *vectors: Sequence[float], terms: str | None = None, source: str = "s") -> Row:
    """Without vectors it is a row that was not embedded."""
    matrix = np.array(vectors, np.float32) if vectors else None
    return Row(of, source, of.text if terms is None else terms, matrix)


def ids(leg: Leg) -> list[str]:
    return [found.id for found, _ in leg.hits]


def bm25(
    texts: Mapping[str, str], query: str, k1: float = 1.2, b: float = 0.75
) -> dict[str, float]:
    """Robertson and Zaragoza (2009), with Lucene's idf: id -> score of every text that holds a
    query term."""
    words = {identity: text.split() for identity, text in texts.items()}
    average = sum(map(len, words.values())) / len(words)
    scores: dict[str, float] = {}
    for term in query.split():
        holders = [identity for identity, listed in words.items() if term in listed]
        idf = math.log(1 + (len(words) - len(holders) + 0.5) / (len(holders) + 0.5))
        for identity in holders:
            count = Counter(words[identity])[term]
            norm = count + k1 * (1 - b + b * len(words[identity]) / average)
            scores[identity] = scores.get(identity, 0.0) + idf * count * (k1 + 1) / norm
    return scores
