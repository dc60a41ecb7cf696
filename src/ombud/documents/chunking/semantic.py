"""The chunker `semantic`: cuts where the text turns to something else, by the embedder.

At each border between two sentences the `window` sentences before it and after it are embedded;
where their cosine distance is above the given percentile of all such distances of the document, the
text is cut, unless fewer than `min_sentences` sentences are gathered. A heading always begins a
chunk (headings right below each other begin one together), and windows do not look over it. What is
longer than a chunk may be is cut between sentences."""

from collections.abc import Iterator, Sequence
from itertools import chain, islice

import numpy as np

from ombud.documents.chunking.outline import ChunkBounds, Count, Embed
from ombud.documents.chunking.packing import Packer, Unit
from ombud.errors import BadSetting
from ombud.settings import IndexSettings
from ombud.types import Document

Span = tuple[int, int]
"""Where a window begins and ends in the document's text."""
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
    bodies = [body for _, body in groups]
    distances = _distances(bodies, document.text, settings.window, embed)
    threshold = _threshold(distances, settings.percentile)
    for (headings, body), body_distances in zip(groups, distances, strict=True):
        begin = 0
        lead = headings
        for border, distance in enumerate(body_distances, start=1):
            if distance > threshold and border - begin >= settings.min_sentences:
                yield from packer.piece([*lead, *body[begin:border]])
                begin = border
                lead = []
        yield from packer.piece([*lead, *body[begin:]])


def _groups(units: Iterator[Unit]) -> Iterator[tuple[list[Unit], list[Unit]]]:
    """(headings, what stands below them)."""
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


def _threshold(distances: list[list[float]], percentile: float) -> float:
    """The distance that the given percentile of all borders stay below."""
    every_distance = list(chain.from_iterable(distances))
    if not every_distance:
        return 0.0
    return float(np.percentile(every_distance, percentile))


def _distances(
    bodies: Sequence[Sequence[Unit]], text: str, window: int, embed: Embed
) -> list[list[float]]:
    """For each body the distances at its borders, the first of them after its first sentence."""
    borders: list[tuple[Span, Span]] = []
    for body in bodies:
        borders += _borders(body, window)
    if not borders:
        return [[] for _ in bodies]
    # A window stands after one border and before another: it is embedded once.
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


def _borders(body: Sequence[Unit], window: int) -> Iterator[tuple[Span, Span]]:
    """The windows before and after each border of a body."""
    for border in range(1, len(body)):
        before = body[max(0, border - window) : border]
        after = body[border : border + window]
        yield _span(before), _span(after)


def _span(units: Sequence[Unit]) -> Span:
    return units[0].start, units[-1].end
