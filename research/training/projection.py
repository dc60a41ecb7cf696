"""The principal components of MiniLM's token vectors, over the sample's passages.

Writes src/ombud/models/embed/late.npy, shape (384, DIMENSION): what `models/embed/late.py` keeps of
a token. Graphs that hold it are built anew when GRAPH in `models/embed/minilm.py` changes. Run:
python -m research.training.projection"""

import tempfile
from pathlib import Path

import numpy as np
import numpy.typing as npt
import onnx
import onnxruntime
from tokenizers import Tokenizer

from ombud.app import Workspace
from ombud.index import blocking
from ombud.ingest.rows import searchable
from ombud.models import build_int8
from ombud.models.embed import late
from ombud.models.embed.minilm import WINDOW, installed_minilm
from ombud.models.embed.onnx_graph import PROJECT
from ombud.settings import IndexSettings
from research import ROOT


def main() -> None:
    engine = Workspace(ROOT / "sample").engine
    texts = [
        searchable(chunk, IndexSettings())
        for chunk in blocking(engine.get(blocking(engine.chunk_ids()))).values()
        if chunk.language == "en"
    ]
    model = installed_minilm()
    assert model, "the embedding model is not installed"
    tokenizer = Tokenizer.from_file(str(model / "tokenizer.json"))
    tokenizer.enable_truncation(WINDOW)
    tokenizer.no_padding()
    session = _session(model / "model.safetensors")
    kept = late.TellingTokens(tokenizer)
    vectors = np.concatenate([_states(session, tokenizer.encode(text).ids, kept) for text in texts])
    values, components = np.linalg.eigh(vectors.T @ vectors / len(vectors))
    share = values[-late.DIMENSION :].sum() / values.sum()
    held = f"{late.DIMENSION} components hold {share:.3f}"
    print(f"{len(texts)} passages, {len(vectors)} tokens; {held}")
    np.save(late.SHIPPED, components[:, ::-1][:, : late.DIMENSION].astype(np.float16))


def _session(weights: Path) -> onnxruntime.InferenceSession:
    """The shipped graph, giving what it would project."""
    with tempfile.TemporaryDirectory() as folder:
        build_int8(weights, Path(folder, "graph.onnx"))
        model = onnx.load(Path(folder, "graph.onnx"))
    (project,) = (node for node in model.graph.node if node.name == PROJECT)
    del model.graph.output[:]
    shape = ["batch", "tokens", "width"]
    model.graph.output.append(
        onnx.helper.make_tensor_value_info(project.input[0], onnx.TensorProto.FLOAT, shape)
    )
    return onnxruntime.InferenceSession(
        model.SerializeToString(), providers=["CPUExecutionProvider"]
    )


def _states(
    session: onnxruntime.InferenceSession, ids: list[int], kept: late.TellingTokens
) -> npt.NDArray[np.float32]:
    row = np.array([ids], np.int64)
    (states,) = session.run(None, {"input_ids": row, "attention_mask": np.ones_like(row)})
    found = np.asarray(states[0], np.float32)[kept.are_content(row[0])]
    found /= np.linalg.norm(found, axis=1, keepdims=True)
    return found


if __name__ == "__main__":
    main()
