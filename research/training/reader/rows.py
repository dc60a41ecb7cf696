"""Lists as tokens: a row of each passage beside its question, all rows one after the other."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ombud.models import encode
from research.training.reader.lists import ListedPassage, ReadingList
from research.training.reader.pretrained import Pretrained

Whole = npt.NDArray[np.int64]
Numbers = npt.NDArray[np.float32]


class EncodedLists(NamedTuple):
    """Of n lists: r rows, p pieces, t tokens in all."""

    first_rows: Whole
    """(n + 1,) of each list, and how many there are."""
    first_tokens: Whole
    """(r + 1,) of each row."""
    first_pieces: Whole
    """(r + 1,) of each row."""
    ids: npt.NDArray[np.int32]
    """(t,)"""
    pieces: npt.NDArray[np.int16]
    """(t,) place of each token's piece in its passage, -1 where it is of none."""
    asked: Whole
    """(r,) tokens up to the first mark behind the question."""
    answers: Numbers
    """(r,) 1 where the passage answers."""
    weights: Numbers
    """(r,) how much a row counts."""
    stays: npt.NDArray[np.bool_]
    """(r,) kept where a list is cut."""
    piece_answers: Numbers
    """(p,) 1 where the piece answers."""
    is_answered: npt.NDArray[np.bool_]
    """(n,)"""

    @property
    def tokens(self) -> Whole:
        """(r,) how many each row has."""
        return np.diff(self.first_tokens)

    @property
    def piece_counts(self) -> Whole:
        """(r,) how many pieces each row has, those that were cut off too."""
        return np.diff(self.first_pieces)

    def rows_of(self, place: int) -> Whole:
        """Of a list."""
        return np.arange(self.first_rows[place], self.first_rows[place + 1])

    def pieces_of(self, rows: Whole) -> Whole:
        """Places of the pieces of these rows among all pieces, row by row."""
        parts = [np.arange(self.first_pieces[row], self.first_pieces[row + 1]) for row in rows]
        return np.concatenate(parts)


class ListReadings(NamedTuple):
    """What a network says of all rows; NaN where it did not read."""

    answerable: Numbers
    """(r,) logits that the passage answers."""
    pieces: Numbers
    """(p,) logits of each piece that it answers; NaN where it was cut off, too."""


class _Labels(NamedTuple):
    """Of a row."""

    answers: bool
    weight: float
    stays: bool
    pieces: Numbers
    """1 where a piece answers."""


class _Row(NamedTuple):
    ids: npt.NDArray[np.int32]
    pieces: npt.NDArray[np.int16]
    asked: int


def encode_lists(lists: Sequence[ReadingList], pretrained: Pretrained) -> EncodedLists:
    """The tokens of `lists` as `ombud.models.encode` lays them out for the product."""
    rows: list[_Row] = []
    labels: list[_Labels] = []
    for one in lists:
        for passage in one.passages:
            rows.append(_row(one.question, passage, pretrained))
            labels.append(_labels(passage))
    ids, pieces, asked = zip(*rows, strict=True)
    answers, weights, stays, piece_answers = zip(*labels, strict=True)
    return EncodedLists(
        first_rows=_starts([len(one.passages) for one in lists]),
        first_tokens=_starts(list(map(len, ids))),
        first_pieces=_starts(list(map(len, piece_answers))),
        ids=np.concatenate(ids),
        pieces=np.concatenate(pieces),
        asked=np.array(asked),
        answers=np.array(answers, np.float32),
        weights=np.array(weights, np.float32),
        stays=np.array(stays),
        piece_answers=np.concatenate(piece_answers),
        is_answered=np.array([one.is_answered for one in lists]),
    )


def _labels(passage: ListedPassage) -> _Labels:
    pieces = np.zeros(len(passage.pieces), np.float32)
    pieces[list(passage.answering)] = 1
    answers = bool(passage.answering)
    return _Labels(answers, passage.weight, answers or passage.stays, pieces)


def _row(question: str, passage: ListedPassage, pretrained: Pretrained) -> _Row:
    """With the network's own marks in place of those of MiniLM."""
    encoded = encode(pretrained.tokenizer, question, passage.heading, passage.pieces)
    ids = np.array(encoded.ids, np.int32)
    asked = len(ids) - sum(encoded.kinds)
    ids[0] = pretrained.begin
    ids[[asked - 1, -1]] = pretrained.end
    return _Row(ids, np.array(encoded.pieces, np.int16), asked)


def _starts(counts: Sequence[int]) -> Whole:
    """Where each run begins, and where the last one ends."""
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
