"""Texts to vectors. Every embedder says who it is, so that an index is never searched with another
one's vectors."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from ombud.models.embed.late import TokenVectors
from ombud.registry import find, open_part
from ombud.settings import ModelSettings

Vectors = npt.NDArray[np.float32]


class EmbeddedText(NamedTuple):
    """A whole text."""

    windows: Vectors
    """Unit vectors, shape (windows, dimension); at least one."""
    tokens: TokenVectors | None = None
    """None: this embedder tells none apart."""


class Embedder(Protocol):
    """The protocol of embedders. An embedder counts as remote unless it has `remote = False`; one
    that treats questions and documents differently has `read_queries` beside `read`."""

    fingerprint: str
    """Changes whenever the vectors would."""
    dimension: int
    languages: frozenset[str] | None
    """Codes that it understands; None = all."""

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return unit vectors, shape (len(texts), dimension), of the beginning of each text that
        fits the window."""
        ...

    def read(self, texts: Sequence[str]) -> list[EmbeddedText]: ...

    def count(self, text: str) -> int:
        """Return the number of tokens of `text`, special ones left out."""
        ...


def open_embedder(settings: ModelSettings, cache: Path) -> Embedder | None:
    """Open the embedder of the settings; None for `none`. Raises MissingExtra if its model is not
    installed, UnknownName for an unknown name.

    cache: folder for built files if the user's own cache is not writable."""
    name = settings.embedder
    if name == "none":
        return None
    kind, colon, rest = name.partition(":")
    if colon and kind != "folder":
        embedder: Embedder = find("embedder", "provider", SHAPES)(
            name,
            settings.base_url,
            prefixes=settings.embedder_prefixes,
            query_seconds=settings.step_seconds,
            document_seconds=settings.timeout_seconds,
            cache=cache,
        )
        return embedder
    if colon or "/" in name or (name not in EMBEDDERS and Path(name).is_dir()):
        return _open("folder", SHAPES, str(Path(rest or name).expanduser()), settings.threads)
    return _open(name, EMBEDDERS, cache, settings.threads)


def _open(name: str, openers: Mapping[str, str], *arguments: object) -> Embedder:
    needs = ("fingerprint", "dimension", "embed", "read", "count")
    embedder: Embedder = open_part("embedder", name, openers, *arguments, needs=needs)
    return embedder


EMBEDDERS = {"minilm": "ombud.models.embed.minilm:open_minilm"}
SHAPES = {
    "folder": "ombud.models.embed.minilm:open_folder",
    "provider": "ombud.models.embed.provider:ProviderEmbedder",
}
"""What `folder:PATH` (or a path alone) and `provider:model` open."""
