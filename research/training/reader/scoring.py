"""What a network makes of lists, and how often it is right."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import torch

from research.training.reader.fitting import read_rows, tokens_of_step
from research.training.reader.network import ReaderNetwork
from research.training.reader.rows import EncodedLists, ListReadings

BEST = 4
TIMES = 3
"""As many tokens are read at once as in so many steps of teaching, for nothing is kept of them."""


class ListScores(NamedTuple):
    first: float
    """Share of the lists with a piece that answers in which one is the best of all pieces."""
    best_four: float
    """The same, for one among the best four."""
    labelled: int
    """Lists with a piece that answers."""
    auc: float
    """The chance that the best passage of a question that is answered stands before the best one
    of a question that is not."""
    lists: int

    def told(self) -> str:
        return (
            f"a sentence that answers first {self.first:.3f}, among the best four "
            f"{self.best_four:.3f} (n {self.labelled}), AUC of the best passage {self.auc:.3f} "
            f"(n {self.lists})"
        )


@torch.no_grad()
def read_lists(network: ReaderNetwork, encoded: EncodedLists, lists: Sequence[int]) -> ListReadings:
    """Its readings of these lists, NaN for all others."""
    network.eval()
    answerable = np.full(len(encoded.answers), np.nan, np.float32)
    pieces = np.full(len(encoded.piece_answers), np.nan, np.float32)
    lengths = encoded.tokens
    rows = np.concatenate([encoded.rows_of(place) for place in np.unique(lists)])
    rows = rows[np.argsort(lengths[rows], kind="stable")]
    most = TIMES * tokens_of_step(network.device)
    starts = np.flatnonzero(np.diff(np.cumsum(lengths[rows]) // most)) + 1
    for some in np.split(rows, starts):
        read = read_rows(network, encoded, some)
        answerable[some] = read.answerable.cpu().numpy()
        of_pieces = read.pieces.masked_fill(~read.is_read, float("nan"))
        pieces[encoded.pieces_of(some)] = of_pieces.cpu().numpy()
    return ListReadings(answerable, pieces)


def scores_of(encoded: EncodedLists, readings: ListReadings, lists: Sequence[int]) -> ListScores:
    firsts: list[bool] = []
    best_fours: list[bool] = []
    passages: list[float] = []
    for place in lists:
        rows = encoded.rows_of(place)
        passages.append(float(readings.answerable[rows].max()))
        pieces = encoded.pieces_of(rows)
        answering = encoded.piece_answers[pieces] > 0
        if answering.any():
            logits = np.nan_to_num(readings.pieces[pieces], nan=-np.inf)
            ranked = answering[np.argsort(-logits, kind="stable")]
            firsts.append(bool(ranked[0]))
            best_fours.append(bool(ranked[:BEST].any()))
    return ListScores(
        first=float(np.mean(firsts)),
        best_four=float(np.mean(best_fours)),
        labelled=len(firsts),
        auc=_auc(np.array(passages), encoded.is_answered[list(lists)]),
        lists=len(passages),
    )


def _auc(values: Any, truth: Any) -> float:
    """Area under the curve, ties counted half: the rank-sum statistic of Mann and Whitney."""
    from scipy.stats import rankdata

    positives = int(truth.sum())
    negatives = len(truth) - positives
    if not positives or not negatives:
        return float("nan")
    ranks = rankdata(values)
    return float((ranks[truth].sum() - positives * (positives + 1) / 2) / (positives * negatives))
