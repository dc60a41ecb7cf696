"""Everyday matters: a sentence is of the question's matter though they share no word."""

from collections.abc import Sequence

import numpy as np
import pytest

from ombud.answer.quoting.matters import MATTERS, MatterBank, load_bank, matter_columns, pack_bank
from ombud.errors import MissingExtra
from ombud.models import Embedder, open_embedder
from ombud.settings import ModelSettings


@pytest.fixture(scope="module")
def minilm(tmp_path_factory: pytest.TempPathFactory) -> Embedder:
    try:
        embedder = open_embedder(ModelSettings(), tmp_path_factory.mktemp("models"))
    except MissingExtra as missing:
        pytest.skip(str(missing))
    assert embedder
    return embedder


def likelier(question: str, sentences: Sequence[str], embedder: Embedder) -> str:
    """The sentence that is most of the question's matter."""
    columns = matter_columns(
        question=embedder.embed([question])[0],
        spans=embedder.embed(sentences),
        fingerprint=embedder.fingerprint,
    )
    return sentences[int(columns["same_matter"].argmax())]


@pytest.mark.parametrize(
    ("question", "answer", "other"),
    [
        (
            "am i still being tried out",
            "The introductory period is six months for everybody.",
            "Trials of new instruments are announced to all sites.",
        ),
        (
            "our little one arrives in may",
            "Paid time away for new parents is sixteen weeks.",
            "In May the canteen closes for two weeks.",
        ),
        (
            "dropped my work mobile in a lake",
            "Damage to devices is reported to the service desk, which lends another.",
            "Mobile working is possible on two days a week.",
        ),
    ],
)
def test_a_sentence_of_the_same_matter_stands_before_one_with_the_same_word(
    minilm: Embedder, question: str, answer: str, other: str
) -> None:
    assert likelier(question, [other, answer], minilm) == answer


def test_vectors_of_another_embedder_are_not_compared() -> None:
    columns = matter_columns(np.ones(4, np.float32), np.ones((2, 4), np.float32), "another")
    assert list(columns) == list(MATTERS)
    assert all(np.isnan(values).all() for values in columns.values())


def test_packed_vectors_come_back_within_the_rounding(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    vectors = np.array([[0.6, -0.8], [1.0, 0.0], [0.28, 0.96]], np.float32)
    bank = MatterBank("e", vectors, np.array([0, 2]), vectors[:2], np.array([0, 1]))
    path = tmp_path_factory.mktemp("bank") / "bank.npz"
    np.savez_compressed(path, **pack_bank(bank))  # type: ignore[arg-type]
    back = load_bank(path)
    assert back.embedder == "e"
    assert np.abs(back.asks - vectors).max() <= 1 / 254
    assert back.first_asks.tolist() == [0, 2]
