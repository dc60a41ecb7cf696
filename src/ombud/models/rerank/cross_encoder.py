"""A cross-encoder exported to a folder with model.onnx and tokenizer.json, on onnxruntime."""

import asyncio
import math
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ombud.cpu_time import MeteredThreads
from ombud.errors import MalformedOutput, ModelError, ModelUnavailable, SetupError
from ombud.models.embed.onnx_session import open_onnx, require_files
from ombud.settings import ModelSettings

WINDOW = 512
"""Tokens of a pair, special ones included: what encoders of the BERT family have positions for."""
QUERY = WINDOW // 2
"""Tokens of a query; a longer one would leave no room for what it is compared with."""
FILES = "models.reranker names a folder with model.onnx and tokenizer.json."
GRAPH = (
    "It takes input_ids (and attention_mask, token_type_ids) and gives one relevance a pair, or "
    "two classes."
)


class CrossEncoder:
    """Reads (query, passage) pairs; a pair too long loses the end of its passage.

    Each pair by itself, several at a time, as `minilm.py` does with texts: int8 scales are taken
    over all that goes through the graph at once, and padding is computed too. Measured with MiniLM,
    25 pairs of 60 to 300 tokens, time of the processor: 0.55 s one by one, 0.65 s by
    four, 0.80 s by eight.
    """

    price: float | None = 0.0
    remote = False

    def __init__(self, name: str, graph: Path, tokenizer: Path, threads: int = 0) -> None:
        self.name = name
        self._session, self._tokenizer = open_onnx(
            graph, tokenizer, what="cross-encoder", hint=FILES
        )
        self._threads = MeteredThreads(threads or os.cpu_count() or 1, thread_name_prefix="rerank")
        self._inputs = {i.name for i in self._session.get_inputs()}
        self._special = self._tokenizer.num_special_tokens_to_add(is_pair=True)
        try:
            self._one(self._pairs("query", ["passage"])[0])
        except ModelError as unfit:
            raise SetupError(
                f"The graph in {graph.parent} is no cross-encoder: {unfit}", hint=GRAPH
            ) from unfit

    async def score(self, query: str, texts: Sequence[str], seconds: float) -> list[float]:
        """Return the graph's logits. Batches not begun when the time is up are left out."""
        if not texts:
            return []
        try:
            async with asyncio.timeout(seconds):
                return await self._score(query, texts)
        except TimeoutError as late:
            raise ModelUnavailable(
                f"The reranker `{self.name}` gave no scores within {seconds:.0f} seconds.",
                hint="Raise models.search_seconds or take a smaller model.",
            ) from late

    async def _score(self, query: str, texts: Sequence[str]) -> list[float]:
        loop = asyncio.get_running_loop()
        pairs = await loop.run_in_executor(self._threads, self._pairs, query, texts)
        jobs = [loop.run_in_executor(self._threads, self._one, pair) for pair in pairs]
        try:
            return await asyncio.gather(*jobs)
        finally:
            for job in jobs:
                job.cancel()

    def _pairs(self, query: str, texts: Sequence[str]) -> list[Any]:
        """Return encodings of (query, text), at most WINDOW tokens each."""
        query_encoding = self._tokenizer.encode(query, add_special_tokens=False)
        if len(query_encoding.ids) > QUERY:
            query_encoding.truncate(QUERY)
        room = WINDOW - self._special - len(query_encoding.ids)
        pairs = []
        for passage in self._tokenizer.encode_batch_fast(list(texts), add_special_tokens=False):
            if len(passage.ids) > room:
                passage.truncate(room)
            pairs.append(self._tokenizer.post_process(query_encoding, passage))
        return pairs

    def _one(self, pair: Any) -> float:
        rows = {
            "input_ids": pair.ids,
            "attention_mask": [1] * len(pair.ids),
            "token_type_ids": pair.type_ids,
        }
        feeds: dict[str, Any] = {}
        for name, row in rows.items():
            if name in self._inputs:
                feeds[name] = np.array([row], np.int64)
        try:  # onnxruntime's errors have no class of their own
            output = np.asarray(self._session.run(None, feeds)[0])
        except Exception as failed:
            raise ModelUnavailable(
                f"The reranker `{self.name}` failed ({type(failed).__name__}).",
                hint=f"Does the graph suit it? {GRAPH}",
            ) from failed
        if output.size not in (1, 2):
            raise MalformedOutput(
                f"`{self.name}` gave {output.size} scores for a pair.", hint=GRAPH
            )
        score = float(output.flat[-1])
        if output.size == 2:  # of two classes the second is `relevant`
            score -= float(output.flat[0])
        if not math.isfinite(score):
            raise MalformedOutput(f"`{self.name}` gave a score that is no number.", hint=GRAPH)
        return score


def open_folder(folder: str, settings: ModelSettings) -> CrossEncoder:
    """Open a cross-encoder. Raises SetupError if a file is missing or the graph takes no pairs."""
    place = Path(folder).expanduser()
    graph = place / "model.onnx"
    tokenizer = place / "tokenizer.json"
    require_files(graph, tokenizer, hint=FILES)
    return CrossEncoder(settings.reranker, graph, tokenizer, settings.threads)
