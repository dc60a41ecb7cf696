"""Tiny cross-encoders whose scores can be had by hand."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace
from tokenizers.processors import TemplateProcessing

WEIGHTS = {
    "[PAD]": 1000.0,
    "[UNK]": 0.0,
    "[CLS]": 0.0,
    "[SEP]": 0.0,
    "one": 1.0,
    "two": 2.0,
    "ten": 10.0,
}
WEIGHTS["none"] = float("nan")
BROKEN = "unweighed"
"""A word that the tokenizer knows and the graph does not."""


def make_folder(
    folder: Path, classes: int = 1, inputs: Sequence[str] = ("attention_mask", "token_type_ids")
) -> Path:
    """`model.onnx` and `tokenizer.json`: a pair's score is 100 times the weights of its query and
    those of its passage; where the graph has no token_type_ids it is the weights of all. Two
    classes: twice and three times that."""
    folder.mkdir(exist_ok=True)
    onnx.save(_graph(classes, inputs), folder / "model.onnx")
    words = Tokenizer(
        WordLevel({word: n for n, word in enumerate([*WEIGHTS, BROKEN])}, unk_token="[UNK]")
    )
    words.pre_tokenizer = Whitespace()
    special = [("[CLS]", 2), ("[SEP]", 3)]
    words.post_processor = TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=special
    )
    # As exporters leave them behind; both would spoil every score.
    words.enable_truncation(8)
    words.enable_padding(length=16)
    words.save(str(folder / "tokenizer.json"))
    return folder


def _graph(classes: int, inputs: Sequence[str]) -> onnx.ModelProto:
    given = [
        helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "tokens"])
        for name in ("input_ids", *inputs)
    ]
    constants = [
        numpy_helper.from_array(np.array(list(WEIGHTS.values()), np.float32), "weights"),
        numpy_helper.from_array(np.array(99, np.float32), "apart"),
        numpy_helper.from_array(np.array(100, np.float32), "of_query"),
        numpy_helper.from_array(np.array([1], np.int64), "axis"),
        numpy_helper.from_array(
            np.array([[2, 3, 5][:classes] if classes > 1 else [1]], np.float32), "times"
        ),
    ]
    nodes = [helper.make_node("Gather", ["weights", "input_ids"], ["worth0"])]
    if "attention_mask" in inputs:
        nodes += [
            helper.make_node("Cast", ["attention_mask"], ["mask"], to=TensorProto.FLOAT),
            helper.make_node("Mul", ["worth0", "mask"], ["worth1"]),
        ]
    else:
        nodes.append(helper.make_node("Identity", ["worth0"], ["worth1"]))
    if "token_type_ids" in inputs:
        nodes += [
            helper.make_node("Cast", ["token_type_ids"], ["type"], to=TensorProto.FLOAT),
            helper.make_node("Mul", ["type", "apart"], ["less"]),
            helper.make_node("Sub", ["of_query", "less"], ["factor"]),
            helper.make_node("Mul", ["worth1", "factor"], ["worth2"]),
        ]
    else:
        nodes.append(helper.make_node("Identity", ["worth1"], ["worth2"]))
    nodes += [
        helper.make_node("ReduceSum", ["worth2", "axis"], ["total"], keepdims=1),
        helper.make_node("Mul", ["total", "times"], ["logits"]),
    ]
    out = helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["batch", max(classes, 1)])
    graph = helper.make_graph(nodes, "tiny", given, [out], constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=10)
