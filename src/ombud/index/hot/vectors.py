"""Vectors of all passages in memory: compared as eight-bit numbers first, then exactly for those
that may be among the best."""

import math
from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from ombud.index.engine import Vector

EXACT_BELOW = 4_000
"""Windows below which all are compared exactly."""
GROUP = 32
"""Scores that are represented by their best when the k-th best is estimated."""
_MIDDLE = 64
"""Zero point of the question's seven unsigned bits: with the passages' eight bits no sum of two
products overflows sixteen, whatever instruction the processor adds them with."""
_FINER = 2 * (_MIDDLE - 1)
"""Steps of the question's second row in one step of its first."""
Cosines = npt.NDArray[np.float32]


class VectorTable:
    """The vector windows of all passages, those of one passage side by side.

    windows: unit vectors of shape (windows, dimension). owners: number of each window's passage,
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
        """Return at least the best k visible passages, by number, each with the cosine of its
        nearest window."""
        is_visible = visible[self._passages]
        if self._rough is None:
            nearest = self._per_passage(self._windows @ vector)
            return self._passages[is_visible], nearest[is_visible]
        rough, error = self._rough.cosines(vector)
        nearest = self._per_passage(rough)
        nearest[~is_visible] = -np.inf
        least = max(reached_by(nearest, k) - 2 * error, -2.0)
        places = np.flatnonzero(nearest >= np.float32(least))
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
    """Return a score that at least k of them reach, a little below the k-th best; -inf if there are
    fewer.

    It is the k-th of the best of each group, as partitioning all scores takes ten times as long.
    Groups are interleaved, because neighbours have similar scores."""
    groups = len(scores) // GROUP
    if groups < k:
        return float(np.partition(scores, -k)[-k]) if len(scores) >= k else -math.inf
    best = scores[: groups * GROUP].reshape(GROUP, groups).max(axis=0)
    return float(np.partition(best, -k)[-k])


class RoughTable:
    """Unit vectors as eight-bit numbers, multiplied by onnxruntime's integer kernels."""

    def __init__(self, vectors: Vector) -> None:
        largest = np.abs(vectors).max(axis=1, keepdims=True)
        scales = (np.maximum(largest, 1e-9) / 127).astype(np.float32)
        rounded = np.rint(vectors / scales).astype(np.int8)
        errors = np.linalg.norm(vectors - rounded * scales, axis=1)
        self._error = float(errors.max())
        """Greatest distance of a vector from its rounded form."""
        self._multiply = open_multiplication(np.ascontiguousarray(rounded.T), scales[:, 0])
        self.bytes = rounded.nbytes + scales.nbytes

    def cosines(self, vector: Vector) -> tuple[Cosines, float]:
        """Compute the cosine of each vector, and a bound on their error.

        The question is rounded to two rows of seven bits, the second for the rest of the first; by
        Cauchy and Schwarz the rests of both sides bound the error."""
        coarse = max(float(np.abs(vector).max()), 1e-9) / (_MIDDLE - 1)
        first = np.rint(vector / coarse)
        fine = coarse / _FINER
        second = np.rint((vector - first * coarse) / fine)
        rest = vector - first * coarse - second * fine
        question = (np.stack([first, second]) + _MIDDLE).astype(np.uint8)
        cosines = self._multiply(question)
        cosines *= np.float32(fine)
        length = float(np.linalg.norm(vector))
        error = length * self._error + float(np.linalg.norm(rest)) * (1 + self._error)
        return cosines, error + 1e-5


def open_multiplication(
    table: npt.NDArray[np.int8], scales: Cosines
) -> Callable[[npt.NDArray[np.uint8]], Cosines]:
    """Open a model that multiplies a question of shape (2, dimension), around _MIDDLE, by a table
    of shape (dimension, vectors): `_FINER` times the first row plus the second, times the scale of
    each vector."""
    import onnxruntime
    from onnx import TensorProto, helper, numpy_helper

    dimension, count = table.shape
    constants = {
        "table": table,
        "middle": np.array(_MIDDLE, np.uint8),
        "rows": np.array([[_FINER, 1]], np.float32),
        "scales": scales,
        "flat": np.array([count], np.int64),
    }
    nodes = [
        helper.make_node("MatMulInteger", ["question", "table", "middle"], ["products"]),
        helper.make_node("Cast", ["products"], ["whole"], to=TensorProto.FLOAT),
        helper.make_node("MatMul", ["rows", "whole"], ["sums"]),
        helper.make_node("Reshape", ["sums", "flat"], ["row"]),
        helper.make_node("Mul", ["row", "scales"], ["cosines"]),
    ]
    graph = helper.make_graph(
        nodes,
        "cosines",
        [helper.make_tensor_value_info("question", TensorProto.UINT8, [2, dimension])],
        [helper.make_tensor_value_info("cosines", TensorProto.FLOAT, [count])],
        [numpy_helper.from_array(array, name) for name, array in constants.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)])
    model.ir_version = 9
    options = onnxruntime.SessionOptions()
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )

    def multiply(question: npt.NDArray[np.uint8]) -> Cosines:
        cosines: Cosines = session.run(None, {"question": question})[0]
        return cosines

    return multiply
