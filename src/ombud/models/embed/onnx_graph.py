"""MiniLM weights (safetensors) to an int8 ONNX graph, with numpy and onnx only.

The graph takes input_ids and attention_mask, both int64 of shape (batch, tokens), and gives
`embedding`, float32 (batch, 384): attention-masked mean of the last layer, length 1; and `tokens`,
(batch, tokens, 48): that layer by its principal components (`models/embed/late.py`). Weights are
quantised per channel (cosine .993 to fp32, 2.3 times torch's speed on two cores)."""

import json
import logging
import struct
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ombud.models.embed.late import DIMENSION, projection

PROJECT = "project"
"""Name of the node that is not quantised."""
LAYERS = 6
HEADS = 12
WIDTH = 384
CONTRIB = "com.microsoft"
KINDS = {"F32": np.float32, "F16": np.float16, "I64": np.int64}
Array = npt.NDArray[Any]


def build_int8(weights: Path, target: Path) -> None:
    """Write the quantised graph of the embedder to `target`; whole or not at all, also when two
    processes build it together."""
    build_encoder(read_safetensors(weights), target)


def build_encoder(weights: Mapping[str, Array], target: Path) -> None:
    """Build the encoder of weights in memory."""
    write_int8(_EmbedderGraph(weights).model(), target, unchanged=[PROJECT])


def write_int8(model: Any, target: Path, *, unchanged: list[str]) -> None:
    """Quantise an ONNX model into a file. unchanged: names of nodes that are not quantised."""
    import onnx
    from onnxruntime.quantization import QuantType, quantize_dynamic

    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent) as folder:
        plain = Path(folder, "fp32.onnx")
        small = Path(folder, "int8.onnx")
        onnx.save(model, plain)
        # DefaultTensorType: the fused operators carry no shape inference, and the quantiser wants a
        # type.
        options = {"DefaultTensorType": onnx.TensorProto.FLOAT}
        # It advises on pre-processing that this graph does not need.
        logging.disable(logging.WARNING)
        try:
            quantize_dynamic(
                plain,
                small,
                weight_type=QuantType.QInt8,
                per_channel=True,
                nodes_to_exclude=unchanged,
                extra_options=options,
            )
        finally:
            logging.disable(logging.NOTSET)
        small.replace(target)


def read_safetensors(path: Path) -> dict[str, Array]:
    """Name -> array, memory-mapped."""
    raw = np.memmap(path, dtype=np.uint8, mode="r")
    (length,) = struct.unpack("<Q", bytes(raw[:8]))
    header = json.loads(bytes(raw[8 : 8 + length]))
    body = raw[8 + length :]
    arrays: dict[str, Array] = {}
    for name, entry in header.items():
        if name == "__metadata__":
            continue
        start, end = entry["data_offsets"]
        values = np.frombuffer(body[start:end], KINDS[entry["dtype"]])
        arrays[name] = values.reshape(entry["shape"])
    return arrays


class EncoderGraph:
    """The nodes of a BERT encoder; whoever extends it adds what goes in and what comes out."""

    def __init__(self, weights: Mapping[str, Array]) -> None:
        self.weights = weights
        self.nodes: list[Any] = []
        self.constants: list[Any] = []

    def layers(self, hidden: str) -> str:
        for layer in range(LAYERS):
            hidden = self.layer(hidden, layer)
        return hidden

    def whole(self, name: str, inputs: list[Any], outputs: list[Any]) -> Any:
        """Return the model of all added nodes."""
        from onnx import helper

        graph = helper.make_graph(self.nodes, name, inputs, outputs, self.constants)
        opsets = [helper.make_opsetid("", 20), helper.make_opsetid(CONTRIB, 1)]
        return helper.make_model(graph, opset_imports=opsets, ir_version=10)

    def constant(self, name: str, value: Array) -> str:
        from onnx import numpy_helper

        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(value), name))
        return name

    def node(
        self, kind: str, inputs: list[str], output: str, domain: str = "", **attributes: Any
    ) -> str:
        from onnx import helper

        self.nodes.append(helper.make_node(kind, inputs, [output], domain=domain, **attributes))
        return output

    def weight(self, name: str, transpose: bool = False) -> str:
        value = self.weights[name]
        return self.constant(name, value.T if transpose else value)

    def layer(self, hidden: str, number: int) -> str:
        here = f"encoder.layer.{number}."
        tag = f"layer{number}_"
        parts = [f"{here}attention.self.{part}" for part in ("query", "key", "value")]
        joined = np.concatenate([self.weights[f"{part}.weight"].T for part in parts], axis=1)
        bias = np.concatenate([self.weights[f"{part}.bias"] for part in parts])
        inputs = [
            hidden,
            self.constant(f"{tag}qkv", joined),
            self.constant(f"{tag}qkv_bias", bias),
            "mask_int",
        ]
        mixed = self.node("Attention", inputs, f"{tag}mixed", CONTRIB, num_heads=HEADS)
        hidden = self.add_and_norm(mixed, hidden, f"{here}attention.output", f"{tag}attended")
        dense = f"{here}intermediate.dense"
        wide = self.node(
            "MatMul", [hidden, self.weight(f"{dense}.weight", transpose=True)], f"{tag}wide"
        )
        wide = self.node("BiasGelu", [wide, self.weight(f"{dense}.bias")], f"{tag}gelu", CONTRIB)
        return self.add_and_norm(wide, hidden, f"{here}output", f"{tag}out")

    def add_and_norm(self, value: str, residual: str, where: str, output: str) -> str:
        product = self.node(
            "MatMul",
            [value, self.weight(f"{where}.dense.weight", transpose=True)],
            f"{output}_product",
        )
        norm = [self.weight(f"{where}.LayerNorm.{part}") for part in ("weight", "bias")]
        inputs = [product, residual, *norm, self.weight(f"{where}.dense.bias")]
        return self.node("SkipLayerNormalization", inputs, output, CONTRIB, epsilon=1e-12)


class _EmbedderGraph(EncoderGraph):
    def model(self) -> Any:
        from onnx import TensorProto, helper

        hidden = self.layers(self.embeddings())
        self.pool(hidden)
        ids = [
            helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "tokens"])
            for name in ("input_ids", "attention_mask")
        ]
        # Here rather than in numpy, whose threads would wait for those that run the graph (half as
        # fast on two cores).
        self.node(
            "MatMul", [hidden, self.constant("components", projection())], "tokens", name=PROJECT
        )
        out = [
            helper.make_tensor_value_info("embedding", TensorProto.FLOAT, ["batch", WIDTH]),
            helper.make_tensor_value_info(
                "tokens", TensorProto.FLOAT, ["batch", "tokens", DIMENSION]
            ),
        ]
        return self.whole("minilm", ids, out)

    def embeddings(self) -> str:
        from onnx import TensorProto

        table = "embeddings.position_embeddings.weight"
        # One segment only, so its type embedding is a constant that the positions can carry.
        positions = self.weights[table] + self.weights["embeddings.token_type_embeddings.weight"][0]
        words = self.node(
            "Gather", [self.weight("embeddings.word_embeddings.weight"), "input_ids"], "words"
        )
        self.node("Shape", ["input_ids"], "length", start=1, end=2)
        zero = self.constant("zero", np.array([0], np.int64))
        places = self.node(
            "Slice", [self.constant("positions", positions), zero, "length"], "places"
        )
        total = self.node("Add", [words, places], "total")
        norm = [self.weight(f"embeddings.LayerNorm.{part}") for part in ("weight", "bias")]
        self.node("Cast", ["attention_mask"], "mask_float", to=TensorProto.FLOAT)
        self.node("Cast", ["attention_mask"], "mask_int", to=TensorProto.INT32)
        return self.node("LayerNormalization", [total, *norm], "hidden", epsilon=1e-12, axis=-1)

    def pool(self, hidden: str) -> None:
        axis = self.constant("axis", np.array([1], np.int64))
        row = self.node("Unsqueeze", ["mask_float", axis], "mask_row")
        total = self.node("MatMul", [row, hidden], "masked_sum")
        flat = self.node("Squeeze", [total, axis], "flat")
        # A mean differs from a sum by a factor, and the norm removes factors.
        self.node("LpNormalization", [flat], "embedding", axis=1, p=2)
