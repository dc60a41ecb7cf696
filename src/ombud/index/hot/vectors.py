"""Vectors of all passages in memory, compared at once: eight-bit numbers first, then exactly those
that may be among the best."""

import math
from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from ombud.index.engine import Vector

EXACT_BELOW = 4_000
"""Windows that are compared exactly at once."""
GROUP = 32
"""Scores of which one is looked at when the best are told apart."""
_MIDDLE = 64
"""Of the question's seven bits, unsigned: with eight of the passages no sum of two products
overflows sixteen, whatever the processor adds them with."""
_FINER = 2 * (_MIDDLE - 1)
"""Steps of the question's second row in one of its first."""

Cosines = npt.NDArray[np.float32]


class VectorTable:
    """Windows of the passages, those of one passage side by side.

    windows: shape (windows, dimension), unit vectors. owners: number of each one's passage,
    ascending."""

    def __init__(self, windows: Vector, owners: Sequence[int]) -> None:
        self._windows = windows
        owner_of = np.asarray(owners, np.int64)
        self._passages, self._starts = np.unique(owner_of, return_index=True)
        self._ends = np.append(self._starts[1:], len(owner_of))
        self._rough = RoughTable(windows) if len(windows) >= EXACT_BELOW else None

    @property
    def bytes(self) -> int:
        return self._windows.nbytes + (self._rough.bytes if self._rough else 0)

    def best(
        self, vector: Vector, visible: npt.NDArray[np.bool_], k: int
    ) -> tuple[npt.NDArray[np.int64], Cosines]:
        """Numbers of the visible passages that may be among the best k, at least those, each with
        the cosine of its nearest window."""
        shown = visible[self._passages]
        if self._rough is None:
            nearest = self._per_passage(self._windows @ vector)
            return self._passages[shown], nearest[shown]
        rough, error = self._rough.cosines(vector)
        of_passages = self._per_passage(rough)
        of_passages[~shown] = -np.inf
        least = max(reached_by(of_passages, k) - 2 * error, -2.0)
        places = np.flatnonzero(of_passages >= np.float32(least))
        return self._passages[places], self._exactly(places, vector)

    def windows_of(self, passage: int) -> Vector | None:
        place = int(np.searchsorted(self._passages, passage))
        if place == len(self._passages) or self._passages[place] != passage:
            return None
        return self._windows[self._starts[place] : self._ends[place]]

    def _per_passage(self, cosines: Cosines) -> Cosines:
        if len(self._passages) == len(cosines):
            return cosines
        return np.maximum.reduceat(cosines, self._starts)

    def _exactly(self, places: npt.NDArray[np.int64], vector: Vector) -> Cosines:
        widths = self._ends[places] - self._starts[places]
        firsts = np.cumsum(widths) - widths
        steps = np.arange(int(widths.sum())) - np.repeat(firsts, widths)
        windows = np.repeat(self._starts[places], widths) + steps
        cosines = self._windows[windows] @ vector
        return np.maximum.reduceat(cosines, firsts) if len(places) else cosines


def reached_by(scores: Cosines, k: int) -> float:
    """A score that at least k of them reach, not much less than the k-th best; -inf where there are
    fewer. The k-th of the best of each group: to part all of them takes ten times as long.
    Neighbours, which are alike, are of different groups."""
    groups = len(scores) // GROUP
    if groups < k:
        return float(np.partition(scores, -k)[-k]) if len(scores) >= k else -math.inf
    best = scores[: groups * GROUP].reshape(GROUP, groups).max(axis=0)
    return float(np.partition(best, -k)[-k])


class RoughTable:
    """Eight-bit numbers of unit vectors, multiplied by onnxruntime's integer kernels."""

    def __init__(self, vectors: Vector) -> None:
        largest = np.abs(vectors).max(axis=1, keepdims=True)
        scales = (np.maximum(largest, 1e-9) / 127).astype(np.float32)
        rounded = np.rint(vectors / scales).astype(np.int8)
        errors = np.linalg.norm(vectors - rounded * scales, axis=1)
        self._error = float(errors.max())
        """The longest way from a vector to its rounded one."""
        self._multiply = _multiplication(np.ascontiguousarray(rounded.T), scales[:, 0])
        self.bytes = rounded.nbytes + scales.nbytes

    def cosines(self, vector: Vector) -> tuple[Cosines, float]:
        """Of each vector, and how far from the true one any of them may be.

        The question is told in two rows of seven bits, the second what the first left; by Cauchy
        and Schwarz its rest and the vectors' bound the error."""
        coarse = max(float(np.abs(vector).max()), 1e-9) / (_MIDDLE - 1)
        first = np.rint(vector / coarse)
        fine = coarse / _FINER
        second = np.rint((vector - first * coarse) / fine)
        rest = vector - first * coarse - second * fine
        asked = (np.stack([first, second]) + _MIDDLE).astype(np.uint8)
        cosines = self._multiply(asked)
        cosines *= np.float32(fine)
        length = float(np.linalg.norm(vector))
        error = length * self._error + float(np.linalg.norm(rest)) * (1 + self._error)
        return cosines, error + 1e-5


def _multiplication(
    table: npt.NDArray[np.int8], scales: Cosines
) -> Callable[[npt.NDArray[np.uint8]], Cosines]:
    """(2, dimension) around _MIDDLE -> (vectors,): the first row `_FINER` times and the second,
    times the scale of each vector. table: shape (dimension, vectors)."""
    import onnxruntime
    from onnx import TensorProto, helper, numpy_helper

    dimension, count = table.shape
    held = {
        "table": table,
        "middle": np.array(_MIDDLE, np.uint8),
        "rows": np.array([[_FINER, 1]], np.float32),
        "scales": scales,
        "flat": np.array([count], np.int64),
    }
    nodes = [
        helper.make_node("MatMulInteger", ["asked", "table", "middle"], ["products"]),
        helper.make_node("Cast", ["products"], ["whole"], to=TensorProto.FLOAT),
        helper.make_node("MatMul", ["rows", "whole"], ["sums"]),
        helper.make_node("Reshape", ["sums", "flat"], ["row"]),
        helper.make_node("Mul", ["row", "scales"], ["cosines"]),
    ]
    graph = helper.make_graph(
        nodes,
        "cosines",
        [helper.make_tensor_value_info("asked", TensorProto.UINT8, [2, dimension])],
        [helper.make_tensor_value_info("cosines", TensorProto.FLOAT, [count])],
        [numpy_helper.from_array(array, name) for name, array in held.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)])
    model.ir_version = 9
    options = onnxruntime.SessionOptions()
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )

    def multiply(asked: npt.NDArray[np.uint8]) -> Cosines:
        cosines: Cosines = session.run(None, {"asked": asked})[0]
        return cosines

    return multiply
