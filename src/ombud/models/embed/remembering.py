"""Cache of embeddings: the steps of one question embed the same words, and many questions meet the
same passages."""

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Sequence
from hashlib import sha256
from threading import Lock
from typing import TypeVar

import numpy as np

from ombud.models.embed.embedder import EmbeddedText, Embedder, Vectors
from ombud.models.embed.late import TokenVectors
from ombud.models.remote import is_remote, route_of_part

Result = TypeVar("Result")
MOST = 20_000
"""Texts kept, the latest used: 60 MB of 384 dimensions and twenty tokens each. Five passages are
about fifty sentences. """
LONGEST = 1000
"""Characters of a text that is kept; chunks on their way into an index are longer, and read
once."""


class CachingEmbedder:
    """An embedder with an embedding cache in memory, safe to use from threads. Of a text it keeps
    only the digest and the vectors."""

    def __init__(self, embedder: Embedder, most: int = MOST) -> None:
        self._embedder = embedder
        self._most = most
        self.fingerprint = embedder.fingerprint
        self.dimension = embedder.dimension
        self.languages = embedder.languages
        self.remote = is_remote(embedder)
        self.route = route_of_part(embedder)
        self._kept: OrderedDict[bytes, EmbeddedText] = OrderedDict()
        self._lock = Lock()

    def embed(self, texts: Sequence[str]) -> Vectors:
        # Of long texts only the beginnings count, the rest need not be read.
        if not texts or any(len(text) > LONGEST for text in texts):
            return self._embedder.embed(texts)
        return np.stack([reading.windows[0] for reading in self.read(texts)])

    def read(self, texts: Sequence[str]) -> list[EmbeddedText]:
        return self._read(texts, list(map(_digest, texts)), self._embedder.read)

    def read_queries(self, texts: Sequence[str]) -> list[EmbeddedText]:
        """Read texts as what is searched for, where that is not the same as a document."""
        embed_queries = getattr(self._embedder, "read_queries", None)
        if embed_queries is None:
            return self.read(texts)
        keys = [_digest(f"query: {text}") for text in texts]
        return self._read(texts, keys, embed_queries)

    def _read(
        self,
        texts: Sequence[str],
        keys: Sequence[bytes],
        embed: Callable[[Sequence[str]], list[EmbeddedText]],
    ) -> list[EmbeddedText]:
        with self._lock:
            readings = {key: self._kept[key] for key in keys if key in self._kept}
        new_texts: dict[bytes, str] = {}
        for key, text in zip(keys, texts, strict=True):
            if key not in readings:
                new_texts[key] = text
        if new_texts:
            new_readings = embed(list(new_texts.values()))
            for key, reading in zip(new_texts, new_readings, strict=True):
                is_cacheable = len(new_texts[key]) <= LONGEST
                readings[key] = _own(reading) if is_cacheable else reading
        with self._lock:
            for key, text in zip(keys, texts, strict=True):
                if len(text) <= LONGEST:
                    self._kept[key] = readings[key]
                    self._kept.move_to_end(key)
            while len(self._kept) > self._most:
                self._kept.popitem(last=False)
        return [readings[key] for key in keys]

    def remembers(self, texts: Sequence[str]) -> bool:
        """Tell whether all texts are cached, so that no model is needed."""
        keys = list(map(_digest, texts))
        with self._lock:
            return all(key in self._kept for key in keys)

    def count(self, text: str) -> int:
        return self._embedder.count(text)


async def beside(
    embedder: Embedder | None, texts: Sequence[str], work: Callable[[], Result]
) -> Result:
    """Run `work` on the texts in a thread if a model is needed; on cached texts a thread switch
    would take longer."""
    if embedder is None or (isinstance(embedder, CachingEmbedder) and embedder.remembers(texts)):
        return work()
    return await asyncio.to_thread(work)


def _own(reading: EmbeddedText) -> EmbeddedText:
    """Copy a slice, which would keep the whole array in memory."""
    tokens = reading.tokens
    if tokens:
        tokens = TokenVectors(tokens.ids.copy(), tokens.vectors.copy())
    return EmbeddedText(reading.windows.copy(), tokens)


def _digest(text: str) -> bytes:
    return sha256(text.encode("utf-8", "surrogatepass")).digest()
