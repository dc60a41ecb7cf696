"""Sentence chunking (`sentence`): as many whole sentences as fit, each chunk beginning with the
last ones of the chunk before, as far as the next sentence leaves room.

Tables are cut between rows and repeat their header."""

from collections.abc import Iterator

from ombud.documents.chunking.outline import ChunkBounds, Count, Embed
from ombud.documents.chunking.packing import Packer
from ombud.settings import IndexSettings
from ombud.types import Document


def cut(
    document: Document, settings: IndexSettings, count: Count, embed: Embed | None = None
) -> Iterator[ChunkBounds]:
    packer = Packer(document, settings.size, count)
    units = list(packer.units(0, len(document.text)))
    return packer.pack(units, settings.overlap)
