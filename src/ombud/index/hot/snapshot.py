"""One version of an index in memory, searched without waiting."""

import json
from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any, NamedTuple, get_args

import numpy as np
import numpy.typing as npt

from ombud.index.engine import Leg, Row, Stats, Vector
from ombud.index.hot.postings import Postings, Scores
from ombud.index.hot.vectors import VectorTable, reached_by
from ombud.index.visibility import Filter, is_open_to
from ombud.types import Audience, Chunk, Mode, Status

EARLIEST, LATEST = date.min.toordinal(), date.max.toordinal()
"""Stand-ins for missing days."""
STATUSES: Sequence[Status] = get_args(Status)
MIN_SCORE = float(np.finfo(np.float32).tiny)
"""Least score of a passage with a term of the question: the weight of each term is above 0."""
MAX_MASKS = 64
"""Filters whose visible passages are cached: people of one country and role share one."""
MAX_PARSED = 20_000
"""Passages that are cached as records beside their JSON."""
Mask = npt.NDArray[np.bool_]


class SnapshotRow(NamedTuple):
    """The parts of a row that a snapshot needs."""

    id: str
    json: bytes
    terms: str
    tokens: bytes | None
    vectors: Vector | None
    facts: tuple[int, int, int, int, int]
    """Numbers of the readers, the source and the status, first and last day."""


class SnapshotBuilder:
    """Collects the rows of a snapshot in any order, each reduced to what a search needs."""

    def __init__(self) -> None:
        self.readers: dict[tuple[tuple[str, ...], str], int] = {}
        self.audiences: list[tuple[Sequence[str], Audience]] = []
        self.sources: dict[str, int] = {}
        self.rows: list[SnapshotRow] = []

    def add(self, row: Row) -> None:
        chunk = row.chunk
        facts = (
            self._reader(chunk),
            self.sources.setdefault(row.source, len(self.sources)),
            STATUSES.index(chunk.status),
            chunk.effective_from.toordinal() if chunk.effective_from else EARLIEST,
            chunk.effective_to.toordinal() if chunk.effective_to else LATEST,
        )
        self.rows.append(
            SnapshotRow(
                id=chunk.id,
                json=chunk.model_dump_json().encode(),
                terms=row.terms,
                tokens=row.tokens,
                vectors=row.vectors,
                facts=facts,
            )
        )

    def _reader(self, chunk: Chunk) -> int:
        key = chunk.countries, repr(sorted(chunk.audience.items()))
        number = self.readers.setdefault(key, len(self.readers))
        if number == len(self.audiences):
            self.audiences.append((chunk.countries, chunk.audience))
        return number


class HotSnapshot:
    """All passages of one version, in the order of their ids, which decide ties."""

    def __init__(self, version: str, built: SnapshotBuilder) -> None:
        rows = sorted(built.rows, key=lambda row: row.id)
        self.version = version
        self.ids = [row.id for row in rows]
        self._places = {identity: place for place, identity in enumerate(self.ids)}
        self._json = [row.json for row in rows]
        self._tokens = [row.tokens for row in rows]
        self._parsed: dict[int, Chunk] = {}
        self._audiences = built.audiences
        self._sources = built.sources
        self._facts = np.array([row.facts for row in rows], np.int32).reshape(-1, 5).T.copy()
        self._masks: dict[str, Mask] = {}
        self._postings = Postings(row.terms for row in rows)
        self._vectors = vector_table(rows)

    @property
    def bytes(self) -> int:
        """Approximate bytes in memory."""
        size = sum(map(len, self._json)) + sum(len(one) for one in self._tokens if one)
        size += self._postings.bytes + self._facts.nbytes + 300 * len(self.ids)
        return size + (self._vectors.bytes if self._vectors else 0)

    def search(
        self, text: str, vector: Vector | None, where: Filter, k: int, mode: Mode
    ) -> tuple[Leg, ...]:
        """Search as `Engine.search` does, exactly."""
        visible = self._visible(where)
        if not visible.any():
            return ()
        legs: list[Leg] = []
        if text and mode != "dense":
            scores = self._postings.scores(text) * visible
            least = max(reached_by(scores, k), MIN_SCORE)
            legs.append(self._leg("sparse", np.flatnonzero(scores >= least), scores, k))
        if vector is not None and self._vectors is not None and mode != "sparse":
            places, cosines = self._vectors.best(vector, visible, k)
            scores = np.zeros(len(self.ids), np.float32)
            scores[places] = cosines
            legs.append(self._leg("dense", places, scores, k))
        return tuple(legs)

    def get(self, chunks: Sequence[str]) -> dict[str, Chunk]:
        by_id: dict[str, Chunk] = {}
        for identity in chunks:
            place = self._places.get(identity)
            if place is not None:
                by_id[identity] = self._chunk(place)
        return by_id

    def read(self, chunk: str) -> Chunk:
        """Parse a chunk without caching it, for callers that go through all of them."""
        return Chunk.model_validate_json(self._json[self._places[chunk]])

    def vectors(self, chunks: Sequence[str]) -> dict[str, Vector]:
        by_id: dict[str, Vector] = {}
        for identity in chunks:
            place = self._places.get(identity)
            windows = None
            if place is not None and self._vectors is not None:
                windows = self._vectors.windows_of(place)
            if windows is not None:
                by_id[identity] = windows
        return by_id

    def stats(self, terms: Sequence[str]) -> Stats:
        holders: Mapping[str, int] = {term: self._postings.holders(term) for term in terms}
        return Stats(len(self.ids), holders)

    def count_containing(self, phrases: Sequence[str]) -> int:
        """Count the passages that contain one of the phrases."""
        forms = [json.dumps(phrase, ensure_ascii=False)[1:-1].encode() for phrase in phrases]
        count = 0
        for text in self._json:
            count += any(form in text for form in forms)
        return count

    def _leg(self, name: str, places: npt.NDArray[Any], scores: Scores, k: int) -> Leg:
        """Rank passages; of equal ones the first id wins. places: those that may be among the best
        k."""
        if len(places) > k:
            own = scores[places]
            places = places[own >= np.partition(own, -k)[-k]]
        order = np.argsort(-scores[places], kind="stable")[:k]
        hits: list[tuple[Chunk, float]] = []
        tokens: dict[str, bytes] = {}
        for place in places[order].tolist():
            hits.append((self._chunk(place), float(scores[place])))
            packed = self._tokens[place]
            if packed is not None:
                tokens[self.ids[place]] = packed
        return Leg(name, tuple(hits), tokens)

    def _chunk(self, place: int) -> Chunk:
        chunk = self._parsed.get(place)
        if chunk is None:
            if len(self._parsed) >= MAX_PARSED:
                self._parsed.clear()
            chunk = Chunk.model_validate_json(self._json[place])
            self._parsed[place] = chunk
        return chunk

    def _visible(self, where: Filter) -> Mask:
        key = where.model_dump_json()
        mask = self._masks.get(key)
        if mask is None:
            if len(self._masks) >= MAX_MASKS:
                self._masks.clear()
            mask = self._masks[key] = self._mask(where)
        return mask

    def _mask(self, where: Filter) -> Mask:
        readers, sources, statuses, first_days, last_days = self._facts
        opened: list[bool] = []
        for countries, audience in self._audiences:
            opened.append(is_open_to(countries, audience, where))
        mask: Mask = np.array(opened, bool)[readers] if opened else np.zeros(0, bool)
        mask &= np.isin(statuses, [STATUSES.index(status) for status in where.status])
        if where.as_of:
            day = where.as_of.toordinal()
            mask &= (first_days <= day) & (last_days >= day)
        if where.sources:
            wanted = [self._sources[name] for name in where.sources if name in self._sources]
            mask &= np.isin(sources, wanted)
        return mask


def vector_table(rows: Sequence[SnapshotRow]) -> VectorTable | None:
    """Make the table of all vectors; None if there are none."""
    owners: list[int] = []
    windows: list[Vector] = []
    for place, row in enumerate(rows):
        if row.vectors is not None and len(row.vectors):
            windows.append(row.vectors)
            owners += [place] * len(row.vectors)
    if not windows:
        return None
    return VectorTable(np.concatenate(windows).astype(np.float32, copy=False), owners)
