"""The chunker `sentence`: as many whole sentences as fit, each chunk beginning with the last ones of the chunk before.

Where the next sentence leaves no room for them, fewer are repeated. Tables are cut between rows and repeat their
header.
"""

from collections.abc import Iterator

from ombud.documents.outline import Count, Cut, Embed
from ombud.documents.packing import Packer
from ombud.settings import Index
from ombud.types import Document


def cut(document: Document, settings: Index, count: Count, embed: Embed | None = None) -> Iterator[Cut]:
    packer = Packer(document, settings.size, count)
    return packer.pack(list(packer.units(0, len(document.text))), settings.overlap)
