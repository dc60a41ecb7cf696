"""The reader's weights to an int8 ONNX graph: the embedder's encoder, told which tokens are of the
question, with two heads.

In: input_ids, attention_mask and token_type_ids, int64 of shape (batch, tokens). Out: `answerable`,
float32 (batch, 1, 1), and `tokens`, (batch, tokens, 1): logits that the passage answers, and that a
token belongs to what answers."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ombud.models.embed.onnx_graph import EncoderGraph, write_int8

HEADS = ["head_pool", "head_answer", "head_tokens"]
"""Nodes that are not quantised."""
Weights = Mapping[str, npt.NDArray[Any]]


def build_reader(weights: Weights, target: Path) -> None:
    write_int8(_ReaderGraph(weights).model(), target, unchanged=HEADS)


class _ReaderGraph(EncoderGraph):
    def model(self) -> Any:
        from onnx import TensorProto, helper

        hidden = self.layers(self.embeddings())
        self.linear(hidden, "tokens")
        first = self.constant("first", np.array([0], np.int64))
        whole = self.node("Gather", [hidden, first], "whole", axis=1)
        pooled = self.node("Tanh", [self.linear(whole, "pool")], "pooled")
        self.linear(pooled, "answer", "answerable")
        ids: list[Any] = []
        for name in ("input_ids", "attention_mask", "token_type_ids"):
            shape = ["batch", "tokens"]
            ids.append(helper.make_tensor_value_info(name, TensorProto.INT64, shape))
        out = [
            helper.make_tensor_value_info("answerable", TensorProto.FLOAT, ["batch", 1, 1]),
            helper.make_tensor_value_info("tokens", TensorProto.FLOAT, ["batch", "tokens", 1]),
        ]
        return self.whole("reader", ids, out)

    def embeddings(self) -> str:
        from onnx import TensorProto

        vectors: list[str] = []
        for table, ids in (("word", "input_ids"), ("token_type", "token_type_ids")):
            weight = self.weight(f"embeddings.{table}_embeddings.weight")
            vectors.append(self.node("Gather", [weight, ids], f"{table}_vectors"))
        self.node("Shape", ["input_ids"], "length", start=1, end=2)
        zero = self.constant("zero", np.array([0], np.int64))
        table = self.weight("embeddings.position_embeddings.weight")
        places = self.node("Slice", [table, zero, "length"], "places")
        placed = self.node("Add", [vectors[0], places], "placed")
        total = self.node("Add", [placed, vectors[1]], "total")
        norm = [self.weight(f"embeddings.LayerNorm.{part}") for part in ("weight", "bias")]
        self.node("Cast", ["attention_mask"], "mask_int", to=TensorProto.INT32)
        return self.node("LayerNormalization", [total, *norm], "hidden", epsilon=1e-12, axis=-1)

    def linear(self, value: str, head: str, output: str = "") -> str:
        weight = self.weight(f"{head}.weight", transpose=True)
        product = self.node("MatMul", [value, weight], f"{head}_product", name=f"head_{head}")
        bias = self.weight(f"{head}.bias")
        return self.node("Add", [product, bias], output or head)
