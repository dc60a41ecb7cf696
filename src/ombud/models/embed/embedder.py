"""Texts to vectors. Every embedder says who it is, so that an index is never searched with another
one's vectors."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from ombud.models.embed.late import TokenVectors
from ombud.registry import find
from ombud.settings import ModelSettings

Vectors = npt.NDArray[np.float32]


class EmbeddedText(NamedTuple):
    """A whole text."""

    windows: Vectors
    """Unit vectors, shape (windows, dimension); at least one."""
    tokens: TokenVectors | None = None
    """None: this embedder tells none apart."""


class Embedder(Protocol):
    """One whose texts do not leave this machine says so: `remote = False`; any other counts as
    remote."""

    fingerprint: str
    """Changes whenever the vectors would."""
    dimension: int
    languages: frozenset[str] | None
    """Codes that it understands; None = all."""

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Unit vectors, shape (len(texts), dimension), of each text's beginning that fits the
        window."""
        ...

    def read(self, texts: Sequence[str]) -> list[EmbeddedText]: ...

    def count(self, text: str) -> int:
        """Tokens of `text`, special tokens left out."""
        ...


def open_embedder(settings: ModelSettings, cache: Path) -> Embedder | None:
    """The embedder that the settings name; None for `none`.

    cache: folder for files built once, used when the user's own cache cannot be written.
    Raises MissingExtra when its model is not installed, UnknownName for a name nobody knows.
    """
    name = settings.embedder
    if name == "none":
        return None
    kind, colon, rest = name.partition(":")
    if colon and kind != "folder":
        return _open("provider", SHAPES, name, settings.base_url)
    if colon or "/" in name or (name not in EMBEDDERS and Path(name).is_dir()):
        return _open("folder", SHAPES, str(Path(rest or name).expanduser()), settings.threads)
    return _open(name, EMBEDDERS, cache, settings.threads)


def _open(name: str, known: Mapping[str, str], *arguments: object) -> Embedder:
    found: Embedder = find("embedder", name, known)(*arguments)
    return found


EMBEDDERS = {"minilm": "ombud.models.embed.minilm:open_minilm"}
SHAPES = {
    "folder": "ombud.models.embed.minilm:open_folder",
    "provider": "ombud.models.embed.provider:ProviderEmbedder",
}
"""What `folder:PATH` (or a path alone) and `provider:model` open."""
