"""Drop proposed questions that duplicate another, copy their passage or miss its subject."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ombud.lab.metrics.metric import Embed
from ombud.text import split_words
from ombud.types import Chunk

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Vectors = npt.NDArray[np.float64]

LEXICAL = "lexical duplicate"
COPIED = "too similar to its passage"
EMBEDDED = "embedding duplicate"
UNRELATED = "poor semantic relevance"
CHECKS = (LEXICAL, COPIED, EMBEDDED, UNRELATED)
WITH_VECTORS = (EMBEDDED, UNRELATED)

MIN_DUPLICATE_JACCARD = 0.8
COPIED_RUN_TOKENS = 6
"""Tokens in a row that the passage has too: fewer is a term or an idiom, so many are a copy."""
MAX_COPIED_SHARE = 0.6
MIN_DUPLICATE_COSINE = 0.95
MIN_RELEVANCE_COSINE = 0.4
NEAREST = 3
"""Others of the sample that may be more like the question than its own passage."""


def copied_share(question: str, text: str) -> float:
    """Share of the question's tokens that lie in runs of `COPIED_RUN_TOKENS` of the text."""
    tokens = _tokens(question)
    runs_of_text = set(_token_runs(_tokens(text)))
    inside = [False] * len(tokens)
    for start, run in enumerate(_token_runs(tokens)):
        if run in runs_of_text:
            inside[start : start + COPIED_RUN_TOKENS] = [True] * COPIED_RUN_TOKENS
    return sum(inside) / len(inside) if inside else 0.0


class Cleaner:
    """The checks and what they remember: every question that passed them.

    sample: passages that a question is measured against, to tell a poor question from a far-away
    embedder."""

    def __init__(self, embed: Embed | None = None, sample: Sequence[Chunk] = ()) -> None:
        self._embed = embed
        self._accepted: list[frozenset[str]] = []
        self._accepted_vectors: list[Vectors] = []
        self._sample_ids = [chunk.id for chunk in sample]
        self._sample_vectors: Vectors | None = None
        if embed and sample:
            self._sample_vectors = _unit_vectors(embed, list(map(_indexed_text, sample)))

    @property
    def embeds(self) -> bool:
        return self._embed is not None

    def check(self, question: str, source: Chunk | None, *, relevant: bool = True) -> str:
        """Name the first check that the question fails; a question that passes is remembered.

        source: the passage it was written from. relevant: whether it has to be near that passage,
        which noisy questions are not."""
        words = frozenset(_tokens(question))
        if any(_jaccard(words, other) >= MIN_DUPLICATE_JACCARD for other in self._accepted):
            return LEXICAL
        if source and copied_share(question, _indexed_text(source)) > MAX_COPIED_SHARE:
            return COPIED
        if self._embed and source and relevant:
            # One call for both texts: an embedder may be behind a network.
            vector, passage = _unit_vectors(self._embed, [question, _indexed_text(source)])
            if any(
                float(vector @ other) >= MIN_DUPLICATE_COSINE for other in self._accepted_vectors
            ):
                return EMBEDDED
            if not self._is_relevant(vector, passage, source.id):
                return UNRELATED
            self._accepted_vectors.append(vector)
        self._accepted.append(words)
        return ""

    def _is_relevant(self, question: "Vectors", passage: "Vectors", source: str) -> bool:
        likeness = float(question @ passage)
        if likeness >= MIN_RELEVANCE_COSINE or self._sample_vectors is None:
            return likeness >= MIN_RELEVANCE_COSINE
        is_nearer = (self._sample_vectors @ question) > likeness
        nearer = 0
        for chunk_id, is_near in zip(self._sample_ids, is_nearer, strict=True):
            nearer += bool(is_near) and chunk_id != source
        return nearer < NEAREST


def _indexed_text(chunk: Chunk) -> str:
    """Return the text that an index sees of a chunk, headings included, since a question that
    copies a heading tests as little as one that copies the text."""
    return "\n".join((" > ".join(chunk.trail), chunk.header, chunk.text))


def _tokens(text: str) -> list[str]:
    return [token.lower() for token in split_words(text)]


def _token_runs(row: Sequence[str]) -> Iterator[tuple[str, ...]]:
    for start in range(len(row) - COPIED_RUN_TOKENS + 1):
        yield tuple(row[start : start + COPIED_RUN_TOKENS])


def _jaccard(words: frozenset[str], others: frozenset[str]) -> float:
    return len(words & others) / (len(words | others) or 1)


def _unit_vectors(embed: Embed, texts: Sequence[str]) -> "Vectors":
    import numpy as np

    vectors = np.asarray(embed(list(texts)), dtype=np.float64)
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.maximum(lengths, 1e-12), dtype=np.float64)
