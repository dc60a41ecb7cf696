"""The chunker `semantic`: cuts where the text turns to something else, by the embedder.

At each border between two sentences the `window` sentences before it and after it are embedded;
where their cosine distance is above the given percentile of all such distances of the document, the
text is cut, unless fewer than `min_sentences` sentences are gathered. A heading always begins a
chunk (headings right below each other begin one together), and windows do not look over it. What is
longer than a chunk may be is cut between sentences."""

from collections.abc import Iterator, Sequence

import numpy as np

from ombud.documents.chunking.packing import Packer, Unit
from ombud.documents.outline import ChunkBounds, Count, Embed
from ombud.errors import BadSetting
from ombud.settings import IndexSettings
from ombud.types import Document

_DIGITS = 6
"""Of a distance; what is beyond differs between machines."""


def cut(
    document: Document, settings: IndexSettings, count: Count, embed: Embed | None = None
) -> Iterator[ChunkBounds]:
    """Raises BadSetting without an embedder."""
    if embed is None:
        raise BadSetting(
            "The chunker `semantic` needs an embedding model, and models.embedder is `none`.",
            hint="Set models.embedder, or index.chunker to another one.",
        )
    packer = Packer(document, settings.size, count)
    groups = list(_groups(packer.units(0, len(document.text))))
    found = _distances([body for _, body in groups], document.text, settings.window, embed)
    every = [distance for distances in found for distance in distances]
    limit = float(np.percentile(every, settings.percentile)) if every else 0.0
    for (headings, body), distances in zip(groups, found, strict=True):
        begin, lead = 0, headings
        for border, distance in enumerate(distances, start=1):
            if distance > limit and border - begin >= settings.min_sentences:
                yield from packer.piece([*lead, *body[begin:border]])
                begin, lead = border, []
        yield from packer.piece([*lead, *body[begin:]])


def _groups(units: Iterator[Unit]) -> Iterator[tuple[list[Unit], list[Unit]]]:
    """(headings, what stands below them)."""
    headings: list[Unit] = []
    body: list[Unit] = []
    for unit in units:
        if unit.heading and body:
            yield headings, body
            headings, body = [], []
        (headings if unit.heading else body).append(unit)
    yield headings, body


def _distances(
    bodies: Sequence[Sequence[Unit]], text: str, window: int, embed: Embed
) -> list[list[float]]:
    """For each body the distances at its borders, the first of them after its first sentence."""
    borders: list[tuple[tuple[int, int], tuple[int, int]]] = []
    for body in bodies:
        for border in range(1, len(body)):
            before = body[max(0, border - window)].start, body[border - 1].end
            after = body[border].start, body[min(len(body), border + window) - 1].end
            borders.append((before, after))
    # A window stands after one border and before another: it is embedded once.
    spans = list(dict.fromkeys(span for pair in borders for span in pair))
    if not spans:
        return [[] for _ in bodies]
    row = {span: number for number, span in enumerate(spans)}
    vectors = np.asarray(embed([text[start:end] for start, end in spans]), np.float32)
    left, right = (vectors[[row[pair[side]] for pair in borders]] for side in (0, 1))
    flat = iter(np.round(1 - np.einsum("ij,ij->i", left, right), _DIGITS).tolist())
    return [[next(flat) for _ in range(len(body) - 1)] for body in bodies]
