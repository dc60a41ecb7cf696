"""Vectors remembered: the steps of one question embed the same words, and many questions meet the same passages."""

from collections import OrderedDict
from collections.abc import Sequence
from hashlib import sha256
from threading import Lock

import numpy as np

from ombud.models.embedder import Embedder, Vectors

MOST = 20_000
"""Vectors kept, the latest used: 35 MB of 384 dimensions. Five passages are about fifty sentences."""


class Remembering:
    """An embedder beside which nothing of a text is kept but its digest and its vector; safe to use from threads."""

    def __init__(self, embedder: Embedder, most: int = MOST) -> None:
        self._embedder, self._most = embedder, most
        self.fingerprint, self.dimension, self.languages = embedder.fingerprint, embedder.dimension, embedder.languages
        self._kept: OrderedDict[bytes, Vectors] = OrderedDict()
        self._lock = Lock()

    def embed(self, texts: Sequence[str]) -> Vectors:
        keys = [sha256(text.encode("utf-8", "surrogatepass")).digest() for text in texts]
        with self._lock:
            known = {key: self._kept[key] for key in keys if key in self._kept}
        new = {key: text for key, text in zip(keys, texts, strict=True) if key not in known}
        if new:
            vectors = self._embedder.embed(list(new.values()))
            # Copies: a row would hold on to the whole array.
            known |= {key: vector.copy() for key, vector in zip(new, vectors, strict=True)}
        with self._lock:
            for key in keys:
                self._kept[key] = known[key]
                self._kept.move_to_end(key)
            while len(self._kept) > self._most:
                self._kept.popitem(last=False)
        return np.stack([known[key] for key in keys]) if keys else self._embedder.embed([])

    def windows(self, texts: Sequence[str]) -> list[Vectors]:
        return self._embedder.windows(texts)

    def count(self, text: str) -> int:
        return self._embedder.count(text)
