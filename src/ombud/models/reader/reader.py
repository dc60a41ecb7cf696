"""The small reader at run time: onnxruntime and numpy."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ombud.cpu_time import MeteredThreads
from ombud.models.embed.delta import merged
from ombud.models.embed.minilm import WEIGHTS_SHA256, cached_graph, installed_minilm
from ombud.models.embed.onnx_graph import read_safetensors
from ombud.models.embed.onnx_session import open_onnx
from ombud.models.reader.graph import build_reader

DELTA = Path(__file__).with_name("delta.npz")
DELTA_SHA256 = "a9a76bf8fb951b7e073884104f4da8e97d9e6313d9f73779ddea83f16936abc4"
"""`make reader` writes both. What it was taught with: `research/training/reader/CARD.md`."""
UNREAD = -12.0
"""Logit of a piece that was cut off."""
MOST_QUESTION = 64
MOST_HEADING = 24
MOST = 288
"""Tokens of everything."""
CLS = 101
SEP = 102
NO_PIECE = -1


class ReaderPassage(NamedTuple):
    heading: str
    pieces: Sequence[str]
    """Sentences, list items and rows, in reading order."""


class Reading(NamedTuple):
    answerable: float
    """Logit that the passage answers the question."""
    pieces: npt.NDArray[np.float64]
    """Logit of each piece that it is what answers."""


class EncodedPassage(NamedTuple):
    """The reader's input, with one entry per token."""

    ids: Sequence[int]
    kinds: Sequence[int]
    """0 up to the first [SEP], 1 behind it."""
    pieces: Sequence[int]
    """Place of the piece it is of; NO_PIECE for all else."""


def encode(tokenizer: Any, question: str, heading: str, pieces: Sequence[str]) -> EncodedPassage:
    """Encode [CLS] question [SEP] heading pieces [SEP]. Pieces that do not fit are cut; of a long
    question the end is kept."""
    texts = [question, f"{heading}:" if heading else "", *pieces]
    encodings = tokenizer.encode_batch_fast(texts, add_special_tokens=False)
    question_ids, head, *of_pieces = [encoding.ids for encoding in encodings]
    first = [CLS, *question_ids[-MOST_QUESTION:], SEP]
    ids = [*first, *head[:MOST_HEADING]]
    places = [NO_PIECE] * len(ids)
    for place, tokens in enumerate(of_pieces):
        room = MOST - 1 - len(ids)
        ids += tokens[:room]
        places += [place] * min(room, len(tokens))
        if len(tokens) >= room:
            break
    ids.append(SEP)
    places.append(NO_PIECE)
    kinds = [0] * len(first) + [1] * (len(ids) - len(first))
    return EncodedPassage(ids, kinds, places)


class Reader:
    """fingerprint: of the weights; another one gives other logits."""

    def __init__(self, graph: Path, tokenizer: Path, fingerprint: str, threads: int = 0) -> None:
        self.fingerprint = fingerprint
        hint = f"Delete {graph.name}; it is built again."
        self._session, self._tokenizer = open_onnx(graph, tokenizer, what="reader", hint=hint)
        self._threads = MeteredThreads(threads or os.cpu_count() or 1, "read")

    def read(self, question: str, passages: Sequence[ReaderPassage]) -> list[Reading]:
        """Score each passage by itself, so that none depends on its neighbours."""
        encodings: list[EncodedPassage] = []
        for passage in passages:
            encodings.append(encode(self._tokenizer, question, passage.heading, passage.pieces))
        counts = [len(passage.pieces) for passage in passages]
        return list(self._threads.map(self._one, encodings, counts))

    def _one(self, encoding: EncodedPassage, count: int) -> Reading:
        ids = np.array([encoding.ids], np.int64)
        feeds = {
            "input_ids": ids,
            "attention_mask": np.ones_like(ids),
            "token_type_ids": np.array([encoding.kinds], np.int64),
        }
        answerable, tokens = self._session.run(["answerable", "tokens"], feeds)
        of_tokens = tokens[0, :, 0]
        places = np.array(encoding.pieces)
        pieces = np.full(count, UNREAD)
        for place in range(count):
            mine = of_tokens[places == place]
            if len(mine):
                pieces[place] = float(mine.mean())
        return Reading(float(answerable.ravel()[0]), pieces)


def open_reader(cache: Path, threads: int = 0) -> Reader | None:
    """Open the reader; None if its base weights are not installed. Raises SetupError if they or the
    delta are damaged, or the cache is not writable."""
    model = installed_minilm()
    if model is None or not DELTA.is_file():
        return None

    def build(weights: Path, target: Path) -> None:
        build_reader(merged(read_safetensors(weights), DELTA, DELTA_SHA256), target)

    name = f"reader-{WEIGHTS_SHA256[:12]}-{DELTA_SHA256[:12]}.int8.onnx"
    graph = cached_graph(model / "model.safetensors", cache, name, build)
    return Reader(graph, model / "tokenizer.json", f"reader-{DELTA_SHA256[:12]}", threads)
