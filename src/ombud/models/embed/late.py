"""Late interaction: a vector for every token, small enough to be stored, and how near texts are by
them.

Khattab, Zaharia, ColBERT, SIGIR 2020. MiniLM was trained on whole texts, but its tokens know their
company well enough to put passages in order (research/results/retrieval.md)."""

import re
from collections.abc import Sequence
from math import log
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from tokenizers import Tokenizer

DIMENSION = 48
"""Of 384, principal components: what 64 find these find too, 32 a little less (dev)."""
SCALE = 127
"""Length of a vector of eight-bit numbers."""
SHIPPED = Path(__file__).parent / "late.npy"
FUNCTION_WORDS = frozenset(
    re.findall(
        r"\w+",
        "a am an and are as at be by can could do does for get had has have how i if in is it me "
        "my of on or s should t that the this to us was we what when where which who will with "
        "would you",
    )
)
"""English: tokens take most of the room of an index, and a third of them say nothing of what a text
is about."""
LEAST_WEIGHT = 0.05
"""Of a token that all texts hold: a question may have no other."""
AT_ONCE = 250_000
"""Multiplications of a product that OpenBLAS does without other threads."""

States = npt.NDArray[np.float32]


class TokenVectors(NamedTuple):
    """The vectors of a text's content tokens."""

    ids: npt.NDArray[np.uint16]
    """Of the vocabulary, shape (tokens,)."""
    vectors: npt.NDArray[np.int8]
    """Shape (tokens, DIMENSION), of length SCALE."""

    def pack(self) -> bytes:
        return self.ids.astype("<u2").tobytes() + self.vectors.tobytes()


_NOTHING = TokenVectors(np.zeros(1, np.uint16), np.zeros((1, DIMENSION), np.int8))
"""Its id is that of padding, which no text has."""


def unpack(packed: bytes) -> TokenVectors:
    """Restore what `TokenVectors.pack` made; raises ValueError for anything else."""
    count, rest = divmod(len(packed), 2 + DIMENSION)
    if rest:
        raise ValueError(f"{len(packed)} bytes are no tokens")
    ids = np.frombuffer(packed, "<u2", count)
    vectors = np.frombuffer(packed, np.int8, offset=2 * count)
    return TokenVectors(ids, vectors.reshape(count, DIMENSION))


class TellingTokens:
    """The content tokens of a vocabulary: neither special tokens, nor punctuation, nor function
    words. A token is classified when it first occurs, because classifying all would delay every
    process."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer
        size = tokenizer.get_vocab_size()
        self._is_content = np.zeros(size, bool)
        self._looked_at = np.zeros(size, bool)
        self._looked_at[list(tokenizer.get_added_tokens_decoder())] = True

    def are_content(self, ids: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
        """Tell which tokens are content; safe to call from several threads."""
        for identity in set(ids[~self._looked_at[ids]].tolist()):
            self._is_content[identity] = _tells(self._tokenizer.id_to_token(identity))
            self._looked_at[identity] = True
        is_content: npt.NDArray[np.bool_] = self._is_content[ids]
        return is_content


def _tells(token: str | None) -> bool:
    word = (token or "").removeprefix("##")
    return any(map(str.isalnum, word)) and word not in FUNCTION_WORDS


def compress(ids: Sequence[int], states: States, telling: TellingTokens) -> TokenVectors:
    """Project the last layer of `ids`, shape (tokens, DIMENSION), onto its components."""
    which = np.asarray(ids, np.int64)
    chosen = telling.are_content(which)
    small = states[chosen]
    small /= np.maximum(np.linalg.norm(small, axis=1, keepdims=True), 1e-9)
    return TokenVectors(which[chosen].astype(np.uint16), np.rint(SCALE * small).astype(np.int8))


def join(parts: Sequence[TokenVectors]) -> TokenVectors:
    return TokenVectors(
        ids=np.concatenate([part.ids for part in parts]),
        vectors=np.concatenate([part.vectors for part in parts]),
    )


def interact(question: TokenVectors, texts: Sequence[TokenVectors]) -> npt.NDArray[np.float64]:
    """Return the late interaction of each text, about -1 to 1: for each token of the question the
    nearest of the text, weighted by rarity. Without tokens on either side it is 0."""
    if not len(question.ids) or not texts:
        return np.zeros(len(texts))
    ids, vectors, starts = laid_out(texts)
    products = _products(question.vectors, vectors)
    nearest = np.maximum.reduceat(products, starts, axis=1) / np.float32(SCALE * SCALE)
    weights = _rarities(question, ids, starts)
    nearness: npt.NDArray[np.float64] = np.average(nearest, axis=0, weights=weights)
    return nearness


def _rarities(
    question: TokenVectors, ids: npt.NDArray[np.int32], starts: Sequence[int]
) -> list[float]:
    """Weight each token of the question by how few texts have it."""
    question_ids = question.ids.astype(np.int32)
    texts_with = np.logical_or.reduceat(question_ids[:, None] == ids, starts, axis=1).sum(axis=1)
    rarities: list[float] = []
    for holders in texts_with.tolist():
        rarity = log((len(starts) + 1) / (holders + 0.5))
        rarities.append(max(rarity, LEAST_WEIGHT))
    return rarities


def answered(question: TokenVectors, texts: Sequence[TokenVectors]) -> npt.NDArray[np.float64]:
    """Return late interaction in reverse, about -1 to 1: the mean over a text's tokens of the
    nearest token of the question."""
    if not len(question.ids) or not texts:
        return np.zeros(len(texts))
    _, vectors, starts = laid_out(texts)
    nearest = _products(question.vectors, vectors).max(axis=0)
    sums = np.add.reduceat(nearest, starts, dtype=np.float64)
    lengths = np.array([max(1, len(text.ids)) for text in texts])
    nearness: npt.NDArray[np.float64] = sums / lengths / (SCALE * SCALE)
    return nearness


class _LaidOut(NamedTuple):
    """The tokens of all texts below each other; a text without any has a zero vector."""

    ids: npt.NDArray[np.int32]
    vectors: npt.NDArray[np.int8]
    starts: list[int]
    """Where each text begins."""


def laid_out(texts: Sequence[TokenVectors]) -> _LaidOut:
    parts: list[TokenVectors] = []
    starts: list[int] = []
    start = 0
    for text in texts:
        part = text if len(text.ids) else _NOTHING
        parts.append(part)
        starts.append(start)
        start += len(part.ids)
    ids = np.concatenate([part.ids for part in parts], dtype=np.int32)
    return _LaidOut(ids, np.concatenate([part.vectors for part in parts]), starts)


def _products(question: npt.NDArray[np.int8], vectors: npt.NDArray[np.int8]) -> States:
    """Multiply all pairs of vectors, shape (question, vectors). Integers below 2^24 are exact in
    float32 in any order; small pieces keep OpenBLAS from waking threads, which would cost ten times
    the work."""
    left = question.astype(np.float32)
    right = vectors.astype(np.float32)
    products = np.empty((len(left), len(right)), np.float32)
    step = max(1, AT_ONCE // left.size)
    for start in range(0, len(right), step):
        piece = slice(start, start + step)
        np.matmul(left, right[piece].T, out=products[:, piece])
    return products


def projection() -> States:
    """Load the projection, shape (384, DIMENSION)."""
    return np.asarray(np.load(SHIPPED), np.float32)
