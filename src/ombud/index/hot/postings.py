"""Postings lists in memory: BM25 scores of all passages."""

from array import array
from collections import Counter
from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

K1 = 1.2
B = 0.75
Scores = npt.NDArray[np.float32]


class Postings:
    """For each term the passages that contain it and its part of their scores: BM25 of Robertson
    and Zaragoza (2009) with Lucene's idf, as the engines rank.

    texts: analysed terms of each passage, separated by blanks."""

    def __init__(self, texts: Iterable[str]) -> None:
        vocabulary: dict[str, int] = {}
        terms, rows, counts, lengths = array("i"), array("i"), array("i"), array("i")
        for row, text in enumerate(texts):
            words = text.split()
            lengths.append(len(words))
            for term, count in Counter(words).items():
                terms.append(vocabulary.setdefault(term, len(vocabulary)))
                rows.append(row)
                counts.append(count)
        self.size = len(lengths)
        self._vocabulary = vocabulary
        by_term = np.argsort(as_array(terms), kind="stable")
        document_counts = np.bincount(as_array(terms), minlength=len(vocabulary))
        self._starts = np.concatenate([[0], np.cumsum(document_counts)])
        self._rows = as_array(rows)[by_term]
        lengths_of = as_array(lengths).astype(np.float32)
        mean = float(lengths_of.mean()) if self.size else 1.0
        norms = K1 * (1 - B + B * lengths_of / (mean or 1.0))
        term_counts = as_array(counts)[by_term].astype(np.float32)
        idf = np.log1p((self.size - document_counts + 0.5) / (document_counts + 0.5)).astype(
            np.float32
        )
        added = term_counts * (K1 + 1) / (term_counts + norms[self._rows])
        self._added = (np.repeat(idf, document_counts) * added).astype(np.float32)

    @property
    def bytes(self) -> int:
        return self._rows.nbytes + self._added.nbytes + 100 * len(self._vocabulary)

    def holders(self, term: str) -> int:
        """Count the passages that contain the term."""
        number = self._vocabulary.get(term)
        return 0 if number is None else int(self._starts[number + 1] - self._starts[number])

    def scores(self, text: str) -> Scores:
        """Score every passage by BM25; 0 if it contains none of the terms."""
        scores = np.zeros(self.size, np.float32)
        for term, times in Counter(text.split()).items():
            number = self._vocabulary.get(term)
            if number is None:
                continue
            span = slice(self._starts[number], self._starts[number + 1])
            scores[self._rows[span]] += times * self._added[span]
        return scores


def as_array(values: "array[int]") -> npt.NDArray[np.int32]:
    return np.frombuffer(values, np.int32) if values else np.zeros(0, np.int32)
