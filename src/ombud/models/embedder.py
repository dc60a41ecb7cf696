"""Texts to vectors. Every embedder says who it is, so that an index is never searched with another one's vectors."""

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

import numpy as np
import numpy.typing as npt

from ombud.registry import find
from ombud.settings import Models

Vectors = npt.NDArray[np.float32]


class Embedder(Protocol):
    fingerprint: str
    """Changes whenever the vectors would."""
    dimension: int
    languages: frozenset[str] | None
    """Codes that it understands; None = all."""

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Unit vectors, shape (len(texts), dimension), of each text's beginning that fits the window."""
        ...

    def windows(self, texts: Sequence[str]) -> list[Vectors]:
        """Unit vectors of whole texts: per text, shape (windows, dimension); at least one window each."""
        ...

    def count(self, text: str) -> int:
        """Tokens of `text`, special tokens left out."""
        ...


def open_embedder(settings: Models, cache: Path) -> Embedder | None:
    """The embedder that the settings name; None for `none`.

    cache: folder for files built once, used when the user's own cache cannot be written.
    Raises SetupError when its model is not installed, UnknownName for a name nobody knows.
    """
    name = settings.embedder
    if name == "none":
        return None
    if ":" in name:
        kind, _, rest = name.partition(":")
        return _open("provider", name) if kind != "folder" else _open("folder", rest)
    if "/" in name or Path(name).is_dir():
        return _open("folder", str(Path(name).expanduser()), settings.threads)
    found: Embedder = find("embedder", name, EMBEDDERS)(cache, settings.threads)
    return found


def _open(kind: str, *arguments: object) -> Embedder:
    found: Embedder = find("embedder", kind, EMBEDDERS)(*arguments)
    return found


EMBEDDERS = {
    "minilm": "ombud.models.minilm:open_minilm",
    "folder": "ombud.models.minilm:open_folder",
    "provider": "ombud.models.provider:ProviderEmbedder",
}
