"""Readings remembered: the steps of one question read the same words, and many questions meet the
same passages."""

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from hashlib import sha256
from threading import Lock

import numpy as np

from ombud.models.embed.embedder import EmbeddedText, Embedder, Vectors
from ombud.models.embed.late import TokenVectors

MOST = 20_000
"""Texts kept, the latest used: 60 MB of 384 dimensions and twenty tokens each. Five passages are
about fifty sentences. """
LONGEST = 1000
"""Characters of a text that is kept; chunks on their way into an index are longer, and read
once."""


class CachingEmbedder:
    """An embedder beside which nothing of a text is kept but its digest and what was read; safe to
    use from threads."""

    def __init__(self, embedder: Embedder, most: int = MOST) -> None:
        self._embedder, self._most = embedder, most
        self.fingerprint, self.dimension, self.languages = (
            embedder.fingerprint,
            embedder.dimension,
            embedder.languages,
        )
        self._kept: OrderedDict[bytes, EmbeddedText] = OrderedDict()
        self._lock = Lock()

    def embed(self, texts: Sequence[str]) -> Vectors:
        if any(
            len(text) > LONGEST for text in texts
        ):  # only their beginnings count, the rest need not be read
            return self._embedder.embed(texts)
        return (
            np.stack([r.windows[0] for r in self.read(texts)])
            if texts
            else self._embedder.embed([])
        )

    def read(self, texts: Sequence[str]) -> list[EmbeddedText]:
        keys = [sha256(text.encode("utf-8", "surrogatepass")).digest() for text in texts]
        with self._lock:
            known = {key: self._kept[key] for key in keys if key in self._kept}
        new = {key: text for key, text in zip(keys, texts, strict=True) if key not in known}
        if new:
            found = dict(zip(new, self._embedder.read(list(new.values())), strict=True))
            known |= {
                key: _own(reading) if len(new[key]) <= LONGEST else reading
                for key, reading in found.items()
            }
        self._keep(
            {k: known[k] for k, text in zip(keys, texts, strict=True) if len(text) <= LONGEST}
        )
        return [known[key] for key in keys]

    def count(self, text: str) -> int:
        return self._embedder.count(text)

    def _keep(self, readings: Mapping[bytes, EmbeddedText]) -> None:
        with self._lock:
            for key, reading in readings.items():
                self._kept[key] = reading
                self._kept.move_to_end(key)
            while len(self._kept) > self._most:
                self._kept.popitem(last=False)


def _own(reading: EmbeddedText) -> EmbeddedText:
    """A copy: parts would hold on to the whole arrays that they were cut from."""
    tokens = (
        TokenVectors(reading.tokens.ids.copy(), reading.tokens.vectors.copy())
        if reading.tokens
        else None
    )
    return EmbeddedText(reading.windows.copy(), tokens)
