"""Semantic chunking (`semantic`): cuts where the subject changes, judged by the embedder.

At each border between two sentences the `window` sentences before and after it are embedded. The
text is cut where their cosine distance is above the given percentile of all distances in the
document, unless the chunk would have fewer than `min_sentences` sentences. A heading always begins
a chunk (consecutive headings begin one together), and windows do not cross it. Pieces that are too
long for a chunk are cut between sentences."""

from collections.abc import Iterator, Sequence
from itertools import chain, islice

import numpy as np

from ombud.documents.chunking.outline import ChunkBounds, Count, Embed
from ombud.documents.chunking.packing import Packer, Unit
from ombud.errors import BadSetting
from ombud.settings import IndexSettings
from ombud.types import Document

Span = tuple[int, int]
"""Start and end of a window in the document's text."""
_DIGITS = 6
"""Digits of a distance; further ones differ between machines."""


def cut(
    document: Document, settings: IndexSettings, count: Count, embed: Embed | None = None
) -> Iterator[ChunkBounds]:
    """Yield chunks; raises BadSetting without an embedder."""
    if embed is None:
        raise BadSetting(
            "The chunker `semantic` needs an embedding model, and models.embedder is `none`.",
            hint="Set models.embedder, or index.chunker to another one.",
        )
    packer = Packer(document, settings.size, count)
    groups = list(group_by_headings(packer.units(0, len(document.text))))
    bodies = [body for _, body in groups]
    distances = border_distances(bodies, document.text, settings.window, embed)
    threshold = distance_threshold(distances, settings.percentile)
    for (headings, body), body_distances in zip(groups, distances, strict=True):
        begin = 0
        lead = headings
        for border, distance in enumerate(body_distances, start=1):
            if distance > threshold and border - begin >= settings.min_sentences:
                yield from packer.piece([*lead, *body[begin:border]])
                begin = border
                lead = []
        yield from packer.piece([*lead, *body[begin:]])


def group_by_headings(units: Iterator[Unit]) -> Iterator[tuple[list[Unit], list[Unit]]]:
    """Yield (headings, units below them)."""
    headings: list[Unit] = []
    body: list[Unit] = []
    for unit in units:
        if not unit.heading:
            body.append(unit)
            continue
        if body:
            yield headings, body
            headings = []
            body = []
        headings.append(unit)
    yield headings, body


def distance_threshold(distances: list[list[float]], percentile: float) -> float:
    """Return the percentile of all distances."""
    every_distance = list(chain.from_iterable(distances))
    if not every_distance:
        return 0.0
    return float(np.percentile(every_distance, percentile))


def border_distances(
    bodies: Sequence[Sequence[Unit]], text: str, window: int, embed: Embed
) -> list[list[float]]:
    """Compute the distances at the borders of each body."""
    borders: list[tuple[Span, Span]] = []
    for body in bodies:
        borders += border_windows(body, window)
    if not borders:
        return [[] for _ in bodies]
    # A window follows one border and precedes another: it is embedded once.
    spans = list(dict.fromkeys(chain.from_iterable(borders)))
    texts = [text[start:end] for start, end in spans]
    vectors = np.asarray(embed(texts), np.float32)
    row_of = {span: row for row, span in enumerate(spans)}
    before, after = zip(*borders, strict=True)
    similarities = np.einsum(
        "ij,ij->i",
        vectors[[row_of[span] for span in before]],
        vectors[[row_of[span] for span in after]],
    )
    distances = iter(np.round(1 - similarities, _DIGITS).tolist())
    by_body = []
    for body in bodies:
        inner_borders = max(0, len(body) - 1)
        by_body.append(list(islice(distances, inner_borders)))
    return by_body


def border_windows(body: Sequence[Unit], window: int) -> Iterator[tuple[Span, Span]]:
    """Yield the windows before and after each border of a body."""
    for border in range(1, len(body)):
        before = body[max(0, border - window) : border]
        after = body[border : border + window]
        yield (before[0].start, before[-1].end), (after[0].start, after[-1].end)
